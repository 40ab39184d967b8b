/* DeepSeek V3.2's conversations, as encoding_dsv32.py lays them out.
 *
 *	prompt	  = BEGIN {message}
 *	system	  = CONTENT extras
 *	user	  = "<｜User｜>" CONTENT "<｜Assistant｜>" opening
 *	developer = "<｜User｜>" extras LF LF "# The user's message is: " CONTENT "<｜Assistant｜>"
 *		    opening
 *	extras	  = [LF LF tools] [LF LF response format]
 *	assistant = answer, see deepseek.h
 *	tool	  = [LF LF "<function_results>"] LF "<result>" CONTENT "</result>"
 *		    [LF "</function_results>" LF LF opening]
 *	opening	  = "<think>" | "</think>"
 *
 * The brackets of results stand before the first and behind the last of a message's calls, which
 * results are matched with by their order alone. There is no generation prompt but the openings.
 *
 * With thinking on, answers behind the last user or developer message have their reasoning, and
 * their openings are "<think>"; all others have neither. What the encoder refuses is refused.
 *
 * Where the three differ (SGLang 0.5.23; vLLM's deepseek_v32.py at b59bccae; DeepSeek's own):
 *
 *			hf		sglang		vllm
 *	thinking is on	by kwargs thinking or	by thinking	as hf
 *			enable_thinking
 *	tools stand	in the first message if that is the	before all
 *			system's, else before all		messages
 *	their text has	blank lines	none		none
 *	no content of	"None"		nothing		nothing
 *	user and tool
 */
#include <string.h>

#include "base/err.h"
#include "chat/deepseek.h"
#include "chat/tools_ts.h"

/* One rendering. */
struct layout {
	const struct chat *c;
	const struct chat_ask *ask;
	struct jinja_out *out;
	size_t last_user; /* index + 1; 0: none */
	int thinking;
};

static const char *const tools_text[] = {
    "## Tools",
    ("You have access to a set of tools you can use to answer the user's question.\n"
     "You can invoke functions by writing a \"<｜DSML｜function_calls>\" block like the following "
     "as part of your reply to the user:\n"
     "<｜DSML｜function_calls>\n"
     "<｜DSML｜invoke name=\"$FUNCTION_NAME\">\n"
     "<｜DSML｜parameter name=\"$PARAMETER_NAME\" string=\"true|false\">$PARAMETER_VALUE"
     "</｜DSML｜parameter>\n"
     "...\n"
     "</｜DSML｜invoke>\n"
     "<｜DSML｜invoke name=\"$FUNCTION_NAME2\">\n"
     "...\n"
     "</｜DSML｜invoke>\n"
     "</｜DSML｜function_calls>"),
    ("String and scalar parameters should be specified as is without any escaping or quotes, while "
     "lists and objects should use JSON format. The \"string\" attribute should be set to \"true\" "
     "for string type parameters and \"false\" for other types (numbers, booleans, arrays, "
     "objects)."),
    ("If the thinking_mode is enabled, then after function results you should strongly consider "
     "outputting a thinking block. Here is an example:"),
    "<｜DSML｜function_calls>\n...\n</｜DSML｜function_calls>",
    "<function_results>\n...\n</function_results>",
    "<think>...thinking about results</think>",
    "Here are the functions available in JSONSchema format:\n<functions>\n",
};

static int put_tools(
    const struct layout *l, const struct jval *tools, uint32_t origin, struct err *e)
{
	const char *glue = l->c->served == SERVED_HF ? "\n\n" : "\n";

	ds_put(l->out, "\n\n");
	for (size_t k = 0; k < sizeof(tools_text) / sizeof(tools_text[0]); k++) {
		ds_put(l->out, k > 0 ? glue : "");
		ds_put(l->out, tools_text[k]);
	}
	for (size_t k = 0; tools->kind == J_ARR && k < tools->u.arr.n; k++) {
		const struct jval *fn = val_get(&tools->u.arr.v[k], "function");

		if (!fn)
			return err_set(e, "template", "tools[%zu].function: missing", k);
		ds_put_json(l->out, fn, origin);
		ds_put(l->out, "\n");
	}
	ds_put(l->out, "</functions>\n");
	return 0;
}

