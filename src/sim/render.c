#include "sim/sim.h"

#include <string.h>

#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/chat.h"
#include "json/rec.h"
#include "json/val.h"

int render_open(struct sim *s, struct err *e)
{
	struct chat_opt o = {.model = s->opt->model,
	    .served_by = s->opt->api == SIM_VLLM ? SERVED_VLLM : SERVED_SGLANG,
	    .no_cache = s->opt->no_cache};

	s->chat = chat_open(&o, e);
	if (s->chat) {
		s->chat_work = chat_work_open(s->chat);
		s->tok = chat_bpe(s->chat);
		return 0;
	}
	/* without a template text and ids are served all the same */
	if (strcmp(e->class, "template") != 0)
		return -1;
	s->no_template = *e;
	s->bpe = (s->opt->no_cache ? bpe_open_uncached : bpe_open)(s->opt->model, e);
	s->tok = s->bpe;
	return s->bpe ? 0 : -1;
}

static int read_member(const struct rec *r, const char *name, struct arena *a, struct jval *out,
    enum jkind kind, struct err *e)
{
	struct span v = rec_get(r, name);

	if (span_is_null(v))
		return 0;
	if (val_parse(out, v, 1, a, NULL, e) < 0)
		return -1;
	if (out->kind != kind)
		return err_set(
		    e, "params", "%s: expected %s", name, kind == J_ARR ? "an array" : "an object");
	return 1;
}

int render_prompt(
    struct sim *s, const struct rec *r, struct arena *a, struct ints *ids, struct err *e)
{
	struct jval messages, tools, kwargs;
	struct chat_conv conv = {.messages = &messages};
	int some, more;

	if (!s->chat)
		return err_set(e, "params", "%s", s->no_template.msg);
	some = read_member(r, "messages", a, &messages, J_ARR, e);
	if (some < 0)
		return -1;
	if (some == 0 || messages.u.arr.n == 0)
		return err_set(e, "params", "messages: expected an array of messages");
	some = read_member(r, "tools", a, &tools, J_ARR, e);
	more = read_member(r, "chat_template_kwargs", a, &kwargs, J_OBJ, e);
	if (some < 0 || more < 0)
		return -1;
	conv.n = messages.u.arr.n;
	conv.tools = some && tools.u.arr.n > 0 ? &tools : NULL;
	conv.kwargs = more ? &kwargs : NULL;
	conv.weight = memset(arena_alloc(a, conv.n), 0, conv.n);
	return chat_prompt(s->chat, s->chat_work, &conv, conv.n, ids, NULL, e);
}

void render_close(struct sim *s)
{
	if (s->chat_work)
		chat_work_close(s->chat_work);
	if (s->chat)
		chat_close(s->chat);
	if (s->bpe)
		bpe_close(s->bpe);
}
