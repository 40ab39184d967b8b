/* flow: records that are held, and records pulled by hand. */
#include "flow_run.h"

struct keeper {
	struct flow_job kept[100];
	struct buf out[100];
	size_t n;
	uint64_t next;
};

static int commit_keep(void *ctx, struct flow_job *job)
{
	struct keeper *k = ctx;

	assert_int_equal(job->record, k->next);
	assert_int_equal(job->user[0], k->next);
	k->next++;
	memset(arena_alloc(job->arena, 10), 'y', 10);
	if (job->verdict == FLOW_OUT && job->number % 2 == 0) {
		struct flow_job *kept = &k->kept[k->n];

		*kept = *job;
		kept->line.p = xmemdup(job->line.p, job->line.n);
		k->out[k->n++] = *job->out;
		*job->out = (struct buf){0};
		job->verdict = FLOW_HOLD;
	} else if (job->verdict == FLOW_OUT && job->number == 3) {
		flow_drop(job, "sample");
	} else if (job->number == 5) {
		return err_set(&job->err, "fatal", "commit %llu", (unsigned long long)job->number);
	}
	return 0;
}

static int settle(struct flow *f, struct keeper *k, size_t i, struct err *e)
{
	k->kept[i].out = &k->out[i];
	if (k->kept[i].number == 4)
		flow_reject(&k->kept[i], "late", "sorry");
	return flow_settle_held(f, &k->kept[i], e);
}

static int keep_and_settle(struct flow *f, void *ctx, struct err *e)
{
	static const struct flow_ops ops = {.work = work, .commit = commit_keep};
	struct keeper *k = ctx;

	if (flow_run(f, &ops, k, e) < 0)
		return -1;
	assert_int_equal(flow_totals(f).held, k->n);
	for (size_t i = k->n; i-- > 1;) /* backwards, but for the first */
		if (settle(f, k, i, e) < 0)
			return -1;
	/* the eighth line asks for it: one is never settled */
	return k->next > 7 ? 0 : settle(f, k, 0, e);
}

static void keeper_free(struct keeper *k)
{
	for (size_t i = 0; i < k->n; i++) {
		free((char *)(uintptr_t)k->kept[i].line.p);
		buf_free(&k->out[i]);
	}
	*k = (struct keeper){0};
}

static void holding(void **state)
{
	struct keeper k = {0};
	struct flow_opt o = options(3);
	struct result r;

	(void)state;
	tmp_puts(tmp_path("in"), "out 1\nout 2\nout 3\nout 4\n\ntwo 6\n");
	r = run_with(&o, keep_and_settle, &k);
	assert_int_equal(r.rc, 0);
	assert_string_equal(text(&r.out), "out 1\none 6\ntwo 6\nout 2\n");
	assert_int_equal(r.t.written, 4);
	assert_non_null(strstr(text(&r.rejects), "{\"raw\":\"out 4\",\"reject\":"));
	assert_non_null(strstr(text(&r.summary),
	    "5 in = 3 out (4 lines) + 1 rejected (late 1) + 1 dropped (sample 1)\n"));
	result_free(&r);

	keeper_free(&k);
	o = options(3);
	tmp_puts(tmp_path("in"), "out 1\nout 2\nout 3\nout 4\n\nout 6\nout 7\nout 8\nout 9\n");
	r = run_with(&o, keep_and_settle, &k);
	assert_int_equal(r.rc, -1);
	assert_non_null(
	    strstr(r.e.msg, "records lost: 8 read, 8 in, 5 out, 1 rejected, 1 dropped, 0 resumed, "
			    "1 held: this is a bug"));
	result_free(&r);

	keeper_free(&k);
	o = options(3);
	tmp_puts(tmp_path("in"), "out 1\nbad\nout 3\ndrop\nout 5\n");
	r = run_with(&o, keep_and_settle, &k);
	assert_int_equal(r.rc, -1);
	assert_non_null(strstr(r.e.msg, "in:5: commit 5"));
	result_free(&r);
	keeper_free(&k);
	tmp_clean();
}

/* ---- by hand ---- */

static int by_hand(struct flow *f, void *ctx, struct err *e)
{
	struct flow_held *h[100];
	size_t n = 0;
	int rc;

	(void)ctx;
	while ((rc = flow_next(f, &h[n], e)) > 0) {
		struct flow_job *job = flow_held_job(h[n]);

		decide(job);
		if (flow_admit(f, job))
			job->verdict = FLOW_OUT;
		n++;
	}
	while (rc == 0 && n > 0)
		rc = flow_release(f, h[--n], e);
	return rc;
}

static void pulled_by_hand(void **state)
{
	struct flow_opt o = options(1);
	struct result r;

	(void)state;
	tmp_puts(
	    tmp_path("in"), "out a\nout b\n\nlong long long line\nout a\ntwo c\nbad\ndrop x\n");
	o.unique_ids = 1;
	o.max_line = 10;
	r = run_with(&o, by_hand, NULL);
	assert_int_equal(r.rc, 0);
	assert_string_equal(text(&r.out), "one c\ntwo c\nout b\nout a\n");
	assert_non_null(strstr(text(&r.summary),
	    "7 in = 3 out (4 lines) + 3 rejected (duplicate 1, json 1, long 1) + 1 "
	    "dropped (asked 1)\n"));
	result_free(&r);
	tmp_clean();
}

static int only_stats(struct flow *f, void *ctx, struct err *e)
{
	(void)ctx;
	flow_stat(f, "tokens", 7);
	flow_stat_json(f, "lengths", "[1,2]");
	flow_stat(f, "tokens", 8);
	return flow_run(f, &plain, NULL, e);
}

static void statistics_of_nothing(void **state)
{
	struct flow_opt o = options(2);
	struct result r;

	(void)state;
	tmp_puts(tmp_path("in"), "\n\n");
	o.quiet = 1;
	r = run_with(&o, only_stats, NULL);
	assert_int_equal(r.rc, 0);
	assert_string_equal(text(&r.stats), "{\"program\":\"e3-test\",\"version\":\"0.1\",\"in\":0,"
					    "\"out\":0,\"rejected\":0,\"dropped\":0,"
					    "\"resumed\":0,\"reasons\":{},\"written\":0,\"counts\":"
					    "{},\"tokens\":8,\"lengths\":[1,2]}\n");
	assert_string_equal(text(&r.out), "");
	assert_string_equal(text(&r.rejects), "");
	assert_int_equal(r.summary.len, 0);
	result_free(&r);
	tmp_clean();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(holding),
	    cmocka_unit_test(pulled_by_hand),
	    cmocka_unit_test(statistics_of_nothing),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
