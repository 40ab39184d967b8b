/* Kimi's TypeScript declarations: types and their comments. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "chat/tools_ts.h"
#include "jinja/repr.h"

#define STEP 2 /* spaces a level */

static void py_repr(struct buf *out, const struct jval *v);

static void pad(struct buf *out, unsigned indent)
{
	for (; indent > 0; indent--)
		buf_addc(out, ' ');
}

static void py_repr_string(struct buf *out, struct span s)
{
	char quote = repr_quote(s), esc[REPR_ESCAPE];

	buf_addc(out, quote);
	while (s.n > 0) {
		struct span piece = repr_piece(&s, quote, esc);

		buf_add(out, piece.p, piece.n);
	}
	buf_addc(out, quote);
}

static void py_repr_list(struct buf *out, const struct jval *v)
{
	buf_addc(out, '[');
	for (size_t i = 0; i < v->u.arr.n; i++) {
		buf_adds(out, i > 0 ? ", " : "");
		py_repr(out, &v->u.arr.v[i]);
	}
	buf_addc(out, ']');
}

static void py_repr_dict(struct buf *out, const struct jval *v)
{
	buf_addc(out, '{');
	for (size_t i = 0; i < v->u.obj.n; i++) {
		buf_adds(out, i > 0 ? ", " : "");
		py_repr_string(out, v->u.obj.m[i].key);
		buf_adds(out, ": ");
		py_repr(out, &v->u.obj.m[i].val);
	}
	buf_addc(out, '}');
}

static void py_repr(struct buf *out, const struct jval *v)
{
	char num[32];

	switch (v->kind) {
	case J_NULL: buf_adds(out, "None"); break;
	case J_FALSE: buf_adds(out, "False"); break;
	case J_TRUE: buf_adds(out, "True"); break;
	case J_INT: buf_addf(out, "%lld", (long long)v->u.i); break;
	case J_BIG: buf_add(out, v->u.s.p, v->u.s.n); break;
	case J_REAL: buf_add(out, num, num_repr(v->u.d, num)); break;
	case J_STR: py_repr_string(out, v->u.s); break;
	case J_ARR: py_repr_list(out, v); break;
	case J_OBJ: py_repr_dict(out, v); break;
	}
}

/* Python's str: a string is itself. */
static void py_str(struct buf *out, const struct jval *v)
{
	if (v->kind == J_STR)
		buf_add(out, v->u.s.p, v->u.s.n);
	else
		py_repr(out, v);
}

int ts_print_description(struct buf *out, const struct jval *owner, unsigned indent)
{
	const struct jval *d = val_get(owner, "description");
	struct span s;

	if (!ts_truthy(d))
		return 0;
	if (d->kind != J_STR)
		return -1;
	s = d->u.s;
	for (;;) {
		const char *lf = memchr(s.p, '\n', s.n);
		size_t n = lf ? (size_t)(lf - s.p) : s.n;

		if (n > 0) {
			pad(out, indent);
			buf_adds(out, "// ");
			buf_add(out, s.p, n);
		}
		buf_addc(out, '\n');
		if (!lf)
			return 0;
		s = (struct span){lf + 1, s.n - n - 1};
	}
}

/* The constraints that a type prints, in their sorted order. */
static const char *const *constraints_of(const struct jval *s)
{
	static const char *const string[] = {"maxLength", "minLength", "pattern", NULL};
	static const char *const number[] = {"maximum", "minimum", NULL};
	static const char *const array[] = {"maxItems", "minItems", NULL};
	static const char *const none[] = {NULL};
	enum ts_kind kind = ts_kind(s);
	const struct jval *type = val_get(s, "type");

	if (kind == TS_ARRAY)
		return array;
	if (kind == TS_SCALAR && val_is_str(type, "string"))
		return string;
	if (kind == TS_SCALAR && (val_is_str(type, "number") || val_is_str(type, "integer")))
		return number;
	return none;
}

