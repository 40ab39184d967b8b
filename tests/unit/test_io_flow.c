/* flow: every record leaves by one verdict, in order, whatever the number of threads. */
#include "flow_run.h"

static void same_at_any_threads(void **state)
{
	static const uint64_t threads[] = {1, 2, 3, 8};
	struct result first = {0};

	(void)state;
	write_mixture();
	for (size_t i = 0; i < LEN(threads); i++) {
		struct result r = run(options(threads[i]));

		assert_int_equal(r.rc, 0);
		assert_int_equal(r.t.in, 6000);
		assert_int_equal(r.t.out, 3000);
		assert_int_equal(r.t.written, 3750);
		assert_int_equal(r.t.dropped, 750);
		assert_int_equal(r.t.resumed, 750);
		assert_int_equal(r.t.rejected, 1500);
		assert_non_null(strstr(text(&r.summary),
		    "e3-test: 6000 in = 3000 out (3750 lines) + 1500 rejected "
		    "(json 750, type 750) + 750 dropped (asked 750) + "
		    "750 resumed\n"));
		if (i == 0) {
			first = r;
			continue;
		}
		assert_string_equal(text(&r.out), text(&first.out));
		assert_string_equal(text(&r.rejects), text(&first.rejects));
		assert_string_equal(text(&r.stats), text(&first.stats));
		result_free(&r);
	}
	assert_string_equal(text(&first.stats),
	    "{\"program\":\"e3-test\",\"version\":\"0.1\",\"in\":6000,\"out\":3000,\"rejected\":"
	    "1500,"
	    "\"dropped\":750,\"resumed\":750,\"reasons\":{\"asked\":750,\"json\":750,\"type\":750},"
	    "\"written\":3750,\"counts\":{\"bytes\":583155,\"one\":750,\"out\":2250,\"two\":750}}"
	    "\n");
	result_free(&first);
	tmp_clean();
}

/* How a run ends that can't go on: the error, and that no output appears. */
static void first_failure_ends_it(void **state)
{
	static const struct {
		const char *name, *in;
		int rejects;
		uint64_t max_rejects;
		const char *class, *error; /* behind the input's name, or the whole of it */
		const char *rejected;	   /* the rejects file, or NULL: there is none */
	} t[] = {
	    {"reject", "out a\n\nbad b\nbad c\n", 0, FLOW_NO_LIMIT, "json",
		":3: bad bad (--rejects FILE puts bad records there and goes on)", NULL},
	    {"an array", " [\n{}\n]\n", 0, FLOW_NO_LIMIT, "json",
		": a JSON array, where a record is a line: make lines of it with jq -c '.[]'",
		NULL},
	    {"an array on one line", "[{}]\n", 0, FLOW_NO_LIMIT, "json",
		": a JSON array, where a record is a line: make lines of it with jq -c '.[]'",
		NULL},
	    {"an object over lines", "{\r\n \"a\": 1\r\n}\r\n", 0, FLOW_NO_LIMIT, "type",
		": an object over several lines, where a record is one line: make lines of it with "
		"jq -c ., or .KEY[] for a list inside",
		NULL},
	    {"a table", "id,question\n", 0, FLOW_NO_LIMIT, "json",
		": no JSON, where a record is a line of it: of CSV and Parquet files DuckDB makes "
		"such lines",
		NULL},
	    {"an array later", "out a\n[\n", 0, FLOW_NO_LIMIT, "json", ":2: bad [", NULL},
	    {"work fails", "out a\ndie b\nbad c\n", 0, FLOW_NO_LIMIT, "fatal", ":2: died of b",
		NULL},
	    {"reject first", "out a\nbad b\ndie c\n", 0, FLOW_NO_LIMIT, "json", ":2: bad bad",
		NULL},
	    {"rejects are kept", "bad a\ndie b\n", 1, FLOW_NO_LIMIT, "fatal", ":2: died of b",
		"{\"raw\":\"bad "
		"a\",\"reject\":{\"program\":\"e3-test\",\"class\":\"json\",\"reason\":\"bad bad\","
		"\"file\":\"IN\",\"line\":1}}\n"},
	    {"no verdict", "out a\nnone b\n", 1, FLOW_NO_LIMIT, "internal",
		":2: a record without a verdict: this is a bug", NULL},
	    {"too many", "bad\nout a\nx\ny\n", 1, 1, "rejects",
		"more than 1 rejects; the last ones of",
		"{\"raw\":\"bad\",\"reject\":{\"program\":\"e3-test\",\"class\":\"json\","
		"\"reason\":\"bad bad\","
		"\"file\":\"IN\",\"line\":1}}\n"
		"{\"raw\":\"x\",\"reject\":{\"program\":\"e3-test\",\"class\":\"json\",\"reason\":"
		"\"bad x\","
		"\"file\":\"IN\",\"line\":3}}\n"},
	    {"none allowed", "bad\n", 1, 0, "rejects", "more than 0 rejects; the last ones of",
		"{\"raw\":\"bad\",\"reject\":{\"program\":\"e3-test\",\"class\":\"json\","
		"\"reason\":\"bad bad\","
		"\"file\":\"IN\",\"line\":1}}\n"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t) * 3; i++) {
		size_t k = i / 3;
		struct flow_opt o = options(i % 3 * 2 + 1);
		struct buf want = {0}, rejected = {0};
		struct result r;

		tmp_puts(tmp_path("in"), t[k].in);
		if (!t[k].rejects)
			o.rejects = NULL;
		o.max_rejects = t[k].max_rejects;
		r = run(o);
		if (t[k].error[0] == ':')
			buf_adds(&want, tmp_path("in"));
		buf_adds(&want, t[k].error);
		if (r.rc != -1 || strcmp(r.e.class, t[k].class) != 0 ||
		    !strstr(r.e.msg, buf_cstr(&want)))
			fail_msg("%s: %d %s: %s", t[k].name, r.rc, r.e.class, r.e.msg);
		assert_null(r.out.data);
		assert_null(r.stats.data);
		assert_int_equal(r.summary.len, 0);
		for (const char *p = t[k].rejected; p && *p; p++) {
			if (strncmp(p, "IN", 2) == 0)
				buf_adds(&rejected, tmp_path("in")), p++;
			else
				buf_addc(&rejected, *p);
		}
		assert_string_equal(
		    text(&r.rejects), t[k].rejected ? buf_cstr(&rejected) : "(no file)");
		buf_free(&want);
		buf_free(&rejected);
		result_free(&r);
	}
	tmp_clean();
}

