#include "extract/dumpdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/path.h"
#include "tensor/st.h"

/* A lock, or a file without one, is looked for again after 1 ms, doubling up to 100 ms. */
enum { POLL_FIRST_MS = 1, POLL_MAX_MS = 100, WAIT_LOCK_MS = 3600000 };

struct dumpdir {
	char *path, *server;
	int fd;
};

struct dumpdir *dumpdir_open(const char *path, const char *server_path, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dumpdir *d;
	size_t n;

	if (fd < 0) {
		err_sys(e, "--dump-dir %s", path);
		return NULL;
	}
	d = xmalloc(sizeof(*d));
	*d = (struct dumpdir){xstrdup(path), xstrdup(server_path ? server_path : path), fd};
	for (n = strlen(d->server); n > 1 && d->server[n - 1] == '/'; n--)
		d->server[n - 1] = '\0';
	return d;
}

void dumpdir_close(struct dumpdir *d)
{
	if (!d)
		return;
	close(d->fd);
	free(d->path);
	free(d->server);
	free(d);
}

int dumpdir_is(const struct dumpdir *d, const char *path)
{
	return path_leads_to(path, d->fd);
}

/* The n bytes at p, up to a slash: for servers on this machine, or on one with the same file
 * system. */
static int same_folder(const struct dumpdir *d, const char *p, size_t n)
{
	char *path = xstrndup(p, n);
	int same = dumpdir_is(d, path);

	free(path);
	return same;
}

/* The length of the folder's part of the path, before its last slashes; 0: another folder. */
static size_t folder_part(const struct dumpdir *d, struct span file)
{
	size_t n = strlen(d->server);

	if (file.n > n && memcmp(file.p, d->server, n) == 0 && file.p[n] == '/')
		return n;
	for (n = file.n; n > 0 && file.p[n - 1] != '/';)
		n--;
	return n > 1 && same_folder(d, file.p, n - 1) ? n - 1 : 0;
}

int dumpdir_name(const struct dumpdir *d, struct span file, char name[256], struct err *e)
{
	size_t n = folder_part(d, file), len;

	if (n == 0)
		return err_set(e, "dump-dir",
		    "the server's file %.*s is not in %s: say with --server-dump-dir what the "
		    "server calls "
		    "the folder",
		    (int)(file.n < 300 ? file.n : 300), file.p, d->server);
	while (n < file.n && file.p[n] == '/')
		n++;
	len = file.n - n;
	if (len == 0 || len > 250 || file.p[n] == '.' || memchr(file.p + n, '/', len) ||
	    memchr(file.p + n, '\0', len))
		return err_set(e, "dump-dir",
		    "the server's file %.*s is not directly in its folder",
		    (int)(file.n < 300 ? file.n : 300), file.p);
	memcpy(name, file.p + n, len);
	name[len] = '\0';
	return 0;
}

/* ---- waiting ---- */

struct wait {
	const atomic_int *stop;
	long ms, limit;
	long waited;
};

/* Sleeps once more; -1 when it has been long enough, or the run is to end. */
static int wait_more(struct wait *w, const char *name, struct err *e)
{
	struct timespec t = {.tv_nsec = w->ms * 1000000};

	if (atomic_load(w->stop) > 1)
		return err_set(e, "stopped", "%s: stopped while waiting", name);
	if (w->waited >= w->limit)
		return err_set(e, "no-file", "%s: not whole after %ld s", name, w->limit / 1000);
	nanosleep(&t, NULL);
	w->waited += w->ms;
	w->ms = w->ms * 2 < POLL_MAX_MS ? w->ms * 2 : POLL_MAX_MS;
	return 0;
}

/* A lock on a network file system needs write access; one that belongs to another user may allow
 * reading only. */
