#include <stdio.h>

#include "tensor/le.h"
#include "tensor/pickle.h"

void pickle_begin(struct buf *b)
{
	buf_add(b, "\x80\x02", 2);
}

void pickle_end(struct buf *b)
{
	buf_addc(b, '.');
}

void pickle_dict(struct buf *b)
{
	buf_addc(b, '}');
}

void pickle_mark(struct buf *b)
{
	buf_addc(b, '(');
}

void pickle_items(struct buf *b)
{
	buf_addc(b, 'u');
}

void pickle_str(struct buf *b, const char *p, size_t n)
{
	buf_addc(b, 'X');
	le_put(b, n, 4);
	buf_add(b, p, n);
}

void pickle_int(struct buf *b, int64_t v)
{
	if (v >= 0 && v < 256) {
		buf_addc(b, 'K');
		le_put(b, (uint64_t)v, 1);
	} else if (v >= 0 && v < 65536) {
		buf_addc(b, 'M');
		le_put(b, (uint64_t)v, 2);
	} else if (v >= INT32_MIN && v <= INT32_MAX) {
		buf_addc(b, 'J');
		le_put(b, (uint64_t)v, 4);
	} else {
		buf_add(b, "\x8a\x08", 2); /* LONG1 of eight bytes */
		le_put(b, (uint64_t)v, 8);
	}
}

void pickle_bool(struct buf *b, int v)
{
	buf_addc(b, v ? '\x88' : '\x89');
}

static void sizes(struct buf *b, const uint64_t *v, unsigned n)
{
	buf_addc(b, '(');
	for (unsigned i = 0; i < n; i++)
		pickle_int(b, (int64_t)v[i]);
	buf_addc(b, 't');
}

/* torch/_tensor.py, Tensor.__reduce_ex__, and torch/serialization.py, persistent_id:
 * _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks). */
void pickle_tensor(struct buf *b, const struct tensor *t, uint64_t number)
{
	uint64_t elements = 0, bytes, stride[TENSOR_DIMS], step = 1;
	char name[24];

	tensor_size(t, &elements, &bytes);
	for (unsigned i = t->ndim; i-- > 0;) {
		stride[i] = step;
		step *= t->dim[i] > 0 ? t->dim[i] : 1; /* as torch counts an empty axis */
	}
	buf_adds(b, "ctorch._utils\n_rebuild_tensor_v2\n((");
	pickle_str(b, "storage", 7);
	buf_addf(b, "ctorch\n%s\n", dtypes[t->dtype].torch);
	pickle_str(
	    b, name, (size_t)snprintf(name, sizeof(name), "%llu", (unsigned long long)number));
	pickle_str(b, "cpu", 3);
	pickle_int(b, (int64_t)elements);
	buf_adds(b, "tQ");
	pickle_int(b, 0);
	sizes(b, t->dim, t->ndim);
	sizes(b, stride, t->ndim);
	pickle_bool(b, 0);
	buf_adds(b, "ccollections\nOrderedDict\n)RtR");
}
