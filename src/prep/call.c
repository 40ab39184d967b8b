#include <string.h>

#include "base/mem.h"
#include "prep/shape.h"
#include "prep/walk.h"

/* One call, taken apart. The arguments are spans of JSON text (args), or text that is not JSON and
 * stays what it is (raw). */
struct call {
	struct prep_text id, name;
	struct span args;
	struct prep_text raw;
};

static int is_object(struct span v)
{
	return v.n && *v.p == '{';
}

static void keep_raw(struct prep_row *r, struct prep_text raw, struct call *c)
{
	c->raw = raw;
	prep_count(r, PREP_ARGS, 1);
	prep_note(r, "arguments that are no JSON object stay as they are (args)");
}

/* From a value that is valid JSON. A string is read once more, and a string inside it too. */
static void read_args(struct prep_row *r, struct span v, struct call *c)
{
	struct prep_text raw;
	struct span inner;

	if (span_is_null(v)) {
		c->args = SPAN("{}");
		return;
	}
	if (is_object(v)) {
		c->args = v;
		return;
	}
	raw = *v.p == '"' ? prep_text_of(v) : prep_text_plain(v);
	if (*v.p == '"' && prep_inner_json(r, prep_text_decode(&raw, r->arena), &inner)) {
		if (is_object(inner)) {
			c->args = inner;
			return;
		}
		if (*inner.p == '"' &&
		    prep_inner_json(r, json_text(inner, r->arena, NULL), &inner) &&
		    is_object(inner)) {
			prep_count(r, PREP_DOUBLE, 1);
			prep_note(r, "arguments were encoded twice (double-encoded)");
			c->args = inner;
			return;
		}
	}
	keep_raw(r, raw, c);
}

static void wait_for(struct prep_row *r, const struct call *c)
{
	struct prep_conv *v = &r->conv;

	v->wait = xgrow(v->wait, &v->wait_cap, v->nwait + 1, sizeof(*v->wait));
	v->wait[v->nwait++] = (struct prep_pending){c->id, c->name, 0};
}

/* The form of ids that Kimi's models are trained with; other models take any. */
static void make_id(struct prep_row *r, struct call *c)
{
	struct buf *b = &r->text;

	buf_reset(b);
	buf_adds(b, "functions.");
	prep_text_add(b, &c->name);
	buf_addc(b, ':');
	buf_add_u64(b, r->conv.ncalls);
	c->id = prep_text_plain((struct span){arena_dup(r->arena, b->data, b->len), b->len});
}

static void write_args(struct prep_row *r, struct buf *b, const struct call *c)
{
	if (!c->args.p)
		prep_text_write(b, &c->raw);
	else if (r->rules->args_object)
		prep_add_json(b, c->args);
	else
		buf_add_json(b, c->args.p, c->args.n);
}

static void add_call(struct prep_row *r, struct prep_msg *m, struct call *c)
{
	struct buf *b = &r->calls;

	if (!prep_text_some(&c->id))
		make_id(r, c);
	r->conv.ncalls++;
	wait_for(r, c);
	buf_addc(b, ',');
	if (!m->ncalls)
		m->calls = b->len;
	buf_adds(b, "{\"id\":");
	prep_text_write(b, &c->id);
	buf_adds(b, ",\"type\":\"function\",\"function\":{\"name\":");
	prep_text_write(b, &c->name);
	buf_adds(b, ",\"arguments\":");
	write_args(r, b, c);
	buf_adds(b, "}}");
	m->ncalls = b->len - m->calls;
}

/* Under the names of OpenAI, xlam, LangChain and Anthropic. */
static struct span args_of(struct span call)
{
	static const char *const names[] = {"arguments", "parameters", "args", "input"};
	struct span v = {0};

	for (size_t i = 0; span_is_null(v) && i < sizeof(names) / sizeof(names[0]); i++)
		v = prep_walk_get(call, names[i]);
	return v;
}

int prep_call(struct prep_row *r, struct span object, struct prep_msg *m)
{
	struct span id = prep_walk_get(object, "id"), f = prep_walk_get(object, "function"), name;
	struct call c = {0};

	if (!is_object(f))
		f = object;
	name = prep_walk_get(f, "name");
	if (!name.n || *name.p != '"' || name.n == 2)
		return 0;
	c.name = prep_text_of(name);
	if (id.n && *id.p == '"')
		c.id = prep_text_of(id);
	read_args(r, args_of(f), &c);
	add_call(r, m, &c);
	return 1;
}

/* The elements of a list of calls; 0: the one at *i has no name. */
static int call_list(struct prep_row *r, struct span list, struct prep_msg *m, size_t *i)
{
	struct prep_walk w;
	struct span item;

	prep_walk_open(&w, list);
	for (*i = 0; prep_walk_item(&w, &item); ++*i)
		if (!is_object(item) || !prep_call(r, item, m))
			return 0;
	return 1;
}

int prep_calls(struct prep_row *r, struct span v, struct prep_msg *m, const char *where)
{
	size_t i;

	if (*v.p == '"') {
		struct span text = prep_walk_trim(json_text(v, r->arena, NULL));

		if (!text.n)
			return 0;
		if (!prep_inner_json(r, text, &v))
			return err_set(r->e, "type", "%s: a string that holds no JSON", where);
	}
	if (span_is_null(v))
		return 0;
	if (*v.p == '{')
		return prep_call(r, v, m)
			   ? 0
			   : err_set(r->e, "type", "%s: a call without a name", where);
	if (*v.p != '[')
		return err_set(
		    r->e, "type", "%s: expected a list of calls, not %s", where, json_kind(v));
	if (!call_list(r, v, m, &i))
		return err_set(r->e, "type", "%s[%zu]: a call without a name", where, i);
	return 0;
}

