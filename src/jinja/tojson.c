/* tojson: Python's json.dumps(x, ensure_ascii=False, indent=None, separators=None,
 * sort_keys=False), the way transformers replaces Jinja2's own. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/text.h"

struct dump {
	struct text t;
	struct rt *rt;
	int ascii, sort, lines; /* lines: with an indent, which may be empty */
	struct value indent, item, key;
	unsigned level;
};

static int dump_any(struct dump *d, const struct value *v);

/* The escape of a character, at out; its length. */
static size_t escape(uint32_t cp, char *out)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *which = cp < 0x80 && cp ? strchr(from, (int)cp) : NULL;

	if (which) {
		out[0] = '\\';
		out[1] = to[which - from];
		return 2;
	}
	if (cp < 0x10000)
		return (size_t)snprintf(out, 16, "\\u%04x", (unsigned)cp);
	return (size_t)snprintf(out, 16, "\\u%04x\\u%04x",
	    (unsigned)(0xd800 + ((cp - 0x10000) >> 10)), (unsigned)(0xdc00 + (cp & 0x3ff)));
}

static int is_plain(const struct dump *d, unsigned char c)
{
	return c >= 0x20 && c != '"' && c != '\\' && (c < 0x7f || !d->ascii);
}

static void dump_piece(struct dump *d, const struct text_piece *pc)
{
	char buf[512];
	size_t n = 0;

	for (size_t i = 0; i < pc->n;) {
		size_t len = 1;
		uint32_t cp = 0;

		if (is_plain(d, (unsigned char)pc->p[i])) {
			buf[n++] = pc->p[i];
		} else {
			len = utf8_decode(pc->p + i, pc->n - i, &cp);
			n += escape(cp, buf + n);
		}
		i += len ? len : 1;
		if (n > sizeof(buf) - 20 || i >= pc->n) {
			text_add(&d->t, buf, n, pc->origin);
			n = 0;
		}
	}
}

static void dump_str(struct dump *d, const struct value *s)
{
	struct text_piece pc;

	text_puts(&d->t, "\"");
	for (size_t at = 0; text_piece(s, at, &pc); at += pc.n)
		dump_piece(d, &pc);
	text_puts(&d->t, "\"");
}

static void dump_float(struct dump *d, double x)
{
	char s[32];

	if (isnan(x))
		text_puts(&d->t, "NaN");
	else if (isinf(x))
		text_puts(&d->t, x < 0 ? "-Infinity" : "Infinity");
	else {
		num_repr(x, s);
		text_puts(&d->t, s);
	}
}

static void new_line(struct dump *d)
{
	if (!d->lines)
		return;
	text_puts(&d->t, "\n");
	for (unsigned i = 0; i < d->level && !d->t.bad; i++)
		text_addv(&d->t, &d->indent);
}

static int dump_list(struct dump *d, struct list *l)
{
	list_open(d->rt, l);
	if (l->n == 0) {
		text_puts(&d->t, "[]");
		return 0;
	}
	text_puts(&d->t, "[");
	d->level++;
	for (size_t i = 0; i < l->n && !d->t.bad; i++) {
		if (i > 0)
			text_addv(&d->t, &d->item);
		new_line(d);
		if (dump_any(d, &l->v[i]) < 0)
			return -1;
	}
	d->level--;
	new_line(d);
	text_puts(&d->t, "]");
	return 0;
}

/* Keys are strings; None, bools and numbers become ones. */
static int dump_key(struct dump *d, const struct value *k)
{
	if (k->kind == V_STR) {
		dump_str(d, k);
		return 0;
	}
	if (k->kind != V_NONE && (k->kind < V_BOOL || k->kind > V_FLOAT))
		return rt_fail(d->rt, "a value of type '%s' can't be a key in JSON", value_type(k));
	text_puts(&d->t, "\"");
	if (dump_any(d, k) < 0)
		return -1;
	text_puts(&d->t, "\"");
	return 0;
}

