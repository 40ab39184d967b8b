#include "extract/folders.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "extract/manifest.h"
#include "io/path.h"

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
		rc = path_sync_dir(f->names.data + i, e);
	hashset_free(&f->seen);
	buf_reset(&f->names);
	return rc;
}

void folders_free(struct folders *f)
{
	hashset_free(&f->seen);
	buf_free(&f->names);
}

int folder_lock(const char *path, struct err *e)
{
	int fd;

	if (path_make_dir(path, e) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		err_set(e, "locked", "%s: another run writes there", path);
	else if (setinfo_check(path, e) == 0)
		return fd;
	close(fd);
	return -1;
}

int folder_check(int fd, const char *path, struct err *e)
{
	if (path_leads_to(path, fd))
		return 0;
	return err_set(e, "system",
	    "%s: is not the folder any more that the run began with: bring that back", path);
}
