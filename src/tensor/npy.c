#include "tensor/npy.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/num.h"
#include "tensor/save.h"

static const char magic[8] = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};

int npy_write(struct save *s, const struct tensor *t, struct err *e)
{
	struct buf b = {0};
	size_t len;
	int rc;

	if (!dtypes[t->dtype].npy)
		return err_set(e, "format", "numpy has no %s", dtypes[t->dtype].name);
	buf_add(&b, magic, sizeof(magic));
	buf_add(&b, "\0\0", 2);
	buf_addf(&b, "{'descr': '%s', 'fortran_order': False, 'shape': (", dtypes[t->dtype].npy);
	for (unsigned i = 0; i < t->ndim; i++) {
		buf_adds(&b, i > 0 ? ", " : "");
		buf_add_u64(&b, t->dim[i]);
	}
	buf_adds(&b, t->ndim == 1 ? ",), }" : "), }");
	while (b.len % 64 != 63)
		buf_addc(&b, ' ');
	buf_addc(&b, '\n');
	len = b.len - 10;
	b.data[8] = (char)(len & 0xff);
	b.data[9] = (char)(len >> 8 & 0xff);
	rc = save_write(s, b.data, b.len, e);
	buf_free(&b);
	return rc < 0 ? -1 : save_tensor(s, t, e);
}

/* The value behind 'KEY': in the dict literal; empty where the key is not there. */
static struct span value(struct span dict, const char *key)
{
	size_t k = strlen(key);

	for (size_t i = 0; i + k < dict.n; i++)
		if (memcmp(dict.p + i, key, k) == 0) {
			i += k;
			while (i < dict.n && dict.p[i] == ' ')
				i++;
			return (struct span){dict.p + i, dict.n - i};
		}
	return (struct span){dict.p, 0};
}

static int begins(struct span s, const char *with, size_t n)
{
	return s.n >= n && memcmp(s.p, with, n) == 0;
}

static int read_shape(struct tensor *t, struct span s)
{
	size_t i = 1;

	if (s.n == 0 || s.p[0] != '(')
		return -1;
	while (i < s.n && s.p[i] != ')') {
		size_t start = i;

		while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
			i++;
		if (t->ndim == TENSOR_DIMS || num_u64(s.p + start, i - start, &t->dim[t->ndim]) < 0)
			return -1;
		t->ndim++;
		while (i < s.n && (s.p[i] == ',' || s.p[i] == ' '))
			i++;
	}
	return i < s.n ? 0 : -1;
}

static int read_header(struct tensor *t, struct span dict, struct err *e)
{
	struct span descr = value(dict, "'descr':"), order = value(dict, "'fortran_order':");
	int i;

	for (i = 0; i < DT_COUNT; i++) {
		char want[8] = "'";

		if (!dtypes[i].npy)
			continue;
		strcat(want, dtypes[i].npy);
		strcat(want, "'");
		if (begins(descr, want, strlen(want)))
			break;
	}
	if (i == DT_COUNT)
		return err_set(e, "format", "an npy file of unknown descr");
	if (!begins(order, "False", 5))
		return err_set(e, "format", "an npy file in Fortran order");
	t->dtype = (enum dtype)i;
	if (read_shape(t, value(dict, "'shape':")) < 0)
		return err_set(e, "format", "an npy file of unknown shape");
	return 0;
}

int npy_parse(struct tensor *t, const void *p, size_t n, struct err *e)
{
	const char *c = p;
	uint64_t elements, bytes;
	size_t head;

	*t = (struct tensor){0};
	if (n < 10 || memcmp(c, magic, sizeof(magic)) != 0)
		return err_set(e, "format", "no npy file of version 1.0");
	head = (size_t)(unsigned char)c[8] | (size_t)(unsigned char)c[9] << 8;
	if (head > n - 10)
		return err_set(e, "truncated", "an npy file without its whole header");
	if (read_header(t, (struct span){c + 10, head}, e) < 0)
		return -1;
	if (tensor_size(t, &elements, &bytes) < 0 || bytes != n - 10 - head)
		return err_set(e, "truncated", "an npy file whose data do not fit its shape");
	*t = tensor_flat(NULL, t->dtype, t->ndim, t->dim, c + 10 + head);
	return 0;
}
