#include "infer/tools.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "serve/lax.h"
#include "json/rec.h"

struct call {
	struct span id, name, args; /* JSON strings, or p NULL */
	size_t result;		    /* of the record's calls: the number of its result, or NONE */
	int used;
};

#define NONE SIZE_MAX

static struct call *read_calls(struct span array, size_t *n)
{
	struct call *c = NULL;
	struct span v;
	struct lax s;
	size_t cap = 0;

	*n = 0;
	if (!array.p || *array.p != '[')
		return NULL;
	lax_begin(&s, array);
	while (lax_element(&s, &v)) {
		c = xgrow(c, &cap, *n + 1, sizeof(*c));
		c[(*n)++] = (struct call){
		    .id = lax_get(v, "id"),
		    .name = lax_get(lax_get(v, "function"), "name"),
		    .args = lax_get(lax_get(v, "function"), "arguments"),
		    .result = NONE,
		};
	}
	return c;
}

static int same(struct span a, struct span b)
{
	return a.p && b.p && a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static void find_results(
    struct call *own, size_t nown, const struct conv_msg *results, size_t nresults)
{
	for (size_t i = 0; i < nown; i++) {
		for (size_t k = 0; k < nresults && own[i].result == NONE; k++)
			if (same(own[i].id, lax_get(results[k].json, "tool_call_id")))
				own[i].result = k;
		if (own[i].result == NONE && i < nresults &&
		    !lax_get(results[i].json, "tool_call_id").p)
			own[i].result = i;
	}
}

/* The result of the first unused call of that name, and of those arguments; or NONE. */
static size_t choose(const struct call *call, struct call *own, size_t nown, int same_arguments)
{
	for (size_t i = 0; i < nown; i++) {
		if (own[i].used || own[i].result == NONE || !same(own[i].name, call->name) ||
		    (same_arguments && !same(own[i].args, call->args)))
			continue;
		own[i].used = 1;
		return own[i].result;
	}
	return NONE;
}

static void add_result(struct buf *out, struct span result, struct span id)
{
	struct rec_edit edit = {"tool_call_id", id};
	struct rec r = {0};
	struct err ignored;

	if (out->len)
		buf_addc(out, ',');
	/* a message of a record that was parsed is JSON */
	if (rec_parse(&r, result.p, result.n, &ignored) == 0)
		rec_copy(out, &r, &edit, 1);
	rec_free(&r);
}

int tools_answer(struct conv *c, struct span calls, struct span own_calls,
    const struct conv_msg *results, size_t n)
{
	size_t nnew, nown;
	struct call *new = read_calls(calls, &nnew), *own = read_calls(own_calls, &nown);
	size_t *chosen = xcalloc(nnew ? nnew : 1, sizeof(*chosen));
	int rc = nnew ? 0 : -1;

	find_results(own, nown, results, n);
	for (size_t j = 0; j < nnew; j++)
		chosen[j] = nown ? choose(&new[j], own, nown, 1) : j;
	for (size_t j = 0; j < nnew && rc >= 0; j++) {
		if (chosen[j] == NONE) {
			chosen[j] = choose(&new[j], own, nown, 0);
			rc++;
		}
		if (chosen[j] >= n)
			rc = -1;
	}
	for (size_t j = 0; j < nnew && rc >= 0; j++) {
		add_result(&c->list, results[chosen[j]].json, new[j].id);
		c->count++;
	}
	free(new);
	free(own);
	free(chosen);
	return rc;
}