static int open_lock(const struct dumpdir *d, const char *name)
{
	struct buf b = {0};
	int fd, flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

	buf_addf(&b, "%s.lock", name);
	fd = openat(d->fd, buf_cstr(&b), O_RDWR | flags);
	if (fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
		fd = openat(d->fd, buf_cstr(&b), O_RDONLY | flags);
	buf_free(&b);
	return fd;
}

static int take_lock(
    const struct dumpdir *d, struct claim *c, const atomic_int *stop, struct err *e)
{
	struct wait w = {.stop = stop, .ms = POLL_FIRST_MS, .limit = WAIT_LOCK_MS};
	struct stat st;

	c->lock = open_lock(d, c->name);
	if (c->lock < 0 && errno == ENOENT)
		return 0;
	if (c->lock < 0)
		return err_set(e, "dump-dir", "%s.lock: %s", c->name, strerror(errno));
	if (fstat(c->lock, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, "dump-dir", "%s.lock: no regular file", c->name);
	while (flock(c->lock, LOCK_SH | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "%s.lock: cannot lock", c->name);
		if (wait_more(&w, c->name, e) < 0)
			return -1;
	}
	return 0;
}

/* Whether an unlocked file has all the bytes that its header tells of. 1, 0, -1. */
static int whole(int fd, const char *name, struct err *e)
{
	struct stat st;
	struct buf head = {0};
	uint64_t want = 0;
	int rc = 0;
	/* headers of two tensors take some 200 bytes */
	ssize_t n = pread(fd, buf_room(&head, 1 << 16), 1 << 16, 0);

	if (n < 0 || fstat(fd, &st) < 0)
		rc = err_sys(e, "%s", name);
	else if (st_expect(head.data, (size_t)n, &want, e) < 0)
		rc = err_prefix(e, "%s: ", name);
	buf_free(&head);
	return rc < 0 ? -1 : want > 0 && (uint64_t)st.st_size >= want;
}

/* 1: whole. */
static int look(const struct dumpdir *d, struct claim *c, struct err *e)
{
	struct stat st;
	int fd, rc;

	if (fstatat(d->fd, c->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(e, "%s", c->name);
	c->seen = 1;
	if (!S_ISREG(st.st_mode))
		return err_set(e, "dump-dir", "%s: no regular file", c->name);
	if (c->lock >= 0)
		return 1;
	fd = openat(d->fd, c->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s", c->name);
	rc = whole(fd, c->name, e);
	close(fd);
	return rc;
}

int dumpdir_claim(const struct dumpdir *d, const char *name, long wait_ms, const atomic_int *stop,
    struct claim *c, struct err *e)
{
	struct wait w = {.stop = stop, .ms = POLL_FIRST_MS, .limit = wait_ms};
	struct buf path = {0};
	int rc;

	buf_addf(&path, "%s/%s", d->path, name);
	*c = (struct claim){.lock = -1};
	c->path = buf_steal(&path);
	memcpy(c->name, name, strlen(name) + 1);
	if (take_lock(d, c, stop, e) < 0)
		return -1;
	while ((rc = look(d, c, e)) == 0) {
		/* who held the lock is done: what is not there now will not come */
		if (c->lock >= 0)
			return err_set(e, "no-file",
			    "%s: the server released its lock but left no file: "
			    "did its write fail, is its disk full?",
			    name);
		if (wait_more(&w, name, e) == 0)
			continue;
		if (!c->seen && strcmp(e->class, "no-file") == 0)
			err_set(e, "absent", "%s: not there after %ld s", name, w.limit / 1000);
		return -1;
	}
	return rc < 0 ? -1 : 0;
}

static int remove_one(const struct dumpdir *d, const char *name, const char *end, struct err *e)
{
	struct buf b = {0};
	struct stat st;
	int rc = 0;

	buf_addf(&b, "%s%s", name, end);
	if (fstatat(d->fd, buf_cstr(&b), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	    unlinkat(d->fd, b.data, 0) < 0 && errno != ENOENT)
		rc = err_sys(e, "%s/%s: cannot delete", d->path, b.data);
	buf_free(&b);
	return rc;
}

int claim_remove(const struct dumpdir *d, struct claim *c, struct err *e)
{
	int rc = 0;

	if (!c->path)
		return 0;
	if (remove_one(d, c->name, "", e) < 0 || remove_one(d, c->name, ".lock", e) < 0)
		rc = -1;
	claim_free(c);
	return rc;
}

void claim_free(struct claim *c)
{
	if (c->path && c->lock >= 0)
		close(c->lock);
	free(c->path);
	*c = (struct claim){.lock = -1};
}

uint64_t dumpdir_free(const struct dumpdir *d)
{
	struct statvfs v;

	return fstatvfs(d->fd, &v) < 0 ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}

/* ---- what others left ---- */

static int ends(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n > k && strcmp(s + n - k, end) == 0;
}

static int lock_free(const struct dumpdir *d, const char *data)
{
	int fd = open_lock(d, data), is;

	if (fd < 0)
		return errno == ENOENT;
	is = flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return is;
}

static int older(const struct stat *st, const struct timespec *t)
{
	return t && (st->st_mtim.tv_sec < t->tv_sec ||
			(st->st_mtim.tv_sec == t->tv_sec && st->st_mtim.tv_nsec < t->tv_nsec));
}

static int sweep_one(const struct dumpdir *d, const char *name, int is_lock, const struct sweep *s,
    struct leftovers *l, struct err *e)
{
	int mine = s->mine && strstr(name, s->mine), rc = 0;
	struct buf data = {0};
	struct stat st;

	buf_add(&data, name, strlen(name) - (is_lock ? 5 : 0));
	if (fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		goto out;
	/* a lock goes with its data; alone it counts for itself */
	if (is_lock && faccessat(d->fd, buf_cstr(&data), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		goto out;
	if ((mine || older(&st, s->before)) && lock_free(d, buf_cstr(&data))) {
		rc = remove_one(d, data.data, "", e) < 0 || remove_one(d, data.data, ".lock", e) < 0
			 ? -1
			 : 0;
		*(mine ? &l->mine : &l->old) += 1;
	} else if (mine) {
		l->held++;
	} else {
		l->files++;
		l->bytes += (uint64_t)st.st_size;
	}
out:
	buf_free(&data);
	return rc;
}

/* A dump that its server has not named yet, and will not where that was killed. Whether it still
 * writes can't be seen, so only mine go: nobody waits for them. */
static int sweep_part(const struct dumpdir *d, const char *name, const struct sweep *s,
    struct leftovers *l, struct err *e)
{
	struct stat st;

	if (!s->mine || !strstr(name, s->mine) ||
	    fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return 0;
	l->mine++;
	return remove_one(d, name, "", e);
}

int dumpdir_sweep(
    const struct dumpdir *d, const struct sweep *s, struct leftovers *l, struct err *e)
{
	int fd = openat(d->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *ent;

	*l = (struct leftovers){0};
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return err_sys(e, "%s", d->path);
	}
	while (rc == 0 && (ent = readdir(dir))) {
		int is_lock = ends(ent->d_name, DUMP_END ".lock");

		if (ent->d_name[0] == '.')
			rc = sweep_part(d, ent->d_name, s, l, e);
		else if (is_lock || ends(ent->d_name, DUMP_END))
			rc = sweep_one(d, ent->d_name, is_lock, s, l, e);
	}
	closedir(dir);
	return rc;
}