/* Whether the first message takes the conversation's tools. */
static int hosts_tools(const struct layout *l)
{
	return l->c->served != SERVED_VLLM && l->ask->n > 0 &&
	       chat_is_role(&l->ask->messages[0], "system");
}

static int put_extras(const struct layout *l, size_t i, struct err *e)
{
	const struct jval *m = &l->ask->messages[i];
	const struct jval *tools = val_get(m, "tools"), *format = val_get(m, "response_format");
	uint32_t origin = ORIGIN(i, SLOT_OTHER);

	if (i == 0 && l->ask->tools && hosts_tools(l)) {
		if (put_tools(l, l->ask->tools, ORIGIN_TOOLS, e) < 0)
			return -1;
	} else if (ts_truthy(tools) && put_tools(l, tools, origin, e) < 0) {
		return err_prefix(e, "messages[%zu].", i);
	}
	if (ts_truthy(format)) {
		ds_put(l->out, "\n\n## Response Format:\n\n"
			       "You MUST strictly adhere to the following schema to reply:\n");
		ds_put_json(l->out, format, origin);
	}
	return 0;
}

static void put_needed_content(const struct layout *l, size_t i)
{
	const struct jval *content = val_get(&l->ask->messages[i], "content");

	if ((!content || content->kind == J_NULL) && l->c->served == SERVED_HF)
		ds_put(l->out, "None");
	ds_put_value(l->out, content);
}

static int put_system(const struct layout *l, size_t i, struct err *e)
{
	ds_put_value(l->out, val_get(&l->ask->messages[i], "content"));
	return put_extras(l, i, e);
}

static void put_answer_opening(const struct layout *l, size_t i)
{
	ds_put(l->out, "<｜Assistant｜>");
	ds_put(l->out, l->thinking && i + 1 == l->last_user ? DS_THINK : DS_THOUGHT);
}

static int put_user(const struct layout *l, size_t i, struct err *e)
{
	(void)e;
	ds_put(l->out, "<｜User｜>");
	put_needed_content(l, i);
	put_answer_opening(l, i);
	return 0;
}

static int put_developer(const struct layout *l, size_t i, struct err *e)
{
	const struct jval *content = val_get(&l->ask->messages[i], "content");

	if (!ts_truthy(content))
		return err_set(e, "template",
		    "messages[%zu].content: the encoder wants one of a developer", i);
	ds_put(l->out, "<｜User｜>");
	if (put_extras(l, i, e) < 0)
		return -1;
	ds_put(l->out, "\n\n# The user's message is: ");
	ds_put_value(l->out, content);
	put_answer_opening(l, i);
	return 0;
}

static int put_result(const struct layout *l, size_t i, struct err *e)
{
	const struct jval *m = l->ask->messages, *calls;
	size_t first = i;

	while (first > 0 && chat_is_role(&m[first - 1], "tool"))
		first--;
	calls = first > 0 && chat_is_role(&m[first - 1], "assistant")
		    ? val_get(&m[first - 1], "tool_calls")
		    : NULL;
	if (!ts_truthy(calls) || calls->u.arr.n <= i - first)
		return err_set(e, "template", "messages[%zu]: the result of no call before it", i);
	ds_put(l->out, i == first ? "\n\n<function_results>" : "");
	ds_put(l->out, "\n<result>");
	put_needed_content(l, i);
	ds_put(l->out, "</result>");
	if (i - first + 1 < calls->u.arr.n)
		return 0;
	ds_put(l->out, "\n</function_results>\n\n");
	ds_put(l->out, l->thinking && i + 1 >= l->last_user ? DS_THINK : DS_THOUGHT);
	return 0;
}

static int no_reasoning(size_t i, struct err *e)
{
	return err_set(e, "template",
	    "messages[%zu]: with thinking on, the encoder wants reasoning or calls of every answer "
	    "behind the last user message",
	    i);
}

static int put_answer(const struct layout *l, size_t i, struct err *e)
{
	const struct jval *m = &l->ask->messages[i], *reasoning = chat_reasoning(m);

	if (l->thinking && i + 1 > l->last_user) {
		if (!ts_truthy(reasoning) && !ts_truthy(val_get(m, "tool_calls")))
			return no_reasoning(i, e);
		ds_put_value(l->out, reasoning);
		ds_put(l->out, DS_THOUGHT);
	}
	if (ds_put_said(l->out, m, i, e) < 0)
		return -1;
	ds_put(l->out, DS_END);
	return 0;
}

