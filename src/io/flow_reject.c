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

/* Where the member of an object that begins at p[i] ends: at a comma of the object's own, or at its
 * closing brace. One of them comes, since the line is one whole object. */
static size_t member_end(struct span line, size_t i)
{
	int depth = 0, quoted = 0;

	for (; i < line.n; i++) {
		char c = line.p[i];

		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && depth == 0 && (c == ',' || c == '}'))
			break;
		else if (!quoted)
			depth += (c == '{' || c == '[') - (c == '}' || c == ']');
	}
	return i;
}

/* Behind the token that stands at p, maybe behind blanks, or NULL. */
static const char *past(const char *p, const char *end, const char *token)
{
	size_t n = strlen(token);

	while (p < end && is_blank(*p))
		p++;
	return (size_t)(end - p) >= n && memcmp(p, token, n) == 0 ? p + n : NULL;
}

int flow_is_reject(struct span v)
{
	const char *p = v.n > 0 ? past(v.p, v.p + v.n, "{") : NULL;

	return p && past(p, v.p + v.n, "\"program\"");
}

/* Whether the member from p to end is such a one. */
static int is_ours(const char *p, const char *end)
{
	p = past(p, end, "\"reject\"");
	p = p ? past(p, end, ":") : NULL;
	return p && flow_is_reject((struct span){p, (size_t)(end - p)});
}

/* Puts the object into to, ready for one more member: without its last '}', and without the reject
 * member that it has from a run that rejected it before. All other bytes stay. */
static void open_object(struct buf *to, struct span line)
{
	size_t i = 0, end = 0, kept = 0;

	while (line.p[i++] != '{')
		;
	buf_add(to, line.p, i);
	for (; end == 0 || line.p[end] == ','; i = end + 1) {
		size_t key = i;

		end = member_end(line, i);
		while (is_blank(line.p[key]))
			key++;
		if (is_ours(line.p + key, line.p + end))
			continue;
		if (kept > 0)
			buf_addc(to, ',');
		buf_add(to, line.p + i, end - i);
		kept += end > key;
	}
	if (kept > 0)
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
