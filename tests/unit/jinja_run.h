/* For the tests of jinja/: renders a template with a context written as JSON. */
#ifndef E3_JINJA_RUN_H
#define E3_JINJA_RUN_H

#include "unit.h"

#include "base/buf.h"
#include "base/err.h"
#include "jinja/jinja.h"
#include "json/val.h"

/* Strings get their origins in reading order, from 1. */
static inline void number_strings(struct jval *v, uint32_t *next)
{
	if (v->kind == J_STR)
		v->origin = (*next)++;
	for (size_t i = 0; v->kind == J_ARR && i < v->u.arr.n; i++)
		number_strings(&v->u.arr.v[i], next);
	for (size_t i = 0; v->kind == J_OBJ && i < v->u.obj.n; i++)
		number_strings(&v->u.obj.m[i].val, next);
}

/* 0, or -1 with the error. `limits` may be NULL. */
static inline int render(struct jinja_out *out, const char *template, const char *context,
    const struct jinja_limits *limits, struct err *e)
{
	struct jinja *t = jinja_open(template, strlen(template), "t", e);
	struct jinja_env env = {.now = 1767323045};
	struct arena a = {0};
	uint32_t origin = 1;
	struct jval v;
	int rc = -1;

	if (val_parse(&v, (struct span){context, strlen(context)}, 1, &a, NULL, e) < 0)
		fail_msg("%s: %s", context, e->msg);
	number_strings(&v, &origin);
	env.context = &v;
	if (limits)
		env.limits = *limits;
	if (t)
		rc = jinja_render(t, &env, out, e);
	jinja_close(t);
	arena_free(&a);
	return rc;
}

struct row {
	const char *template, *context, *want;
};

/* Each row's text, or its error behind a "!". */
static inline void check_rows(const struct row *rows, size_t n)
{
	struct jinja_out out = {0};

	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		struct err e = {0};
		int rc = render(&out, r->template, r->context ? r->context : "{}", NULL, &e);

		if (rc == 0 && r->want[0] == '!')
			fail_msg("%s: gives '%s', should fail: %s", r->template,
			    buf_cstr(&out.text), r->want);
		if (rc == 0)
			assert_bytes(r->template, out.text.data, out.text.len, r->want);
		else if (r->want[0] != '!' || strcmp(e.msg, r->want + 1) != 0)
			fail_msg("%s: fails: %s, want: %s", r->template, e.msg, r->want);
		else
			assert_string_equal(e.class, "template");
	}
	jinja_out_free(&out);
}

#endif
