#include "io/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int same_dir(const char *a, const char *b)
{
	char *da = path_dir(a), *db = path_dir(b);
	struct stat sa, sb;
	int same = strcmp(da, db) == 0 || (stat(da, &sa) == 0 && stat(db, &sb) == 0 &&
					      sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino);

	free(da);
	free(db);
	return same;
}

int path_same(const char *a, const char *b)
{
	char *fa = path_follow(a), *fb = path_follow(b);
	int same = fa && fb && strcmp(last_part(fa), last_part(fb)) == 0 && same_dir(fa, fb);

	free(fa);
	free(fb);
	return same;
}

int path_leads_to(const char *path, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
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

static int make_one(const char *dir, const char *parent, struct err *e)
{
	struct stat st;

	if (mkdir(dir, 0777) == 0)
		return path_sync_dir(parent, e) < 0 ? err_prefix(e, "%s: its folder ", dir) : 0;
	if (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
		return 0;
	return err_sys(e, "%s: cannot make the directory", dir);
}

int path_make_own_dir(const char *dir, const char *parent, struct err *e)
{
	struct stat st;

	if (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))
		return err_set(
		    e, "system", "%s: is a symbolic link, which is not followed: remove it", dir);
	return make_one(dir, parent, e);
}

int path_make_dir(const char *dir, struct err *e)
{
	char *path = xstrdup(dir), *parent = xstrdup(*dir == '/' ? "/" : ".");
	size_t n = strlen(path), i = 0;
	int rc = n > 0 ? 0 : err_set(e, "system", "an empty name for a directory");

	while (rc == 0 && i < n) {
		while (path[i] == '/')
			i++;
		i += strcspn(path + i, "/");
		path[i] = '\0';
		rc = make_one(path, parent, e);
		free(parent);
		parent = xstrdup(path);
		path[i] = dir[i];
	}
	free(path);
	free(parent);
	return rc;
}
