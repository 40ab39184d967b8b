/* DeepSeek V3, R1, V3.1: [RC</think>] CONTENT, then between <｜tool▁calls▁begin｜> and
 * <｜tool▁calls▁end｜> calls
 *	<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>ARGS<｜tool▁call▁end｜>		(V3.1)
 *	<｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n```json\nARGS\n```<｜tool▁call▁end｜> (V3)
 */
#include <string.h>

#include "chat/answer.h"
#include "chat/impl.h"

#define CALLS_BEGIN "<｜tool▁calls▁begin｜>"
#define CALLS_END   "<｜tool▁calls▁end｜>"
#define CALL_BEGIN  "<｜tool▁call▁begin｜>"
#define CALL_END    "<｜tool▁call▁end｜>"
#define SEP	    "<｜tool▁sep｜>"
#define FENCE	    "\n```json\n"

static int call(
    const struct answer_text *t, struct answer_parts *out, struct span head, struct span body)
{
	size_t fence = chat_find(body, FENCE, 0);

	if (span_eq(head, "function") && fence != SIZE_MAX && chat_ends(body, "\n```")) {
		struct span name = {body.p, fence};
		size_t from = fence + strlen(FENCE), n = body.n - strlen("\n```");

		if (n < from)
			return -1;
		answer_call(t, out, (struct span){0}, name, (struct span){body.p + from, n - from});
		return 0;
	}
	if (head.n == 0)
		return -1;
	answer_call(t, out, (struct span){0}, head, body);
	return 0;
}

static int calls(const struct answer_text *t, struct answer_parts *out, size_t at)
{
	for (;;) {
		size_t sep, end;

		while (at < t->text.n && t->text.p[at] == '\n')
			at++;
		if (!answer_at(t, CALL_BEGIN, at, &at))
			break;
		sep = answer_find(t, SEP, at);
		end = answer_find(t, CALL_END, at);
		if (end == SIZE_MAX || sep > end)
			return -1;
		if (call(t, out, answer_cut(t, at, sep), answer_cut(t, sep + strlen(SEP), end)) < 0)
			return -1;
		at = end + strlen(CALL_END);
	}
	return answer_at(t, CALLS_END, at, &at) && at == t->text.n ? 0 : -1;
}

int answer_deepseek(const struct answer_text *t, struct answer_parts *out)
{
	size_t from = answer_think(t, out), begin;

	if (from == SIZE_MAX)
		return 0;
	begin = answer_find(t, CALLS_BEGIN, from);
	out->content = answer_cut(t, from, begin == SIZE_MAX ? t->text.n : begin);
	return begin == SIZE_MAX ? 0 : calls(t, out, begin + strlen(CALLS_BEGIN));
}