#define REJECT(file, class, reason)                                                            \
	"\"reject\":{\"program\":\"e3-test\",\"class\":\"" class "\",\"reason\":\"bad " reason \
								 "\",\"file\":\"" file         \
								 "\",\"line\":1"

static void reject_texts(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *want; /* up to the file's name */
	} t[] = {
	    {"{\"a\":1}", 7,
		"{\"a\":1,\"reject\":{\"program\":\"e3-test\",\"class\":\"type\",\"reason\":\"bad "
		"{?a?:1}\""},
	    {"{\"a\":1.50 }\t\r", 13, "{\"a\":1.50 ,\"reject\":{"},
	    {"{}", 2, "{\"reject\":{"},
	    {"{ \t}  ", 6, "{ \t\"reject\":{"},
	    {"{\"a\":{}}", 8, "{\"a\":{},\"reject\":{"},
	    {"{\"a\":\"}{\"}", 10, "{\"a\":\"}{\",\"reject\":{"},
	    {"{\"a\":[1,{\"reject\":2}],\"b\":\"\\\"}\"}", 32,
		"{\"a\":[1,{\"reject\":2}],\"b\":\"\\\"}\",\"reject\":{\"program\""},
	    {"{\"a\":1,\"reject\":{\"program\":\"x,}\"}}", 34, "{\"a\":1,\"reject\":{\"program\""},
	    {"{ \"reject\" : { \"program\":1} , \"rejects\":2}", 42,
		"{ \"rejects\":2,\"reject\":{\"program\""},
	    {"{\"reject\":{\"program\":1}}", 24, "{\"reject\":{\"program\":\"e3-test\""},
	    /* the row's own */
	    {"{\"reject\":\"program\",\"a\":1}", 26,
		"{\"reject\":\"program\",\"a\":1,\"reject\":{\"program\""},
	    {"{\"reject\":{}}", 13, "{\"reject\":{},\"reject\":{\"program\""},
	    {"{\"reject\":{\"role\":1}}", 21, "{\"reject\":{\"role\":1},\"reject\":{\"program\""},
	    {"{\"a\":\"\xff\"}", 9, "{\"raw_base64\":\"eyJhIjoi/yJ9\",\"reject\":{"},
	    {"x", 1,
		"{\"raw\":\"x\",\"reject\":{\"program\":\"e3-test\",\"class\":\"json\",\"reason\":"
		"\"bad x\""},
	    {"\"\\\t", 3, "{\"raw\":\"\\\"\\\\\\t\",\"reject\":{"},
	    {"a\0b", 3, "{\"raw\":\"a\\u0000b\",\"reject\":{"},
	    {"\xe4\xb8\xad", 3, "{\"raw\":\"\xe4\xb8\xad\",\"reject\":{"},
	    {"\xe4\xb8", 2, "{\"raw_base64\":\"5Lg=\",\"reject\":{"},
	    {"\xff", 1, "{\"raw_base64\":\"/w==\",\"reject\":{"},
	    {"more", 4, "{\"raw\":\"more\",\"reject\":{"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf want = {0};
		struct result r;

		tmp_write(tmp_path("in"), t[i].in, t[i].n);
		r = run(options(1));
		assert_int_equal(r.rc, 0);
		for (const char *p = t[i].want; *p; p++)
			buf_addc(&want, *p == '?' ? '"' : *p);
		if (r.rejects.len < strlen(t[i].want) ||
		    strncmp(r.rejects.data, t[i].want, strcspn(t[i].want, "?")) != 0)
			fail_msg("%s: %s", t[i].want, text(&r.rejects));
		buf_reset(&want);
		buf_addf(&want, "\"file\":\"%s\",\"line\":1%s}}\n", tmp_path("in"),
		    i == LEN(t) - 1 ? ",\"status\":500,\"attempts\":3" : "");
		if (!strstr(text(&r.rejects), buf_cstr(&want)))
			fail_msg("%s: %s", t[i].want, text(&r.rejects));
		buf_free(&want);
		result_free(&r);
	}
	tmp_clean();
}

