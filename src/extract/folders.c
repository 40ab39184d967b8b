#include "extract/folders.h"

#include <string.h>

#include "tensor/save.h"

void folders_add(struct folders *f, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) : 0;

	if (!hashset_add(&f->seen, hash128(path, n)))
		return;
	buf_add(&f->names, n > 0 ? path : ".", n > 0 ? n : 1);
	buf_addc(&f->names, '\0');
}

int folders_sync(struct folders *f, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->names.len; i += strlen(f->names.data + i) + 1)
		rc = save_sync_dir(f->names.data + i, e);
	hashset_free(&f->seen);
	buf_reset(&f->names);
	return rc;
}

void folders_free(struct folders *f)
{
	hashset_free(&f->seen);
	buf_free(&f->names);
}