static const struct {
	const char *role;
	int (*put)(const struct layout *l, size_t i, struct err *e);
	int asks; /* an answer is to come behind it */
	int once; /* not before the last user message, with thinking on: the encoder then drops it
		   * and runs out of messages */
} roles[] = {
    {"system", put_system, 0, 0},
    {"user", put_user, 1, 0},
    {"developer", put_developer, 1, 1},
    {"tool", put_result, 1, 0},
    {"assistant", put_answer, 0, 0},
};
#define NROLES (sizeof(roles) / sizeof(roles[0]))

static size_t role_of(const struct jval *message)
{
	size_t k = 0;

	while (k < NROLES && !chat_is_role(message, roles[k].role))
		k++;
	return k;
}

/* vLLM drops only where the prompt ends in a user's message. */
static int drops(const struct layout *l)
{
	size_t n = l->ask->n;

	return l->thinking && (l->c->served != SERVED_VLLM ||
				  (n > 0 && chat_is_role(&l->ask->messages[n - 1], "user")));
}

static int put_message(const struct layout *l, size_t i, struct err *e)
{
	const struct jval *m = &l->ask->messages[i], *content = val_get(m, "content");
	size_t role = role_of(m);

	if (role == NROLES)
		return err_set(e, "template", "messages[%zu].role: none that the encoder knows", i);
	if (content && content->kind == J_ARR)
		return err_set(
		    e, "template", "messages[%zu].content: the encoder takes text only", i);
	if (roles[role].once && i + 1 < l->last_user && drops(l))
		return err_set(e, "template",
		    "messages[%zu].role: with thinking on, the encoder can't have a developer "
		    "before the last user message",
		    i);
	return roles[role].put(l, i, e);
}

static int is_on(const struct layout *l, const char *name)
{
	return l->ask->kwargs && ts_truthy(val_get(l->ask->kwargs, name));
}

static int render(
    const struct chat *c, const struct chat_ask *ask, struct jinja_out *out, struct err *e)
{
	struct layout l = {c, ask, out, ask->n, 0};

	l.thinking =
	    is_on(&l, "thinking") || (c->served != SERVED_SGLANG && is_on(&l, "enable_thinking"));
	while (l.last_user > 0 && !chat_is_role(&ask->messages[l.last_user - 1], "user") &&
	       !chat_is_role(&ask->messages[l.last_user - 1], "developer"))
		l.last_user--;
	ds_put(out, "<｜begin▁of▁sentence｜>");
	if (ask->tools && !hosts_tools(&l) && put_tools(&l, ask->tools, ORIGIN_TOOLS, e) < 0)
		return -1;
	for (size_t i = 0; i < ask->n; i++)
		if (put_message(&l, i, e) < 0)
			return -1;
	return 0;
}

/* Empty reasoning is what a model wrote that closed its block at once; none at all is what was
 * lost before it came here. */
static int target(struct chat_work *w, const struct chat_prep *p, size_t i, const struct jval *turn,
    int cut, struct err *e)
{
	const struct span prompt = {w->prompt.text.data, w->prompt.text.len};
	const struct jval *reasoning = chat_reasoning(turn), *calls = val_get(turn, "tool_calls");
	size_t role = i > 0 ? role_of(&p->hist[i - 1]) : NROLES;
	int thinking = chat_ends(prompt, DS_THINK);

	if (role == NROLES || !roles[role].asks || (!thinking && !chat_ends(prompt, DS_THOUGHT)))
		return 1;
	if (thinking) {
		if (!reasoning && !calls)
			return no_reasoning(i, e);
		ds_put_value(&w->target, reasoning);
		/* cut inside its reasoning, the model wrote no more */
		if (cut && !calls && !chat_has_text(val_get(turn, "content")))
			return 0;
		ds_put(&w->target, DS_THOUGHT);
	}
	if (ds_put_said(&w->target, turn, i, e) < 0)
		return -1;
	ds_put(&w->target, cut ? "" : DS_END);
	return 0;
}

const struct chat_native chat_deepseek_v32 = {render, target};