/* A line longer than --max-line goes to the rejects whole, between its neighbours, and the run goes
 * on. */
static void long_lines(void **state)
{
	struct buf in = {0}, base64 = {0};

	(void)state;
	buf_adds(&in, "bad 1\nout a\n");
	for (size_t i = 0; i < 1000000; i++)
		buf_addc(&in, (char)(i % 251 == '\n' ? 0xff : i % 251));
	buf_add_base64(&base64, in.data + 12, 1000000);
	buf_adds(&in, "\nbad 2\nout b\n");
	tmp_write(tmp_path("in"), in.data, in.len);
	for (uint64_t j = 1; j < 4; j += 2) {
		struct flow_opt o = options(j);
		struct result r;
		const char *p;

		o.max_line = 1000;
		r = run(o);
		assert_int_equal(r.rc, 0);
		assert_string_equal(text(&r.out), "out a\nout b\n");
		assert_int_equal(r.t.in, 5);
		assert_int_equal(r.t.rejected, 3);
		p = strstr(text(&r.rejects), "\n{\"raw_base64\":\"");
		assert_non_null(p);
		assert_memory_equal(p + 16, base64.data, base64.len);
		p += 16 + base64.len;
		assert_ptr_equal(strstr(p, "\",\"reject\":{\"program\":\"e3-test\",\"class\":"
					   "\"long\",\"reason\":\"the line "
					   "is longer than 1000 bytes (--max-line)\",\"file\":\""),
		    p);
		assert_non_null(strstr(p, "\",\"line\":3}}\n{\"raw\":\"bad 2\","));
		result_free(&r);

		o = options(j);
		o.max_line = 1000;
		o.max_rejects = 1;
		r = run(o);
		assert_string_equal(r.e.class, "rejects");
		result_free(&r);

		o = options(j);
		o.max_line = 1000;
		o.rejects = NULL;
		tmp_write(tmp_path("in"), in.data + 6, in.len - 6);
		r = run(o);
		assert_string_equal(r.e.class, "long");
		assert_non_null(
		    strstr(r.e.msg, ":2: the line is longer than 1000 bytes (--max-line)"));
		result_free(&r);
		tmp_write(tmp_path("in"), in.data, in.len);
	}
	buf_free(&in);
	buf_free(&base64);
	tmp_clean();
}

