/* Messages as the template sees them when the conversation is served.
 *
 * transformers, SGLang and vLLM each change the messages before they render them, and the ids
 * depend on it: null members, reasoning under three names, empty contents, lists of text parts,
 * arguments that are text or objects. History and the turn to be learnt differ in one thing: what
 * the model wrote as arguments is kept as it wrote it wherever the template can print it.
 *
 * Each string gets an origin (ORIGIN), so that its characters are known again in the rendering. */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "chat/impl.h"

static const char *const reasoning_names[] = {"reasoning_content", "thinking", "reasoning"};
#define NREASONING (sizeof(reasoning_names) / sizeof(reasoning_names[0]))

/* How one message is prepared. */
struct way {
	struct chat_prep *p;
	size_t i;
	int turn; /* the supervised turn itself, not history */
};

int chat_is_role(const struct jval *message, const char *role)
{
	const struct jval *v = val_get(message, "role");

	return v && val_is_str(v, role);
}

const struct jval *chat_reasoning(const struct jval *m)
{
	for (size_t i = 0; i < NREASONING; i++) {
		const struct jval *v = val_get(m, reasoning_names[i]);

		if (v && v->kind == J_STR)
			return v;
	}
	return NULL;
}

struct jval chat_tagged(struct arena *a, const struct jval *v, uint32_t origin)
{
	struct jval out = *v;

	out.origin = v->kind == J_STR ? origin : 0;
	if (v->kind == J_ARR) {
		out.u.arr.v = arena_array(a, v->u.arr.n + 1, sizeof(out));
		for (size_t i = 0; i < v->u.arr.n; i++)
			out.u.arr.v[i] = chat_tagged(a, &v->u.arr.v[i], origin);
	} else if (v->kind == J_OBJ) {
		out.u.obj.m = arena_array(a, v->u.obj.n + 1, sizeof(*out.u.obj.m));
		for (size_t i = 0; i < v->u.obj.n; i++) {
			out.u.obj.m[i].key = v->u.obj.m[i].key;
			out.u.obj.m[i].val = chat_tagged(a, &v->u.obj.m[i].val, origin);
		}
	}
	return out;
}

static int is_blank(struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr(" \t\r\n", s.p[i]) || s.p[i] == '\0')
			return 0;
	return 1;
}

/* Text of arguments -> the object it is. vLLM takes what is no object for an empty one. */
static int parse_arguments(
    const struct way *way, const struct jval *text, struct jval *out, struct err *e)
{
	static const struct jval empty = {.kind = J_OBJ};
	int lenient = !way->turn && way->p->c->served == SERVED_VLLM;
	int strict = !way->turn && way->p->c->served == SERVED_SGLANG;
	struct err why;

	if (is_blank(text->u.s) && !strict) {
		*out = empty;
		return 0;
	}
	if (val_parse(out, text->u.s, 1, way->p->a, NULL, &why) < 0) {
		*out = empty;
		return lenient ? 0 : err_set(e, "arguments", "%s", why.msg);
	}
	if (out->kind == J_OBJ)
		return 0;
	if (lenient && out->kind == J_NULL) {
		*out = empty;
		return 0;
	}
	return err_set(e, "arguments", "expected an object, not %s", chat_kind(out));
}

static int arguments(
    const struct way *way, const struct jval *in, uint32_t origin, struct jval *out, struct err *e)
{
	const struct chat_prep *p = way->p;
	int keep = p->t->args_text && (way->turn || p->c->served == SERVED_HF);
	struct jval v = *in;

	if (in->kind == J_STR && !keep && parse_arguments(way, in, &v, e) < 0)
		return -1;
	if (in->kind == J_NULL && (!keep || p->c->served == SERVED_VLLM))
		v = (struct jval){.kind = J_OBJ};
	*out = chat_tagged(p->a, &v, origin);
	return 0;
}

/* A call's function with its arguments prepared and its name marked. */
static int function(
    const struct way *way, const struct jval *in, uint32_t slot, struct jval *out, struct err *e)
{
	struct arena *a = way->p->a;

	*out = chat_tagged(a, in, ORIGIN(way->i, SLOT_OTHER));
	for (size_t k = 0; k < in->u.obj.n; k++) {
		struct jmember *m = &out->u.obj.m[k];

		if (span_eq(m->key, "name"))
			m->val.origin = ORIGIN(way->i, slot);
		else if (span_eq(m->key, "arguments") &&
			 arguments(
			     way, &in->u.obj.m[k].val, ORIGIN(way->i, SLOT_OTHER), &m->val, e) < 0)
			return -1;
	}
	return 0;
}

static int calls(const struct way *way, const struct jval *in, struct jval *out, struct err *e)
{
	*out = chat_tagged(way->p->a, in, ORIGIN(way->i, SLOT_OTHER));
	for (size_t j = 0; j < in->u.arr.n; j++) {
		size_t slot = SLOT_CALLS + j < ORIGIN_SLOTS ? SLOT_CALLS + j : ORIGIN_SLOTS - 1;
		struct jval *fn = val_get(&out->u.arr.v[j], "function");

		if (function(way, val_get(&in->u.arr.v[j], "function"), (uint32_t)slot, fn, e) < 0)
			return err_prefix(
			    e, "messages[%zu].tool_calls[%zu].function.arguments: ", way->i, j);
	}
	return 0;
}

