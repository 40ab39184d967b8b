/* GLM:	[\n]<think>RC</think>[\n]CONTENT, then calls
 *	[\n]<tool_call>NAME[\n]<arg_key>K</arg_key>[\n]<arg_value>V</arg_value>[\n]</tool_call>
 * MiniMax M2: <think>\nRC\n</think>\n\nCONTENT, then \n<minimax:tool_call>\n, calls
 *	<invoke name="NAME">\n<parameter name="K">V</parameter>\n</invoke>\n
 * and </minimax:tool_call>. */
#include <string.h>

#include "chat/answer.h"
#include "chat/impl.h"

static size_t skip_lf(const struct answer_text *t, size_t at)
{
	while (at < t->text.n && t->text.p[at] == '\n')
		at++;
	return at;
}

/* What stands between two marks, the first of which is at *at; *at is left behind the second. */
static int between(const struct answer_text *t, const char *before, const char *behind, size_t *at,
    struct span *out)
{
	size_t from, end;

	if (!answer_at(t, before, *at, &from))
		return 0;
	end = answer_find(t, behind, from);
	if (end == SIZE_MAX)
		return 0;
	*out = answer_cut(t, from, end);
	*at = end + strlen(behind);
	return 1;
}

static int glm_call(const struct answer_text *t, struct answer_parts *out, size_t *at)
{
	size_t key = answer_find(t, "<arg_key>", *at), end = answer_find(t, "</tool_call>", *at);
	struct answer_args args = {0};
	struct span name, k, v;

	if (end == SIZE_MAX)
		return -1;
	name = answer_strip(answer_cut(t, *at, key < end ? key : end), "\n");
	*at = key < end ? key : end;
	while (between(t, "<arg_key>", "</arg_key>", at, &k)) {
		*at = skip_lf(t, *at);
		if (!between(t, "<arg_value>", "</arg_value>", at, &v))
			return -1;
		*at = skip_lf(t, *at);
		answer_arg(t, &args, name, k, v);
	}
	if (name.n == 0 || !answer_at(t, "</tool_call>", *at, at))
		return -1;
	answer_call_args(t, out, name, &args);
	return 0;
}

int answer_glm(const struct answer_text *t, struct answer_parts *out)
{
	size_t from = answer_think(t, out), call;

	if (from == SIZE_MAX)
		return 0;
	call = answer_find(t, "<tool_call>", from);
	out->content = answer_strip(answer_cut(t, from, call == SIZE_MAX ? t->text.n : call), "\n");
	while (call != SIZE_MAX && call < t->text.n) {
		if (!answer_at(t, "<tool_call>", call, &call) || glm_call(t, out, &call) < 0)
			return -1;
		call = skip_lf(t, call);
	}
	return 0;
}

static int invoke(const struct answer_text *t, struct answer_parts *out, size_t *at)
{
	struct answer_args args = {0};
	struct span name, k, v;

	if (!between(t, "<invoke name=\"", "\">", at, &name))
		return -1;
	*at = skip_lf(t, *at);
	while (between(t, "<parameter name=\"", "\">", at, &k)) {
		size_t end = answer_find(t, "</parameter>", *at);

		if (end == SIZE_MAX)
			return -1;
		v = answer_cut(t, *at, end);
		answer_arg(t, &args, name, k, v);
		*at = skip_lf(t, end + strlen("</parameter>"));
	}
	if (!answer_at(t, "</invoke>", *at, at))
		return -1;
	*at = skip_lf(t, *at);
	answer_call_args(t, out, name, &args);
	return 0;
}

int answer_minimax(const struct answer_text *t, struct answer_parts *out)
{
	size_t from = answer_think(t, out), call;

	out->reasoning = answer_strip(out->reasoning, "\n");
	if (from == SIZE_MAX)
		return 0;
	call = answer_find(t, "<minimax:tool_call>", from);
	out->content = answer_strip(answer_cut(t, from, call == SIZE_MAX ? t->text.n : call), "\n");
	if (call == SIZE_MAX)
		return 0;
	call = skip_lf(t, call + strlen("<minimax:tool_call>"));
	while (!answer_at(t, "</minimax:tool_call>", call, &call))
		if (call >= t->text.n || invoke(t, out, &call) < 0)
			return -1;
	return call == t->text.n ? 0 : -1;
}
