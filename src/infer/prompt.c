#include "infer/prompt.h"

#include "infer/infer.h"
#include "json/ids.h"

int prompt_conv(struct run *r, const struct item *it, struct chat_conv *conv, struct err *e)
{
	arena_reset(&r->arena);
	buf_reset(&r->text);
	conv_record(&it->conv, &it->rec, &r->text);
	if (rec_parse(&r->text_rec, r->text.data, r->text.len, e) < 0)
		return -1;
	return chat_read(conv, &r->text_rec, &r->arena, e);
}

static int render(struct run *r, const struct item *it, struct err *e)
{
	struct chat_conv conv = {0};

	if (prompt_conv(r, it, &conv, e) < 0)
		return -1;
	return chat_prompt(r->chat, r->work, &conv, conv.n, &r->prompt, NULL, e);
}

struct span prompt_text(const struct item *it)
{
	struct span body = {it->call.body.data, it->call.body.len};

	return serve_takes_ids(it->ep->route) ? serve_prompt_text(it->ep->route, body)
					      : (struct span){NULL, 0};
}

int prompt_sent(struct run *r, const struct item *it, struct err *e)
{
	ints_reset(&r->prompt);
	return ids_read(&r->prompt, prompt_text(it), "prompt", e);
}

/* A request that fits the context but not the cache can hang the server for everybody. */
static int check_fit(const struct run *r, const struct endpoint *ep, struct err *e)
{
	uint64_t want = r->prompt.n + r->o->max_new_tokens;

	if (ep->facts.context > 0 && want > (uint64_t)ep->facts.context)
		return err_set(e, "long",
		    "a prompt of %zu tokens and %llu new ones do not fit a context of %lld",
		    r->prompt.n, (unsigned long long)r->o->max_new_tokens,
		    (long long)ep->facts.context);
	if (ep->facts.kv_tokens > 0 && want > (uint64_t)ep->facts.kv_tokens)
		return err_set(e, "long",
		    "a prompt of %zu tokens and %llu new ones do not fit a cache of %lld",
		    r->prompt.n, (unsigned long long)r->o->max_new_tokens,
		    (long long)ep->facts.kv_tokens);
	return 0;
}

int prompt_make(struct run *r, struct endpoint *ep, struct item *it, struct err *e)
{
	ints_reset(&r->prompt);
	if (!serve_takes_ids(ep->route))
		return 0;
	if (render(r, it, e) < 0)
		return -1;
	if (r->prompt.n == 0)
		return err_set(e, "template", "the prompt is empty");
	return check_fit(r, ep, e);
}
