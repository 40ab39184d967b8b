/* Tools as the served template sees them.
 *
 * SGLang and vLLM read each tool into an object of their own and dump that, with all of its
 * members in their order; Kimi's tokenizer then sorts the keys at every depth and makes its
 * TypeScript declarations of the result. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/impl.h"

static const char *const sglang_members[] = {"description", "name", "parameters", "strict", NULL};
static const char *const vllm_members[] = {"name", "description", "parameters", NULL};

static struct jval new_object(struct arena *a, size_t cap)
{
	struct jval v = {.kind = J_OBJ};

	v.u.obj.m = arena_array(a, cap + 1, sizeof(*v.u.obj.m));
	return v;
}

static void add(struct jval *obj, const char *key, struct jval v)
{
	obj->u.obj.m[obj->u.obj.n++] = (struct jmember){{key, strlen(key)}, v};
}

/* One tool as a server's own tool object prints it. */
static int dumped(
    const struct chat_prep *p, const struct jval *tool, size_t i, struct jval *out, struct err *e)
{
	const char *const *names = p->c->served == SERVED_SGLANG ? sglang_members : vllm_members;
	const struct jval *fn = val_get(tool, "function"), *type = val_get(tool, "type");
	const struct jval *name = fn ? val_get(fn, "name") : NULL;
	struct jval of = new_object(p->a, 4);

	if (!fn || fn->kind != J_OBJ || !name || name->kind != J_STR)
		return err_set(e, "type", "tools[%zu].function.name: expected a string", i);
	for (; *names; names++) {
		const struct jval *v = val_get(fn, *names);
		struct jval absent = {.kind = strcmp(*names, "strict") == 0 ? J_FALSE : J_NULL};

		add(&of, *names, v ? *v : absent);
	}
	*out = new_object(p->a, 2);
	add(out, "type",
	    type && type->kind == J_STR ? *type
					: (struct jval){.kind = J_STR, .u.s = SPAN("function")});
	add(out, "function", of);
	return 0;
}

static int by_key(const void *x, const void *y)
{
	return span_order(((const struct jmember *)x)->key, ((const struct jmember *)y)->key);
}

/* A copy whose objects have their keys in code point order, which is UTF-8's byte order. */
static struct jval sorted(struct arena *a, const struct jval *v)
{
	struct jval out = *v;

	if (v->kind == J_ARR) {
		out.u.arr.v = arena_array(a, v->u.arr.n + 1, sizeof(out));
		for (size_t i = 0; i < v->u.arr.n; i++)
			out.u.arr.v[i] = sorted(a, &v->u.arr.v[i]);
	} else if (v->kind == J_OBJ) {
		out.u.obj.m = arena_array(a, v->u.obj.n + 1, sizeof(*out.u.obj.m));
		for (size_t i = 0; i < v->u.obj.n; i++) {
			out.u.obj.m[i].key = v->u.obj.m[i].key;
			out.u.obj.m[i].val = sorted(a, &v->u.obj.m[i].val);
		}
		qsort(out.u.obj.m, out.u.obj.n, sizeof(*out.u.obj.m), by_key);
	}
	return out;
}

static int typescript(struct chat_prep *p, struct err *e)
{
	struct buf b = {0};
	int rc = chat_tools_ts(&b, p->tools, &p->steps, p->a);

	if (rc == 0 && b.len > 0) {
		p->tools_ts = arena_alloc(p->a, sizeof(*p->tools_ts));
		*p->tools_ts = (struct jval){.kind = J_STR, .origin = ORIGIN_TOOLS};
		p->tools_ts->u.s = (struct span){arena_dup(p->a, b.data, b.len), b.len};
	}
	buf_free(&b);
	return rc < 0 && p->steps.left == 0 ? chat_too_long(&p->steps, e) : 0;
}

int chat_prepare_tools(struct chat_prep *p, struct err *e)
{
	const struct jval *in = p->conv->tools;
	struct jval *list;

	if (!in)
		return 0;
	list = arena_alloc(p->a, sizeof(*list));
	*list = *in;
	if (p->c->served != SERVED_HF) {
		list->u.arr.v = arena_array(p->a, in->u.arr.n, sizeof(*list));
		for (size_t i = 0; i < in->u.arr.n; i++)
			if (dumped(p, &in->u.arr.v[i], i, &list->u.arr.v[i], e) < 0)
				return -1;
	}
	if (p->c->kimi)
		*list = sorted(p->a, list);
	*list = chat_tagged(p->a, list, ORIGIN_TOOLS);
	p->tools = list;
	return p->c->kimi && p->t->reads_ts ? typescript(p, e) : 0;
}
