/* pickle.h - the little of Python's pickle that torch.save needs
 *
 * Protocol 2 (Lib/pickletools.py). Written: dicts of str or int keys, strings, ints, bools, and
 * tensors as torch._utils._rebuild_tensor_v2 makes them. Read: those, in any of protocol 2's
 * spellings, as torch and others write them. No other global is known, nothing is ever called. A
 * pickle of more than PICKLE_MOST values, each of some hundred bytes in memory, is refused.
 */
#ifndef E3_PICKLE_H
#define E3_PICKLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "tensor/tensor.h"

struct err;

/* ---- writing: an opcode or a value behind the other ---- */

void pickle_begin(struct buf *b);
void pickle_dict(struct buf *b);  /* an empty dict ... */
void pickle_mark(struct buf *b);  /* ... then MARK, keys and values in turn, ... */
void pickle_items(struct buf *b); /* ... and SETITEMS */
void pickle_str(struct buf *b, const char *p, size_t n);
void pickle_int(struct buf *b, int64_t v);
void pickle_bool(struct buf *b, int v);
/* A contiguous tensor whose storage is record data/NUMBER. */
void pickle_tensor(struct buf *b, const struct tensor *t, uint64_t number);
void pickle_end(struct buf *b);

/* ---- reading ---- */

#define PICKLE_MOST (1u << 20)

enum pv_kind {
	PV_NONE,
	PV_BOOL,
	PV_INT,
	PV_STR,
	PV_TUPLE,
	PV_DICT,
	PV_GLOBAL,
	PV_STORAGE,
	PV_TENSOR,
	PV_MARK
};

struct pv_storage {
	struct span record; /* "0", "1" ...: its bytes are record data/RECORD */
	enum dtype dtype;
	uint64_t elements;
};

struct pv_tensor {
	const struct pv_storage *storage;
	uint64_t offset; /* in elements */
	unsigned ndim;
	uint64_t dim[TENSOR_DIMS]; /* row-major and contiguous: anything else is refused */
};

struct pv {
	enum pv_kind kind;
	union {
		int64_t i;     /* int, bool */
		struct span s; /* str; global "MODULE NAME" */
		struct {
			struct pv *v;
			size_t n;
		} tuple;
		struct pv_dict *dict;
		struct pv_storage *storage;
		struct pv_tensor *tensor;
	} u;
};

struct pv_dict {
	struct pv *kv; /* n keys and values in turn */
	size_t n, cap;
};

/* The value in the arena; strings point into the pickle. Class "format". */
int pickle_read(struct pv *out, struct span text, struct arena *a, struct err *e);

#endif
