/* Methods of strings that make strings. */
#include <string.h>

#include "base/utf8.h"
#include "jinja/builtins.h"
#include "jinja/iter.h"
#include "jinja/rt.h"
#include "jinja/strops.h"
#include "jinja/text.h"

static int keep_safe(const struct call *c, struct value *out)
{
	out->flags |= c->self->flags & STR_SAFE;
	return 0;
}

/* An argument that joins a safe string is escaped. */
static int text_arg(struct rt *rt, const struct call *c, size_t i, struct value *out)
{
	struct value s;

	if (arg_str(rt, c, i, &s) < 0)
		return -1;
	if (c->self->flags & STR_SAFE)
		return text_escape(rt, &s, out);
	*out = s;
	return 0;
}

static int strip(struct rt *rt, const struct call *c, enum strip_side side, struct value *out)
{
	struct value chars;

	if (arg_given(c, 0) && arg_str(rt, c, 0, &chars) < 0)
		return -1;
	return str_strip(rt, c->self, arg_given(c, 0) ? &chars : NULL, side, out);
}

static int do_strip(struct rt *rt, const struct call *c, struct value *out)
{
	return strip(rt, c, STRIP_BOTH, out);
}

static int do_lstrip(struct rt *rt, const struct call *c, struct value *out)
{
	return strip(rt, c, STRIP_LEFT, out);
}

static int do_rstrip(struct rt *rt, const struct call *c, struct value *out)
{
	return strip(rt, c, STRIP_RIGHT, out);
}

static int do_lower(struct rt *rt, const struct call *c, struct value *out)
{
	return str_case(rt, c->self, CASE_LOWER, out);
}

static int do_upper(struct rt *rt, const struct call *c, struct value *out)
{
	return str_case(rt, c->self, CASE_UPPER, out);
}

static int do_capitalize(struct rt *rt, const struct call *c, struct value *out)
{
	return str_case(rt, c->self, CASE_CAPITALIZE, out);
}

static int do_title(struct rt *rt, const struct call *c, struct value *out)
{
	return str_case(rt, c->self, CASE_TITLE, out);
}

static int do_swapcase(struct rt *rt, const struct call *c, struct value *out)
{
	return str_case(rt, c->self, CASE_SWAP, out);
}

static int do_replace(struct rt *rt, const struct call *c, struct value *out)
{
	struct str_replacement r;

	if (text_arg(rt, c, 0, &r.old) < 0 || text_arg(rt, c, 1, &r.new) < 0 ||
	    arg_int(rt, c, 2, -1, &r.count) < 0 || str_replace(rt, c->self, &r, out) < 0)
		return -1;
	return keep_safe(c, out);
}

static int split(struct rt *rt, const struct call *c, int right, struct value *out)
{
	struct str_cuts cuts = {.right = right};
	struct value sep;

	if ((arg_given(c, 0) && arg_str(rt, c, 0, &sep) < 0) ||
	    arg_int(rt, c, 1, -1, &cuts.max) < 0)
		return -1;
	cuts.sep = arg_given(c, 0) ? &sep : NULL;
	return str_split(rt, c->self, &cuts, out);
}

static int do_split(struct rt *rt, const struct call *c, struct value *out)
{
	return split(rt, c, 0, out);
}

static int do_rsplit(struct rt *rt, const struct call *c, struct value *out)
{
	return split(rt, c, 1, out);
}

static int do_splitlines(struct rt *rt, const struct call *c, struct value *out)
{
	int64_t keep_ends;

	return arg_int(rt, c, 0, 0, &keep_ends) < 0 ? -1
						    : str_lines(rt, c->self, keep_ends != 0, out);
}

static int do_join(struct rt *rt, const struct call *c, struct value *out)
{
	return str_join(rt, c->self, &c->arg[0], 0, out) < 0 ? -1 : keep_safe(c, out);
}

/* (before, separator, after) of the first or last hit at byte `hit`. */
static int partition(struct rt *rt, const struct call *c, size_t hit, int right, struct value *out)
{
	struct value *v = value_list(rt, V_TUPLE, 3, out);
	const struct value *s = c->self;
	size_t n = c->arg[0].u.s.n;
	struct value empty = STR_LITERAL("");

	empty.flags = s->flags & STR_SAFE;
	if (hit == TEXT_NONE) {
		v[0] = v[1] = v[2] = empty;
		v[right ? 2 : 0] = *s;
		return 0;
	}
	text_slice(s, 0, hit, &v[0]);
	v[1] = c->arg[0];
	text_slice(s, hit + n, s->u.s.n - hit - n, &v[2]);
	return 0;
}

static int separator(struct rt *rt, const struct call *c, struct span *sep)
{
	struct value v;

	if (arg_str(rt, c, 0, &v) < 0)
		return -1;
	*sep = (struct span){v.u.s.p, v.u.s.n};
	return sep->n > 0 ? 0 : rt_fail(rt, "an empty separator");
}

static int do_partition(struct rt *rt, const struct call *c, struct value *out)
{
	struct span all = {c->self->u.s.p, c->self->u.s.n}, sep;

	if (separator(rt, c, &sep) < 0)
		return -1;
	return partition(rt, c, text_find(rt, all, sep, 0), 0, out);
}

static int do_rpartition(struct rt *rt, const struct call *c, struct value *out)
{
	struct span all = {c->self->u.s.p, c->self->u.s.n}, sep;

	if (separator(rt, c, &sep) < 0)
		return -1;
	return partition(rt, c, text_rfind(rt, all, sep), 1, out);
}

