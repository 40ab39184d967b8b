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

static int read_in(const char *p, size_t n, struct err *e)
{
#ifdef MADV_POPULATE_READ
	while (madvise((void *)(uintptr_t)p, n, MADV_POPULATE_READ) < 0) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		if (errno == EINVAL)
			break;
		return err_set(e, "truncated",
		    "not all of it can be read: the disk fails, or the file has become shorter");
	}
#else
	(void)p, (void)n, (void)e;
#endif
	return 0;
}

int map_need(const struct filemap *m, const char *p, size_t n, struct err *e)
{
	size_t into;

	if (m->how == MAP_ALL || n == 0)
		return 0;
	into = (size_t)(p - m->p) % (size_t)sysconf(_SC_PAGESIZE);
	/* in one piece: nothing is read ahead, which may be megabytes */
	posix_madvise((void *)(uintptr_t)(p - into), n + into, POSIX_MADV_WILLNEED);
	return read_in(p - into, n + into, e);
}

int map_open(struct filemap *m, const char *path, enum map_how how, struct err *e)
{
	struct stat st;
	void *p = NULL;
	int rc = -1;
	/* O_NONBLOCK: opening a FIFO must not wait for its writer */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*m = (struct filemap){0};
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
		posix_madvise(p, (size_t)st.st_size,
		    how == MAP_ALL ? POSIX_MADV_SEQUENTIAL : POSIX_MADV_RANDOM);
		if (how == MAP_ALL && read_in(p, (size_t)st.st_size, e) < 0) {
			err_prefix(e, "%s: ", path);
			munmap(p, (size_t)st.st_size);
			goto out;
		}
	}
	*m = (struct filemap){p ? p : "", (size_t)st.st_size, 1, how};
	rc = 0;
out:
	close(fd);
	return rc;
}

void map_close(struct filemap *m)
{
	if (m->owned && m->n > 0)
		munmap((void *)(uintptr_t)m->p, m->n);
	*m = (struct filemap){0};
}
