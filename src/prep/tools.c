#include "prep/shape.h"
#include "prep/walk.h"

/* parameters may be a string that holds their schema. */
static void write_member(struct prep_row *r, struct buf *b, struct span key, struct span val)
{
	struct span inner;

	if (span_eq(key, "parameters") && *val.p == '"' &&
	    prep_inner_json(r, prep_text_of(val, r->arena).text, &inner) && *inner.p == '{')
		val = inner;
	buf_addc(b, '"');
	buf_add(b, key.p, key.n);
	buf_adds(b, "\":");
	prep_add_json(b, val);
}

static int string_parameters(struct span object)
{
	struct span v = prep_walk_get(object, "parameters");

	return v.n && *v.p == '"';
}

static void write_function(struct prep_row *r, struct buf *b, struct span f)
{
	struct prep_walk w;
	struct span key, val;
	int first = 1;

	if (!string_parameters(f)) {
		prep_add_json(b, f);
		return;
	}
	buf_addc(b, '{');
	prep_walk_open(&w, f);
	while (prep_walk_member(&w, &key, &val)) {
		if (!first)
			buf_addc(b, ',');
		first = 0;
		write_member(r, b, key, val);
	}
	buf_addc(b, '}');
}

/* One definition, as it is or in its wrapper; 0 where it has no name. */
static int write_tool(struct prep_row *r, struct buf *b, struct span v)
{
	struct span f, name;

	if (*v.p == '"' && !prep_inner_json(r, prep_text_of(v, r->arena).text, &v))
		return 0;
	if (*v.p != '{')
		return 0;
	f = prep_walk_get(v, "function");
	name = prep_walk_get(f.n && *f.p == '{' ? f : v, "name");
	if (!name.n || *name.p != '"')
		return 0;
	if (b->len > 1)
		buf_addc(b, ',');
	if (f.n && *f.p == '{' && !string_parameters(f)) {
		prep_add_json(b, v);
		return 1;
	}
	buf_adds(b, "{\"type\":\"function\",\"function\":");
	write_function(r, b, f.n && *f.p == '{' ? f : v);
	buf_addc(b, '}');
	return 1;
}

/* Objects one after the other, with blanks or commas between them. */
static int write_run(struct prep_row *r, struct buf *b, struct span s)
{
	const char *p = s.p, *end = s.p + s.n;

	while (p < end) {
		const char *q;
		struct span v;

		if (*p == ',' || *p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') {
			p++;
			continue;
		}
		q = prep_walk_skip(p, end);
		if (!q || !prep_inner_json(r, (struct span){p, (size_t)(q - p)}, &v) ||
		    !write_tool(r, b, v))
			return 0;
		p = q;
	}
	return 1;
}

static int write_list(struct prep_row *r, struct buf *b, struct span v)
{
	struct prep_walk w;
	struct span item;

	prep_walk_open(&w, v);
	while (prep_walk_item(&w, &item))
		if (!write_tool(r, b, item))
			return 0;
	return 1;
}

static int set_tools(struct prep_row *r, struct buf *b, int ok, const char *where)
{
	buf_addc(b, ']');
	if (ok && b->len > 2) {
		r->conv.tools = (struct span){arena_dup(r->arena, b->data, b->len), b->len};
		prep_note(r, "column \"%s\": tools, %zu bytes", where, b->len);
	}
	buf_free(b);
	return ok ? 0
		  : err_set(r->e, "type", "%s: expected tool definitions that have a name", where);
}

int prep_tools_text(struct prep_row *r, struct span text, const char *where)
{
	struct buf b = {0};
	struct span v;
	int ok;

	text = prep_walk_trim(text);
	buf_addc(&b, '[');
	if (!text.n || *text.p == '{')
		ok = write_run(r, &b, text);
	else
		ok = prep_inner_json(r, text, &v) &&
		     (*v.p == 'n' || (*v.p == '[' && write_list(r, &b, v)));
	return set_tools(r, &b, ok, where);
}

int prep_tools(struct prep_row *r, struct span v, const char *where)
{
	struct buf b = {0};
	int ok;

	if (*v.p == '"')
		return prep_tools_text(r, prep_text_of(v, r->arena).text, where);
	buf_addc(&b, '[');
	ok = *v.p == '[' ? write_list(r, &b, v) : *v.p == '{' && write_tool(r, &b, v);
	return set_tools(r, &b, ok, where);
}
