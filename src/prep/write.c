#include <string.h>

#include "prep/dataset.h"
#include "prep/row.h"

/* ---- the record ---- */

static void write_text(struct buf *b, const char *name, const struct prep_text *t)
{
	buf_adds(b, name);
	prep_text_write(b, t);
}

static void write_message(struct prep_row *r, struct buf *b, const struct prep_msg *m)
{
	buf_adds(b, "{\"role\":\"");
	buf_adds(b, prep_role_name(m->role));
	write_text(b, "\",\"content\":", &m->content);
	/* beside calls also an empty one: hosted APIs of thinking models refuse calls without */
	if (prep_text_some(&m->reasoning) || (m->ncalls && prep_text_given(&m->reasoning)))
		write_text(b, ",\"reasoning_content\":", &m->reasoning);
	if (m->ncalls) {
		struct span calls = prep_calls_of(r, m);

		buf_adds(b, ",\"tool_calls\":[");
		buf_add(b, calls.p, calls.n);
		buf_addc(b, ']');
	}
	if (prep_text_some(&m->id))
		write_text(b, ",\"tool_call_id\":", &m->id);
	if (prep_text_some(&m->name))
		write_text(b, ",\"name\":", &m->name);
	if (m->role == PREP_ASSISTANT)
		buf_adds(b, r->rules->native && !m->untrained ? ",\"weight\":1" : ",\"weight\":0");
	buf_addc(b, '}');
}

/* Whether s is a number as JSON spells it. */
static int is_number(struct span s)
{
	struct span v;

	return s.n && (*s.p == '-' || (*s.p >= '0' && *s.p <= '9')) && json_whole(s, &v, NULL) &&
	       v.n == s.n;
}

/* The value with its one type, or null. */
static void write_meta_value(
    struct prep_row *r, struct buf *b, struct span v, enum prep_meta_type type)
{
	struct span s = v.p && *v.p == '"' ? json_text(v, r->arena, NULL) : v;
	int is_string = v.p && *v.p == '"', ok = 0;

	if (!span_is_null(v) && type == PREP_META_STR) {
		if (is_string)
			buf_add(b, v.p, v.n);
		else
			buf_add_json(b, v.p, v.n);
		return;
	}
	if (!span_is_null(v) && type == PREP_META_NUM)
		ok = is_number(s);
	else if (!span_is_null(v))
		ok = span_eq(s, "true") || span_eq(s, "false");
	if (ok)
		buf_add(b, s.p, s.n);
	else
		buf_adds(b, "null");
}

/* The id that a row of an unknown set has. */
static void write_any_id(struct prep_row *r, struct buf *b)
{
	static const char *const ids[] = {"id", "uuid", "prompt_id", "instance_id",
	    "conversation_id", "conversation_hash", "traj_id", NULL};
	const char *name;

	buf_adds(b, ",\"meta\":{\"id\":");
	write_meta_value(r, b, prep_column(&r->rec, ids, &name), PREP_META_STR);
	buf_addc(b, '}');
}

static void write_meta(struct prep_row *r, struct buf *b)
{
	const struct prep_meta *m = r->rules->dataset->meta;

	if (!r->rules->dataset->name)
		write_any_id(r, b);
	if (!m->column)
		return;
	buf_adds(b, ",\"meta\":{");
	for (const struct prep_meta *at = m; at->column; at++) {
		buf_adds(b, at > m ? ",\"" : "\"");
		buf_adds(b, at->column);
		buf_adds(b, "\":");
		write_meta_value(r, b, rec_get(&r->rec, at->column), at->type);
	}
	buf_addc(b, '}');
}

/* The row's switches for the template; p NULL: none. */
static struct span kwargs_of(const struct prep_row *r)
{
	struct span v = rec_get(&r->rec, "chat_template_kwargs");

	return v.p && *v.p == '{' ? v : (struct span){0};
}

static void write_kept(struct prep_row *r, struct buf *b)
{
	const struct opt_list *keep = &r->rules->keep;
	struct span kwargs = kwargs_of(r);

	if (kwargs.p) {
		buf_adds(b, ",\"chat_template_kwargs\":");
		buf_add(b, kwargs.p, kwargs.n);
	}
	write_meta(r, b);
	for (size_t i = 0; i < keep->n; i++) {
		struct span v = rec_get(&r->rec, keep->v[i]);

		if (!v.p)
			continue;
		buf_addc(b, ',');
		buf_add_json(b, keep->v[i], strlen(keep->v[i]));
		buf_addc(b, ':');
		buf_add(b, v.p, v.n);
	}
}

/* How many messages are written. */
static size_t written(const struct prep_row *r)
{
	size_t n = r->conv.n;

	while (r->rules->drop_answer && r->conv.msg[n - 1].role == PREP_ASSISTANT)
		n--;
	return n;
}

void prep_row_write(struct prep_row *r, struct span id, struct buf *b)
{
	const struct prep_conv *c = &r->conv;
	size_t n = written(r);

	buf_adds(b, "{\"id\":");
	buf_add_json(b, id.p, id.n);
	buf_adds(b, ",\"dataset\":");
	buf_add_json(b, r->rules->name, strlen(r->rules->name));
	buf_adds(b, ",\"messages\":[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addc(b, ',');
		write_message(r, b, &c->msg[i]);
	}
	buf_addc(b, ']');
	if (r->tools.len) {
		buf_adds(b, ",\"tools\":");
		buf_add(b, r->tools.data, r->tools.len);
	}
	write_kept(r, b);
	buf_adds(b, "}\n");
}

/* ---- fingerprints ---- */

/* With its length, so that "a" and "bc" are not "ab" and "c". */
static void frame(struct buf *b, struct span s)
{
	uint64_t n = s.n;

	buf_add(b, &n, sizeof(n));
	buf_add(b, s.p, s.n);
}

static void frame_text(struct buf *b, const struct prep_text *t)
{
	size_t at = b->len;
	uint64_t n = 0;

	buf_add(b, &n, sizeof(n));
	prep_text_add(b, t);
	n = b->len - at - sizeof(n);
	memcpy(b->data + at, &n, sizeof(n));
}

static void frame_message(const struct prep_row *r, struct buf *b, const struct prep_msg *m)
{
	buf_addc(b, (char)m->role);
	frame_text(b, &m->content);
	frame_text(b, &m->reasoning);
	frame(b, prep_calls_of(r, m));
	frame_text(b, &m->name);
}

/* What a server sees of a conversation beside its messages. */
static void frame_head(const struct prep_row *r, struct buf *b)
{
	struct span kwargs = kwargs_of(r);

	buf_reset(b);
	frame(b, (struct span){r->tools.data, r->tools.len});
	if (kwargs.p)
		frame(b, kwargs);
}

struct hash128 prep_row_conv_hash(struct prep_row *r)
{
	struct buf *b = &r->hash;

	frame_head(r, b);
	for (size_t i = 0; i < r->conv.n; i++)
		frame_message(r, b, &r->conv.msg[i]);
	return hash128(b->data, b->len);
}

struct hash128 prep_row_prompt_hash(struct prep_row *r)
{
	const struct prep_msg *m = r->conv.msg;
	struct buf *b = &r->hash;

	frame_head(r, b);
	frame_message(r, b, m);
	if (m->role == PREP_SYSTEM)
		frame_message(r, b, m + 1);
	return hash128(b->data, b->len);
}
