/* Kimi: [<think>] RC </think> CONTENT [calls], where a call is
 *	<|tool_call_begin|> functions.NAME:IDX <|tool_call_argument_begin|> ARGS <|tool_call_end|>
 * between <|tool_calls_section_begin|> and <|tool_calls_section_end|>. */
#include <string.h>

#include "chat/answer.h"
#include "chat/impl.h"

/* NAME of functions.NAME:IDX. */
static struct span name_of(struct span id)
{
	size_t n = id.n;

	if (n > 10 && memcmp(id.p, "functions.", 10) == 0) {
		id.p += 10;
		n -= 10;
	}
	for (size_t k = n; k-- > 0;)
		if (id.p[k] == ':') {
			n = k;
			break;
		}
	return (struct span){id.p, n};
}

static int calls(const struct answer_text *t, struct answer_parts *out, size_t at)
{
	size_t args, end;

	while (answer_at(t, "<|tool_call_begin|>", at, &at)) {
		struct span id, name;

		args = answer_find(t, "<|tool_call_argument_begin|>", at);
		if (args == SIZE_MAX)
			return -1;
		id = answer_cut(t, at, args);
		name = name_of(id);
		args += strlen("<|tool_call_argument_begin|>");
		end = answer_find(t, "<|tool_call_end|>", args);
		if (end == SIZE_MAX || name.n == 0)
			return -1;
		answer_call(t, out, id, name, answer_cut(t, args, end));
		at = end + strlen("<|tool_call_end|>");
	}
	return answer_at(t, "<|tool_calls_section_end|>", at, &at) && at == t->text.n ? 0 : -1;
}

int answer_kimi(const struct answer_text *t, struct answer_parts *out)
{
	size_t from = answer_think(t, out), section;

	if (from == SIZE_MAX)
		return 0;
	section = answer_find(t, "<|tool_calls_section_begin|>", from);
	out->content = answer_cut(t, from, section == SIZE_MAX ? t->text.n : section);
	if (section == SIZE_MAX)
		return 0;
	return calls(t, out, section + strlen("<|tool_calls_section_begin|>"));
}
