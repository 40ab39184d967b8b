/* A conversation record's members: messages, tools, kwargs. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/impl.h"
#include "json/rec.h"

/* What the caller, not a row, gives the template. */
static const char *const reserved[] = {
    "messages", "tools", "documents", "add_generation_prompt", "tools_ts_str"};

const char *chat_kind(const struct jval *v)
{
	static const char *const name[] = {
	    [J_NULL] = "null",
	    [J_FALSE] = "false",
	    [J_TRUE] = "true",
	    [J_INT] = "a number",
	    [J_BIG] = "a number",
	    [J_REAL] = "a number",
	    [J_STR] = "a string",
	    [J_ARR] = "a list",
	    [J_OBJ] = "an object",
	};

	return name[v->kind];
}

static int read_value(struct jval **out, const struct rec *r, const char *name, struct arena *a,
    size_t *lone, struct err *e)
{
	struct span text = rec_get(r, name);

	*out = NULL;
	if (span_is_null(text))
		return 0;
	*out = arena_alloc(a, sizeof(**out));
	if (val_parse(*out, text, 0, a, lone, e) < 0)
		return err_prefix(e, "%s: ", name);
	return 0;
}

static int read_string(
    struct span *out, const struct rec *r, const char *name, struct arena *a, struct err *e)
{
	struct buf b = {0};
	struct span text = rec_get(r, name);
	int rc = 0;

	*out = (struct span){0};
	if (span_is_null(text))
		return 0;
	if (json_str(&b, text, NULL) < 0)
		rc = err_set(e, "type", "%s: expected a string, not %s", name, json_kind(text));
	else
		*out = (struct span){arena_strndup(a, b.data ? b.data : "", b.len), b.len};
	buf_free(&b);
	return rc;
}

/* A list, or a JSON text of one, as table formats that know no lists keep it. An empty list is
 * no tools, as the servers see it. */
static int read_tools(struct chat_conv *conv, const struct rec *r, struct arena *a, struct err *e)
{
	struct jval *v;

	if (read_value(&v, r, "tools", a, &conv->lone, e) < 0)
		return -1;
	if (v && v->kind == J_STR) {
		struct span text = v->u.s;

		if (text.n == 0)
			return 0;
		if (val_parse(v, text, 0, a, &conv->lone, e) < 0)
			return err_prefix(e, "tools: the string is no JSON: ");
		if (v->kind == J_NULL)
			return 0;
	}
	if (!v)
		return 0;
	if (v->kind != J_ARR)
		return err_set(e, "type", "tools: expected a list, not %s", chat_kind(v));
	for (size_t i = 0; i < v->u.arr.n; i++)
		if (v->u.arr.v[i].kind != J_OBJ)
			return err_set(e, "type", "tools[%zu]: expected an object, not %s", i,
			    chat_kind(&v->u.arr.v[i]));
	conv->tools = v->u.arr.n ? v : NULL;
	return 0;
}

static int read_kwargs(struct chat_conv *conv, const struct rec *r, struct arena *a, struct err *e)
{
	struct jval *v;

	if (read_value(&v, r, "chat_template_kwargs", a, &conv->lone, e) < 0)
		return -1;
	if (!v)
		return 0;
	if (v->kind != J_OBJ)
		return err_set(
		    e, "type", "chat_template_kwargs: expected an object, not %s", chat_kind(v));
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (val_get(v, reserved[i]))
			return err_set(e, "type", "chat_template_kwargs.%s: not for a row to set",
			    reserved[i]);
	conv->kwargs = v->u.obj.n ? v : NULL;
	return 0;
}

static int read_messages(
    struct chat_conv *conv, const struct rec *r, struct arena *a, struct err *e)
{
	char *weight;

	if (read_value(&conv->messages, r, "messages", a, &conv->lone, e) < 0)
		return -1;
	if (!conv->messages)
		return err_set(e, "missing", "messages: expected a list of messages");
	if (conv->messages->kind != J_ARR)
		return err_set(
		    e, "type", "messages: expected a list, not %s", chat_kind(conv->messages));
	conv->n = conv->messages->u.arr.n;
	weight = arena_alloc(a, conv->n + 1);
	for (size_t i = 0; i < conv->n; i++) {
		int w = chat_read_message(&conv->messages->u.arr.v[i], e);

		if (w < 0)
			return err_prefix(e, "messages[%zu]", i);
		weight[i] = (char)w;
	}
	conv->weight = weight;
	return 0;
}

int chat_read(struct chat_conv *conv, const struct rec *r, struct arena *a, struct err *e)
{
	*conv = (struct chat_conv){0};
	if (read_string(&conv->id, r, "id", a, e) < 0 ||
	    read_string(&conv->dataset, r, "dataset", a, e) < 0 ||
	    read_messages(conv, r, a, e) < 0 || read_tools(conv, r, a, e) < 0 ||
	    read_kwargs(conv, r, a, e) < 0)
		return -1;
	return chat_read_generations(conv, rec_get(r, "generations"), a, e);
}