/* ---- calls as text ---- */

/* JSON in single quotes: up to the last quote that only blanks, '}' and blanks follow. s begins
 * behind the opening quote. */
static struct span quoted(struct span s)
{
	s = prep_walk_trim_end(s);
	if (s.n && s.p[s.n - 1] == '}')
		s = prep_walk_trim_end((struct span){s.p, s.n - 1});
	if (s.n && s.p[s.n - 1] == '\'')
		return (struct span){s.p, s.n - 1};
	return (struct span){0};
}

static struct span without_escaped_quotes(struct prep_row *r, struct span s)
{
	char *copy = arena_alloc(r->arena, s.n);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\\' || i + 1 == s.n || s.p[i + 1] != '\'')
			copy[n++] = s.p[i];
	return (struct span){copy, n};
}

static void read_quoted(struct prep_row *r, struct span rest, struct call *c)
{
	struct span inner = quoted(rest), v;

	if (inner.p && prep_inner_json(r, inner, &v) && is_object(v)) {
		c->args = v;
		return;
	}
	if (inner.p && prep_inner_json(r, without_escaped_quotes(r, inner), &v) && is_object(v)) {
		c->args = v;
		return;
	}
	keep_raw(r, prep_text_plain(inner.p ? inner : rest), c);
}

/* The value of a member: valid JSON, or else what is left of the text. */
static const char *read_loose(struct prep_row *r, const char *p, const char *end, struct call *c)
{
	const char *q = prep_walk_skip(p, end);
	struct span v;

	if (q && prep_inner_json(r, (struct span){p, (size_t)(q - p)}, &v)) {
		read_args(r, v, c);
		return q;
	}
	keep_raw(r, prep_text_plain((struct span){p, (size_t)(end - p)}), c);
	return end;
}

static const char *pass(const char *p, const char *end, const char *set)
{
	while (p < end && *p && strchr(set, *p))
		p++;
	return p;
}

/* The value at p of the member `key`; returns what is behind it, NULL where it can't be read. */
static const char *loose_member(
    struct prep_row *r, struct span key, const char *p, const char *end, struct call *c)
{
	const char *q;
	struct span v;

	if (span_eq(key, "\"arguments\"") || span_eq(key, "\"parameters\"")) {
		if (*p != '\'')
			return read_loose(r, p, end, c);
		read_quoted(r, (struct span){p + 1, (size_t)(end - p) - 1}, c);
		return end;
	}
	q = prep_walk_skip(p, end);
	if (!q)
		return NULL;
	v = (struct span){p, (size_t)(q - p)};
	if (span_eq(key, "\"name\"") && *p == '"' && prep_inner_json(r, v, &v) && v.n > 2)
		c->name = prep_text_of(v);
	return q;
}

/* {"name": "f", "arguments": '{"x": 1}'}: member by member, the last one may be cut. */
static int loose_call(struct prep_row *r, struct span s, struct prep_msg *m)
{
	static const char between[] = " \t\r\n,";
	const char *p = s.p + 1, *end = s.p + s.n;
	struct call c = {0};

	while ((p = pass(p, end, between)) < end && *p == '"') {
		const char *q = prep_walk_skip(p, end);
		struct span key;

		if (!q)
			break;
		key = (struct span){p, (size_t)(q - p)};
		p = pass(q, end, " \t\r\n:");
		if (p == end)
			break;
		p = loose_member(r, key, p, end, &c);
		if (!p)
			break;
	}
	if (!prep_text_some(&c.name))
		return 0;
	if (!c.args.p && !prep_text_given(&c.raw))
		c.args = SPAN("{}");
	add_call(r, m, &c);
	return 1;
}

struct prep_mark prep_mark_calls(const struct prep_row *r, const struct prep_msg *m)
{
	struct prep_mark now = {m->calls, m->ncalls, r->calls.len, r->conv.ncalls, r->conv.nwait,
	    r->trace ? r->trace->len : 0, {0}};

	memcpy(now.count, r->count, sizeof(now.count));
	return now;
}

void prep_undo_calls(struct prep_row *r, struct prep_msg *m, const struct prep_mark *to)
{
	m->calls = to->at;
	m->ncalls = to->n;
	r->calls.len = to->len;
	r->conv.ncalls = to->all;
	r->conv.nwait = to->nwait;
	memcpy(r->count, to->count, sizeof(r->count));
	if (r->trace)
		r->trace->len = to->trace;
}

int prep_call_text(struct prep_row *r, struct span text, struct prep_msg *m)
{
	const struct prep_mark before = prep_mark_calls(r, m);
	struct span v;
	size_t i;
	int ok;

	text = prep_walk_trim(text);
	if (!prep_inner_json(r, text, &v))
		ok = is_object(text) && loose_call(r, text, m);
	else if (is_object(v))
		ok = prep_call(r, v, m);
	else
		ok = *v.p == '[' && v.n > 2 && call_list(r, v, m, &i);
	if (!ok)
		prep_undo_calls(r, m, &before);
	return ok;
}
