#include "json/doc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "io/in.h"

int doc_slurp(struct buf *b, const char *path, size_t max, struct err *e)
{
	struct in *in;
	struct stat st;
	ssize_t got = 0;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return err_set(e, "missing", "%s: there is no such file", path);
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
		return err_set(e, "long", "%s: more than %zu bytes", path, max);
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

/* Spells integers of 19 digits and more as reals. */
static void respell_big(struct buf *out, const char *p, size_t n)
{
	int quoted = 0;

	for (size_t i = 0, end; i < n; i = end) {
		int plain = !quoted && (i == 0 || !strchr(".eE+", p[i - 1]));

		for (end = i; end < n && p[end] >= '0' && p[end] <= '9'; end++)
			continue;
		if (end > i) {
			buf_add(out, p + i, end - i);
			if (plain && end - i >= 19 && !(end < n && strchr(".eE", p[end])))
				buf_adds(out, "e0");
			continue;
		}
		end = i + (quoted && p[i] == '\\' && i + 1 < n ? 2 : 1);
		quoted ^= p[i] == '"';
		buf_add(out, p + i, end - i);
	}
}

json_t *doc_parse(const char *p, size_t n, const char *name, struct err *e)
{
	size_t flags = JSON_ALLOW_NUL | JSON_DECODE_ANY;
	json_error_t why;
	json_t *j = json_loadb(p, n, flags, &why);

	if (!j && json_error_code(&why) == json_error_numeric_overflow) {
		struct buf respelled = {0};

		respell_big(&respelled, p, n);
		j = json_loadb(respelled.data, respelled.len, flags, &why);
		buf_free(&respelled);
	}
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
