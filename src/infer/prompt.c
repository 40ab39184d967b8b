#include "infer/prompt.h"

#include "infer/infer.h"

static int render(struct run *r, struct item *it, struct err *e)
{
	struct chat_conv conv = {0};
	struct buf text = {0};
	struct rec rec = {0};
	int rc;

	arena_reset(&r->arena);
	conv_record(&it->conv, &it->rec, &text);
	rc = rec_parse(&rec, text.data, text.len, e);
	if (rc == 0)
		rc = chat_read(&conv, &rec, &r->arena, e);
	if (rc == 0)
		rc = chat_prompt(r->chat, r->work, &conv, conv.n, &it->prompt, NULL, e);
	rec_free(&rec);
	buf_free(&text);
	return rc;
}

/* A request that fits the context but not the cache can hang the server for everybody. */
static int check_fit(
    const struct run *r, const struct endpoint *ep, const struct item *it, struct err *e)
{
	uint64_t want = it->prompt.n + r->o->max_new_tokens;

	if (ep->facts.context > 0 && want > (uint64_t)ep->facts.context)
		return err_set(e, "long",
		    "a prompt of %zu tokens and %llu new ones do not fit a context of %lld",
		    it->prompt.n, (unsigned long long)r->o->max_new_tokens,
		    (long long)ep->facts.context);
	if (ep->facts.kv_tokens > 0 && want > (uint64_t)ep->facts.kv_tokens)
		return err_set(e, "long",
		    "a prompt of %zu tokens and %llu new ones do not fit a cache of %lld",
		    it->prompt.n, (unsigned long long)r->o->max_new_tokens,
		    (long long)ep->facts.kv_tokens);
	return 0;
}

int prompt_make(struct run *r, struct endpoint *ep, struct item *it, struct err *e)
{
	if (!serve_takes_ids(ep->route))
		return 0;
	if (it->prompt.n == 0 && render(r, it, e) < 0)
		return -1;
	if (it->prompt.n == 0)
		return err_set(e, "template", "the prompt is empty");
	return check_fit(r, ep, it, e);
}
