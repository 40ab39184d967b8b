/* A template, a NUL, a context as JSON (without one: a small conversation). Whatever happens, the
 * text is UTF-8, the runs cover it, a second rendering gives the same, and so do renderings with
 * notes taken of loops, over messages that become more. */
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
    " \"arguments\": {\"x\": [1, 2.5, true, \"\\ud83d\\ude00\"]}}}]}, {\"role\": \"tool\","
    " \"content\": \"r\"}, {\"role\": \"assistant\", \"reasoning_content\": \"t\","
    " \"content\": \"a\"}, {\"role\": \"user\", \"content\": \"b\"}], \"tools\": [{\"type\":"
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

static void compare(const struct jinja_out *a, const struct jinja_out *b)
{
	if (a->text.len != b->text.len || a->nruns != b->nruns ||
	    (a->text.len && memcmp(a->text.data, b->text.data, a->text.len) != 0))
		abort();
	for (size_t i = 0; i < a->nruns; i++)
		if (a->runs[i].end != b->runs[i].end || a->runs[i].origin != b->runs[i].origin ||
		    a->runs[i].generation != b->runs[i].generation)
			abort();
}

/* Steps and memory are counted otherwise: only the errors of templates that come to none of the
 * limits are the same. */
static int is_limit(const struct err *e)
{
	return strstr(e->msg, "more than") || strstr(e->msg, "deeper than");
}

static void render_noted(const struct jinja *t, struct jval *context)
{
	struct jinja_env env = {.context = context, .now = 1767323045, .limits = FEW};
	struct jval *messages = (struct jval *)val_get(context, "messages");
	size_t all = messages && messages->kind == J_ARR ? messages->u.arr.n : 0;
	struct jinja_memo *memo = jinja_memo_open();
	struct jinja_out plain = {0}, noted = {0}, before = {0};

	jinja_memo_reset(memo, all > 0 ? messages->u.arr.v : NULL);
	for (size_t n = all > 3 ? all - 3 : 0; n <= all; n++) {
		struct err e = {0}, again = {0};
		int rc;

		if (all > 0)
			messages->u.arr.n = n;
		env.memo = NULL;
		rc = jinja_render(t, &env, &plain, &e);
		env.memo = memo;
		if (jinja_render(t, &env, &noted, &again) != rc) {
			if (is_limit(rc < 0 ? &e : &again))
				break;
			abort();
		}
		if (rc < 0 && !is_limit(&e) && strcmp(e.msg, again.msg) != 0)
			abort();
		if (rc == 0)
			compare(&plain, &noted);
		if (rc == 0 && noted.same > 0 &&
		    (noted.same > before.text.len ||
			memcmp(before.text.data, noted.text.data, noted.same) != 0))
			abort();
		buf_reset(&before.text);
		buf_add(&before.text, noted.text.data, noted.text.len);
	}
	jinja_memo_close(memo);
	jinja_out_free(&plain);
	jinja_out_free(&noted);
	jinja_out_free(&before);
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
		render_noted(t, &context);
	}
	jinja_close(t);
	arena_free(&a);
	return 0;
}
