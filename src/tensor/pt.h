/* pt.h - files as torch.save writes and torch.load reads them
 *
 * A zip archive (zip.h) with the root folder "archive": data.pkl (pickle.h), byteorder ("little"),
 * .format_version ("1"), .storage_alignment ("64"), a record data/N for each tensor, and version
 * ("3\n"), as torch 2.13 writes them but for the serialization id, which no reader needs.
 * torch.load opens them with weights_only and with mmap. The same items give the same bytes.
 */
#ifndef E3_PT_H
#define E3_PT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tensor/map.h"
#include "tensor/tensor.h"

struct err;
struct save;

enum pt_kind { PT_TENSOR, PT_STR, PT_INT, PT_BOOL };

struct pt_item {
	const char *key; /* NULL where `number` is the key, or for a bare tensor */
	int64_t number;
	enum pt_kind kind;
	struct tensor tensor;
	struct span str;
	int64_t num; /* int, bool */
};

/* A dict with string keys in the order of items. */
int pt_write_dict(struct save *s, const struct pt_item *items, size_t n, struct err *e);
int pt_write_tensor(struct save *s, const struct tensor *t, struct err *e);

/* A dict {int: int}. */
struct pt_count {
	int64_t key, n;
};
int pt_write_counts(struct save *s, const struct pt_count *c, size_t n, struct err *e);

/* Reading. Everything is checked but the CRCs, which cost a pass over the data: pt_check. Tensors
 * point into the mapped file (the warning in st.h); of one that is opened by MAP_PARTS their bytes
 * are asked for with map_need. A file of torch's older, non-zip format is class "format". */
struct pt;

struct pt *pt_open(const char *path, enum map_how how, struct err *e);
struct pt *pt_parse(const void *p, size_t n, struct err *e); /* of borrowed memory */
int pt_bare(const struct pt *f);			     /* one tensor, no dict */
size_t pt_count(const struct pt *f);
const struct pt_item *pt_at(const struct pt *f, size_t i);
const struct pt_item *pt_get(const struct pt *f, const char *key);
const struct tensor *pt_tensor(const struct pt *f, const char *key); /* NULL where it is none */
const struct filemap *pt_map(const struct pt *f);
int pt_check(const struct pt *f, struct err *e);
void pt_close(struct pt *f); /* NULL is allowed */

#endif
