#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/utf8.h"
#include "json/val.h"

struct writer {
	struct buf *out;
	const struct val_style *st;
	const char *item, *key;
	int level;
};

static void write_value(struct writer *w, const struct jval *v);

static void add_u(struct buf *out, uint32_t unit)
{
	buf_addf(out, "\\u%04x", unit);
}

/* ensure_ascii: everything above U+007E as \uXXXX, surrogate pairs beyond the BMP. */
static void write_ascii(struct buf *out, struct span s)
{
	size_t i = 0, start = 0;
	struct buf plain = {0};

	buf_add_json(&plain, s.p, s.n);
	while (i < plain.len) {
		uint32_t cp = 0;
		size_t n = utf8_decode(plain.data + i, plain.len - i, &cp);

		if (n <= 1 && cp != 0x7F) {
			i += n ? n : 1;
			continue;
		}
		buf_add(out, plain.data + start, i - start);
		if (cp > 0xFFFF) {
			add_u(out, 0xD800 + ((cp - 0x10000) >> 10));
			add_u(out, 0xDC00 + ((cp - 0x10000) & 0x3FF));
		} else {
			add_u(out, cp);
		}
		i += n;
		start = i;
	}
	buf_add(out, plain.data + start, plain.len - start);
	buf_free(&plain);
}

static void write_string(struct writer *w, struct span s)
{
	if (w->st->ascii)
		write_ascii(w->out, s);
	else
		buf_add_json(w->out, s.p, s.n);
}

static void write_real(struct buf *out, double d)
{
	char s[32];

	if (isnan(d))
		buf_adds(out, "NaN");
	else if (isinf(d))
		buf_adds(out, d < 0 ? "-Infinity" : "Infinity");
	else
		buf_add(out, s, num_repr(d, s));
}

static void newline(struct writer *w)
{
	buf_addc(w->out, '\n');
	for (int i = 0; i < w->level * w->st->indent; i++)
		buf_addc(w->out, ' ');
}

/* Before element i of n; with i == n, behind the last. */
static void between(struct writer *w, size_t i, size_t n)
{
	if (i > 0 && i < n)
		buf_adds(w->out, w->item);
	if (w->st->indent < 0)
		return;
	if (i == 0)
		w->level++;
	if (i == n)
		w->level--;
	newline(w);
}

static void write_array(struct writer *w, const struct jval *v)
{
	size_t n = v->u.arr.n;

	buf_addc(w->out, '[');
	for (size_t i = 0; i < n; i++) {
		between(w, i, n);
		write_value(w, &v->u.arr.v[i]);
	}
	if (n > 0)
		between(w, n, n);
	buf_addc(w->out, ']');
}

static int by_key(const void *a, const void *b)
{
	const struct jmember *x = *(const struct jmember *const *)a;
	const struct jmember *y = *(const struct jmember *const *)b;

	return span_order(x->key, y->key);
}

static void write_object(struct writer *w, const struct jval *v)
{
	size_t n = v->u.obj.n;
	const struct jmember **m = xreallocarray(NULL, n, sizeof(*m));

	for (size_t i = 0; i < n; i++)
		m[i] = &v->u.obj.m[i];
	if (w->st->sort && n > 1)
		qsort(m, n, sizeof(*m), by_key); /* UTF-8 bytes order as code points do */
	buf_addc(w->out, '{');
	for (size_t i = 0; i < n; i++) {
		between(w, i, n);
		write_string(w, m[i]->key);
		buf_adds(w->out, w->key);
		write_value(w, &m[i]->val);
	}
	if (n > 0)
		between(w, n, n);
	buf_addc(w->out, '}');
	free(m);
}

static void write_value(struct writer *w, const struct jval *v)
{
	switch (v->kind) {
	case J_NULL: buf_adds(w->out, "null"); break;
	case J_FALSE: buf_adds(w->out, "false"); break;
	case J_TRUE: buf_adds(w->out, "true"); break;
	case J_INT: buf_addf(w->out, "%lld", (long long)v->u.i); break;
	case J_BIG: buf_add(w->out, v->u.s.p, v->u.s.n); break;
	case J_REAL: write_real(w->out, v->u.d); break;
	case J_STR: write_string(w, v->u.s); break;
	case J_ARR: write_array(w, v); break;
	case J_OBJ: write_object(w, v); break;
	}
}

void val_write(struct buf *out, const struct jval *v, const struct val_style *style)
{
	static const struct val_style plain = {.indent = -1};
	struct writer w = {.out = out, .st = style ? style : &plain};

	w.item = w.st->item ? w.st->item : w.st->indent < 0 ? ", " : ",";
	w.key = w.st->key ? w.st->key : ": ";
	write_value(&w, v);
}
