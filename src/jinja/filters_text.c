/* Filters that make strings of strings. They take any value, by its str(). */
#include <string.h>

#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/strops.h"
#include "jinja/text.h"
#include "jinja/utable.h"

static int do_string(struct rt *rt, const struct call *c, struct value *out)
{
	return text_str(rt, c->self, out);
}

static int do_safe(struct rt *rt, const struct call *c, struct value *out)
{
	if (text_str(rt, c->self, out) < 0)
		return -1;
	out->flags |= STR_SAFE;
	return 0;
}

static int do_escape(struct rt *rt, const struct call *c, struct value *out)
{
	struct value s;

	return text_str(rt, c->self, &s) < 0 ? -1 : text_escape(rt, &s, out);
}

static int do_trim(struct rt *rt, const struct call *c, struct value *out)
{
	struct value s, chars;

	if (text_str(rt, c->self, &s) < 0 || (arg_given(c, 0) && arg_str(rt, c, 0, &chars) < 0))
		return -1;
	return str_strip(rt, &s, arg_given(c, 0) ? &chars : NULL, STRIP_BOTH, out);
}

static int with_case(struct rt *rt, const struct call *c, enum str_case to, struct value *out)
{
	struct value s;

	return text_str(rt, c->self, &s) < 0 ? -1 : str_case(rt, &s, to, out);
}

static int do_lower(struct rt *rt, const struct call *c, struct value *out)
{
	return with_case(rt, c, CASE_LOWER, out);
}

static int do_upper(struct rt *rt, const struct call *c, struct value *out)
{
	return with_case(rt, c, CASE_UPPER, out);
}

static int do_capitalize(struct rt *rt, const struct call *c, struct value *out)
{
	return with_case(rt, c, CASE_CAPITALIZE, out);
}

/* Jinja2's words begin behind white space and -({[<. */
static int begins_word(uint32_t cp)
{
	return text_is_space(cp) || (cp < 0x80 && strchr("-({[<", (int)cp) && cp != 0);
}

static int do_title(struct rt *rt, const struct call *c, struct value *out)
{
	struct value s, word, mapped;
	size_t from = 0;
	struct text t;

	if (text_str(rt, c->self, &s) < 0)
		return -1;
	text_begin(&t, rt, s.u.s.n);
	while (from < s.u.s.n && !t.bad) {
		size_t at = from, first = utf8_len(s.u.s.p + from, s.u.s.n - from);
		uint32_t cp = 0;
		size_t len = utf8_decode(s.u.s.p + at, s.u.s.n - at, &cp);
		int gap = begins_word(cp);

		while (at < s.u.s.n) {
			len = utf8_decode(s.u.s.p + at, s.u.s.n - at, &cp);
			if (begins_word(cp) != gap)
				break;
			at += len ? len : 1;
		}
		text_slice(&s, from, first, &word);
		if (str_case(rt, &word, CASE_UPPER, &mapped) < 0)
			return -1;
		text_addv(&t, &mapped);
		text_slice(&s, from + first, at - from - first, &word);
		if (str_case(rt, &word, CASE_LOWER, &mapped) < 0)
			return -1;
		text_addv(&t, &mapped);
		from = at;
	}
	return text_end(&t, out);
}

static int do_replace(struct rt *rt, const struct call *c, struct value *out)
{
	struct str_replacement r = {.count = -1};
	struct value s;

	if (text_str(rt, c->self, &s) < 0 || text_str(rt, &c->arg[0], &r.old) < 0 ||
	    text_str(rt, &c->arg[1], &r.new) < 0 ||
	    (arg_given(c, 2) && arg_int(rt, c, 2, -1, &r.count) < 0) ||
	    str_replace(rt, &s, &r, out) < 0)
		return -1;
	out->flags &= (uint8_t)~STR_SAFE;
	return 0;
}

static int do_join(struct rt *rt, const struct call *c, struct value *out)
{
	struct value sep, items = *c->self, v, part;
	int more;

	value_str(&sep, "", 0);
	if (c->arg[0].kind != V_MISSING && text_str(rt, &c->arg[0], &sep) < 0)
		return -1;
	if (arg_given(c, 1)) {
		struct iter mem, *it;
		struct value all;

		if (iter_list(rt, c->self, V_LIST, &all) < 0)
			return -1;
		it = iter_open(rt, &all, &mem);
		for (size_t i = 0; (more = iter_next(rt, it, &v)) > 0; i++) {
			if (attr_path(rt, &v, &c->arg[1], &part) < 0)
				return -1;
			all.u.list->v[i] = part;
		}
		items = all;
	}
	return str_join(rt, &sep, &items, 1, out);
}

