/* Arguments that a model writes as texts by name (GLM, MiniMax, Qwen3-Coder). */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/answer.h"

static const struct jval *schema_of(const struct jval *tools, struct span tool, struct span key)
{
	for (size_t i = 0; tools && i < tools->u.arr.n; i++) {
		const struct jval *fn = val_get(&tools->u.arr.v[i], "function");
		const struct jval *name = fn ? val_get(fn, "name") : NULL;
		const struct jval *props = fn ? val_get(fn, "parameters") : NULL;

		if (!name || name->kind != J_STR || name->u.s.n != tool.n ||
		    memcmp(name->u.s.p, tool.p, tool.n) != 0)
			continue;
		props = props ? val_get(props, "properties") : NULL;
		for (size_t k = 0; props && props->kind == J_OBJ && k < props->u.obj.n; k++) {
			struct span s = props->u.obj.m[k].key;

			if (s.n == key.n && memcmp(s.p, key.p, s.n) == 0)
				return &props->u.obj.m[k].val;
		}
	}
	return NULL;
}

static struct jval typed(
    const struct answer_text *t, struct span tool, struct span key, struct span value)
{
	const struct jval *schema = schema_of(t->tools, tool, key);
	const struct jval *type = schema ? val_get(schema, "type") : NULL;
	struct jval text = {.kind = J_STR, .u.s = value}, v;
	struct buf again = {0};
	struct err why;

	if (!type || val_is_str(type, "string") || val_parse(&v, value, 1, t->a, NULL, &why) < 0 ||
	    v.kind == J_STR)
		return text;
	val_write(&again, &v, NULL);
	if (again.len == value.n && memcmp(again.data, value.p, value.n) == 0)
		text = v;
	buf_free(&again);
	return text;
}

void answer_arg(const struct answer_text *t, struct answer_args *args, struct span tool,
    struct span key, struct span value)
{
	struct jval *obj = &args->obj;

	if (obj->u.obj.n == args->cap) {
		size_t cap = args->cap ? 2 * args->cap : 8;
		struct jmember *more = arena_array(t->a, cap, sizeof(*more));

		if (obj->u.obj.n > 0)
			memcpy(more, obj->u.obj.m, obj->u.obj.n * sizeof(*more));
		obj->u.obj.m = more;
		args->cap = cap;
	}
	obj->u.obj.m[obj->u.obj.n++] = (struct jmember){key, typed(t, tool, key, value)};
}

void answer_call_args(const struct answer_text *t, struct answer_parts *out, struct span name,
    const struct answer_args *args)
{
	struct jval obj = args->obj;
	struct buf text = {0};
	struct span s;

	obj.kind = J_OBJ;
	val_write(&text, &obj, NULL);
	s = (struct span){arena_strndup(t->a, text.data, text.len), text.len};
	buf_free(&text);
	answer_call(t, out, (struct span){0}, name, s);
}
