#include <string.h>

#include "base/utf8.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/text.h"

/* Attributes that every Python object has; the sandbox refuses all that begin with "_". */
static const char *const dunders[] = {"__class__", "__delattr__", "__dir__", "__doc__", "__eq__",
    "__format__", "__ge__", "__getattribute__", "__getstate__", "__gt__", "__hash__", "__init__",
    "__init_subclass__", "__le__", "__lt__", "__ne__", "__new__", "__reduce__", "__reduce_ex__",
    "__repr__", "__setattr__", "__sizeof__", "__str__", "__subclasshook__"};

static int is_dunder(struct span name)
{
	if (name.n < 2 || name.p[0] != '_')
		return 0;
	for (size_t i = 0; i < sizeof(dunders) / sizeof(dunders[0]); i++)
		if (span_eq(name, dunders[i]))
			return 1;
	return 0;
}

int attr_is_key(struct span name)
{
	return !is_dunder(name) && !callable_find(methods_dict, name);
}

static void undef_of(
    const struct value *of, enum undef_kind kind, struct span name, struct value *out)
{
	value_undef(out, kind, name.p, name.n);
	out->origin = of->kind;
}

static int method_attr(struct rt *rt, const struct value *of, const struct callable *m,
    struct span name, struct value *out)
{
	struct bound *b;

	if (m->fn == method_unsupported)
		return rt_fail(rt, "attribute '%s' of a value of type '%s' is not supported",
		    m->name, value_type(of));
	if (m->fn == method_refused) {
		undef_of(of, UNDEF_UNSAFE, name, out);
		return 1;
	}
	b = rt_alloc(rt, sizeof(*b));
	*b = (struct bound){*of, m};
	*out = (struct value){.kind = V_METHOD, .u.bound = b};
	return 1;
}

/* What Python's getattr finds: 1, 0, -1. */
static int python_attr(struct rt *rt, const struct value *of, struct span name, struct value *out)
{
	const struct callable *m = method_find(of, name);
	const struct value *v = NULL;

	if (m)
		return method_attr(rt, of, m, name, out);
	if (of->kind == V_NAMESPACE)
		v = dict_find_str(rt, of->u.dict, name.p, name.n);
	if (v) {
		*out = *v;
		return 1;
	}
	if (of->kind == V_LOOP)
		return loop_attr(rt, of->u.loop, name, out);
	if (of->kind == V_RANGE &&
	    (span_eq(name, "start") || span_eq(name, "stop") || span_eq(name, "step"))) {
		const struct range *r = of->u.range;

		value_int(out, name.n == 5 ? r->start : name.p[2] == 'o' ? r->stop : r->step);
		return 1;
	}
	if (of->kind == V_MACRO && span_eq(name, "name")) {
		value_str(out, of->u.macro->def->name.p, of->u.macro->def->name.n);
		return 1;
	}
	if (of->kind == V_NAMESPACE || !is_dunder(name))
		return 0;
	undef_of(of, UNDEF_UNSAFE, name, out);
	return 1;
}

int attr_key(struct rt *rt, const struct value *of, struct span name, struct value *out)
{
	const struct value *v =
	    of->kind == V_DICT ? dict_find_str(rt, of->u.dict, name.p, name.n) : NULL;

	if (v)
		*out = *v;
	return v != NULL;
}

int attr_get(struct rt *rt, const struct value *of, struct span name, struct value *out)
{
	int found;

	if (of->kind == V_UNDEF)
		return value_fail_undef(rt, of);
	found = python_attr(rt, of, name, out);
	if (found != 0)
		return found < 0 ? -1 : 0;
	if (attr_key(rt, of, name, out))
		return 0;
	undef_of(of, UNDEF_ATTR, name, out);
	return 0;
}

/* Python's index, negative ones from the end: the position or n. */
static size_t position(int64_t i, size_t n)
{
	if (i < 0)
		i += (int64_t)n;
	return i < 0 || (uint64_t)i >= n ? n : (size_t)i;
}

static void char_at(const struct value *s, size_t at, struct value *out)
{
	size_t off = text_offset((struct span){s->u.s.p, s->u.s.n}, at);
	size_t n = utf8_len(s->u.s.p + off, s->u.s.n - off);

	text_slice(s, off, n ? n : 1, out);
}

