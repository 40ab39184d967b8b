/* A template, a NUL, a context as JSON (without one: a small conversation). Whatever happens, the
 * text is UTF-8, the runs cover it, and a second rendering gives the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/utf8.h"
#include "jinja/jinja.h"
#include "json/val.h"

#define FEW                                                                         \
	{                                                                           \
		.steps = 100000, .output = 1 << 20, .memory = 16 << 20, .depth = 50 \
	}

static const char usual[] =
    "{\"messages\": [{\"role\": \"user\", \"content\": \"h\\u00e9 <a> \"}, {\"role\": "
    "\"assistant\","
    " \"content\": null, \"tool_calls\": [{\"id\": \"f:0\", \"function\": {\"name\": \"f\","
    " \"arguments\": {\"x\": [1, 2.5, true, \"\\ud83d\\ude00\"]}}}]}], \"tools\": [{\"type\":"
    " \"function\", \"function\": {\"name\": \"f\"}}], \"s\": \"Hello World\", \"l\": [3, 1, 2],"
    " \"big\": 123456789012345678901, \"add_generation_prompt\": true}";

static void check_runs(const struct jinja_out *out)
{
	size_t end = 0;

	for (size_t i = 0; i < out->nruns; i++) {
		if (out->runs[i].end <= end || out->runs[i].generation > 1)
			abort();
		end = out->runs[i].end;
	}
	if (end != out->text.len || utf8_valid(out->text.data, out->text.len) != out->text.len)
		abort();
}

static void render(const struct jinja *t, const struct jval *context)
{
	struct jinja_env env = {.context = context, .now = 1767323045, .limits = FEW};
	struct jinja_out one = {0}, two = {0};
	struct err e = {0}, again = {0};
	int rc = jinja_render(t, &env, &one, &e);

	if (rc == 0)
		check_runs(&one);
	else if (!e.class || strcmp(e.class, "template") != 0)
		abort();
	/* into memory that was used, and on a limit of its own */
	if (jinja_render(t, &env, &two, &again) != rc || strcmp(e.msg, again.msg) != 0)
		abort();
	if (rc == 0 &&
	    (one.text.len != two.text.len ||
		(one.text.len && memcmp(one.text.data, two.text.data, one.text.len) != 0)))
		abort();
	jinja_out_free(&one);
	jinja_out_free(&two);
}

static void number_strings(struct jval *v, uint32_t *next)
{
	if (v->kind == J_STR)
		v->origin = (*next)++;
	for (size_t i = 0; v->kind == J_ARR && i < v->u.arr.n; i++)
		number_strings(&v->u.arr.v[i], next);
	for (size_t i = 0; v->kind == J_OBJ && i < v->u.obj.n; i++)
		number_strings(&v->u.obj.m[i].val, next);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = n ? (const char *)data : "", *nul = n ? memchr(text, '\0', n) : NULL;
	struct span json = {usual, sizeof(usual) - 1};
	size_t len = nul ? (size_t)(nul - text) : n;
	struct arena a = {0};
	struct jval context;
	struct err e = {0};
	uint32_t origin = 1;
	struct jinja *t = jinja_open(text, len, "fuzz", &e);

	if (nul)
		json = (struct span){nul + 1, n - len - 1};
	if (!t && (!e.class || strcmp(e.class, "template") != 0))
		abort();
	if (t && val_parse(&context, json, 1, &a, NULL, &e) == 0 && context.kind == J_OBJ) {
		number_strings(&context, &origin);
		render(t, &context);
	}
	jinja_close(t);
	arena_free(&a);
	return 0;
}
