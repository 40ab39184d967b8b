#include "jinja/jinja.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "jinja/ast.h"
#include "jinja/eval.h"
#include "jinja/lex.h"
#include "jinja/parse.h"
#include "jinja/rt.h"
#include "jinja/scope.h"
#include "jinja/text.h"
#include "json/val.h"

#define MAX_TEMPLATE ((size_t)1 << 20) /* real ones have at most some ten thousand bytes */

int jinja_error(const struct jinja *t, uint32_t at, const char *msg, struct err *e)
{
	size_t line = 1, start = 0;

	for (size_t i = 0; i < at && i < t->text.n; i++) {
		if (t->text.p[i] == '\n') {
			line++;
			start = i + 1;
		}
	}
	return err_set(e, "template", "%s:%zu:%zu: %s", t->name, line,
	    at < start ? 1 : utf8_count(t->text.p + start, at - start) + 1, msg);
}

/* CRLF and CR become LF; one newline at the end goes. */
static void normalise(struct jinja *t, const char *text, size_t n)
{
	char *out = arena_alloc(&t->mem, n + 1);
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\r' && i + 1 < n && text[i + 1] == '\n')
			continue;
		out[m++] = text[i] == '\r' ? '\n' : text[i];
	}
	if (m > 0 && out[m - 1] == '\n')
		m--;
	t->text = (struct span){out, m};
}

static int compile(struct jinja *t, const char *text, size_t n, struct err *e)
{
	struct tokens tokens = {0};
	int rc;

	if (n > MAX_TEMPLATE)
		return err_set(e, "template", "%s: larger than %zu bytes", t->name, MAX_TEMPLATE);
	if (utf8_valid(text, n) != n)
		return err_set(
		    e, "template", "%s: not UTF-8 at byte %zu", t->name, utf8_valid(text, n) + 1);
	normalise(t, text, n);
	rc = lex(t, &tokens, e) < 0 || parse_template(t, &tokens, e) < 0 || scope_resolve(t, e) < 0;
	tokens_free(&tokens);
	return rc ? -1 : 0;
}

struct jinja *jinja_open(const char *text, size_t n, const char *name, struct err *e)
{
	struct jinja *t = xcalloc(1, sizeof(*t));

	t->name = xstrdup(name);
	if (compile(t, text, n, e) == 0)
		return t;
	jinja_close(t);
	return NULL;
}

void jinja_close(struct jinja *t)
{
	if (!t)
		return;
	arena_free(&t->mem);
	free(t->name);
	free(t);
}

static size_t or_default(size_t v, size_t by_default)
{
	return v ? v : by_default;
}

static void set_limits(struct rt *rt, const struct jinja_limits *l)
{
	rt->max = (struct jinja_limits){
	    .steps = or_default(l->steps, JINJA_STEPS),
	    .output = or_default(l->output, (size_t)256 << 20),
	    .memory = or_default(l->memory, (size_t)1 << 30),
	    .depth = (unsigned)or_default(l->depth, 200),
	};
}

/* Free names: what the context has, else a global function, else nothing. */
static void find_globals(struct rt *rt)
{
	const struct jval *ctx = rt->env->context;
	struct value root;

	value_of_json(rt, ctx, &root);
	rt->global = rt_array(rt, rt->t->nglobal, sizeof(*rt->global));
	for (size_t i = 0; i < rt->t->nglobal; i++) {
		struct span name = rt->t->global[i];
		const struct value *v =
		    root.kind == V_DICT ? dict_find_str(rt, root.u.dict, name.p, name.n) : NULL;
		const struct callable *func = v ? NULL : func_find(name);

		if (v)
			rt->global[i] = *v;
		else
			rt->global[i] =
			    (struct value){.kind = func ? V_FUNC : V_MISSING, .u.func = func};
	}
}

int jinja_render(
    const struct jinja *t, const struct jinja_env *env, struct jinja_out *out, struct err *e)
{
	struct rt rt = {.t = t, .env = env, .out = out, .e = e};
	struct frame *f;
	int rc;

	out->before = out->text.len;
	out->same = out->written = 0;
	out->renderings++;
	buf_reset(&out->text);
	out->nruns = 0;
	arena_reset(&out->scratch);
	set_limits(&rt, &env->limits);
	find_globals(&rt);
	f = frame_new(&rt, NULL, t->slots);
	scope_enter(&rt, f, &t->scope);
	rc = exec_list(&rt, f, t->body) < 0 ? -1 : 0;
	out->steps = rt.steps;
	return rc;
}

void jinja_out_free(struct jinja_out *out)
{
	buf_free(&out->text);
	free(out->runs);
	arena_free(&out->scratch);
	*out = (struct jinja_out){0};
}