/* obj[i] of a sequence: 1, 0 when it has no such element. */
static int element(struct rt *rt, const struct value *of, int64_t i, struct value *out)
{
	size_t n, at;

	if (of->kind != V_STR && of->kind != V_LIST && of->kind != V_TUPLE && of->kind != V_RANGE)
		return 0;
	if (value_len(rt, of, &n) < 0)
		return -1;
	at = position(i, n);
	if (at == n)
		return 0;
	if (of->kind == V_STR)
		char_at(of, at, out);
	else if (of->kind == V_RANGE)
		value_int(out, of->u.range->start + (int64_t)at * of->u.range->step);
	else {
		list_open(rt, of->u.list);
		*out = of->u.list->v[at];
	}
	return 1;
}

int item_get(struct rt *rt, const struct value *of, const struct value *at, struct value *out)
{
	struct span name = {at->u.s.p, at->u.s.n};
	int64_t i = 0;
	int found = 0, bad;

	if (of->kind == V_UNDEF)
		return value_fail_undef(rt, of);
	if (of->kind == V_DICT) {
		const struct value *v = dict_find(rt, of->u.dict, at, &bad);

		if (v) {
			*out = *v;
			return 0;
		}
	} else if (value_is_int(at, &i)) {
		found = element(rt, of, i, out);
	}
	if (found == 0 && at->kind == V_STR)
		found = python_attr(rt, of, name, out);
	if (found != 0)
		return found < 0 ? -1 : 0;
	if (at->kind == V_STR)
		undef_of(of, UNDEF_ATTR, name, out);
	else
		undef_of(of, UNDEF_ELEM, (struct span){NULL, (size_t)i}, out);
	return 0;
}

/* ---- slices ---- */

struct slice {
	int64_t start, stop, step;
	size_t n; /* elements */
};

/* As Python's slice.indices: missing bounds by the step's direction, clipped to the length. */
static int64_t clip(int64_t i, int64_t len, int64_t low, int64_t high)
{
	if (i < 0)
		i = i < -len ? low : i + len;
	return i < low ? low : i > high ? high : i;
}

/* An integer of any size: slices are clipped to the length anyway. */
static int slice_bound(const struct value *v, int64_t *i)
{
	if (v->kind != V_BIG)
		return value_is_int(v, i);
	*i = v->u.s.p[0] == '-' ? -INT64_MAX : INT64_MAX;
	return 1;
}

static int slice_of(struct rt *rt, const struct value bound[3], size_t length, struct slice *s)
{
	int64_t v[3] = {0, 0, 1}, len = (int64_t)length, low, high;
	int given[3];

	for (int i = 0; i < 3; i++) {
		given[i] = slice_bound(&bound[i], &v[i]);
		if (!given[i] && bound[i].kind != V_NONE)
			return rt_fail(rt, "slice bounds must be integers, not values of type '%s'",
			    value_type(&bound[i]));
	}
	if (v[2] == 0)
		return rt_fail(rt, "a slice's step can't be 0");
	low = v[2] < 0 ? -1 : 0;
	high = v[2] < 0 ? len - 1 : len;
	/* a step beyond the length takes one element, as any such step */
	s->step = v[2] > len + 1 ? len + 1 : v[2] < -len - 1 ? -len - 1 : v[2];
	s->start = given[0] ? clip(v[0], len, low, high) : v[2] < 0 ? high : low;
	s->stop = given[1] ? clip(v[1], len, low, high) : v[2] < 0 ? low : high;
	s->n = 0;
	if (s->step > 0 && s->stop > s->start)
		s->n = (size_t)((s->stop - s->start - 1) / s->step) + 1;
	else if (s->step < 0 && s->stop < s->start)
		s->n = (size_t)((s->start - s->stop - 1) / -s->step) + 1;
	return 0;
}

/* Character by character; with the characters' offsets, so that steps backwards stay linear. */
static int slice_chars(
    struct rt *rt, const struct value *of, const struct slice *s, struct value *out)
{
	struct span all = {of->u.s.p, of->u.s.n};
	size_t n = utf8_count(all.p, all.n), off = 0;
	int64_t at = s->start;
	uint32_t *offset;
	struct text t;

