/* Qwen: <think>\nRC\n</think>\n\nCONTENT, then calls of one of two kinds between <tool_call> and
 * </tool_call>: a JSON object {"name": NAME, "arguments": ARGS} (Qwen2.5, Qwen3), or
 *	<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function> (Coder, 3.5). */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/answer.h"
#include "chat/impl.h"
#include "json/rec.h"

static int json_call(const struct answer_text *t, struct answer_parts *out, struct span body)
{
	struct rec r = {0};
	struct buf name = {0};
	struct span args;
	struct err why;
	int rc = -1;

	if (rec_parse(&r, body.p, body.n, &why) == 0 && rec_str(&r, "name", &name, &why) == 0 &&
	    name.len > 0) {
		args = rec_get(&r, "arguments");
		if (args.p && args.p[0] == '{') {
			struct span s = {arena_dup(t->a, name.data, name.len), name.len};

			answer_call(t, out, (struct span){0}, s, args);
			rc = 0;
		}
	}
	buf_free(&name);
	rec_free(&r);
	return rc;
}

static int xml_call(const struct answer_text *t, struct answer_parts *out, struct span body)
{
	struct answer_args args = {0};
	struct span name, key, value;

	if (!answer_between(&body, "<function=", ">\n", &name))
		return -1;
	while (answer_between(&body, "<parameter=", ">\n", &key)) {
		if (!answer_between(&body, "", "\n</parameter>\n", &value))
			return -1;
		answer_arg(t, &args, name, key, value);
	}
	answer_call_args(t, out, name, &args);
	return 0;
}

static int calls(const struct answer_text *t, struct answer_parts *out, size_t at)
{
	for (size_t end; answer_at(t, "<tool_call>", at, &at);) {
		struct span body;

		end = answer_find(t, "</tool_call>", at);
		if (end == SIZE_MAX)
			return -1;
		body = answer_strip(answer_cut(t, at, end), "\n");
		if ((body.n > 0 && body.p[0] == '{' ? json_call : xml_call)(t, out, body) < 0)
			return -1;
		at = end + strlen("</tool_call>");
		while (at < t->text.n && t->text.p[at] == '\n')
			at++;
	}
	return at == t->text.n ? 0 : -1;
}

int answer_qwen(const struct answer_text *t, struct answer_parts *out)
{
	size_t from = answer_think(t, out), call;

	out->reasoning = answer_strip(out->reasoning, "\n");
	if (from == SIZE_MAX)
		return 0;
	call = answer_find(t, "<tool_call>", from);
	out->content = answer_cut(t, from, call == SIZE_MAX ? t->text.n : call);
	if (out->reasoning.p) /* the template puts the line feeds between */
		while (out->content.n > 0 && out->content.p[0] == '\n') {
			out->content.p++;
			out->content.n--;
		}
	if (call == SIZE_MAX)
		return 0;
	/* some templates trim a content and put more than one line feed before the calls */
	while (out->content.n > 0 && out->content.p[out->content.n - 1] == '\n') {
		out->content.n--;
		if (t->exact)
			break;
	}
	return calls(t, out, call);
}
