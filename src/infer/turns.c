#include "infer/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "infer/conv.h"

int turns_open(struct turns_file *t, const char *output, int resume, struct err *e)
{
	struct buf path = {0};

	buf_adds(&path, output);
	buf_adds(&path, ".turns");
	buf_cstr(&path);
	t->path = buf_steal(&path);
	t->fd = open(t->path,
	    O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (resume ? 0 : O_TRUNC), 0666);
	if (t->fd < 0)
		return err_sys(e, "%s", t->path);
	/* what a kill tore off is ended, so that the next line is whole */
	if (resume && lseek(t->fd, 0, SEEK_END) > 0 && write(t->fd, "\n", 1) != 1)
		return err_sys(e, "%s", t->path);
	return 0;
}

int turns_note(
    struct turns_file *t, struct span id, uint64_t key, const struct conv *c, struct err *e)
{
	struct buf *b = &t->line;
	size_t at = 0;

	if (t->fd < 0)
		return 0;
	buf_reset(b);
	buf_adds(b, "{\"id\":");
	buf_add_json(b, id.p, id.n);
	buf_adds(b, ",\"infer_key\":\"");
	buf_add_hex64(b, key);
	buf_adds(b, "\",\"progress\":");
	conv_progress(c, b);
	buf_adds(b, "}\n");
	while (at < b->len) {
		ssize_t n = write(t->fd, b->data + at, b->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "%s", t->path);
		at += (size_t)n;
	}
	return 0;
}

void turns_close(struct turns_file *t, int done)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->path && done)
		unlink(t->path);
	free(t->path);
	buf_free(&t->line);
	*t = (struct turns_file){.fd = -1};
}
