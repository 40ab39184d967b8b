#include "io/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "io/in.h"
#include "io/out.h"
#include "io/path.h"
#include "io/sink.h"

#define SYNC_MS	   1000
#define READ_SIZE  (256u << 10)
#define OPEN_TRIES 10 /* each lost to another process that renamed the file in between */

struct part {
	int fd;
	char *name;   /* FILE as given, for messages */
	char *target; /* FILE, links followed; NULL: written directly */
	char *path;   /* FILE.part */
	int zstd;
	int finished; /* FILE is open, and not yet FILE.part: it may be something else's */
	int created;  /* FILE.part was not there before */
	int replayed, begun;
	part_stop_fn *stop; /* or NULL */
	void *stop_ctx;
	uint64_t size, keep; /* of what was there: all of it, and what is whole */
	int failed;
	struct sink *sink;
	uint64_t unsynced; /* lines */
	int seen;	   /* by a tick, at first_ms */
	uint64_t first_ms;
};

static void part_free(struct part *p)
{
	sink_close(p->sink);
	if (p->fd > STDERR_FILENO)
		close(p->fd);
	free(p->path);
	free(p->target);
	free(p->name);
	free(p);
}

/* ---- opening ---- */

static int lock(struct part *p, struct err *e)
{
	if (flock(p->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK)
		return err_set(e, "locked", "%s: another run is writing it", p->name);
	return err_sys(e, "%s: no lock can be had", p->path);
}

static int exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int create(struct part *p)
{
	p->fd = open(p->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	p->created = p->fd >= 0;
	return p->created ? 0 : -1;
}

/* In out.c's words. */
static int not_made(const struct part *p, struct err *e)
{
	char *dir = path_dir(p->target);

	err_sys(e, "%s: no file can be made in %s", p->name, dir);
	free(dir);
	return -1;
}

static int open_new(struct part *p, struct err *e)
{
	if (exists(p->target))
		return err_set(e, "exists",
		    "%s: is there already; go on from it with --resume, or remove it", p->name);
	if (create(p) == 0)
		return lock(p, e);
	if (errno != EEXIST)
		return not_made(p, e);
	p->fd = open(p->path, O_RDWR | O_CLOEXEC);
	if (p->fd >= 0 && lock(p, e) < 0)
		return -1;
	return err_set(e, "exists",
	    "%s: is there from an earlier run; go on from it with --resume, or remove it", p->path);
}

/* One try: 1 when the file was locked but its name has gone elsewhere meanwhile. */
static int try_resume(struct part *p, struct err *e)
{
	int finished = exists(p->target);
	const char *from = finished ? p->target : p->path;

	if (finished && exists(p->path))
		return err_set(
		    e, "exists", "%s: both it and %s are there; remove one", p->name, p->path);
	/* links have been followed already: one that has FILE.part's name was not made by a run */
	p->fd = open(from, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (p->fd < 0 && errno == ENOENT && finished)
		return 1;
	if (p->fd < 0 && errno == ENOENT && create(p) < 0)
		return errno == EEXIST ? 1 : not_made(p, e);
	if (p->fd < 0)
		return errno == EEXIST ? 1 : err_sys(e, "%s", from);
	if (lock(p, e) < 0)
		return -1;
	p->finished = finished;
	if (path_leads_to(from, p->fd))
		return 0;
	close(p->fd);
	p->fd = -1;
	return 1;
}

static int open_resume(struct part *p, struct err *e)
{
	int rc = 1;

	for (int i = 0; i < OPEN_TRIES && rc > 0; i++)
		rc = try_resume(p, e);
	return rc > 0 ? err_set(e, "locked", "%s: another run is writing it", p->name) : rc;
}

static int open_regular(struct part *p, int resume, struct err *e)
{
	struct buf path = {0};

	p->target = path_follow(p->name);
	if (!p->target)
		return err_sys(e, "%s", p->name);
	buf_addf(&path, "%s.part", p->target);
	p->path = buf_steal(&path);
	return resume ? open_resume(p, e) : open_new(p, e);
}

static int open_any(struct part *p, const char *path, int resume, struct err *e)
{
	struct stat st;

	if (!path || strcmp(path, "-") == 0) {
		p->fd = STDOUT_FILENO;
		return 0;
	}
	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return open_regular(p, resume, e);
	if (S_ISDIR(st.st_mode))
		errno = EISDIR;
	else
		p->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	return p->fd < 0 ? err_sys(e, "%s", path) : 0;
}

struct part *part_open(const char *path, int zstd, int resume, struct err *e)
{
	struct part *p = xcalloc(1, sizeof(*p));

	p->fd = -1;
	p->name = xstrdup(path && strcmp(path, "-") != 0 ? path : "standard output");
	p->zstd = zstd || out_named_zstd(path);
	if (open_any(p, path, resume, e) < 0)
		goto fail;
	p->sink = sink_open(p->fd, p->path ? p->path : p->name, p->zstd, e);
	if (!p->sink)
		goto fail;
	p->replayed = !p->target || !resume;
	return p;
fail:
	part_free(p);
	return NULL;
}

void part_stop_by(struct part *p, part_stop_fn *fn, void *ctx)
{
	p->stop = fn;
	p->stop_ctx = ctx;
}

const char *part_path(const struct part *p)
{
	return p->path;
}

/* ---- what is there already ---- */

static const char *path_now(const struct part *p)
{
	return p->finished ? p->target : p->path;
}

struct replay {
	struct part *p;
	part_line_fn *fn;
	void *ctx;
	struct buf text; /* the line at hand, as far as it was read */
	uint64_t whole;	 /* bytes of whole lines, decoded */
	uint64_t number;
};

static int replay_line(struct replay *r, const char *line, size_t n, struct err *e)
{
	r->number++;
	r->whole += n + 1;
	if (!r->fn || n == 0 || r->fn(r->ctx, line, n, r->number, e) == 0)
		return 0;
	return err_prefix(e, "%s:%llu: ", path_now(r->p), (unsigned long long)r->number);
}

static int replay_bytes(struct replay *r, const char *p, size_t n, struct err *e)
{
	const char *lf;

	for (; n > 0 && (lf = memchr(p, '\n', n)); n -= (size_t)(lf + 1 - p), p = lf + 1) {
		const char *line = p;
		size_t len = (size_t)(lf - p);

		if (r->text.len > 0) {
			buf_add(&r->text, p, len);
			line = r->text.data;
			len = r->text.len;
		}
		if (replay_line(r, line, len, e) < 0)
			return -1;
		buf_reset(&r->text);
	}
	buf_add(&r->text, p, n);
	return 0;
}

static int read_all(struct replay *r, struct in *in, struct err *e)
{
	const struct part *p = r->p;
	char *piece = xmalloc(READ_SIZE);
	ssize_t n = 0;
	int rc = 0;

	while (rc == 0 && (n = in_read(in, piece, READ_SIZE, e)) > 0) {
		rc = replay_bytes(r, piece, (size_t)n, e);
		if (rc == 0 && p->stop)
			rc = p->stop(p->stop_ctx, e);
	}
	free(piece);
	return n < 0 ? -1 : rc;
}

/* A first frame torn within its magic looks like a plain file without a whole line. */
static int check_kind(
    const struct part *p, const struct in *in, uint64_t keep, uint64_t size, struct err *e)
{
	if (size == 0 || in_compressed(in) == p->zstd || (p->zstd && keep == 0 && size < 4))
		return 0;
	return err_set(e, "zstd", "%s: is %s, this run's would be %s", path_now(p),
	    p->zstd ? "plain" : "zstd", p->zstd ? "zstd" : "plain");
}

/* How much of the file is whole: lines, or frames. */
static int measure(struct part *p, struct err *e)
{
	struct replay r = {.p = p};
	struct in *in = in_open(path_now(p), e);
	struct stat st;
	int rc = -1;

	e->class = NULL;
	if (!in || (read_all(&r, in, e) < 0 && strcmp(e->class, "torn") != 0))
		goto out;
	if (fstat(p->fd, &st) < 0) {
		err_sys(e, "%s", path_now(p));
		goto out;
	}
	p->keep = in_compressed(in) ? in_whole(in) : r.whole;
	p->size = (uint64_t)st.st_size;
	rc = check_kind(p, in, p->keep, p->size, e);
	/* what a run finished is whole: a FILE that is not was made by something else */
	if (rc == 0 && p->finished && p->keep != p->size)
		rc = err_set(e, "torn",
		    "%s: its end is torn, so no run finished it; is it another file? to go on from "
		    "its whole lines name it %s",
		    p->name, p->path);
out:
	in_close(in);
	buf_free(&r.text);
	return rc;
}

/* Two passes: of a torn frame the first lines can be read before the tear shows. */
int part_replay(struct part *p, part_line_fn *fn, void *ctx, struct err *e)
{
	struct replay r = {.p = p, .fn = fn, .ctx = ctx};
	struct in *in = NULL;
	int rc = -1;

	if (p->replayed)
		return 0;
	if (measure(p, e) < 0)
		goto out;
	in = in_open(path_now(p), e);
	if (!in)
		goto out;
	in_limit(in, p->keep);
	if (read_all(&r, in, e) < 0)
		goto out;
	if (r.text.len > 0) {
		err_set(e, "zstd", "%s: a zstd frame ends within a line: another program wrote it",
		    path_now(p));
		goto out;
	}
	p->replayed = 1;
	rc = 0;
out:
	in_close(in);
	buf_free(&r.text);
	return rc;
}

/* ---- writing ---- */

/* Remembers a failure: what comes behind a torn line would be lost with it. */
static int done(struct part *p, int rc)
{
	if (rc < 0)
		p->failed = 1;
	return rc;
}

static int sync_dir(const struct part *p, struct err *e)
{
	char *dir = path_dir(p->target);
	int rc = path_sync_dir(dir, e);

	free(dir);
	return rc < 0 ? err_prefix(e, "%s: its folder ", p->name) : 0;
}

/* The file is only now changed: its lines are known to be ours. */
int part_begin(struct part *p, struct err *e)
{
	if (p->begun || !p->target)
		return 0;
	if (!p->replayed && part_replay(p, NULL, NULL, e) < 0)
		return done(p, -1);
	if ((p->keep < p->size && ftruncate(p->fd, (off_t)p->keep) < 0) ||
	    lseek(p->fd, (off_t)p->keep, SEEK_SET) < 0)
		return done(p, err_sys(e, "%s", path_now(p)));
	if (p->finished && rename(p->target, p->path) < 0)
		return done(p, err_sys(e, "%s", p->name));
	p->finished = 0;
	p->begun = 1;
	return done(p, sync_dir(p, e));
}

static int refuse(struct part *p, struct err *e)
{
	return err_set(e, "system", "%s: an earlier write failed", p->path ? p->path : p->name);
}

int part_append(struct part *p, const char *line, size_t n, struct err *e)
{
	if (p->failed)
		return refuse(p, e);
	if (part_begin(p, e) < 0)
		return -1;
	if (sink_write(p->sink, line, n, e) < 0 || sink_write(p->sink, "\n", 1, e) < 0)
		return done(p, -1);
	p->unsynced++;
	return p->target ? 0 : done(p, sink_flush(p->sink, e));
}

static int sync_file(struct part *p, struct err *e)
{
	if (sink_end_frame(p->sink, e) < 0)
		return done(p, -1);
	if (fdatasync(p->fd) < 0)
		return done(p, err_sys(e, "%s", p->path));
	p->unsynced = 0;
	p->seen = 0;
	return 0;
}

int part_sync(struct part *p, struct err *e)
{
	if (p->failed)
		return refuse(p, e);
	return p->unsynced > 0 && p->target ? sync_file(p, e) : 0;
}

int64_t part_tick(struct part *p, uint64_t now_ms, struct err *e)
{
	if (p->failed || p->unsynced == 0 || !p->target)
		return p->failed ? refuse(p, e) - 1 : -1;
	if (!p->seen) {
		p->seen = 1;
		p->first_ms = now_ms;
	}
	if (now_ms - p->first_ms < SYNC_MS)
		return (int64_t)(p->first_ms + SYNC_MS - now_ms);
	return part_sync(p, e) < 0 ? -2 : -1;
}

/* An empty compressed output is one empty frame: no file of 0 bytes is zstd. */
static int end_stream(struct part *p, struct err *e)
{
	struct stat st;

	if (!p->target)
		return sink_end_frame(p->sink, e);
	if (fstat(p->fd, &st) < 0)
		return err_sys(e, "%s", p->path);
	return p->zstd && st.st_size == 0 ? sync_file(p, e) : part_sync(p, e);
}

/* A copy is closed: it tells what closing the file would, and the lock stays until all is done. */
static int check_close(struct part *p, struct err *e)
{
	int fd = dup(p->fd);

	return fd < 0 || close(fd) < 0 ? err_sys(e, "%s", p->path ? p->path : p->name) : 0;
}

/* What a run had nothing to add to is made, too: make goes by the time. */
static int publish(struct part *p, struct err *e)
{
	if (futimens(p->fd, NULL) < 0)
		return err_sys(e, "%s", p->path);
	if (rename(p->path, p->target) < 0)
		return err_sys(e, "%s", p->path);
	return sync_dir(p, e);
}

int part_finish(struct part *p, struct err *e)
{
	int rc = p->failed ? refuse(p, e) : 0;

	if (rc == 0)
		rc = part_begin(p, e);
	if (rc == 0)
		rc = end_stream(p, e);
	if (rc == 0)
		rc = check_close(p, e);
	if (rc == 0 && p->target)
		rc = publish(p, e);
	if (rc < 0)
		e->class = "system"; /* not "pipe": all has been counted as out by now */
	part_free(p);
	return rc;
}

int part_close(struct part *p, struct err *e)
{
	int rc = 0;

	if (!p)
		return 0;
	/* an empty one that nobody had would only be in the way of the next run */
	if (p->created && !p->begun && path_leads_to(p->path, p->fd))
		unlink(p->path);
	if (!p->failed)
		rc = p->target ? part_sync(p, e) : sink_end_frame(p->sink, e);
	if (rc == 0 && !p->failed)
		rc = check_close(p, e);
	part_free(p);
	return rc;
}
