#include "tensor/map.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

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