static void duplicates(void **state)
{
	(void)state;
	tmp_puts(
	    tmp_path("in"), "out a\nout b\nbad c\nout c\nout a\ndrop d\nout d\nout\nout\ndone b\n");
	for (uint64_t j = 1; j < 4; j += 2) {
		struct flow_opt o = options(j);
		struct result r;

		o.unique_ids = 1;
		r = run(o);
		assert_int_equal(r.rc, 0);
		assert_string_equal(text(&r.out), "out a\nout b\nout c\nout d\nout \nout \n");
		assert_non_null(strstr(text(&r.rejects),
		    "\"class\":\"duplicate\",\"reason\":\"id: a record before has "
		    "the same, \\\"a\\\"\""));
		assert_int_equal(r.t.rejected, 3);
		assert_int_equal(r.t.resumed, 0);
		result_free(&r);
	}
	tmp_clean();
}

/* Every record is of one shard, also those that have no id or are bad. */
static void shards(void **state)
{
	struct flow_totals sum = {0};

	(void)state;
	write_mixture();
	for (uint64_t i = 0; i < 3; i++) {
		struct flow_opt o = options(2);
		struct result r;

		o.shard = (struct opt_shard){i, 3};
		o.max_line = 250;
		r = run(o);
		assert_int_equal(r.rc, 0);
		sum.out += r.t.out;
		sum.rejected += r.t.rejected;
		sum.resumed += r.t.resumed;
		sum.dropped += r.t.dropped;
		assert_int_equal(r.t.in, 6000);
		assert_in_range(r.t.out, 600, 1100);
		result_free(&r);
	}
	assert_int_equal(sum.out + sum.rejected + sum.resumed + sum.dropped, 18000);
	sum.dropped -= 12000; /* twice "shard" */
	assert_int_equal(sum.out + sum.rejected + sum.resumed + sum.dropped, 6000);
	assert_true(sum.rejected > 1500); /* long ones too */
	tmp_clean();
}

/* ---- threads' own things ---- */

struct shop {
	int opened, closed, fail_at;
};

static void *thread_open(void *ctx, struct err *e)
{
	struct shop *s = ctx;

	if (s->opened == s->fail_at) {
		err_set(e, "fatal", "no thread");
		return NULL;
	}
	s->opened++;
	return xmalloc(1);
}

static void thread_close(void *ctx, void *thread)
{
	((struct shop *)ctx)->closed++;
	free(thread);
}

static int work_in_thread(void *ctx, void *thread, struct flow_job *job)
{
	(void)ctx;
	*(volatile char *)thread = 'x';
	return decide(job);
}

static int run_threads(struct flow *f, void *ctx, struct err *e)
{
	static const struct flow_ops ops = {thread_open, thread_close, work_in_thread, NULL};

	return flow_run(f, &ops, ctx, e);
}

static void threads_have_their_own(void **state)
{
	(void)state;
	write_mixture();
	for (int fail_at = 0; fail_at < 5; fail_at += 2) {
		struct shop s = {.fail_at = fail_at};
		struct flow_opt o = options(4);
		struct result r;

		o.max_line =
		    250; /* the pipeline is run many times, the threads' things are opened once */
		r = run_with(&o, run_threads, &s);
		assert_int_equal(r.rc, fail_at < 4 ? -1 : 0);
		assert_int_equal(s.opened, fail_at < 4 ? fail_at : 4);
		assert_int_equal(s.closed, s.opened);
		result_free(&r);
	}
	tmp_clean();
}

