#include "json/doc.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "io/in.h"

int doc_slurp(struct buf *b, const char *path, size_t max, struct err *e)
{
	struct in *in;
	ssize_t got = 0;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return err_set(e, "missing", "%s: there is no such file", path);
	in = in_open(path, e);
	if (!in)
		return -1;
	while (b->len <= max) {
		char *to = buf_room(b, 1 << 16);

		got = in_read(in, to, 1 << 16, e);
		if (got <= 0)
			break;
		b->len += (size_t)got;
	}
	in_close(in);
	if (got < 0)
		return -1;
	if (b->len > max)
		return err_set(e, "long", "%s: more than %zu bytes", path, max);
	return 0;
}

json_t *doc_parse(const char *p, size_t n, const char *name, struct err *e)
{
	json_error_t why;
	json_t *j = json_loadb(p, n, JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);

	if (!j)
		err_set(e, "json", "%s:%d: %s", name, why.line, why.text);
	return j;
}

json_t *doc_load(const char *path, struct err *e)
{
	struct buf b = {0};
	json_t *j = NULL;

	if (doc_slurp(&b, path, DOC_MAX, e) == 0)
		j = doc_parse(b.len ? b.data : "", b.len, path, e);
	buf_free(&b);
	return j;
}

static int add_text(const char *p, size_t n, void *out)
{
	buf_add(out, p, n);
	return 0;
}

void doc_write(struct buf *out, const json_t *j)
{
	json_dump_callback(j, add_text, out, JSON_COMPACT | JSON_ENCODE_ANY);
}