/* Description and constraints of a schema, each on lines of its own. */
static int comments(struct buf *out, const struct jval *s, unsigned indent)
{
	const char *sep = "// ";

	if (s->kind != J_OBJ)
		return 0;
	if (ts_print_description(out, s, indent) < 0)
		return -1;
	for (const char *const *key = constraints_of(s); *key; key++) {
		const struct jval *v = val_get(s, *key);

		if (!v)
			continue;
		if (sep[0] == '/')
			pad(out, indent);
		buf_addf(out, "%s%s: ", sep, *key);
		py_str(out, v);
		sep = ", ";
	}
	if (sep[0] == ',')
		buf_addc(out, '\n');
	return 0;
}

static void default_value(struct buf *out, const struct jval *s, unsigned indent)
{
	const struct jval *v = s->kind == J_OBJ ? val_get(s, "default") : NULL;

	if (!v || v->kind == J_NULL)
		return;
	pad(out, indent);
	buf_adds(out, "// Default: ");
	if (v->kind == J_STR || v->kind == J_ARR || v->kind == J_OBJ)
		val_write(out, v, NULL);
	else
		py_repr(out, v);
	buf_addc(out, '\n');
}

/* A property, and whether it may be left out. */
struct prop {
	const struct jmember *m;
	int optional;
};

static int property(struct buf *out, struct prop p, unsigned indent, struct arena *a)
{
	if (comments(out, &p.m->val, indent) < 0)
		return -1;
	default_value(out, &p.m->val, indent);
	pad(out, indent);
	buf_add(out, p.m->key.p, p.m->key.n);
	buf_adds(out, p.optional ? "?: " : ": ");
	return ts_print(out, &p.m->val, indent, a);
}

static int is_required(const struct jval *s, struct span name)
{
	const struct jval *list = val_get(s, "required");

	for (size_t i = 0; list && i < list->u.arr.n; i++) {
		const struct jval *v = &list->u.arr.v[i];

		if (v->kind == J_STR && v->u.s.n == name.n && memcmp(v->u.s.p, name.p, name.n) == 0)
			return 1;
	}
	return 0;
}

static int required_first(const void *x, const void *y)
{
	const struct prop *a = x, *b = y;
	size_t n = a->m->key.n < b->m->key.n ? a->m->key.n : b->m->key.n;
	int rc;

	if (a->optional != b->optional)
		return a->optional - b->optional;
	rc = memcmp(a->m->key.p, b->m->key.p, n);
	return rc ? rc : (a->m->key.n > b->m->key.n) - (a->m->key.n < b->m->key.n);
}

static struct prop *properties(const struct jval *s, size_t *n, struct arena *a)
{
	const struct jval *props = val_get(s, "properties");
	struct prop *out;

	*n = props ? props->u.obj.n : 0;
	out = arena_array(a, *n + 1, sizeof(*out));
	for (size_t i = 0; i < *n; i++) {
		out[i].m = &props->u.obj.m[i];
		out[i].optional = !is_required(s, out[i].m->key);
	}
	return out;
}

static int property_list(
    struct buf *out, const struct prop *p, size_t n, unsigned indent, struct arena *a)
{
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i > 0 ? ",\n" : "\n");
		if (property(out, p[i], indent, a) < 0)
			return -1;
	}
	return 0;
}

int ts_print_self(struct buf *out, const struct jval *s, struct arena *a)
{
	size_t n;
	const struct prop *p = properties(s, &n, a);

	if (property_list(out, p, n, STEP, a) < 0)
		return -1;
	buf_adds(out, n > 0 ? "\n" : "");
	return 0;
}

static int additional(struct buf *out, const struct jval *more, unsigned indent, struct arena *a)
{
	pad(out, indent);
	buf_adds(out, "[k: string]: ");
	if (more->kind == J_OBJ)
		return ts_print(out, more, indent, a);
	if (more->kind != J_TRUE && more->kind != J_FALSE)
		return -1;
	buf_adds(out, more->kind == J_TRUE ? "any" : "never");
	return 0;
}

