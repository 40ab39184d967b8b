#include <string.h>

#include "io/flow_int.h"

int flow_fail(const struct flow_job *job, struct err *e)
{
	*e = job->err;
	return err_prefix(e, job->element ? "%s: element %llu: " : "%s:%llu: ", job->file,
	    (unsigned long long)job->number);
}

/* Where an input's first line tells that it is JSON of another shape, all that follows is bad too:
 * what to do about it is said in place of the record's own error. */
static const char *wrong_shape(const struct flow_job *job)
{
	static const char blanks[] = " \t\r";
	const char *p = job->line.p;
	size_t n = job->line.n;

	while (n > 0 && memchr(blanks, *p, 3))
		p++, n--;
	while (n > 0 && memchr(blanks, p[n - 1], 3))
		n--;
	if (job->number != 1 || job->element || n == 0)
		return NULL;
	if (*p == '[')
		return "a JSON array, where a record is a line: make lines of it with jq -c '.[]'";
	if (*p == '{' && n == 1)
		return "an object over several lines, where a record is one line: make lines of it "
		       "with jq -c ., or .KEY[] for a list inside";
	if (job->err.class && strcmp(job->err.class, "json") == 0 && *p != '{')
		return "no JSON, where a record is a line of it: of CSV and Parquet files DuckDB "
		       "makes such lines";
	return NULL;
}

/* A bad record that ends the run, for want of a place to put it. */
static int fail_record(const struct flow_job *job, struct err *e)
{
	const char *shape = wrong_shape(job);

	if (shape) {
		err_set(e, job->err.class, "%s: %s", job->file, shape);
		return -1;
	}
	flow_fail(job, e);
	return err_suffix(e, " (--rejects FILE puts bad records there and goes on)");
}

static int bug(const struct flow_job *job, struct err *e, const char *what)
{
	err_set(e, "internal", "%s:%llu: %s", job->file, (unsigned long long)job->number, what);
	return -1;
}

static int too_many(const struct flow *f, struct err *e)
{
	if (f->t.rejected <= f->opt.max_rejects)
		return 0;
	return err_set(e, "rejects", "more than %llu rejects; the last ones of %s say why",
	    (unsigned long long)f->opt.max_rejects, f->opt.rejects);
}

static void count_reject(struct flow *f, const struct flow_job *job)
{
	f->t.rejected++;
	tally_add(&f->rejected, job->err.class ? job->err.class : "unknown", 1);
}

static int settle_reject(struct flow *f, const struct flow_job *job, struct err *e)
{
	count_reject(f, job);
	if (!f->rejects)
		return fail_record(job, e);
	buf_reset(&f->text);
	reject_text(&f->text, f->program, job);
	if (out_write(f->rejects, f->text.data, f->text.len, e) < 0)
		return -1;
	return too_many(f, e);
}

static void count_all(struct flow *f, const struct flow_job *job)
{
	for (size_t i = 0; i < job->ncount; i++)
		tally_add(&f->counts, job->count[i].name, job->count[i].n);
}

static int settle_out(struct flow *f, const struct flow_job *job, struct err *e)
{
	f->t.out++;
	count_all(f, job);
	f->t.written += job->written;
	if (!job->out || job->out->len == 0)
		return 0;
	if (job->written == 0)
		f->t.written++;
	return f->out ? out_write(f->out, job->out->data, job->out->len, e) : 0;
}

int flow_settle(struct flow *f, const struct flow_job *job, struct err *e)
{
	switch (job->verdict) {
	case FLOW_OUT: return settle_out(f, job, e);
	case FLOW_REJECT: return settle_reject(f, job, e);
	case FLOW_DROP:
		f->t.dropped++;
		tally_add(&f->dropped, job->err.class ? job->err.class : "unknown", 1);
		count_all(f, job);
		return 0;
	case FLOW_RESUMED: f->t.resumed++; return 0;
	case FLOW_HOLD: f->t.held++; return 0;
	case FLOW_NONE: break;
	}
	return bug(job, e, "a record without a verdict: this is a bug");
}

/* ---- checks by id ---- */

static int in_shard(const struct flow *f, const struct flow_job *job)
{
	struct span key = job->id.n ? job->id : job->line;

	return hash_in_shard(key.p, key.n, f->opt.shard.i, f->opt.shard.n);
}

int flow_admit(struct flow *f, struct flow_job *job)
{
	if (!in_shard(f, job)) {
		flow_drop(job, "shard");
		return 0;
	}
	if (job->verdict == FLOW_REJECT || job->verdict == FLOW_DROP)
		return 0;
	if (f->opt.unique_ids && job->id.n &&
	    !hashset_add(&f->ids, hash128(job->id.p, job->id.n))) {
		flow_reject(job, "duplicate", "id: a record before has the same, \"%.*s\"",
		    job->id.n < 200 ? (int)job->id.n : 200, job->id.p);
		return 0;
	}
	return 1;
}

/* ---- lines that are too long ---- */

/* Base64 turns 3 bytes into 4: pieces of a multiple of 3 bytes can be joined. */
static int write_pieces(struct flow *f, const struct line *line, struct err *e)
{
	struct buf raw = {0};
	const char *p = line->p;
	size_t n = line->n;
	int rc = 1;

	while (rc > 0) {
		size_t whole;

		buf_add(&raw, p, n);
		whole = raw.len - raw.len % 3;
		buf_reset(&f->text);
		buf_add_base64(&f->text, raw.data, whole);
		rc = out_write(f->rejects, f->text.data, f->text.len, e);
		memmove(raw.data, raw.data + whole, raw.len - whole);
		raw.len -= whole;
		if (rc == 0)
			rc = lines_rest(f->lines, &p, &n, e);
	}
	if (rc == 0) {
		buf_reset(&f->text);
		buf_add_base64(&f->text, raw.data, raw.len);
		rc = out_write(f->rejects, f->text.data, f->text.len, e);
	}
	buf_free(&raw);
	return rc;
}

struct flow_job flow_long_job(const struct flow *f, const struct line *line)
{
	struct flow_job job = {.file = line->file,
	    .number = line->number,
	    .element = line->element,
	    .record = f->read - 1};

	job.line = (struct span){line->p, line->n};
	flow_reject(&job, "long", "the line is longer than %llu bytes (--max-line)",
	    (unsigned long long)f->opt.max_line);
	if (!in_shard(f, &job))
		flow_drop(&job, "shard");
	return job;
}

int flow_settle_long(
    struct flow *f, const struct line *line, const struct flow_job *job, struct err *e)
{
	f->t.in++;
	if (job->verdict != FLOW_REJECT)
		return flow_settle(f, job, e);
	count_reject(f, job);
	if (!f->rejects)
		return fail_record(job, e);
	if (out_write(f->rejects, "{\"raw_base64\":\"", 15, e) < 0 || write_pieces(f, line, e) < 0)
		return -1;
	buf_reset(&f->text);
	buf_adds(&f->text, "\",");
	reject_end(&f->text, f->program, job);
	if (out_write(f->rejects, f->text.data, f->text.len, e) < 0)
		return -1;
	return too_many(f, e);
}