static int remove_end(struct rt *rt, const struct call *c, int suffix, struct value *out)
{
	const struct value *s = c->self;
	struct value x;
	size_t at, n;

	if (arg_str(rt, c, 0, &x) < 0)
		return -1;
	*out = *s;
	n = x.u.s.n;
	if (n == 0 || n > s->u.s.n)
		return 0;
	at = suffix ? s->u.s.n - n : 0;
	if (memcmp(s->u.s.p + at, x.u.s.p, n) == 0)
		text_slice(s, suffix ? 0 : n, s->u.s.n - n, out);
	return 0;
}

static int do_removeprefix(struct rt *rt, const struct call *c, struct value *out)
{
	return remove_end(rt, c, 0, out);
}

static int do_removesuffix(struct rt *rt, const struct call *c, struct value *out)
{
	return remove_end(rt, c, 1, out);
}

static int pad(struct rt *rt, const struct call *c, size_t left, size_t right, struct value *out)
{
	struct value space = STR_LITERAL(" "), fill = space;
	struct text t;

	if (c->arg[1].kind != V_MISSING && arg_str(rt, c, 1, &fill) < 0)
		return -1;
	if (utf8_count(fill.u.s.p, fill.u.s.n) != 1)
		return rt_fail(rt, "the fill must be one character");
	if (rt_room(rt, left + right, fill.u.s.n) < 0)
		return -1;
	text_begin(&t, rt, c->self->u.s.n + left + right);
	for (size_t i = 0; i < left && !t.bad; i++)
		text_addv(&t, &fill);
	text_addv(&t, c->self);
	for (size_t i = 0; i < right && !t.bad; i++)
		text_addv(&t, &fill);
	return text_end(&t, out) < 0 ? -1 : keep_safe(c, out);
}

/* How many characters are missing to the width. */
static int missing(struct rt *rt, const struct call *c, size_t *n)
{
	int64_t width;
	size_t len;

	if (arg_int(rt, c, 0, 0, &width) < 0 || value_len(rt, c->self, &len) < 0)
		return -1;
	*n = width > 0 && (size_t)width > len ? (size_t)width - len : 0;
	return 0;
}

static int do_ljust(struct rt *rt, const struct call *c, struct value *out)
{
	size_t n;

	return missing(rt, c, &n) < 0 ? -1 : pad(rt, c, 0, n, out);
}

static int do_rjust(struct rt *rt, const struct call *c, struct value *out)
{
	size_t n;

	return missing(rt, c, &n) < 0 ? -1 : pad(rt, c, n, 0, out);
}

static int do_center(struct rt *rt, const struct call *c, struct value *out)
{
	size_t n, left;

	if (missing(rt, c, &n) < 0)
		return -1;
	left = n / 2 + (n & (size_t)c->arg[0].u.i & 1);
	return pad(rt, c, left, n - left, out);
}

static int do_zfill(struct rt *rt, const struct call *c, struct value *out)
{
	struct value sign = *c->self, rest = *c->self;
	size_t n;
	struct text t;

	if (missing(rt, c, &n) < 0 || rt_room(rt, n, 1) < 0)
		return -1;
	sign.u.s.n = c->self->u.s.n > 0 && (rest.u.s.p[0] == '-' || rest.u.s.p[0] == '+');
	text_slice(c->self, sign.u.s.n, c->self->u.s.n - sign.u.s.n, &rest);
	text_begin(&t, rt, c->self->u.s.n + n);
	text_addv(&t, &sign);
	for (size_t i = 0; i < n && !t.bad; i++)
		text_puts(&t, "0");
	text_addv(&t, &rest);
	return text_end(&t, out) < 0 ? -1 : keep_safe(c, out);
}

static int do_format(struct rt *rt, const struct call *c, struct value *out)
{
	return format_braces(rt, c->self, c->raw, out);
}

const struct callable methods_str[] = {
    {"strip", do_strip, "/chars", 0},
    {"split", do_split, "sep,maxsplit", 0},
    {"lstrip", do_lstrip, "/chars", 0},
    {"rstrip", do_rstrip, "/chars", 0},
    {"replace", do_replace, "/old,new,count", 2},
    {"format", do_format, NULL, 0},
    {"upper", do_upper, "", 0},
    {"lower", do_lower, "", 0},
    {"capitalize", do_capitalize, "", 0},
    {"title", do_title, "", 0},
    {"swapcase", do_swapcase, "", 0},
    {"rsplit", do_rsplit, "sep,maxsplit", 0},
    {"splitlines", do_splitlines, "keepends", 0},
    {"join", do_join, "/iterable", 1},
    {"partition", do_partition, "/sep", 1},
    {"rpartition", do_rpartition, "/sep", 1},
    {"removeprefix", do_removeprefix, "/prefix", 1},
    {"removesuffix", do_removesuffix, "/suffix", 1},
    {"ljust", do_ljust, "/width,fillchar", 1},
    {"rjust", do_rjust, "/width,fillchar", 1},
    {"center", do_center, "/width,fillchar", 1},
    {"zfill", do_zfill, "/width", 1},
    {"casefold", method_unsupported, NULL, 0},
    {"encode", method_unsupported, NULL, 0},
    {"expandtabs", method_unsupported, NULL, 0},
    {"format_map", method_unsupported, NULL, 0},
    {"maketrans", method_unsupported, NULL, 0},
    {"translate", method_unsupported, NULL, 0},
    {0},
};
