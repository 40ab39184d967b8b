/* Python's str() and repr(). */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "jinja/ast.h"
#include "jinja/iter.h"
#include "jinja/repr.h"
#include "jinja/rt.h"
#include "jinja/text.h"
#include "jinja/utable.h"

/* How a character is written between such quotes: the length of its escape, or 0 for as it is. */
static int escape(char esc[REPR_ESCAPE], uint32_t cp, char quote)
{
	if (cp == (unsigned char)quote || cp == '\\')
		return snprintf(esc, REPR_ESCAPE, "\\%c", (char)cp);
	if (cp == '\n' || cp == '\r' || cp == '\t')
		return snprintf(esc, REPR_ESCAPE, "\\%c",
		    cp == '\n'	 ? 'n'
		    : cp == '\r' ? 'r'
				 : 't');
	if (cp >= 0x20 && cp != 0x7f && (cp < 0x7f || u_is(U_PRINTABLE, cp)))
		return 0;
	return snprintf(esc, REPR_ESCAPE,
	    cp < 0x100	   ? "\\x%02x"
	    : cp < 0x10000 ? "\\u%04x"
			   : "\\U%08x",
	    (unsigned)cp);
}

char repr_quote(struct span s)
{
	return s.n && memchr(s.p, '\'', s.n) && !memchr(s.p, '"', s.n) ? '"' : '\'';
}

struct span repr_piece(struct span *s, char quote, char esc[REPR_ESCAPE])
{
	uint32_t cp = 0;
	size_t len = utf8_decode(s->p, s->n, &cp);
	struct span piece = {s->p, len ? len : 1};
	int n = escape(esc, cp, quote);

	*s = (struct span){s->p + piece.n, s->n - piece.n};
	return n > 0 ? (struct span){esc, (size_t)n} : piece;
}

static void repr_str(struct text *t, const struct value *v)
{
	struct span s = {v->u.s.p, v->u.s.n};
	char quote = repr_quote(s), esc[REPR_ESCAPE];

	if (v->flags & STR_SAFE)
		text_puts(t, "Markup(");
	text_add(t, &quote, 1, 0);
	while (s.n > 0) {
		struct span piece = repr_piece(&s, quote, esc);

		text_add(t, piece.p, piece.n, 0);
	}
	text_add(t, &quote, 1, 0);
	if (v->flags & STR_SAFE)
		text_puts(t, ")");
}

static void repr_list(struct text *t, struct list *l, int tuple)
{
	list_open(t->rt, l);
	text_puts(t, tuple ? "(" : "[");
	for (size_t i = 0; i < l->n && !t->bad; i++) {
		if (i > 0)
			text_puts(t, ", ");
		text_repr(t, &l->v[i]);
	}
	text_puts(t, !tuple ? "]" : l->n == 1 ? ",)" : ")");
}

static void repr_pairs(struct text *t, struct dict *d)
{
	dict_open(t->rt, d);
	text_puts(t, "{");
	for (size_t i = 0; i < d->n && !t->bad; i++) {
		if (i > 0)
			text_puts(t, ", ");
		text_repr(t, &d->p[i].key);
		text_puts(t, ": ");
		text_repr(t, &d->p[i].val);
	}
	text_puts(t, "}");
}

static void repr_view(struct text *t, struct dict *d, enum view_kind what)
{
	static const char *const name[] = {"dict_keys([", "dict_values([", "dict_items(["};

	dict_open(t->rt, d);
	text_puts(t, name[what]);
	for (size_t i = 0; i < d->n && !t->bad; i++) {
		if (i > 0)
			text_puts(t, ", ");
		if (what == VIEW_ITEMS)
			text_puts(t, "(");
		if (what != VIEW_VALUES)
			text_repr(t, &d->p[i].key);
		if (what == VIEW_ITEMS)
			text_puts(t, ", ");
		if (what != VIEW_KEYS)
			text_repr(t, &d->p[i].val);
		if (what == VIEW_ITEMS)
			text_puts(t, ")");
	}
	text_puts(t, "])");
}

static void repr_range(struct text *t, const struct range *r)
{
	char s[96];

	if (r->step == 1)
		snprintf(
		    s, sizeof(s), "range(%lld, %lld)", (long long)r->start, (long long)r->stop);
	else
		snprintf(s, sizeof(s), "range(%lld, %lld, %lld)", (long long)r->start,
		    (long long)r->stop, (long long)r->step);
	text_puts(t, s);
}

static void repr_number(struct text *t, const struct value *v)
{
	char s[32];

	if (v->kind == V_INT)
		snprintf(s, sizeof(s), "%lld", (long long)v->u.i);
	else
		num_repr(v->u.d, s);
	text_puts(t, s);
}

static void repr_loop(struct text *t, struct loop *l)
{
	char s[64];
	size_t n;

	if (loop_length(t->rt, l, &n) < 0) {
		t->bad = 1;
		return;
	}
	snprintf(s, sizeof(s), "<LoopContext %zu/%zu>", l->count, n);
	text_puts(t, s);
}

/* What Python shows with an address, or never, has only its kind here. */
static void repr_object(struct text *t, const struct value *v)
{
	text_puts(t, "<");
	text_puts(t, v->kind == V_MACRO ? "Macro" : value_type(v));
	if (v->kind == V_MACRO) {
		struct value name;

		value_str(&name, v->u.macro->def->name.p, v->u.macro->def->name.n);
		text_puts(t, " ");
		repr_str(t, &name);
	}
	text_puts(t, ">");
}

static void repr_any(struct text *t, const struct value *v)
{
	switch (v->kind) {
	case V_UNDEF: text_puts(t, "Undefined"); break;
	case V_NONE: text_puts(t, "None"); break;
	case V_BOOL: text_puts(t, v->u.i ? "True" : "False"); break;
	case V_INT:
	case V_FLOAT: repr_number(t, v); break;
	case V_BIG: text_add(t, v->u.s.p, v->u.s.n, 0); break;
	case V_STR: repr_str(t, v); break;
	case V_LIST:
	case V_TUPLE: repr_list(t, v->u.list, v->kind == V_TUPLE); break;
	case V_DICT: repr_pairs(t, v->u.dict); break;
	case V_VIEW: repr_view(t, v->u.dict, v->flags); break;
	case V_NAMESPACE:
		text_puts(t, "<Namespace ");
		repr_pairs(t, v->u.dict);
		text_puts(t, ">");
		break;
	case V_LOOP: repr_loop(t, v->u.loop); break;
	case V_RANGE: repr_range(t, v->u.range); break;
	default: repr_object(t, v); break;
	}
}

void text_repr(struct text *t, const struct value *v)
{
	if (t->bad)
		return;
	if (++t->rt->depth > VALUE_DEPTH) {
		rt_fail(t->rt, "values nested too deep to print");
		t->bad = 1;
		return;
	}
	repr_any(t, v);
	t->rt->depth--;
}

int text_str(struct rt *rt, const struct value *v, struct value *out)
{
	struct text t;

	if (v->kind == V_STR) {
		*out = *v;
		return 0;
	}
	if (v->kind == V_UNDEF) {
		value_str(out, "", 0);
		return 0;
	}
	text_begin(&t, rt, 24);
	text_repr(&t, v);
	return text_end(&t, out);
}
