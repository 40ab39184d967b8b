/* A filter for tests of flow, whose records say what becomes of them, and a run with all that it
 * leaves behind. */
#ifndef E3_TESTS_FLOW_H
#define E3_TESTS_FLOW_H

#include "unit.h"

#include <fcntl.h>

#include "base/err.h"
#include "io/flow.h"
#include "tmp.h"

/* A record is "VERDICT ID REST". */

static inline int to_out(struct flow_job *job, const char *text)
{
	buf_addf(job->out, "%s %.*s\n", text, (int)job->id.n, job->id.p);
	job->written = 1;
	job->verdict = FLOW_OUT;
	flow_job_count(job, "bytes", job->line.n);
	flow_job_count(job, "bytes", 1);
	flow_job_count(job, text, 1);
	return 0;
}

static inline int decide(struct flow_job *job)
{
	struct span l = job->line;
	const char *blank = memchr(l.p, ' ', l.n);
	size_t n = blank ? (size_t)(blank - l.p) : l.n;
	struct span verb = {l.p, n};

	if (blank) {
		struct span id = {blank + 1, l.n - n - 1};
		const char *end = memchr(id.p, ' ', id.n);

		if (end)
			id.n = (size_t)(end - id.p);
		job->id = (struct span){arena_dup(job->arena, id.p, id.n), id.n};
	}
	if (span_eq(verb, "out"))
		return to_out(job, "out");
	if (span_eq(verb, "two")) {
		to_out(job, "one");
		to_out(job, "two");
		job->written = 2;
		return 0;
	}
	if (span_eq(verb, "drop"))
		return flow_drop(job, "asked");
	if (span_eq(verb, "done")) {
		job->verdict = FLOW_RESUMED;
		return 0;
	}
	if (span_eq(verb, "none"))
		return 0;
	if (span_eq(verb, "die"))
		return err_set(&job->err, "fatal", "died of %.*s", (int)job->id.n, job->id.p);
	if (n > 0 && verb.p[0] == '{')
		job->object = 1;
	if (span_eq(verb, "more"))
		flow_reject_more(job, "\"status\":500"), flow_reject_more(job, "\"attempts\":3");
	return flow_reject(job, job->object ? "type" : "json", "bad %.*s", (int)n, verb.p);
}

static inline int work(void *ctx, void *thread, struct flow_job *job)
{
	(void)ctx, (void)thread;
	assert_int_equal(job->verdict, FLOW_NONE);
	assert_int_equal(job->out->len, 0);
	assert_int_equal(job->user[0] + job->user[FLOW_USER - 1], 0);
	memset(arena_alloc(job->arena, 100), 'x', 100);
	job->user[0] = job->record;
	return decide(job);
}

static const struct flow_ops plain = {.work = work};

/* What a run left behind. */
struct result {
	int rc;
	struct err e;
	struct flow_totals t;
	struct buf out, rejects, stats, summary;
};

static inline void result_free(struct result *r)
{
	buf_free(&r->out);
	buf_free(&r->rejects);
	buf_free(&r->stats);
	buf_free(&r->summary);
}

static inline struct flow_opt options(uint64_t threads)
{
	struct flow_opt o = FLOW_OPT_DEFAULT;
	static char in[1024], out[1024], rejects[1024], stats[1024];

	snprintf(in, sizeof(in), "%s", tmp_path("in"));
	snprintf(out, sizeof(out), "%s", tmp_path("out"));
	snprintf(rejects, sizeof(rejects), "%s", tmp_path("rejects"));
	snprintf(stats, sizeof(stats), "%s", tmp_path("stats"));
	opt_list_add(&o.files, in);
	o.output = out;
	o.rejects = rejects;
	o.stats = stats;
	o.threads = threads;
	return o;
}

/* One run with stderr caught. f: what to do between opening and finishing. */
static inline struct result run_with(
    struct flow_opt *o, int (*f)(struct flow *, void *, struct err *), void *ctx)
{
	int saved = dup(STDERR_FILENO);
	int fd = open(tmp_path("stderr"), O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct result r = {0};
	struct flow *flow;

	unlink(tmp_path("out"));
	unlink(tmp_path("rejects"));
	unlink(tmp_path("stats"));
	dup2(fd, STDERR_FILENO);
	flow = flow_open("e3-test", o, &r.e);
	r.rc = flow ? f(flow, ctx, &r.e) : -1;
	if (flow)
		r.t = flow_totals(flow);
	if (r.rc == 0)
		r.rc = flow_finish(flow, &r.e);
	if (r.rc < 0)
		flow_abort(flow);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(fd);
	r.summary = tmp_read(tmp_path("stderr"));
	r.out = tmp_read(tmp_path("out"));
	r.rejects = tmp_read(tmp_path("rejects"));
	r.stats = tmp_read(tmp_path("stats"));
	opt_list_free(&o->files);
	return r;
}

static inline int just_run(struct flow *f, void *ops, struct err *e)
{
	return flow_run(f, ops ? ops : &plain, NULL, e);
}

static inline struct result run(struct flow_opt o)
{
	return run_with(&o, just_run, NULL);
}

static inline const char *text(struct buf *b)
{
	return b->data ? buf_cstr(b) : "(no file)";
}

/* A few thousand records of all kinds. */
static inline void write_mixture(void)
{
	static const char *const verbs[] = {
	    "out", "out", "out", "two", "drop", "done", "bad", "{\"bad\":1 }"};
	struct buf b = {0};

	for (int i = 0; i < 6000; i++)
		buf_addf(&b, "%s id%d %0*d\n", verbs[i * 7 % 8], i, i % 97 * 3, 0);
	tmp_write(tmp_path("in"), b.data, b.len);
	buf_free(&b);
}

#endif