static void cannot_open(void **state)
{
	static const struct {
		const char *in, *out, *rejects, *stats, *says;
	} t[] = {
	    {"none", "out", "rejects", "stats", "none: No such file or directory"},
	    {"in", "none/out", "rejects", "stats", "none/out: "},
	    {"in", "out", "none/rejects", "stats", "none/rejects: "},
	    {"in", "out", "rejects", "none/stats", "none/stats: no file can be made in "},
	    {"in", "out", "out", "stats", "out: named for two outputs"},
	    {"in", "out", "rejects", "out", "out: named for two outputs"},
	    {"in", "out", "stats", "stats", "stats: named for two outputs"},
	    {"in", "out", "in", "stats", "in: is an input too"},
	    {"in", "out", "rejects", "in", "in: is an input too"},
	};

	(void)state;
	tmp_puts(tmp_path("in"), "out a\n");
	for (size_t i = 0; i < LEN(t); i++) {
		struct flow_opt o = FLOW_OPT_DEFAULT;
		struct err e = {0};
		char path[4][1024];

		snprintf(path[0], 1024, "%s", tmp_path(t[i].in));
		snprintf(path[1], 1024, "%s", tmp_path(t[i].out));
		snprintf(path[2], 1024, "%s", tmp_path(t[i].rejects));
		snprintf(path[3], 1024, "%s", tmp_path(t[i].stats));
		opt_list_add(&o.files, path[0]);
		o.output = path[1];
		o.rejects = path[2];
		o.stats = path[3];
		assert_null(flow_open("e3-test", &o, &e));
		if (!strstr(e.msg, t[i].says))
			fail_msg("row %zu: %s", i, e.msg);
		opt_list_free(&o.files);
	}
	assert_int_equal(tmp_clean(), 1); /* nothing appeared */
}

/* What a program tells of further files; the rest is "out", "rejects" and "stats". */
static void further_files(void **state)
{
	static const struct {
		const char *output, *input; /* further ones, or NULL */
		int report;
		const char *says; /* NULL: it is fine */
	} t[] = {
	    {"other", "list", 0, NULL},
	    {"other", NULL, 0, NULL},
	    {"in", NULL, 0, "in: is an input too; it would be lost"},
	    {"link", NULL, 0, "link: is an input too"},
	    {"list", "list", 0, "list: is an input too"},
	    {"out", NULL, 0, "out: named for two outputs"},
	    {"./out", NULL, 0, "./out: named for two outputs"},
	    {"tolink", NULL, 0, "tolink: named for two outputs"},
	    {"rejects", NULL, 0, "rejects: named for two outputs"},
	    {"stats", NULL, 0, "stats: named for two outputs"},
	    {"other", "old", 0, "old: is an input too"},
	    {"other", NULL, 1, "old: is an input too"},
	    {"none/other", NULL, 0, "none/other: no file can be made in "},
	};

	(void)state;
	tmp_puts(tmp_path("in"), "out a\n");
	tmp_puts(tmp_path("list"), "x\n");
	tmp_puts(tmp_path("old"), "out b\n");
	assert_int_equal(symlink("in", tmp_path("link")), 0);
	assert_int_equal(symlink("out", tmp_path("tolink")), 0);
	for (size_t i = 0; i < LEN(t); i++) {
		/* "old" is -o's, and stands among the records */
		int old = strncmp(t[i].says ? t[i].says : "", "old", 3) == 0 || i == 1;
		struct flow_opt o = FLOW_OPT_DEFAULT;
		struct err e = {0};
		struct flow *f;
		char path[7][1024];
		const char *names[] = {
		    "in", "old", old ? "old" : "out", "rejects", "stats", t[i].output, t[i].input};

		for (size_t k = 0; k < LEN(names) && names[k]; k++)
			snprintf(path[k], 1024, "%s", tmp_path(names[k]));
		opt_list_add(&o.files, path[0]);
		if (!t[i].input)
			opt_list_add(&o.files, path[1]);
		o.output = path[2];
		o.rejects = path[3];
		o.stats = path[4];
		o.report = t[i].report;
		opt_list_add(&o.outputs, path[5]);
		if (t[i].input)
			opt_list_add(&o.inputs, path[6]);
		f = flow_open("e3-test", &o, &e);
		flow_abort(f);
		if (t[i].says ? f || !strstr(e.msg, t[i].says) : !f)
			fail_msg("row %zu: %s", i, e.msg);
		opt_list_free(&o.files);
		opt_list_free(&o.outputs);
		opt_list_free(&o.inputs);
	}
	assert_int_equal(tmp_clean(), 5); /* nothing appeared */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_at_any_threads),
	    cmocka_unit_test(first_failure_ends_it),
	    cmocka_unit_test(reject_texts),
	    cmocka_unit_test(long_lines),
	    cmocka_unit_test(duplicates),
	    cmocka_unit_test(shards),
	    cmocka_unit_test(threads_have_their_own),
	    cmocka_unit_test(cannot_open),
	    cmocka_unit_test(further_files),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