static int do_indent(struct rt *rt, const struct call *c, struct value *out)
{
	int first = arg_truth(rt, c, 1, 0), blank = arg_truth(rt, c, 2, 0);
	struct value lines, width, s, newline = STR_LITERAL("\n");
	int64_t n = 4;
	struct text t;

	if (c->self->kind == V_UNDEF)
		return value_fail_undef(rt, c->self);
	if (c->self->kind != V_STR)
		return rt_fail(
		    rt, "indent needs a string, not a value of type '%s'", value_type(c->self));
	if (c->arg[0].kind == V_STR) {
		width = c->arg[0];
	} else {
		if (arg_int(rt, c, 0, 4, &n) < 0 || rt_room(rt, n > 0 ? (size_t)n : 0, 1) < 0)
			return -1;
		text_begin(&t, rt, 16);
		for (; n > 0 && !t.bad; n--)
			text_puts(&t, " ");
		if (text_end(&t, &width) < 0)
			return -1;
	}
	if (text_concat(rt, c->self, &newline, &s) < 0 || str_lines(rt, &s, 0, &lines) < 0)
		return -1;
	text_begin(&t, rt, s.u.s.n * 2);
	if (first)
		text_addv(&t, &width);
	for (size_t i = 0; i < lines.u.list->n && !t.bad; i++) {
		const struct value *line = &lines.u.list->v[i];

		if (i > 0)
			text_puts(&t, "\n");
		if (i > 0 && (blank || line->u.s.n > 0))
			text_addv(&t, &width);
		text_addv(&t, line);
	}
	return text_end(&t, out);
}

static int do_format(struct rt *rt, const struct call *c, struct value *out)
{
	const struct args *a = c->raw;
	struct value s, all;

	if (text_str(rt, c->self, &s) < 0)
		return -1;
	if (a->n > 0 && a->nkw > 0)
		return rt_fail(rt, "format takes arguments by position or by name, not both");
	if (a->nkw > 0) {
		all = (struct value){.kind = V_DICT, .u.dict = dict_new(rt, a->nkw)};
		for (size_t i = 0; i < a->nkw; i++) {
			struct value name;

			value_str(&name, a->kw[i].name.p, a->kw[i].name.n);
			if (dict_set(rt, all.u.dict, &name, &a->kw[i].v) < 0)
				return -1;
		}
	} else {
		struct value *v = value_list(rt, V_TUPLE, a->n, &all);

		memcpy(v, a->v, a->n * sizeof(*v));
	}
	return format_percent(rt, &s, &all, out);
}

static int do_center(struct rt *rt, const struct call *c, struct value *out)
{
	struct value s;
	int64_t width;
	size_t n, pad, left;
	struct text t;

	if (text_str(rt, c->self, &s) < 0 || arg_int(rt, c, 0, 80, &width) < 0 ||
	    value_len(rt, &s, &n) < 0)
		return -1;
	pad = width > 0 && (size_t)width > n ? (size_t)width - n : 0;
	if (rt_room(rt, pad, 1) < 0)
		return -1;
	left = pad / 2 + (pad & (size_t)width & 1);
	text_begin(&t, rt, s.u.s.n + pad);
	for (size_t i = 0; i < left && !t.bad; i++)
		text_puts(&t, " ");
	text_addv(&t, &s);
	for (size_t i = left; i < pad && !t.bad; i++)
		text_puts(&t, " ");
	return text_end(&t, out);
}

const struct callable filters_text[] = {
    {"string", do_string, "", 0},
    {"safe", do_safe, "", 0},
    {"e", do_escape, "", 0},
    {"escape", do_escape, "", 0},
    {"trim", do_trim, "chars", 0},
    {"lower", do_lower, "", 0},
    {"upper", do_upper, "", 0},
    {"capitalize", do_capitalize, "", 0},
    {"title", do_title, "", 0},
    {"replace", do_replace, "old,new,count", 2},
    {"join", do_join, "d,attribute", 0},
    {"indent", do_indent, "width,first,blank", 0},
    {"format", do_format, NULL, 0},
    {"center", do_center, "width", 0},
    {"tojson", tojson, "ensure_ascii,indent,separators,sort_keys", 0},
    {0},
};
