/* Kimi's TypeScript declarations: checking, and the frame around the functions. */
#include "chat/tools_ts.h"

#include <string.h>

#include "base/arena.h"
#include "chat/impl.h"

int ts_truthy(const struct jval *v)
{
	if (!v)
		return 0;
	switch (v->kind) {
	case J_NULL:
	case J_FALSE: return 0;
	case J_TRUE:
	case J_BIG: return 1;
	case J_INT: return v->u.i != 0;
	case J_REAL: return v->u.d != 0;
	case J_STR: return v->u.s.n > 0;
	case J_ARR: return v->u.arr.n > 0;
	case J_OBJ: return v->u.obj.n > 0;
	}
	return 0;
}

enum ts_kind ts_kind(const struct jval *s)
{
	const struct jval *type;

	if (s->kind == J_TRUE)
		return TS_ANY;
	if (s->kind == J_FALSE)
		return TS_NULL;
	if (s->kind != J_OBJ)
		return TS_BAD;
	if (val_get(s, "$ref"))
		return TS_REF;
	if (val_get(s, "anyOf"))
		return TS_ANYOF;
	if (val_get(s, "enum"))
		return TS_ENUM;
	type = val_get(s, "type");
	if (!type)
		return s->u.obj.n == 0 ? TS_ANY : TS_BAD;
	if (type->kind == J_ARR)
		return TS_UNION;
	if (val_is_str(type, "object"))
		return TS_OBJECT;
	if (val_is_str(type, "array"))
		return TS_ARRAY;
	return type->kind == J_STR ? TS_SCALAR : TS_BAD;
}

