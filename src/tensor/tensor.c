#include "tensor/tensor.h"

/* torch and numpy as of torch 2.13 and numpy 2: storage classes of torch/storage.py, array protocol
 * descriptors of numpy.lib.format; safetensors 0.8 names. */
const struct dtype_info dtypes[DT_COUNT] = {
    [DT_BOOL] = {"bool", "BOOL", "BoolStorage", "|b1", 1},
    [DT_U8] = {"u8", "U8", "ByteStorage", "|u1", 1},
    [DT_I8] = {"i8", "I8", "CharStorage", "|i1", 1},
    [DT_I16] = {"i16", "I16", "ShortStorage", "<i2", 2},
    [DT_I32] = {"i32", "I32", "IntStorage", "<i4", 4},
    [DT_I64] = {"i64", "I64", "LongStorage", "<i8", 8},
    [DT_BF16] = {"bf16", "BF16", "BFloat16Storage", NULL, 2},
    [DT_F16] = {"f16", "F16", "HalfStorage", "<f2", 2},
    [DT_F32] = {"f32", "F32", "FloatStorage", "<f4", 4},
    [DT_F64] = {"f64", "F64", "DoubleStorage", "<f8", 8},
};

int tensor_size(const struct tensor *t, uint64_t *elements, uint64_t *bytes)
{
	uint64_t n = 1;
	int overflow = 0, empty = 0;

	for (unsigned i = 0; i < t->ndim; i++) {
		if (t->dim[i] == 0)
			empty = 1;
		else if (n > UINT64_MAX / t->dim[i])
			overflow = 1;
		else
			n *= t->dim[i];
	}
	if (empty)
		n = 0;
	else if (overflow || n > INT64_MAX / dtypes[t->dtype].size)
		return -1;
	*elements = n;
	*bytes = n * dtypes[t->dtype].size;
	return 0;
}

struct tensor tensor_flat(
    const char *name, enum dtype dtype, unsigned ndim, const uint64_t *dims, const void *data)
{
	struct tensor t = {.name = name, .dtype = dtype, .ndim = ndim, .rows = 1, .nparts = 1};
	uint64_t n, bytes = 0;

	for (unsigned i = 0; i < ndim && i < TENSOR_DIMS; i++)
		t.dim[i] = dims[i];
	tensor_size(&t, &n, &bytes);
	t.part[0] = (struct tensor_part){data, bytes, bytes};
	return t;
}

struct tensor tensor_1d(const char *name, enum dtype dtype, uint64_t n, const void *data)
{
	return tensor_flat(name, dtype, 1, &n, data);
}

const void *tensor_data(const struct tensor *t)
{
	return t->part[0].p;
}
