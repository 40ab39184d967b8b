/* A context around messages, as transformers gives it to a template. */
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "chat/impl.h"

size_t chat_find(struct span in, const char *what, size_t from)
{
	size_t n = strlen(what);

	while (from + n <= in.n) {
		const char *hit = memchr(in.p + from, what[0], in.n - from - n + 1);

		if (!hit)
			break;
		if (memcmp(hit, what, n) == 0)
			return (size_t)(hit - in.p);
		from = (size_t)(hit - in.p) + 1;
	}
	return SIZE_MAX;
}

int chat_ends(struct span in, const char *with)
{
	size_t n = strlen(with);

	return in.n >= n && memcmp(in.p + in.n - n, with, n) == 0;
}

/* Behind transformers' own names the row's kwargs may hide a special token's, not the others. */
static void put(struct jval *ctx, const char *key, struct jval v)
{
	ctx->u.obj.m[ctx->u.obj.n++] = (struct jmember){.key = {key, strlen(key)}, .val = v};
}

static struct jval boolean(int on)
{
	return (struct jval){.kind = on ? J_TRUE : J_FALSE};
}

static int has_key(const struct jval *obj, struct span key)
{
	for (size_t i = 0; obj && i < obj->u.obj.n; i++) {
		struct span k = obj->u.obj.m[i].key;

		if (k.n == key.n && memcmp(k.p, key.p, k.n) == 0)
			return 1;
	}
	return 0;
}

static void put_kwargs(struct jval *ctx, const struct chat_ask *ask)
{
	for (size_t i = 0; ask->kwargs && i < ask->kwargs->u.obj.n; i++) {
		struct jmember m = ask->kwargs->u.obj.m[i];

		if (ask->thinking_off &&
		    (span_eq(m.key, "thinking") || span_eq(m.key, "enable_thinking")))
			continue;
		ctx->u.obj.m[ctx->u.obj.n++] = m;
	}
	if (ask->thinking_off) {
		put(ctx, "thinking", boolean(0));
		put(ctx, "enable_thinking", boolean(0));
	}
}

int chat_too_long(struct chat_steps *s, struct err *e)
{
	s->left = 0;
	return err_set(e, "long",
	    "the conversation takes more than %zu steps in all: its turns' prompts are rendered "
	    "one by one, and its calls and its tools' $defs looked for",
	    s->all);
}

static int render_template(const struct chat *c, const struct jinja *t, const struct chat_ask *ask,
    struct arena *a, struct jinja_out *out, struct err *e)
{
	static const struct jval none = {.kind = J_NULL};
	size_t nkw = ask->kwargs ? ask->kwargs->u.obj.n : 0;
	struct jval ctx = {.kind = J_OBJ}, messages = {.kind = J_ARR};
	struct jinja_env env = {
	    .context = &ctx, .now = c->has_date ? c->now : JINJA_NO_TIME, .memo = ask->memo};
	const size_t left = ask->steps->left;

	ctx.u.obj.m = arena_array(a, c->nspecial + nkw + 8, sizeof(*ctx.u.obj.m));
	messages.u.arr.v = (struct jval *)ask->messages; /* the template can't change its input */
	messages.u.arr.n = ask->n;
	put(&ctx, "messages", messages);
	put(&ctx, "tools", ask->tools ? *ask->tools : none);
	put(&ctx, "documents", none);
	put(&ctx, "add_generation_prompt", boolean(ask->prompt));
	if (ask->tools_ts)
		put(&ctx, "tools_ts_str", *ask->tools_ts);
	for (size_t i = 0; i < c->nspecial; i++)
		if (!has_key(ask->kwargs, c->special[i].key))
			ctx.u.obj.m[ctx.u.obj.n++] = c->special[i];
	put_kwargs(&ctx, ask);
	env.limits.steps = left < JINJA_STEPS ? left : JINJA_STEPS;
	return jinja_render(t, &env, out, e);
}

/* A step is a message or 32 bytes. */
static int render_native(const struct chat *c, const struct chat_native *native,
    const struct chat_ask *ask, struct jinja_out *out, struct err *e)
{
	int rc;

	buf_reset(&out->text);
	out->nruns = 0;
	rc = native->render(c, ask, out, e);
	out->steps = ask->n + out->text.len / 32;
	return rc;
}

int chat_render(const struct chat *c, const struct chat_tmpl *t, const struct chat_ask *ask,
    struct arena *a, struct jinja_out *out, struct err *e)
{
	const size_t left = ask->steps->left;
	int rc;

	if (left == 0)
		return chat_too_long(ask->steps, e);
	rc = t->native ? render_native(c, t->native, ask, out, e)
		       : render_template(c, t->jinja, ask, a, out, e);
	if (out->steps > left)
		return chat_too_long(ask->steps, e);
	chat_spend(ask->steps, out->steps);
	return rc;
}

static void add_run(struct jinja_out *out, struct jinja_run run)
{
	if (out->nruns > 0 && out->runs[out->nruns - 1].origin == run.origin &&
	    out->runs[out->nruns - 1].generation == run.generation) {
		out->runs[out->nruns - 1].end = run.end;
		return;
	}
	out->runs = xgrow(out->runs, &out->cap, out->nruns + 1, sizeof(*out->runs));
	out->runs[out->nruns++] = run;
}

void chat_put(struct jinja_out *out, const char *p, size_t n, uint32_t origin)
{
	if (n == 0)
		return;
	buf_add(&out->text, p, n);
	add_run(out, (struct jinja_run){.end = out->text.len, .origin = origin});
}

void chat_cut(struct jinja_out *to, const struct jinja_out *of, size_t from, size_t end)
{
	buf_reset(&to->text);
	to->nruns = 0;
	if (from == end)
		return;
	buf_add(&to->text, of->text.data + from, end - from);
	for (size_t i = 0; i < of->nruns; i++) {
		struct jinja_run run = of->runs[i];

		if (run.end <= from)
			continue;
		run.end = (run.end < end ? run.end : end) - from;
		add_run(to, run);
		if (run.end == end - from)
			break;
	}
}
