/* gpt-oss (harmony), behind "<|start|>assistant":
 *	<|channel|>analysis<|message|>RC<|end|><|start|>assistant<|channel|>final<|message|>CONTENT
 * or, instead of the final channel, one call
 *	[<|start|>assistant] to=functions.NAME<|channel|>commentary json<|message|>ARGS
 * each followed by the token that ended the turn. */
#include <string.h>

#include "chat/answer.h"
#include "chat/impl.h"

#define CHANNEL "<|channel|>"
#define MESSAGE "<|message|>"
#define TO	" to=functions."

/* The text of a header literal at *at, which is moved behind it. */
static int literal(const struct answer_text *t, const char *s, size_t *at)
{
	size_t n = strlen(s);

	if (t->text.n - *at < n || memcmp(t->text.p + *at, s, n) != 0)
		return 0;
	*at += n;
	return 1;
}

static int call(const struct answer_text *t, struct answer_parts *out, size_t at)
{
	size_t channel = answer_find(t, CHANNEL, at), args = answer_find(t, MESSAGE, at);

	if (args == SIZE_MAX || channel > args || channel == at)
		return -1;
	answer_call(t, out, (struct span){0}, answer_cut(t, at, channel),
	    answer_cut(t, args + strlen(MESSAGE), t->text.n));
	return 0;
}

int answer_gptoss(const struct answer_text *t, struct answer_parts *out)
{
	size_t at = 0, end;

	if (literal(t, CHANNEL "analysis" MESSAGE, &at)) {
		end = answer_find(t, "<|end|>", at);
		out->reasoning = answer_cut(t, at, end == SIZE_MAX ? t->text.n : end);
		if (end == SIZE_MAX)
			return 0;
		at = end + strlen("<|end|>");
		if (!literal(t, "<|start|>assistant", &at))
			return -1;
	}
	if (literal(t, TO, &at))
		return call(t, out, at);
	if (!literal(t, CHANNEL "final" MESSAGE, &at))
		return -1;
	out->content = answer_cut(t, at, t->text.n);
	return 0;
}
