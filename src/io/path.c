#include "io/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#define LINKS_MAX 40 /* as Linux itself */

char *path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

static char *join(const char *dir, const char *name)
{
	struct buf b = {0};

	if (name[0] != '/')
		buf_addf(&b, "%s/", dir);
	buf_adds(&b, name);
	return buf_steal(&b);
}

char *path_follow(const char *path)
{
	char *at = xstrdup(path);

	for (int i = 0; i < LINKS_MAX; i++) {
		char to[PATH_MAX], *dir, *next;
		ssize_t n = readlink(at, to, sizeof(to) - 1);

		if (n < 0 && (errno == EINVAL || errno == ENOENT)) /* no link, or nothing there */
			return at;
		if (n < 0)
			break;
		to[n] = '\0';
		dir = path_dir(at);
		next = join(dir, to);
		free(dir);
		free(at);
		at = next;
		errno = ELOOP;
	}
	free(at);
	return NULL;
}

int path_sync_dir(const char *dir, struct err *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;

	if (fd < 0)
		return err_sys(e, "%s", dir);
	rc = fsync(fd);
	if (rc < 0 && (errno == EINVAL || errno == ENOTSUP)) /* a file system without the notion */
		rc = 0;
	if (rc < 0)
		err_sys(e, "%s", dir);
	close(fd);
	return rc;
}
