/* What a template can take, found by rendering small conversations through it.
 *
 * A template says nowhere whether it prints arguments that are a string as they are, or a list of
 * parts, or a null: it is tried. The texts searched for occur in no template. */
#include <string.h>

#include "base/err.h"
#include "chat/impl.h"

#define CALL(content, args)                                                            \
	"[{\"role\":\"user\",\"content\":\"e3u\"},{\"role\":\"assistant\"" content "," \
	"\"tool_calls\":[{\"id\":\"functions.e3f:0\",\"type\":\"function\","           \
	"\"function\":{\"name\":\"e3f\",\"arguments\":" args "}}]}]"

#define ARGS_TEXT   "\"{\\\"e3\\\":1}\""
#define ARGS_OBJECT "{\"e3\":1}"

/* Renders messages given as JSON. Everything in the probe's arena and out; -1 if it raises. */
static int try(struct chat *c, struct chat_tmpl *t, const char *messages, struct jinja_out *out)
{
	struct arena a = {0};
	struct jval v;
	struct err e = {0};
	struct chat_steps steps = {PROBE_STEPS, PROBE_STEPS};
	struct chat_ask ask = {.steps = &steps};
	int rc = val_parse(&v, (struct span){messages, strlen(messages)}, 0, &a, NULL, &e);

	if (rc == 0) {
		ask.messages = v.u.arr.v;
		ask.n = v.u.arr.n;
		rc = chat_render(c, t, &ask, &a, out, &e);
	}
	arena_free(&a);
	return rc;
}

static int prints(struct chat *c, struct chat_tmpl *t, const char *messages, const char *what,
    struct jinja_out *out)
{
	if (try(c, t, messages, out) < 0)
		return 0;
	return chat_find((struct span){out->text.data, out->text.len}, what, 0) != SIZE_MAX;
}

/* Some templates print calls only beside a null content, some only beside a string. */
static int args_text(struct chat *c, struct chat_tmpl *t, struct jinja_out *out)
{
	static const char *const tries[] = {CALL(",\"content\":null", ARGS_TEXT),
	    CALL(",\"content\":\"\"", ARGS_TEXT), CALL("", ARGS_TEXT)};

	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		if (prints(c, t, tries[i], "{\"e3\":1}", out))
			return 1;
	return 0;
}

/* Whether a call beside this content is rendered without a "None". */
static int takes(struct chat *c, struct chat_tmpl *t, const char *messages, struct jinja_out *out)
{
	return try(c, t, messages, out) == 0 &&
	       chat_find((struct span){out->text.data, out->text.len}, "None", 0) == SIZE_MAX;
}

/* A null is left out where that helps; a template that can't do without content says so itself. */
static int null_dropped(struct chat *c, struct chat_tmpl *t, struct jinja_out *out)
{
	const char *null = t->args_text ? CALL(",\"content\":null", ARGS_TEXT)
					: CALL(",\"content\":null", ARGS_OBJECT);
	const char *missing = t->args_text ? CALL("", ARGS_TEXT) : CALL("", ARGS_OBJECT);

	return !takes(c, t, null, out) && takes(c, t, missing, out);
}

/* A list printed as Python would print it is no way of taking it. */
static int takes_parts(struct chat *c, struct chat_tmpl *t, struct jinja_out *out)
{
	static const char messages[] = "[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
				       "\"text\":\"e3part\"}]}]";
	struct span text;

	if (!prints(c, t, messages, "e3part", out))
		return 0;
	text = (struct span){out->text.data, out->text.len};
	return chat_find(text, "'type'", 0) == SIZE_MAX &&
	       chat_find(text, "\"type\"", 0) == SIZE_MAX;
}

static int kimi_think(struct chat *c, struct chat_tmpl *t, struct jinja_out *out)
{
	return prints(c, t, CALL(",\"reasoning_content\":\"e3r\",\"content\":\"e3c\"", ARGS_TEXT),
	    "<|im_assistant|>assistant<|im_middle|><think>e3r</think>e3c"
	    "<|tool_calls_section_begin|><|tool_call_begin|>functions.e3f:0"
	    "<|tool_call_argument_begin|>{\"e3\":1}<|tool_call_end|>"
	    "<|tool_calls_section_end|><|im_end|>",
	    out);
}

void chat_probe(struct chat *c, struct chat_tmpl *t)
{
	struct jinja_out out = {0};
	int64_t now = c->now;
	int has_date = c->has_date;

	/* a probe must not fail for want of a date */
	c->has_date = 1;
	c->now = 0;
	t->args_text = args_text(c, t, &out);
	t->null_dropped = null_dropped(c, t, &out);
	t->takes_parts = takes_parts(c, t, &out);
	t->kimi_think = kimi_think(c, t, &out);
	c->has_date = has_date;
	c->now = now;
	jinja_out_free(&out);
}
