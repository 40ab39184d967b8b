/* madvise is Linux's. */
#define _GNU_SOURCE
#include "tensor/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* All of it is in memory now, or an error says that it can't be: a page that a disk refuses to
 * read, or a full tmpfs to hold, would end the program by a signal when it is touched. Kernels
 * before 5.14 can't do that. */
static int read_in(void *p, size_t n, const char *path, struct err *e)
{
#ifdef MADV_POPULATE_READ
	while (madvise(p, n, MADV_POPULATE_READ) < 0) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		if (errno == EINVAL)
			break;
		return err_set(e, "truncated",
		    "%s: not all of it can be read: the disk fails, or the file has become shorter",
		    path);
	}
#else
	(void)p, (void)n, (void)path, (void)e;
#endif
	return 0;
}

int map_open(struct map *m, const char *path, struct err *e)
{
	struct stat st;
	void *p = NULL;
	int rc = -1;
	/* O_NONBLOCK: opening a FIFO must not wait for its writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*m = (struct map){0};
	if (fd < 0)
		return err_sys(e, "%s", path);
	if (fstat(fd, &st) < 0) {
		err_sys(e, "%s", path);
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(e, "format", "%s: no regular file", path);
		goto out;
	}
	if ((uint64_t)st.st_size > SIZE_MAX) {
		err_set(e, "format", "%s: too large to map", path);
		goto out;
	}
	if (st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED) {
			err_sys(e, "%s: cannot map", path);
			goto out;
		}
		posix_madvise(p, (size_t)st.st_size, POSIX_MADV_SEQUENTIAL);
		if (read_in(p, (size_t)st.st_size, path, e) < 0) {
			munmap(p, (size_t)st.st_size);
			goto out;
		}
	}
	*m = (struct map){p, (size_t)st.st_size, 1};
	rc = 0;
out:
	close(fd);
	return rc;
}

void map_close(struct map *m)
{
	if (m->owned && m->n > 0)
		munmap((void *)(uintptr_t)m->p, m->n);
	*m = (struct map){0};
}

void map_refuse(struct map *m, const char *path, struct err *e)
{
	err_prefix(e, "%s: ", path);
	map_close(m);
}