int ts_print_object(struct buf *out, const struct jval *s, unsigned indent, struct arena *a)
{
	const struct jval *more = val_get(s, "additionalProperties");
	size_t n;
	struct prop *p = properties(s, &n, a);

	if (more && more->kind == J_NULL)
		more = NULL;
	buf_addc(out, '{');
	if (n == 0 && !more) {
		buf_addc(out, '}');
		return 0;
	}
	qsort(p, n, sizeof(*p), required_first);
	if (property_list(out, p, n, indent + STEP, a) < 0)
		return -1;
	if (more) {
		buf_adds(out, n > 0 ? ",\n" : "\n");
		if (additional(out, more, indent + STEP, a) < 0)
			return -1;
	}
	buf_addc(out, '\n');
	pad(out, indent);
	buf_addc(out, '}');
	return 0;
}

/* An item with comments gets lines of its own. */
static int array(struct buf *out, const struct jval *s, unsigned indent, struct arena *a)
{
	const struct jval *item = val_get(s, "items");
	size_t bare;

	buf_adds(out, "Array<");
	if (!ts_truthy(item)) {
		buf_adds(out, "any>");
		return 0;
	}
	buf_addc(out, '\n');
	bare = out->len;
	if (comments(out, item, indent + STEP) < 0)
		return -1;
	if (out->len == bare) {
		out->len--;
		if (ts_print(out, item, indent, a) < 0)
			return -1;
	} else {
		pad(out, indent + STEP);
		if (ts_print(out, item, indent + STEP, a) < 0)
			return -1;
		buf_addc(out, '\n');
		pad(out, indent);
	}
	buf_addc(out, '>');
	return 0;
}

static int any_of(struct buf *out, const struct jval *list, unsigned indent, struct arena *a)
{
	for (size_t i = 0; i < list->u.arr.n; i++) {
		buf_adds(out, i > 0 ? " | " : "");
		if (ts_print(out, &list->u.arr.v[i], indent, a) < 0)
			return -1;
	}
	return 0;
}

static void enumeration(struct buf *out, const struct jval *list)
{
	for (size_t i = 0; i < list->u.arr.n; i++) {
		const struct jval *v = &list->u.arr.v[i];
		const char *quote = v->kind == J_STR ? "\"" : "";

		buf_adds(out, i > 0 ? " | " : "");
		buf_adds(out, quote);
		py_str(out, v);
		buf_adds(out, quote);
	}
}

static void type_list(struct buf *out, const struct jval *types)
{
	for (size_t i = 0; i < types->u.arr.n; i++)
		buf_addf(out, "%s%s", i > 0 ? " | " : "", ts_union_name(&types->u.arr.v[i]));
}

static void reference(struct buf *out, struct span ref)
{
	size_t at = ref.n;

	if (span_eq(ref, "#")) {
		buf_adds(out, "parameters");
		return;
	}
	while (at > 0 && ref.p[at - 1] != '/')
		at--;
	buf_add(out, ref.p + at, ref.n - at);
}

int ts_print(struct buf *out, const struct jval *s, unsigned indent, struct arena *a)
{
	const struct jval *type = val_get(s, "type");

	switch (ts_kind(s)) {
	case TS_BAD: return -1;
	case TS_ANY: buf_adds(out, "any"); break;
	case TS_NULL: buf_adds(out, "null"); break;
	case TS_REF: reference(out, val_get(s, "$ref")->u.s); break;
	case TS_ANYOF: return any_of(out, val_get(s, "anyOf"), indent, a);
	case TS_ENUM: enumeration(out, val_get(s, "enum")); break;
	case TS_UNION: type_list(out, type); break;
	case TS_OBJECT: return ts_print_object(out, s, indent, a);
	case TS_ARRAY: return array(out, s, indent, a);
	case TS_SCALAR:
		if (val_is_str(type, "integer"))
			buf_adds(out, "number");
		else
			buf_add(out, type->u.s.p, type->u.s.n);
		break;
	}
	return 0;
}