const char *ts_union_name(const struct jval *type)
{
	static const char *const names[][2] = {
	    {"string", "string"},
	    {"number", "number"},
	    {"integer", "number"},
	    {"boolean", "boolean"},
	    {"null", "null"},
	    {"object", "{}"},
	    {"array", "Array<any>"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (val_is_str(type, names[i][0]))
			return names[i][1];
	return NULL;
}

/* As a dictionary: a name that is there keeps its place and gets the new schema. */
static void define(struct ts *t, struct span name, const struct jval *schema)
{
	chat_spend(t->steps, 1 + t->ndefs / 4);
	for (size_t i = 0; i < t->ndefs; i++)
		if (span_same(t->defs[i].name, name)) {
			t->defs[i].schema = schema;
			return;
		}
	if (t->ndefs == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 8;
		struct ts_def *more = arena_array(t->a, cap, sizeof(*more));

		if (t->ndefs > 0)
			memcpy(more, t->defs, t->ndefs * sizeof(*more));
		t->defs = more;
		t->cap = cap;
	}
	t->defs[t->ndefs++] = (struct ts_def){name, schema};
}

static int register_defs(struct ts *t, const struct jval *defs)
{
	if (!ts_truthy(defs))
		return 0;
	if (defs->kind != J_OBJ)
		return -1;
	for (size_t i = 0; i < defs->u.obj.n && t->steps->left > 0; i++)
		define(t, defs->u.obj.m[i].key, &defs->u.obj.m[i].val);
	return t->steps->left > 0 ? 0 : -1;
}

/* "#", or "#/$defs/..." whose last part names an object that is registered by now. */
static int resolve(struct ts *t, const struct jval *ref)
{
	struct span s = ref->u.s;
	size_t at;

	if (ref->kind != J_STR)
		return -1;
	if (span_eq(s, "#")) {
		t->self = 1;
		return 0;
	}
	if (s.n < 8 || memcmp(s.p, "#/$defs/", 8) != 0)
		return -1;
	for (at = s.n; s.p[at - 1] != '/'; at--)
		;
	chat_spend(t->steps, 1 + t->ndefs / 4);
	for (size_t i = 0; i < t->ndefs && t->steps->left > 0; i++)
		if (span_same(t->defs[i].name, (struct span){s.p + at, s.n - at}))
			return t->defs[i].schema->kind == J_OBJ ? 0 : -1;
	return -1;
}

static int check_enum(const struct jval *s)
{
	const struct jval *values = val_get(s, "enum"), *type = val_get(s, "type");

	if (values->kind != J_ARR)
		return -1;
	if (type && type->kind == J_ARR) {
		const struct jval *v = type->u.arr.v;

		if (type->u.arr.n == 0 || type->u.arr.n > 2)
			return -1;
		if (type->u.arr.n == 2 && !val_is_str(&v[0], "null") && !val_is_str(&v[1], "null"))
			return -1;
		type = type->u.arr.n == 2 && val_is_str(&v[0], "null") ? &v[1] : &v[0];
	}
	for (size_t i = 0; type && i < values->u.arr.n; i++) {
		enum jkind k = values->u.arr.v[i].kind;
		int boolean = k == J_TRUE || k == J_FALSE;
		int integer = boolean || k == J_INT || k == J_BIG;

		if (k == J_NULL)
			continue;
		if ((val_is_str(type, "string") && k != J_STR) ||
		    (val_is_str(type, "number") && !integer && k != J_REAL) ||
		    (val_is_str(type, "integer") && !integer) ||
		    (val_is_str(type, "boolean") && !boolean))
			return -1;
	}
	return 0;
}

static int check_all(struct ts *t, const struct jval *list)
{
	if (list->kind != J_ARR)
		return -1;
	for (size_t i = 0; i < list->u.arr.n; i++)
		if (ts_check(t, &list->u.arr.v[i]) < 0)
			return -1;
	return 0;
}

static int check_union(const struct jval *types)
{
	for (size_t i = 0; i < types->u.arr.n; i++)
		if (!ts_union_name(&types->u.arr.v[i]))
			return -1;
	return 0;
}

int ts_check(struct ts *t, const struct jval *s)
{
	switch (ts_kind(s)) {
	case TS_BAD: return -1;
	case TS_REF: return resolve(t, val_get(s, "$ref"));
	case TS_ANYOF: return check_all(t, val_get(s, "anyOf"));
	case TS_ENUM: return check_enum(s);
	case TS_UNION: return check_union(val_get(s, "type"));
	case TS_OBJECT: return ts_check_object(t, s);
	case TS_ARRAY: return ts_truthy(val_get(s, "items")) ? ts_check(t, val_get(s, "items")) : 0;
	case TS_ANY:
	case TS_NULL:
	case TS_SCALAR: return 0;
	}
	return -1;
}

/* A list of things that can stand in a set. */
static int check_required(const struct jval *required)
{
	if (!required)
		return 0;
	if (required->kind != J_ARR)
		return -1;
	for (size_t i = 0; i < required->u.arr.n; i++)
		if (required->u.arr.v[i].kind == J_ARR || required->u.arr.v[i].kind == J_OBJ)
			return -1;
	return 0;
}

int ts_check_object(struct ts *t, const struct jval *s)
{
	const struct jval *more = val_get(s, "additionalProperties");
	const struct jval *props = val_get(s, "properties"), *required = val_get(s, "required");

	if (register_defs(t, val_get(s, "$defs")) < 0)
		return -1;
	if (more && more->kind == J_OBJ && ts_check(t, more) < 0)
		return -1;
	if (!props)
		return 0;
	if (props->kind != J_OBJ || check_required(required) < 0)
		return -1;
	if (required) /* the printer looks for each property there */
		chat_spend(t->steps, props->u.obj.n * required->u.arr.n / 4);
	for (size_t i = 0; i < props->u.obj.n && t->steps->left > 0; i++)
		if (ts_check(t, &props->u.obj.m[i].val) < 0)
			return -1;
	return t->steps->left > 0 ? 0 : -1;
}

/* The interfaces, each ended by LF. Definitions that only an interface's own schema brings in are
 * known to it but get no interface. */
static int interfaces(struct buf *out, struct ts *t, const struct jval *params)
{
	size_t n = t->ndefs;
	const struct ts_def *defs = n > 0 ? arena_dup(t->a, t->defs, n * sizeof(*defs)) : NULL;

	if (t->self) {
		buf_adds(out, "interface parameters {");
		if (ts_print_self(out, params, t->a) < 0)
			return -1;
		buf_adds(out, "}\n");
	}
	for (size_t i = 0; i < n; i++) {
		if (ts_check(t, defs[i].schema) < 0 || defs[i].schema->kind != J_OBJ ||
		    ts_print_description(out, defs[i].schema, 0) < 0)
			return -1;
		buf_adds(out, "interface ");
		buf_add(out, defs[i].name.p, defs[i].name.n);
		buf_addc(out, ' ');
		if (ts_print(out, defs[i].schema, 0, t->a) < 0)
			return -1;
		buf_addc(out, '\n');
	}
	return 0;
}

static int function(
    struct buf *out, const struct jval *fn, struct chat_steps *steps, struct arena *a)
{
	static const struct jval none = {.kind = J_OBJ};
	const struct jval *params = val_get(fn, "parameters"), *name = val_get(fn, "name");
	struct ts t = {.a = a, .steps = steps};
	int self;

	if (fn->kind != J_OBJ || (name && name->kind != J_STR))
		return -1;
	if (!ts_truthy(params))
		params = &none;
	if (params->kind != J_OBJ || ts_check_object(&t, params) < 0)
		return -1;
	self = t.self;
	if (interfaces(out, &t, params) < 0 || ts_print_description(out, fn, 0) < 0)
		return -1;
	buf_adds(out, "type ");
	if (name)
		buf_add(out, name->u.s.p, name->u.s.n);
	else
		buf_adds(out, "function");
	buf_adds(out, " = (_: ");
	if (self)
		buf_adds(out, "parameters");
	else if (ts_print_object(out, params, 0, a) < 0)
		return -1;
	buf_adds(out, ") => any;");
	return 0;
}

int chat_tools_ts(
    struct buf *out, const struct jval *tools, struct chat_steps *steps, struct arena *a)
{
	size_t start = out->len, n = 0;

	for (size_t i = 0; i < tools->u.arr.n; i++) {
		const struct jval *tool = &tools->u.arr.v[i];
		const struct jval *type = val_get(tool, "type"), *fn = val_get(tool, "function");

		if (!type || !val_is_str(type, "function") || !ts_truthy(fn))
			continue;
		buf_adds(out, n++ == 0 ? "# Tools\n\n## functions\nnamespace functions {\n" : "\n");
		if (function(out, fn, steps, a) < 0) {
			out->len = start;
			return -1;
		}
	}
	if (n > 0)
		buf_adds(out, "\n}\n");
	return 0;
}
