/* tensor.h - what a tensor is here: a name, a dtype, a shape, and where its bytes lie
 *
 * src/tensor/ reads and writes the files that trainers and servers exchange: safetensors (st.h),
 * torch's zip container (pt.h) and numpy's .npy (npy.h), and checks hidden states (states.h). It
 * knows no program, no server and no layout. Elements are little-endian, in files as in memory.
 *
 * A tensor's bytes need not be contiguous. They are `rows` rows; a row is the concatenation of
 * `nparts` pieces, one from each part, at part.p + row * part.stride. So hidden states that a
 * server laid out as [tokens, layers, hidden] are written as one tensor [tokens, 3 * hidden] and
 * another [tokens, hidden], and back, without a copy in memory:
 *
 *	contiguous:	rows 1, one part of all the bytes (tensor_flat makes it)
 *	aux of 4 slots:	rows S, one part: p = base, bytes = 3 * H * 2, stride = 4 * H * 2
 *	joined again:	rows S, two parts: aux (3 * H * 2) and last (H * 2)
 */
#ifndef E3_TENSOR_H
#define E3_TENSOR_H

#include <stddef.h>
#include <stdint.h>

struct err;

enum dtype {
	DT_BOOL,
	DT_U8,
	DT_I8,
	DT_I16,
	DT_I32,
	DT_I64,
	DT_BF16,
	DT_F16,
	DT_F32,
	DT_F64,
	DT_COUNT
};

struct dtype_info {
	const char *name;  /* as manifests and messages say it: "bf16" */
	const char *st;	   /* safetensors: "BF16" */
	const char *torch; /* the storage class of torch.save: "BFloat16Storage" */
	const char *npy;   /* the descr of numpy, NULL where numpy has none (bf16) */
	size_t size;
};

extern const struct dtype_info dtypes[DT_COUNT];

#define TENSOR_DIMS  4
#define TENSOR_PARTS 16

struct tensor_part {
	const char *p;
	size_t bytes, stride; /* of a row */
};

struct tensor {
	const char *name; /* borrowed */
	enum dtype dtype;
	unsigned ndim; /* 0 is a scalar */
	uint64_t dim[TENSOR_DIMS];
	size_t rows;
	unsigned nparts;
	struct tensor_part part[TENSOR_PARTS];
};

/* A contiguous tensor; dims are its ndim sizes. */
struct tensor tensor_flat(
    const char *name, enum dtype dtype, unsigned ndim, const uint64_t *dims, const void *data);
struct tensor tensor_1d(const char *name, enum dtype dtype, uint64_t n, const void *data);

/* Elements and bytes by the shape; -1 where the product overflows. */
int tensor_size(const struct tensor *t, uint64_t *elements, uint64_t *bytes);

/* The data of a tensor whose bytes are contiguous, as all that a reader hands out are. */
const void *tensor_data(const struct tensor *t);

#endif
