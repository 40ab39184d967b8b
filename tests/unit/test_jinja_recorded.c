/* What Jinja2 said to small templates (tests/data/jinja.jsonl, written by tests/oracle/jinja.py,
 * which also checks that it still says so): ours are the same, byte for byte, errors included. */
#include <stdio.h>
#include <stdlib.h>

#include "jinja_run.h"

#define BEYOND "beyond 64 bits" /* a limit of ours: the oracle leaves these out, too */

struct recorded {
	struct jinja_env env;
	struct jinja_out out;
	size_t n, wrong;
};

static void wrong(struct recorded *r, struct span template, const char *what, struct span text)
{
	if (r->wrong++ < 12)
		print_error(
		    "%.*s: %s: %.*s\n", (int)template.n, template.p, what, (int)text.n, text.p);
}

static void check(struct recorded *r, const struct jval *line)
{
	struct span template = val_get(line, "template")->u.s;
	const struct jval *want = val_get(line, "want"), *raises = val_get(line, "raises");
	struct err e = {0};
	struct jinja *t = jinja_open(template.p, template.n, "t", &e);
	int rc = t ? jinja_render(t, &r->env, &r->out, &e) : -1;
	struct span got = {r->out.text.data, r->out.text.len}, msg = {e.msg, strlen(e.msg)};
	char text[1024] = "";

	if (raises)
		snprintf(text, sizeof(text), "%.*s", (int)raises->u.s.n, raises->u.s.p);

	r->n++;
	if (rc < 0 && strstr(e.msg, BEYOND))
		;
	else if (want && rc < 0)
		wrong(r, template, "fails", msg);
	else if (want && (got.n != want->u.s.n || memcmp(got.p, want->u.s.p, got.n) != 0))
		wrong(r, template, "gives", got);
	else if (raises && rc == 0)
		wrong(r, template, "should fail, gives", got);
	else if (raises && !strstr(e.msg, text))
		wrong(r, template, "raises", msg);
	jinja_close(t);
}

static void as_jinja2(void **state)
{
	struct recorded r = {0};
	struct arena context = {0}, a = {0};
	FILE *f = fopen("tests/data/jinja.jsonl", "r");
	char *first = NULL, *line = NULL; /* trees may borrow from them */
	size_t cap = 0;
	ssize_t n;
	struct jval head, v;
	struct err e = {0};

	(void)state;
	assert_non_null(f);
	n = getline(&first, &cap, f);
	assert_true(n > 0);
	if (val_parse(&head, (struct span){first, (size_t)n}, 1, &context, NULL, &e) < 0)
		fail_msg("%s", e.msg);
	r.env.context = val_get(&head, "context");
	r.env.now = val_get(&head, "now")->u.i;
	cap = 0;
	while ((n = getline(&line, &cap, f)) > 0) {
		arena_reset(&a);
		if (val_parse(&v, (struct span){line, (size_t)n}, 1, &a, NULL, &e) < 0)
			fail_msg("%s", e.msg);
		check(&r, &v);
	}
	assert_true(r.n > 1500);
	assert_int_equal(r.wrong, 0);
	free(first);
	free(line);
	fclose(f);
	jinja_out_free(&r.out);
	arena_free(&a);
	arena_free(&context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(as_jinja2),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
