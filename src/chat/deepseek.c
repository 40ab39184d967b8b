/* What a DeepSeek model writes, and where its prompt lets it. */
#include "chat/deepseek.h"

#include <string.h>

#include "base/err.h"
#include "chat/tools_ts.h"

void ds_put(struct jinja_out *out, const char *text)
{
	chat_put(out, text, strlen(text), 0);
}

void ds_put_value(struct jinja_out *out, const struct jval *v)
{
	if (v && v->kind == J_STR)
		chat_put(out, v->u.s.p, v->u.s.n, v->origin);
}

void ds_put_json(struct jinja_out *out, const struct jval *v, uint32_t origin)
{
	struct buf text = {0};

	val_write(&text, v, NULL);
	chat_put(out, text.data, text.len, origin);
	buf_free(&text);
}

static void put_arg(struct jinja_out *out, const struct jmember *arg, uint32_t origin)
{
	ds_put(out, DSML_ARG);
	chat_put(out, arg->key.p, arg->key.n, origin);
	if (arg->val.kind == J_STR) {
		ds_put(out, DSML_ARG_STRING);
		ds_put_value(out, &arg->val);
	} else {
		ds_put(out, DSML_ARG_JSON);
		ds_put_json(out, &arg->val, origin);
	}
	ds_put(out, DSML_ARG_END);
}

static int put_call(struct jinja_out *out, const struct jval *call, uint32_t origin, struct err *e)
{
	const struct jval *fn = val_get(call, "function"), *args = val_get(fn, "arguments");

	if (!args || args->kind != J_OBJ)
		return err_set(e, "template", "function.arguments: expected an object");
	ds_put(out, DSML_INVOKE);
	ds_put_value(out, val_get(fn, "name"));
	ds_put(out, "\">\n");
	for (size_t k = 0; k < args->u.obj.n; k++) {
		ds_put(out, k > 0 ? "\n" : "");
		put_arg(out, &args->u.obj.m[k], origin);
	}
	ds_put(out, "\n" DSML_INVOKED "\n");
	return 0;
}

int ds_put_said(struct jinja_out *out, const struct jval *message, size_t i, struct err *e)
{
	const struct jval *calls = val_get(message, "tool_calls");

	ds_put_value(out, val_get(message, "content"));
	if (!ts_truthy(calls))
		return 0;
	ds_put(out, DSML_CALLS);
	for (size_t k = 0; k < calls->u.arr.n; k++)
		if (put_call(out, &calls->u.arr.v[k], ORIGIN(i, SLOT_OTHER), e) < 0)
			return err_prefix(e, "messages[%zu].tool_calls[%zu].", i, k);
	ds_put(out, DSML_CALLED);
	return 0;
}
