#include <string.h>

#include "base/utf8.h"
#include "io/flow_int.h"

static void add_string(struct buf *to, const char *name, const char *s)
{
	struct buf clean = {0};

	utf8_repair(&clean, s, strlen(s)); /* file names may be anything */
	buf_addf(to, "\"%s\":", name);
	buf_add_json(to, clean.data, clean.len);
	buf_addc(to, ',');
	buf_free(&clean);
}

void reject_end(struct buf *to, const char *program, const struct flow_job *job)
{
	buf_adds(to, "\"reject\":{");
	add_string(to, "program", program);
	add_string(to, "class", job->err.class ? job->err.class : "unknown");
	add_string(to, "reason", job->err.msg);
	add_string(to, "file", job->file);
	buf_adds(to, "\"line\":");
	buf_add_u64(to, job->number);
	if (job->more.len > 0) {
		buf_addc(to, ',');
		buf_add(to, job->more.data, job->more.len);
	}
	buf_adds(to, "}}\n");
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Puts the line without its last '}' into to, ready for one more member. The line is an object:
 * what stands before the brace is '{', of the empty object, or the end of a value. */
static void open_object(struct buf *to, struct span line)
{
	size_t n = line.n;

	while (n > 0 && line.p[n - 1] != '}')
		n--;
	if (n > 0)
		n--;
	buf_add(to, line.p, n);
	while (n > 0 && is_blank(line.p[n - 1]))
		n--;
	if (n > 0 && line.p[n - 1] != '{')
		buf_addc(to, ',');
}

void reject_text(struct buf *to, const char *program, const struct flow_job *job)
{
	struct span line = job->line;
	int utf8 = utf8_valid(line.p, line.n) == line.n;

	if (utf8 && job->object) {
		open_object(to, line);
	} else if (utf8) {
		buf_adds(to, "{\"raw\":");
		buf_add_json(to, line.p, line.n);
		buf_addc(to, ',');
	} else {
		buf_adds(to, "{\"raw_base64\":\"");
		buf_add_base64(to, line.p, line.n);
		buf_adds(to, "\",");
	}
	reject_end(to, program, job);
}
