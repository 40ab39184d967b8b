#include "tensor/npy.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
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