static int sorted_pairs(struct dump *d, const struct dict *from, struct dict *out)
{
	struct value *key = rt_array(d->rt, from->n, sizeof(*key));
	struct value *at = rt_array(d->rt, from->n, sizeof(*at));

	for (size_t i = 0; i < from->n; i++) {
		key[i] = from->p[i].key;
		value_int(&at[i], (int64_t)i);
	}
	if (sort_values(d->rt, at, key, from->n, 0) < 0)
		return -1;
	*out = (struct dict){.p = rt_array(d->rt, from->n, sizeof(*out->p)), .n = from->n};
	for (size_t i = 0; i < from->n; i++)
		out->p[i] = from->p[at[i].u.i];
	return 0;
}

static int dump_dict(struct dump *d, struct dict *o)
{
	struct dict sorted;

	dict_open(d->rt, o);
	if (o->n == 0) {
		text_puts(&d->t, "{}");
		return 0;
	}
	if (d->sort) {
		if (sorted_pairs(d, o, &sorted) < 0)
			return -1;
		o = &sorted;
	}
	text_puts(&d->t, "{");
	d->level++;
	for (size_t i = 0; i < o->n && !d->t.bad; i++) {
		if (i > 0)
			text_addv(&d->t, &d->item);
		new_line(d);
		if (dump_key(d, &o->p[i].key) < 0)
			return -1;
		text_addv(&d->t, &d->key);
		if (dump_any(d, &o->p[i].val) < 0)
			return -1;
	}
	d->level--;
	new_line(d);
	text_puts(&d->t, "}");
	return 0;
}

static int dump_value(struct dump *d, const struct value *v)
{
	char s[32];

	switch (v->kind) {
	case V_NONE: text_puts(&d->t, "null"); return 0;
	case V_BOOL: text_puts(&d->t, v->u.i ? "true" : "false"); return 0;
	case V_INT:
		snprintf(s, sizeof(s), "%lld", (long long)v->u.i);
		text_puts(&d->t, s);
		return 0;
	case V_BIG: text_add(&d->t, v->u.s.p, v->u.s.n, 0); return 0;
	case V_FLOAT: dump_float(d, v->u.d); return 0;
	case V_STR: dump_str(d, v); return 0;
	case V_LIST:
	case V_TUPLE: return dump_list(d, v->u.list);
	case V_DICT: return dump_dict(d, v->u.dict);
	default:
		return rt_fail(
		    d->rt, "a value of type '%s' can't be written as JSON", value_type(v));
	}
}

static int dump_any(struct dump *d, const struct value *v)
{
	int rc;

	if (++d->rt->depth > VALUE_DEPTH)
		return rt_fail(d->rt, "values nested too deep for JSON");
	rc = dump_value(d, v);
	d->rt->depth--;
	return rc;
}

static int set_indent(struct dump *d, const struct call *c)
{
	struct value space = STR_LITERAL(" "), item = STR_LITERAL(", ");
	int64_t n;

	d->item = item;
	if (!arg_given(c, 1))
		return 0;
	d->lines = 1;
	d->item.u.s.n = 1; /* lines end in a comma */
	if (c->arg[1].kind == V_STR) {
		d->indent = c->arg[1];
		return 0;
	}
	if (!value_is_int(&c->arg[1], &n))
		return rt_fail(d->rt, "indent must be a number or a string");
	return n > 1000 ? rt_fail(d->rt, "an indent of %lld", (long long)n)
			: arith_repeat(d->rt, &space, n, &d->indent);
}

static int set_separators(struct dump *d, const struct call *c)
{
	struct value key = STR_LITERAL(": "), both;

	d->key = key;
	if (!arg_given(c, 2))
		return 0;
	if (iter_list(d->rt, &c->arg[2], V_LIST, &both) < 0)
		return -1;
	if (both.u.list->n != 2 || both.u.list->v[0].kind != V_STR ||
	    both.u.list->v[1].kind != V_STR)
		return rt_fail(d->rt, "separators must be two strings");
	d->item = both.u.list->v[0];
	d->key = both.u.list->v[1];
	return 0;
}

int tojson(struct rt *rt, const struct call *c, struct value *out)
{
	struct dump d = {.rt = rt, .ascii = arg_truth(rt, c, 0, 0), .sort = arg_truth(rt, c, 3, 0)};

	if (set_indent(&d, c) < 0 || set_separators(&d, c) < 0)
		return -1;
	text_begin(&d.t, rt, 64);
	if (dump_any(&d, c->self) < 0)
		return -1;
	return text_end(&d.t, out);
}
