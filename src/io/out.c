#define _GNU_SOURCE /* O_TMPFILE, which leaves nothing behind whatever kills us */
#include "io/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "io/path.h"
#include "io/sink.h"

struct out {
	int fd;
	char *name;   /* for messages: as given, or "standard output" */
	char *target; /* what is to be replaced, links followed; NULL: written directly */
	char *dir;
	char *tmp; /* its name for now; NULL: it has none */
	int replaces;
	mode_t mode; /* of what it replaces, or 0 */
	struct sink *sink;
};

int out_named_zstd(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n >= 4 && strcmp(path + n - 4, ".zst") == 0;
}

static void out_free(struct out *o)
{
	sink_close(o->sink);
	if (o->fd > STDERR_FILENO)
		close(o->fd);
	if (o->tmp)
		unlink(o->tmp);
	free(o->tmp);
	free(o->dir);
	free(o->target);
	free(o->name);
	free(o);
}

/* The k-th temporary name beside the target. */
static char *tmp_name(const struct out *o, int k)
{
	const char *slash = strrchr(o->target, '/');
	struct buf b = {0};

	buf_addf(&b, "%s/.%s.%ld.%d.tmp", o->dir, slash ? slash + 1 : o->target, (long)getpid(), k);
	return buf_steal(&b);
}

/* Puts a file of that name there by `make`, trying names until one is free. */
static char *with_tmp_name(struct out *o, int (*make)(struct out *o, const char *name))
{
	for (int k = 0; k < 1000; k++) {
		char *name = tmp_name(o, k);

		if (make(o, name) == 0)
			return name;
		free(name);
		if (errno != EEXIST)
			break;
	}
	return NULL;
}

static int make_new(struct out *o, const char *name)
{
	o->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return o->fd < 0 ? -1 : 0;
}

static void proc_name(const struct out *o, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", o->fd);
}

static int make_link(struct out *o, const char *name)
{
	char from[64];

	proc_name(o, from);
	return linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Leaves fd -1 where the file system has no unnamed files, or /proc, by which they get their
 * name, is not there. */
static void open_unnamed(struct out *o)
{
	char path[64];

	o->fd = open(o->dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
	if (o->fd < 0)
		return;
	proc_name(o, path);
	if (access(path, F_OK) < 0) {
		close(o->fd);
		o->fd = -1;
	}
}

static int open_beside(struct out *o, struct err *e)
{
	o->dir = path_dir(o->target);
	open_unnamed(o);
	if (o->fd < 0)
		o->tmp = with_tmp_name(o, make_new);
	if (o->fd < 0)
		return err_sys(e, "%s: no file can be made in %s", o->name, o->dir);
	if (S_ISREG(o->mode) && fchmod(o->fd, o->mode & 07777) < 0)
		return err_sys(e, "%s", o->name);
	return 0;
}

static int open_path(struct out *o, const char *path, int own, struct err *e)
{
	struct stat st;

	if ((own ? lstat(path, &st) : stat(path, &st)) == 0) {
		if (S_ISDIR(st.st_mode)) {
			errno = EISDIR;
			return err_sys(e, "%s", path);
		}
		if (!S_ISREG(st.st_mode) && !own) {
			o->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
			return o->fd < 0 ? err_sys(e, "%s", path) : 0;
		}
		if (S_ISREG(st.st_mode) && access(path, W_OK) < 0)
			return err_sys(e, "%s", path);
		o->replaces = 1;
		o->mode = st.st_mode;
	} else if (errno != ENOENT) {
		return err_sys(e, "%s", path);
	}
	o->target = own ? xstrdup(path) : path_follow(path);
	if (o->target && (o->target[0] == '\0' || o->target[strlen(o->target) - 1] == '/')) {
		free(o->target);
		o->target = NULL;
		errno = ENOENT;
	}
	if (!o->target)
		return err_sys(e, "%s", path);
	return open_beside(o, e);
}

/* With fd, and what leads to it; frees o on failure. */
static struct out *start(struct out *o, int rc, int zstd, struct err *e)
{
	if (rc == 0)
		o->sink = sink_open(o->fd, o->name, zstd, e);
	if (o->sink)
		return o;
	out_free(o);
	return NULL;
}

struct out *out_open(const char *path, int zstd, struct err *e)
{
	struct out *o = xcalloc(1, sizeof(*o));
	int standard = !path || strcmp(path, "-") == 0;

	o->fd = standard ? STDOUT_FILENO : -1;
	o->name = xstrdup(standard ? "standard output" : path);
	return start(o, standard ? 0 : open_path(o, path, 0, e), zstd || out_named_zstd(path), e);
}

struct out *out_open_own(const char *path, struct err *e)
{
	struct out *o = xcalloc(1, sizeof(*o));

	o->fd = -1;
	o->name = xstrdup(path);
	return start(o, open_path(o, path, 1, e), 0, e);
}

int out_check(const char *path, struct err *e)
{
	struct stat st;
	struct out *o;

	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return access(path, W_OK) < 0 ? err_sys(e, "%s", path) : 0;
	o = out_open(path, 0, e);
	out_abort(o);
	return o ? 0 : -1;
}

int out_check_own(const char *path, struct err *e)
{
	struct out *o = out_open_own(path, e);

	out_abort(o);
	return o ? 0 : -1;
}

int out_write(struct out *o, const void *p, size_t n, struct err *e)
{
	return sink_write(o->sink, p, n, e);
}

int out_flush(struct out *o, struct err *e)
{
	return sink_flush(o->sink, e);
}

static int sync_dir(const struct out *o, struct err *e)
{
	return path_sync_dir(o->dir, e) < 0 ? err_prefix(e, "%s: its folder ", o->name) : 0;
}

static int publish(struct out *o, struct err *e)
{
	if (!o->tmp && !o->replaces && make_link(o, o->target) == 0)
		return sync_dir(o, e);
	if (!o->tmp)
		o->tmp = with_tmp_name(o, make_link);
	if (!o->tmp || rename(o->tmp, o->target) < 0)
		return err_sys(e, "%s", o->name);
	free(o->tmp);
	o->tmp = NULL;
	return sync_dir(o, e);
}

/* Network file systems report a failed write when a descriptor is closed, any one of the file's. A
 * copy is closed, since an unnamed file must stay open until it has its name, and standard output
 * for good. */
static int check_close(struct out *o, struct err *e)
{
	int fd = dup(o->fd);

	return fd < 0 || close(fd) < 0 ? err_sys(e, "%s", o->name) : 0;
}

int out_finish(struct out *o, struct err *e)
{
	int rc = sink_end_frame(o->sink, e);

	if (rc == 0 && o->target && fsync(o->fd) < 0)
		rc = err_sys(e, "%s", o->name);
	if (rc == 0)
		rc = check_close(o, e);
	if (rc == 0 && o->target)
		rc = publish(o, e);
	out_free(o);
	return rc;
}

/* o may be NULL, where it could not be opened. */
static int put(struct out *o, const struct buf *text, struct err *e)
{
	if (o && out_write(o, text->data, text->len, e) == 0)
		return out_finish(o, e);
	out_abort(o);
	return -1;
}

int out_put(const char *path, int zstd, const struct buf *text, struct err *e)
{
	return put(out_open(path, zstd, e), text, e);
}

int out_put_own(const char *path, const struct buf *text, struct err *e)
{
	return put(out_open_own(path, e), text, e);
}

void out_abort(struct out *o)
{
	struct err ignored;

	if (!o)
		return;
	if (!o->target)
		sink_flush(o->sink, &ignored);
	out_free(o);
}
