/* Renders templates for jinja.py: a line {"template": TEXT, "context": {...}, "now": SECONDS} in,
 * a line {"ok": TEXT} or {"error": MESSAGE} out, with "runs": [[end, origin], ...] and "compile":
 * true for an error that jinja_open found. Strings of the context get their origins in reading
 * order, from 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "jinja/jinja.h"
#include "json/val.h"

static void number_strings(struct jval *v, uint32_t *next)
{
	if (v->kind == J_STR)
		v->origin = (*next)++;
	for (size_t i = 0; v->kind == J_ARR && i < v->u.arr.n; i++)
		number_strings(&v->u.arr.v[i], next);
	for (size_t i = 0; v->kind == J_OBJ && i < v->u.obj.n; i++)
		number_strings(&v->u.obj.m[i].val, next);
}

static void answer(struct buf *b, const struct jinja_out *out)
{
	buf_adds(b, "{\"ok\": ");
	buf_add_json(b, out->text.data, out->text.len);
	buf_adds(b, ", \"runs\": [");
	for (size_t i = 0; i < out->nruns; i++)
		buf_addf(b, "%s[%zu, %u, %u]", i ? ", " : "", out->runs[i].end, out->runs[i].origin,
		    out->runs[i].generation);
	buf_adds(b, "]}\n");
}

static void failure(struct buf *b, const struct err *e, int compile)
{
	buf_adds(b, "{\"error\": ");
	buf_add_json(b, e->msg, strlen(e->msg));
	buf_adds(b, compile ? ", \"compile\": true}\n" : "}\n");
}

/* The template that the line before had is not compiled again. */
static struct jinja *compiled(struct jinja *t, struct buf *have, struct span text, struct err *e)
{
	if (t && have->len == text.n && memcmp(have->data, text.p, text.n) == 0)
		return t;
	jinja_close(t);
	buf_reset(have);
	buf_add(have, text.p, text.n);
	return jinja_open(text.p, text.n, "template", e);
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	struct arena a = {0};
	struct jinja_out out = {0};
	struct buf b = {0}, have = {0};
	struct jinja *t = NULL;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		struct jval v;
		struct err e = {0};
		struct jinja_env env = {0};
		uint32_t origin = 1;

		arena_reset(&a);
		buf_reset(&b);
		if (val_parse(&v, (struct span){line, (size_t)n}, 1, &a, NULL, &e) < 0) {
			fprintf(stderr, "jinja_render: %s\n", e.msg);
			return 1;
		}
		env.context = val_get(&v, "context");
		env.now = val_get(&v, "now")->u.i;
		number_strings(val_get(&v, "context"), &origin);
		t = compiled(t, &have, val_get(&v, "template")->u.s, &e);
		if (!t)
			failure(&b, &e, 1);
		else if (jinja_render(t, &env, &out, &e) < 0)
			failure(&b, &e, 0);
		else
			answer(&b, &out);
		fwrite(b.data, 1, b.len, stdout);
		fflush(stdout);
	}
	jinja_close(t);
	jinja_out_free(&out);
	arena_free(&a);
	buf_free(&b);
	buf_free(&have);
	free(line);
	return 0;
}
