/* The record's generations: which ids a server got and gave for which message.
 *
 * The lists of ids never become trees: each element of the array is scanned as a record of its own
 * and its id lists are read by the integer codec. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/num.h"
#include "chat/impl.h"
#include "json/ids.h"
#include "json/rec.h"

/* The next element of an array, whose JSON is known to be well formed: *rest begins behind "[" or
 * behind an element, and then behind the element returned. An empty span ends the array. */
static struct span next_element(struct span *rest)
{
	size_t blanks = strspn(rest->p, " \t\r\n,");
	struct span el = {rest->p + blanks, rest->n - blanks};

	if (*el.p == ']')
		return (struct span){0};
	el.n = (size_t)(json_end(el, NULL) - el.p);
	*rest = (struct span){el.p + el.n, rest->n - blanks - el.n};
	return el;
}

/* A server's answer has a token and a prompt too: an empty list is no way to say that there are
 * none. */
static int read_ids(
    int32_t **out, size_t *n, const struct rec *r, const char *name, struct arena *a, struct err *e)
{
	struct span v = rec_get(r, name);
	struct ints ids = {0};
	int rc;

	*out = NULL;
	*n = 0;
	if (span_is_null(v))
		return 0;
	rc = ids_read(&ids, v, name, e);
	if (rc == 0 && ids.n == 0)
		rc = err_set(e, "range", "%s: is empty", name);
	if (rc == 0) {
		*out = arena_dup(a, ids.v, ids.n * sizeof(*ids.v));
		*n = ids.n;
	}
	ints_free(&ids);
	return rc;
}

static int read_index(
    uint64_t *at, const struct chat_conv *conv, const struct rec *r, struct err *e)
{
	struct span v = rec_get(r, "message");

	if (!v.p)
		return err_set(e, "missing", "message: expected the index of a message");
	if (num_u64(v.p, v.n, at) < 0)
		return err_set(e, "type", "message: expected the index of a message");
	if (*at >= conv->n || !chat_is_role(&conv->messages->u.arr.v[*at], "assistant"))
		return err_set(e, "range", "message: %.*s is no assistant message", (int)v.n, v.p);
	return 0;
}

/* A count beside a list of ids must be the list's length: where they differ, one of them is not
 * what the server said. */
static int check_count(const struct rec *r, const char *name, size_t n, struct err *e)
{
	struct span v = rec_get(r, name);
	uint64_t count;

	if (span_is_null(v))
		return 0;
	if (num_u64(v.p, v.n, &count) < 0)
		return err_set(e, "type", "%s: expected a number of tokens", name);
	if (count != n)
		return err_set(
		    e, "range", "%s: %.*s, but there are %zu ids", name, (int)v.n, v.p, n);
	return 0;
}

/* A message whose `seen` byte is set has had its entry. */
static int read_one(struct chat_conv *conv, struct chat_gen *gen, char *seen, const struct rec *r,
    struct arena *a, struct err *e)
{
	struct chat_gen g = {0};
	uint64_t at;

	if (read_index(&at, conv, r, e) < 0)
		return -1;
	if (seen[at])
		return err_set(e, "range", "message: a second entry for message %zu", (size_t)at);
	seen[at] = 1;
	if (read_ids(&g.output, &g.noutput, r, "output_ids", a, e) < 0 ||
	    read_ids(&g.prompt, &g.nprompt, r, "prompt_token_ids", a, e) < 0)
		return -1;
	if (!span_is_null(rec_get(r, "output_ids")) &&
	    check_count(r, "completion_tokens", g.noutput, e) < 0)
		return -1;
	if (!span_is_null(rec_get(r, "prompt_token_ids")) &&
	    check_count(r, "prompt_tokens", g.nprompt, e) < 0)
		return -1;
	g.cut = span_eq(rec_get(r, "finish_reason"), "\"length\"");
	if (conv->weight[at])
		gen[at] = g;
	return 0;
}

int chat_read_generations(struct chat_conv *conv, struct span text, struct arena *a, struct err *e)
{
	struct rec r = {0};
	struct chat_gen *gen;
	struct span rest;
	char *seen;
	int rc = 0;
	size_t i = 0;

	if (span_is_null(text))
		return 0;
	if (text.p[0] != '[')
		return err_set(e, "type", "generations: expected a list, not %s", json_kind(text));
	gen = arena_array(a, conv->n + 1, sizeof(*gen));
	memset(gen, 0, (conv->n + 1) * sizeof(*gen));
	seen = arena_alloc(a, conv->n + 1);
	memset(seen, 0, conv->n + 1);
	rest = (struct span){text.p + 1, text.n - 1};
	for (struct span el = next_element(&rest); el.p && rc == 0; el = next_element(&rest), i++) {
		if (el.p[0] != '{')
			rc = err_set(e, "type", ": expected an object, not %s", json_kind(el));
		else if (rec_parse(&r, el.p, el.n, e) < 0 ||
			 read_one(conv, gen, seen, &r, a, e) < 0)
			rc = err_prefix(e, ".");
		if (rc < 0)
			err_prefix(e, "generations[%zu]", i);
	}
	rec_free(&r);
	conv->gen = i > 0 ? gen : NULL;
	return rc;
}