	if (rt_room(rt, n + 1, sizeof(*offset)) < 0 || rt_step(rt, all.n) < 0)
		return -1;
	offset = rt_array(rt, n + 1, sizeof(*offset));
	for (size_t i = 0; i <= n; i++) {
		offset[i] = (uint32_t)off;
		if (i < n)
			off += utf8_len(all.p + off, all.n - off);
	}
	text_begin(&t, rt, s->n);
	for (size_t i = 0; i < s->n; i++, at += s->step)
		text_sub(&t, of, offset[at], offset[at + 1] - offset[at]);
	return text_end(&t, out);
}

static int slice_str(
    struct rt *rt, const struct value *of, const struct slice *s, struct value *out)
{
	struct span rest = {of->u.s.p, of->u.s.n};
	size_t from;

	if (s->step != 1 && s->n > 1)
		return slice_chars(rt, of, s, out);
	from = s->n ? text_offset(rest, (size_t)s->start) : 0;
	rest = (struct span){rest.p + from, rest.n - from};
	text_slice(of, from, text_offset(rest, s->n), out);
	return rt_step(rt, of->u.s.n);
}

static int slice_list(
    struct rt *rt, const struct value *of, const struct slice *s, struct value *out)
{
	const struct list *l = of->u.list;
	struct value *v;
	int64_t at = s->start;

	list_open(rt, of->u.list);
	if (s->step == 1) {
		value_list(rt, of->kind, 0, out);
		*out->u.list = (struct list){.v = l->v + s->start, .n = s->n};
		return 0;
	}
	if (rt_room(rt, s->n, sizeof(*v)) < 0 || rt_step(rt, s->n * sizeof(*v)) < 0)
		return -1;
	v = value_list(rt, of->kind, s->n, out);
	for (size_t i = 0; i < s->n; i++, at += s->step)
		v[i] = l->v[at];
	return 0;
}

static int slice_range(
    struct rt *rt, const struct value *of, const struct slice *s, struct value *out)
{
	const struct range *from = of->u.range;
	struct range *r = rt_alloc(rt, sizeof(*r));

	*r = (struct range){.n = s->n};
	if (__builtin_mul_overflow(from->step, s->step, &r->step) ||
	    __builtin_mul_overflow(from->step, s->start, &r->start) ||
	    __builtin_add_overflow(from->start, r->start, &r->start) ||
	    __builtin_mul_overflow(from->step, s->stop, &r->stop) ||
	    __builtin_add_overflow(from->start, r->stop, &r->stop))
		return rt_fail(rt, "a range beyond 64 bits");
	*out = (struct value){.kind = V_RANGE, .u.range = r};
	return 0;
}

int slice_get(struct rt *rt, const struct value *of, const struct value bound[3], struct value *out)
{
	struct slice s = {0};
	size_t n;

	if (of->kind == V_UNDEF)
		return value_fail_undef(rt, of);
	if (of->kind != V_STR && of->kind != V_LIST && of->kind != V_TUPLE && of->kind != V_RANGE)
		return rt_fail(rt, "a value of type '%s' can't be sliced", value_type(of));
	if (value_len(rt, of, &n) < 0 || slice_of(rt, bound, n, &s) < 0)
		return -1;
	if (of->kind == V_STR)
		return slice_str(rt, of, &s, out);
	if (of->kind == V_RANGE)
		return slice_range(rt, of, &s, out);
	return slice_list(rt, of, &s, out);
}

/* ---- paths ---- */

static int all_digits(struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return 0;
	return s.n > 0 && s.n < 18;
}

int attr_path(struct rt *rt, const struct value *of, const struct value *path, struct value *out)
{
	struct span rest = {path->u.s.p, path->u.s.n};

	*out = *of;
	if (path->kind == V_NONE || path->kind == V_MISSING)
		return 0;
	if (path->kind != V_STR)
		return item_get(rt, of, path, out);
	for (;;) {
		const char *dot = rest.n ? memchr(rest.p, '.', rest.n) : NULL;
		size_t n = dot ? (size_t)(dot - rest.p) : rest.n;
		struct value part, in = *out;

		value_str(&part, rest.p, n);
		if (all_digits((struct span){rest.p, n})) {
			int64_t i = 0;

			for (size_t k = 0; k < n; k++)
				i = i * 10 + (rest.p[k] - '0');
			value_int(&part, i);
		}
		if (item_get(rt, &in, &part, out) < 0)
			return -1;
		if (!dot)
			return 0;
		rest = (struct span){dot + 1, rest.n - n - 1};
	}
}
