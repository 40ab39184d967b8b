/* DeepSeek V3.2: [RC</think>] CONTENT [LF LF calls], calls as in deepseek.h. The arguments become
 * JSON text: a value of string="true" as a string, another as the model wrote it. */
#include <string.h>

#include "base/arena.h"
#include "chat/answer.h"
#include "chat/deepseek.h"

static int starts(struct span *s, const char *with)
{
	size_t n = strlen(with);

	if (s->n < n || memcmp(s->p, with, n) != 0)
		return 0;
	*s = (struct span){s->p + n, s->n - n};
	return 1;
}

/* Appends `"KEY": VALUE`. */
static int arg(struct buf *json, struct span *s)
{
	struct span key, value;
	int string;

	if (!answer_between(s, DSML_ARG, "\" string=\"", &key))
		return -1;
	string = starts(s, "true\">");
	if (!string && !starts(s, "false\">"))
		return -1;
	if (!answer_between(s, "", DSML_ARG_END "\n", &value))
		return -1;
	buf_adds(json, json->len > 1 ? ", " : "");
	buf_add_json(json, key.p, key.n);
	buf_adds(json, ": ");
	if (string)
		buf_add_json(json, value.p, value.n);
	else
		buf_add(json, value.p, value.n);
	return 0;
}

static int invoke(const struct answer_text *t, struct answer_parts *out, struct span *s)
{
	struct buf json = {0};
	struct span name;
	int rc = answer_between(s, DSML_INVOKE, "\">\n", &name) ? 0 : -1;

	buf_adds(&json, "{");
	if (rc == 0 && starts(s, "\n" DSML_INVOKED "\n"))
		goto done;
	while (rc == 0 && !starts(s, DSML_INVOKED "\n"))
		rc = arg(&json, s);
done:
	buf_adds(&json, "}");
	if (rc == 0)
		answer_call(t, out, (struct span){0}, name,
		    (struct span){arena_strndup(t->a, json.data, json.len), json.len});
	buf_free(&json);
	return rc;
}

int answer_dsml(const struct answer_text *t, struct answer_parts *out)
{
	size_t from = answer_think(t, out), begin;
	struct span s;
	int rc = 0;

	if (from == SIZE_MAX)
		return 0;
	begin = chat_find(t->text, DSML_CALLS, from);
	out->content = answer_cut(t, from, begin == SIZE_MAX ? t->text.n : begin);
	if (begin == SIZE_MAX)
		return 0;
	s = answer_cut(t, begin + strlen(DSML_CALLS), t->text.n);
	while (rc == 0 && !starts(&s, DSML_CALLED))
		rc = invoke(t, out, &s);
	return rc == 0 && s.n == 0 ? 0 : -1;
}
