#include "prep/shape.h"
#include "prep/walk.h"

/* parameters may be a string that holds their schema. */
static void write_member(struct prep_row *r, struct span key, struct span val)
{
	struct buf *b = &r->tools;
	struct span inner;

	if (span_eq(key, "parameters") && *val.p == '"' &&
	    prep_inner_json(r, json_text(val, r->arena, NULL), &inner) && *inner.p == '{')
		val = inner;
	buf_addc(b, '"');
	buf_add(b, key.p, key.n);
	buf_adds(b, "\":");
	prep_add_json(b, val);
}

/* What is looked at of a definition, found in one go. */
struct parts {
	struct span function, name, parameters;
};

static struct parts parts_of(struct span object)
{
	struct parts f = {0};
	struct prep_walk w;
	struct span key, val;

	prep_walk_open(&w, object);
	while (prep_walk_member(&w, &key, &val)) {
		if (span_eq(key, "name"))
			f.name = val;
		else if (span_eq(key, "parameters"))
			f.parameters = val;
		else if (span_eq(key, "function"))
			f.function = *val.p == '{' ? val : (struct span){0};
	}
	return f;
}

static int is_string(struct span v)
{
	return v.n && *v.p == '"';
}

static void write_function(struct prep_row *r, struct span f)
{
	struct buf *b = &r->tools;
	struct prep_walk w;
	struct span key, val;
	int first = 1;

	buf_addc(b, '{');
	prep_walk_open(&w, f);
	while (prep_walk_member(&w, &key, &val)) {
		if (!first)
			buf_addc(b, ',');
		first = 0;
		write_member(r, key, val);
	}
	buf_addc(b, '}');
}

int prep_tool_add(struct prep_row *r, struct span v)
{
	struct buf *list = &r->tools;
	struct parts f;
	int wrapped;

	if (*v.p == '"' && !prep_inner_json(r, json_text(v, r->arena, NULL), &v))
		return 0;
	if (*v.p != '{')
		return 0;
	f = parts_of(v);
	wrapped = f.function.n != 0;
	if (wrapped)
		f = parts_of(f.function);
	else
		f.function = v;
	if (!is_string(f.name))
		return 0;
	buf_adds(list, list->len ? "," : "[");
	if (wrapped && !is_string(f.parameters)) {
		prep_add_json(list, v);
		return 1;
	}
	buf_adds(list, "{\"type\":\"function\",\"function\":");
	if (is_string(f.parameters))
		write_function(r, wrapped ? prep_walk_get(v, "function") : v);
	else
		prep_add_json(list, f.function);
	buf_addc(list, '}');
	return 1;
}

/* Objects one after the other, with blanks or commas between them. As write_list. */
static int write_run(struct prep_row *r, struct span s, size_t *i)
{
	const char *p = s.p, *end = s.p + s.n;

	*i = 0;
	while (p < end) {
		const char *q;
		struct span v;

		if (*p == ',' || prep_blank(*p)) {
			p++;
			continue;
		}
		q = prep_inner_part(r, (struct span){p, (size_t)(end - p)}, &v);
		if (!q || !prep_tool_add(r, v))
			return 0;
		p = q;
		++*i;
	}
	return 1;
}

/* 0: what stands at *i is no definition. */
static int write_list(struct prep_row *r, struct span v, size_t *i)
{
	struct prep_walk w;
	struct span item;

	prep_walk_open(&w, v);
	for (*i = 0; prep_walk_item(&w, &item); ++*i)
		if (!prep_tool_add(r, item))
			return 0;
	return 1;
}

void prep_tools_close(struct prep_row *r, const char *where)
{
	struct buf *list = &r->tools;

	if (!list->len)
		return;
	buf_addc(list, ']');
	prep_note(r, "column \"%s\": tools, %zu bytes", where, list->len);
}

/* In a string: a list, or one object or several. As write_list; *i stays where it is neither. */
static int write_text(struct prep_row *r, struct span text, size_t *i)
{
	struct span v;

	text = prep_walk_trim(text);
	if (!text.n || *text.p == '{')
		return write_run(r, text, i);
	return prep_inner_json(r, text, &v) &&
	       (*v.p == 'n' || (*v.p == '[' && write_list(r, v, i)));
}

int prep_tools(struct prep_row *r, struct span v, const char *where)
{
	size_t i = SIZE_MAX;
	int ok;

	if (*v.p == '"')
		ok = write_text(r, json_text(v, r->arena, NULL), &i);
	else if (*v.p == '[')
		ok = write_list(r, v, &i);
	else
		ok = *v.p == '{' && prep_tool_add(r, v);
	if (ok)
		prep_tools_close(r, where);
	if (!ok && i != SIZE_MAX)
		return err_set(
		    r->e, "type", "%s[%zu]: expected a tool definition that has a name", where, i);
	return ok ? 0
		  : err_set(r->e, "type", "%s: expected tool definitions that have a name", where);
}
