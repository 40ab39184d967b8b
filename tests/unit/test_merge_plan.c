/* What the command line asks for, and to which side a conversation goes. */
#include "unit.h"

#include <stdio.h>

#include "merge/datasets.h"
#include "merge/plan.h"
#include "merge/record.h"

enum which { CAP, MIX, SPLIT };

static int make(struct plan *p, enum which which, const char *const *args, struct err *e)
{
	struct merge_opts o = {.flow = FLOW_OPT_DEFAULT};
	struct opt_list *l = which == CAP ? &o.cap : which == MIX ? &o.mix : &o.split;
	int rc;

	o.flow.output = "out.jsonl";
	o.flow.rejects = "rejects.jsonl";
	o.manifest = "out.manifest.json";
	for (; *args; args++)
		opt_list_add(l, *args);
	rc = plan_make(p, &o, e);
	opt_list_free(l);
	return rc;
}

static void refusals(void **state)
{
	static const struct {
		enum which which;
		const char *args[3];
		const char *says;
	} t[] = {
	    {CAP, {"a"}, "--cap: expected DATASET=N, not 'a'"},
	    {CAP, {"=5"}, "--cap: expected DATASET=N, not '=5'"},
	    {CAP, {"a="}, "expected a whole number, not ''"},
	    {CAP, {"a=1.5"}, "expected a whole number, not '1.5'"},
	    {CAP, {"a=-1"}, "expected a whole number"},
	    {CAP, {"a=99999999999999999"}, "expected a whole number"},
	    {CAP, {"a=1", "a=2"}, "--cap: dataset named twice: 'a=2'"},
	    {CAP, {"a=1,b=2"},
		"--cap: expected one dataset, not 'a=1,b=2': give --cap once for each"},
	    {MIX, {"a=0.5,b=2,c=1"}, "--mix: expected one dataset, not"},
	    {MIX, {"a=1,b"}, "expected a weight of 0 or more, not '1,b'"},
	    {MIX, {"a=x"}, "--mix: expected a weight of 0 or more, not 'x'"},
	    {MIX, {"a=-1"}, "--mix: expected a weight"},
	    {MIX, {"a=1e400"}, "--mix: expected a weight"},
	    {SPLIT, {"val=0.1"}, "--split: expected NAME=FRACTION:FILE, not 'val=0.1'"},
	    {SPLIT, {"val:0.1=f"}, "expected NAME=FRACTION:FILE"},
	    {SPLIT, {"=0.1:f"}, "expected NAME=FRACTION:FILE"},
	    {SPLIT, {"val=0.1:"}, "expected NAME=FRACTION:FILE"},
	    {SPLIT, {"val=1.1:f"}, "expected a fraction from 0 to 1"},
	    {SPLIT, {"val=:f"}, "expected a fraction from 0 to 1"},
	    {SPLIT, {"train=0.1:f"}, "'train' is the name of the main output"},
	    {SPLIT, {"a=0.1:f", "a=0.2:g"}, "name used twice: 'a=0.2:g'"},
	    {SPLIT, {"a=0.6:f", "b=0.5:g"}, "the fractions are more than 1"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct plan p;
		struct err e = {0};

		if (make(&p, t[i].which, t[i].args, &e) == 0 || !strstr(e.msg, t[i].says))
			fail_msg("row %zu: %s", i, e.msg);
		plan_free(&p);
	}
}

static void reads(void **state)
{
	static const char *const cap[] = {"B1_glaive=100", "a=b=0", "a,b=2", NULL};
	static const char *const split[] = {"val=0.02:dir/a:b=c.zst", NULL};
	static const char *const whole[] = {"a=0.5:a", "b=0.5:b", NULL};
	struct plan p;
	struct err e = {0};

	(void)state;
	assert_int_equal(make(&p, CAP, cap, &e), 0);
	assert_int_equal(p.ncap, 3);
	assert_true(span_eq(p.cap[0].dataset, "B1_glaive") && p.cap[0].number == 100);
	assert_true(span_eq(p.cap[1].dataset, "a=b") && p.cap[1].number == 0);
	assert_true(span_eq(p.cap[2].dataset, "a,b") && p.cap[2].number == 2);
	plan_free(&p);
	assert_int_equal(make(&p, SPLIT, split, &e), 0);
	assert_true(span_eq(p.split[0].name, "val") && p.split[0].fraction == 0.02);
	assert_string_equal(p.split[0].file, "dir/a:b=c.zst");
	plan_free(&p);
	assert_int_equal(make(&p, SPLIT, whole, &e), 0);
	plan_free(&p);
}

static void conversations(void **state)
{
	static const struct {
		const char *id, *want;
	} t[] = {
	    {"B6_ultrachat/17", "B6_ultrachat/17"},
	    {"B6_ultrachat/17#turn0", "B6_ultrachat/17"},
	    {"B6_ultrachat/17#turn12", "B6_ultrachat/17"},
	    {"B6_ultrachat/17#turn", "B6_ultrachat/17#turn"},
	    {"B6_ultrachat/17#turn1x", "B6_ultrachat/17#turn1x"},
	    {"a#turn1#turn2", "a#turn1"},
	    {"#turn3", ""},
	    {"turn3", "turn3"},
	    {"123", "123"},
	    {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct span c = record_conversation((struct span){t[i].id, strlen(t[i].id)});

		assert_bytes(t[i].id, c.p, c.n, t[i].want);
	}
}

/* The shares come out as asked, a smaller share is part of a larger one, and a conversation's side
 * is written down here: it must never change. */
static void sides(void **state)
{
	static const char *const small[] = {"val=0.1:v", NULL};
	static const char *const large[] = {"val=0.2:v", "test=0.3:t", NULL};
	static const size_t known[] = {
	    1, 0, 0, 0, 1, 1, 2, 0, 2, 0, 2, 0}; /* python-xxhash says so */
	struct plan p, q;
	struct err e = {0};
	size_t count[3] = {0}, small_count = 0;

	(void)state;
	assert_int_equal(make(&p, SPLIT, small, &e) + make(&q, SPLIT, large, &e), 0);
	for (size_t i = 0; i < 20000; i++) {
		char id[32];
		struct span c = {id, (size_t)snprintf(id, sizeof(id), "B1_glaive/%zu", i)};
		size_t a = plan_side(&p, c), b = plan_side(&q, c);

		if (i < LEN(known) && b != known[i])
			fail_msg("%s is on side %zu", id, b);
		assert_true(a <= 1 && b <= 2);
		assert_true(a == 0 || b == 1);
		small_count += a;
		count[b]++;
	}
	assert_in_range(small_count, 1850, 2150);
	assert_in_range(count[1], 3800, 4200);
	assert_in_range(count[2], 5750, 6250);
	plan_free(&p);
	plan_free(&q);
}

static void dataset_numbers(void **state)
{
	struct err e;
	struct datasets d = {0};
	char name[16];

	(void)state;
	assert_int_equal(datasets_find(&d, SPAN("x")), -1);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 1000; i++) {
			size_t n = (size_t)snprintf(name, sizeof(name), "d%d", i * 7919 % 1000);

			assert_int_equal(datasets_add(&d, (struct span){name, n}, &e), i);
			assert_int_equal(datasets_find(&d, (struct span){name, n}), i);
			assert_string_equal(d.name[i], name);
		}
	assert_int_equal(d.n, 1000);
	for (size_t i = 1; i < d.n; i++)
		assert_true(strcmp(d.name[d.sorted[i - 1]], d.name[d.sorted[i]]) < 0);
	assert_int_equal(datasets_find(&d, SPAN("d")), -1);
	assert_int_equal(datasets_find(&d, SPAN("")), -1);
	datasets_free(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(refusals),
	    cmocka_unit_test(reads),
	    cmocka_unit_test(conversations),
	    cmocka_unit_test(sides),
	    cmocka_unit_test(dataset_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
