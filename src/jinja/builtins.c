#include "jinja/builtins.h"

#include <string.h>

#include "jinja/rt.h"
#include "jinja/strops.h"
#include "jinja/text.h"

const struct callable *callable_find(const struct callable *table, struct span name)
{
	/* every x.y asks here first: most names differ in their first letter */
	for (; name.n > 0 && table->name; table++)
		if (table->name[0] == name.p[0] && strncmp(table->name, name.p, name.n) == 0 &&
		    table->name[name.n] == '\0')
			return table;
	return NULL;
}

const struct callable *filter_find(struct span name)
{
	static const struct callable *const tables[] = {
	    filters_text, filters_seq, filters_pick, filters_number};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct callable *f = callable_find(tables[i], name);

		if (f)
			return f;
	}
	return NULL;
}

int arg_given(const struct call *c, size_t i)
{
	return c->arg[i].kind != V_MISSING && c->arg[i].kind != V_NONE;
}

int arg_int(struct rt *rt, const struct call *c, size_t i, int64_t or_else, int64_t *out)
{
	*out = or_else;
	if (c->arg[i].kind == V_MISSING || value_is_int(&c->arg[i], out))
		return 0;
	return rt_fail(
	    rt, "an integer is needed, not a value of type '%s'", value_type(&c->arg[i]));
}

int arg_truth(struct rt *rt, const struct call *c, size_t i, int or_else)
{
	return c->arg[i].kind == V_MISSING ? or_else : value_truth(rt, &c->arg[i]);
}

int arg_str(struct rt *rt, const struct call *c, size_t i, struct value *out)
{
	*out = c->arg[i];
	if (out->kind == V_STR)
		return 0;
	return rt_fail(rt, "a string is needed, not a value of type '%s'", value_type(out));
}

int fold_case(struct rt *rt, struct value *v)
{
	struct value s = *v;

	return v->kind == V_STR ? str_case(rt, &s, CASE_LOWER, v) : 0;
}

/* ---- sorting: a stable merge sort of indexes ---- */

struct sorter {
	struct rt *rt;
	const struct value *key;
	int reverse, bad;
};

/* Whether b must stand before a. */
static int swapped(struct sorter *s, size_t a, size_t b)
{
	const struct value *x = &s->key[s->reverse ? a : b], *y = &s->key[s->reverse ? b : a];
	int order = 0;

	if (!s->bad && (rt_step(s->rt, 0) < 0 || value_order(s->rt, x, y, &order) < 0))
		s->bad = 1;
	return order == -1;
}

static void merge(struct sorter *s, size_t *v, size_t *tmp, size_t mid, size_t n)
{
	size_t i = 0, j = mid, k = 0;

	while (i < mid && j < n)
		tmp[k++] = swapped(s, v[i], v[j]) ? v[j++] : v[i++];
	while (i < mid)
		tmp[k++] = v[i++];
	while (j < n)
		tmp[k++] = v[j++];
	memcpy(v, tmp, n * sizeof(*v));
}

static void merge_sort(struct sorter *s, size_t *v, size_t *tmp, size_t n)
{
	if (n < 2 || s->bad)
		return;
	merge_sort(s, v, tmp, n / 2);
	merge_sort(s, v + n / 2, tmp, n - n / 2);
	merge(s, v, tmp, n / 2, n);
}

int sort_values(struct rt *rt, struct value *v, struct value *key, size_t n, int reverse)
{
	struct sorter s = {rt, key, reverse, 0};
	size_t *index = rt_array(rt, n * 2, sizeof(*index));

	for (size_t i = 0; i < n; i++)
		index[i] = i;
	merge_sort(&s, index, index + n, n);
	if (s.bad)
		return -1;
	for (size_t i = 0; i < n; i++)
		key[i] = v[index[i]];
	if (n > 0)
		memcpy(v, key, n * sizeof(*v));
	return 0;
}