/* Text parts joined as the server joins them. */
static int join_parts(const struct way *way, const struct jval *in, struct jval *out, struct err *e)
{
	static const char *const glue[] = {
	    [SERVED_HF] = "", [SERVED_SGLANG] = " ", [SERVED_VLLM] = "\n"};
	struct buf b = {0};
	int rc = 0;

	for (size_t k = 0; k < in->u.arr.n && rc == 0; k++) {
		const struct jval *part = &in->u.arr.v[k];
		const struct jval *type = val_get(part, "type"), *text = val_get(part, "text");

		if (!text || text->kind != J_STR || (type && !val_is_str(type, "text")))
			rc = err_set(e, "parts",
			    "messages[%zu].content[%zu]: the template takes text only", way->i, k);
		else {
			buf_adds(&b, k > 0 ? glue[way->p->c->served] : "");
			buf_add(&b, text->u.s.p, text->u.s.n);
		}
	}
	*out = (struct jval){.kind = J_STR, .origin = ORIGIN(way->i, SLOT_CONTENT)};
	out->u.s = (struct span){arena_strndup(way->p->a, b.data ? b.data : "", b.len), b.len};
	buf_free(&b);
	return rc;
}

/* 1 kept, 0 left out, -1. `in` is NULL where the message has no content. */
static int content(
    const struct way *way, const struct jval *in, int with_calls, struct jval *out, struct err *e)
{
	const struct chat_prep *p = way->p;

	if (!in || in->kind == J_NULL) {
		*out = (struct jval){.kind = J_NULL};
		if (p->c->served == SERVED_SGLANG)
			*out = (struct jval){.kind = J_STR, .u.s = {"", 0}};
		else if (!in || p->c->served == SERVED_VLLM)
			return 0;
		else if (p->t->null_dropped && with_calls)
			return 0;
		return 1;
	}
	if (in->kind == J_ARR && !p->t->takes_parts)
		return join_parts(way, in, out, e) < 0 ? -1 : 1;
	*out = chat_tagged(p->a, in, ORIGIN(way->i, SLOT_CONTENT));
	return 1;
}

static int is_reasoning(struct span key)
{
	for (size_t k = 0; k < NREASONING; k++)
		if (span_eq(key, reasoning_names[k]))
			return 1;
	return 0;
}

/* 1 kept, 0 left out, -1. */
static int member(const struct way *way, const struct jmember *in, int with_calls, struct jval *out,
    struct err *e)
{
	if (span_eq(in->key, "content"))
		return content(way, &in->val, with_calls, out, e);
	if (in->val.kind == J_NULL || span_eq(in->key, "weight"))
		return 0;
	if (span_eq(in->key, "tool_calls"))
		return !with_calls ? 0 : calls(way, &in->val, out, e) < 0 ? -1 : 1;
	*out = chat_tagged(way->p->a, &in->val,
	    ORIGIN(way->i, is_reasoning(in->key) ? SLOT_REASONING : SLOT_OTHER));
	return 1;
}

static void add(struct jval *obj, struct span key, struct jval v)
{
	obj->u.obj.m[obj->u.obj.n++] = (struct jmember){.key = key, .val = v};
}

/* The reasoning under the names that the message does not have. */
static void copy_reasoning(const struct way *way, const struct jval *in, struct jval *out)
{
	const struct jval *v = chat_reasoning(in);
	struct jval copy;

	if (!v)
		return;
	copy = chat_tagged(way->p->a, v, ORIGIN(way->i, SLOT_REASONING));
	for (size_t k = 0; k < NREASONING; k++)
		if (!val_get(out, reasoning_names[k]))
			add(out, (struct span){reasoning_names[k], strlen(reasoning_names[k])},
			    copy);
}

static int prepare(const struct way *way, struct jval *out, struct err *e)
{
	const struct jval *in = &way->p->conv->messages->u.arr.v[way->i];
	const struct jval *tool_calls = val_get(in, "tool_calls");
	int with_calls = tool_calls && tool_calls->kind == J_ARR && tool_calls->u.arr.n > 0;
	struct jval v;
	int rc;

	*out = (struct jval){.kind = J_OBJ};
	out->u.obj.m = arena_array(way->p->a, in->u.obj.n + NREASONING + 1, sizeof(*out->u.obj.m));
	for (size_t k = 0; k < in->u.obj.n; k++) {
		rc = member(way, &in->u.obj.m[k], with_calls, &v, e);
		if (rc < 0)
			return -1;
		if (rc > 0)
			add(out, in->u.obj.m[k].key, v);
	}
	if (!val_get(in, "content")) {
		rc = content(way, NULL, with_calls, &v, e);
		if (rc > 0)
			add(out, SPAN("content"), v);
	}
	copy_reasoning(way, in, out);
	return 0;
}

int chat_prepare(struct chat_prep *p, const struct chat *c, const struct chat_conv *conv,
    struct arena *a, struct err *e)
{
	*p = (struct chat_prep){
	    .c = c,
	    .t = conv->tools && c->with_tools.jinja ? &c->with_tools : &c->plain,
	    .conv = conv,
	    .a = a,
	    .hist = arena_array(a, conv->n + 1, sizeof(struct jval)),
	    .steps = {CHAT_STEPS, CHAT_STEPS},
	};
	return chat_prepare_tools(p, e);
}

int chat_prepare_history(struct chat_prep *p, size_t n, struct err *e)
{
	for (; p->ready < n; p->ready++) {
		struct way way = {p, p->ready, 0};

		if (prepare(&way, &p->hist[p->ready], e) < 0)
			return -1;
	}
	return 0;
}

int chat_prepare_turn(struct chat_prep *p, size_t i, struct jval *out, struct err *e)
{
	struct way way = {p, i, 1};

	return prepare(&way, out, e);
}
