/* One message of a conversation: its members checked, its weight found.
 *
 * Errors here begin with the member (".role: ..."); the caller puts "messages[2]" before. */
#include "base/err.h"
#include "chat/impl.h"
#include "json/val.h"

static int opt_string(const struct jval *obj, const char *key, struct err *e)
{
	const struct jval *v = val_get(obj, key);

	if (v && v->kind != J_STR && v->kind != J_NULL)
		return err_set(e, "type", ".%s: expected a string, not %s", key, chat_kind(v));
	return 0;
}

static int need_string(const struct jval *obj, const char *key, struct err *e)
{
	const struct jval *v = val_get(obj, key);

	if (!v)
		return err_set(e, "missing", ".%s: expected a string", key);
	if (v->kind != J_STR)
		return err_set(e, "type", ".%s: expected a string, not %s", key, chat_kind(v));
	if (v->u.s.n == 0)
		return err_set(e, "type", ".%s: is empty", key);
	return 0;
}

static int check_part(const struct jval *part, struct err *e)
{
	if (part->kind == J_STR)
		return 0;
	if (part->kind != J_OBJ)
		return err_set(e, "type", ": expected an object, not %s", chat_kind(part));
	return opt_string(part, "type", e) < 0 || opt_string(part, "text", e) < 0 ? -1 : 0;
}

static int check_content(const struct jval *m, struct err *e)
{
	const struct jval *v = val_get(m, "content");

	if (!v || v->kind == J_NULL || v->kind == J_STR)
		return 0;
	if (v->kind != J_ARR)
		return err_set(e, "type", ".content: expected a string or a list of parts, not %s",
		    chat_kind(v));
	for (size_t i = 0; i < v->u.arr.n; i++)
		if (check_part(&v->u.arr.v[i], e) < 0)
			return err_prefix(e, ".content[%zu]", i);
	return 0;
}

static int check_call(const struct jval *call, struct err *e)
{
	const struct jval *fn, *args;

	if (call->kind != J_OBJ)
		return err_set(e, "type", ": expected an object, not %s", chat_kind(call));
	if (opt_string(call, "id", e) < 0 || opt_string(call, "type", e) < 0)
		return -1;
	fn = val_get(call, "function");
	if (!fn)
		return err_set(e, "missing", ".function: expected an object");
	if (fn->kind != J_OBJ)
		return err_set(e, "type", ".function: expected an object, not %s", chat_kind(fn));
	if (need_string(fn, "name", e) < 0)
		return err_prefix(e, ".function");
	args = val_get(fn, "arguments");
	if (args && args->kind != J_STR && args->kind != J_OBJ && args->kind != J_NULL)
		return err_set(e, "type",
		    ".function.arguments: expected an object or a string, not %s", chat_kind(args));
	return 0;
}

static int check_calls(const struct jval *m, struct err *e)
{
	const struct jval *v = val_get(m, "tool_calls");

	if (!v || v->kind == J_NULL)
		return 0;
	if (v->kind != J_ARR)
		return err_set(e, "type", ".tool_calls: expected a list, not %s", chat_kind(v));
	for (size_t i = 0; i < v->u.arr.n; i++)
		if (check_call(&v->u.arr.v[i], e) < 0)
			return err_prefix(e, ".tool_calls[%zu]", i);
	return 0;
}

/* 0 or 1; null is what column formats write for an absent member. */
static int weight(const struct jval *m, struct err *e)
{
	const struct jval *v = val_get(m, "weight");

	if (!v || v->kind == J_NULL)
		return 1;
	if (v->kind == J_INT && (v->u.i == 0 || v->u.i == 1))
		return (int)v->u.i;
	return err_set(e, "weight", ".weight: expected the number 0 or 1");
}

int chat_read_message(const struct jval *m, struct err *e)
{
	static const char *const optional[] = {
	    "name", "tool_call_id", "reasoning_content", "reasoning", "thinking"};
	int w;

	if (m->kind != J_OBJ)
		return err_set(e, "type", ": expected an object, not %s", chat_kind(m));
	if (need_string(m, "role", e) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
		if (opt_string(m, optional[i], e) < 0)
			return -1;
	if (check_content(m, e) < 0 || check_calls(m, e) < 0)
		return -1;
	w = weight(m, e);
	return w < 0 ? -1 : w && chat_is_role(m, "assistant");
}
