#include "io/temp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

struct temp {
	int fd;
	char *dir;
	const char *hint;
	uint64_t end;
};

static int fail(const struct temp *t, struct err *e)
{
	return err_sys(e, "a temporary file in %s (%s names another folder)", t->dir, t->hint);
}

struct temp *temp_open(const char *dir, const char *hint, struct err *e)
{
	struct temp *t = xcalloc(1, sizeof(*t));
	struct buf path = {0};

	if (!dir)
		dir = getenv("TMPDIR");
	t->dir = xstrdup(dir && *dir ? dir : "/tmp");
	t->hint = hint;
	buf_addf(&path, "%s/e3.XXXXXX", t->dir);
	buf_cstr(&path);
	t->fd = mkstemp(path.data);
	if (t->fd < 0 || unlink(path.data) < 0) {
		fail(t, e);
		temp_close(t);
		t = NULL;
	}
	buf_free(&path);
	return t;
}

void temp_close(struct temp *t)
{
	if (!t)
		return;
	if (t->fd >= 0)
		close(t->fd);
	free(t->dir);
	free(t);
}

int temp_append(struct temp *t, const void *p, size_t n, uint64_t *at, struct err *e)
{
	const char *from = p;

	*at = t->end;
	while (n > 0) {
		ssize_t done = pwrite(t->fd, from, n, (off_t)t->end);

		if (done < 0 && errno != EINTR)
			return fail(t, e);
		if (done > 0) {
			from += done;
			n -= (size_t)done;
			t->end += (uint64_t)done;
		}
	}
	return 0;
}

int temp_read(struct temp *t, void *p, size_t n, uint64_t at, struct err *e)
{
	char *to = p;

	while (n > 0) {
		ssize_t got = pread(t->fd, to, n, (off_t)at);

		if (got == 0)
			errno = EIO; /* it was cut by somebody */
		if (got == 0 || (got < 0 && errno != EINTR))
			return fail(t, e);
		if (got > 0) {
			to += got;
			n -= (size_t)got;
			at += (uint64_t)got;
		}
	}
	return 0;
}
