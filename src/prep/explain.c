#include "prep/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/prog.h"
#include "prep/pick.h"

/* A converted row that is no duplicate of an earlier one. */
struct seen {
	struct hash128 h;
	uint64_t key, row;
};

struct prep_explain {
	const struct prep_rules *rules;
	uint64_t row, rows; /* wanted, read */
	int dedup;
	uint64_t sample;
	struct buf trace;
	struct buf end; /* what came of it */
	int converted;
	struct seen me;
	uint64_t twin; /* the earlier row that it equals, or 0 */
	struct hashset set;
	struct seen *seen;
	size_t n, cap;
};

struct prep_explain *prep_explain_open(
    const struct prep_rules *rules, uint64_t row, int dedup, uint64_t sample)
{
	struct prep_explain *x = xcalloc(1, sizeof(*x));

	x->rules = rules;
	x->row = row;
	x->dedup = dedup;
	x->sample = sample;
	return x;
}

void prep_explain_close(struct prep_explain *x)
{
	if (!x)
		return;
	buf_free(&x->trace);
	buf_free(&x->end);
	hashset_free(&x->set);
	free(x->seen);
	free(x);
}

struct buf *prep_explain_trace(struct prep_explain *x, const struct flow_job *job)
{
	if (job->record + 1 != x->row)
		return NULL;
	buf_addf(&x->trace, job->element ? "row %llu: %s: element %llu\n" : "row %llu: %s:%llu\n",
	    (unsigned long long)x->row, job->file, (unsigned long long)job->number);
	return &x->trace;
}

static uint64_t twin(const struct prep_explain *x, const struct seen *s)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->seen[i].h.hi == s->h.hi && x->seen[i].h.lo == s->h.lo)
			return x->seen[i].row;
	return 0;
}

static void converted(struct prep_explain *x, const struct seen *s)
{
	int mine = s->row == x->row;

	if (mine) {
		x->converted = 1;
		x->me = *s;
	}
	if (!x->dedup && !x->sample)
		return;
	if (x->dedup && !hashset_add(&x->set, s->h)) {
		if (mine)
			x->twin = twin(x, s);
		return;
	}
	x->seen = xgrow(x->seen, &x->cap, x->n + 1, sizeof(*x->seen));
	x->seen[x->n++] = *s;
}

int prep_explain_commit(struct prep_explain *x, struct flow_job *job)
{
	const uint64_t *u = job->user;
	struct seen s = {{u[PREP_USER_HI], u[PREP_USER_LO]}, u[PREP_USER_KEY], job->record + 1};

	x->rows = s.row;
	if (s.row == x->row && x->trace.len == 0) /* too long for work to have seen it */
		prep_explain_trace(x, job);
	if (job->verdict == FLOW_OUT)
		converted(x, &s);
	else if (s.row == x->row && job->verdict == FLOW_REJECT)
		buf_addf(&x->end, "  rejected: %s: %s\n", job->err.class, job->err.msg);
	else if (s.row == x->row)
		buf_addf(&x->end, "  dropped: %s\n", job->err.class);
	return flow_drop(job, "explain");
}

static void tell_sample(struct prep_explain *x)
{
	uint64_t rank = 1;

	for (size_t i = 0; i < x->n; i++)
		rank += x->seen[i].key < x->me.key ||
			(x->seen[i].key == x->me.key && x->seen[i].row < x->me.row);
	buf_addf(&x->end, "  sample: number %llu of %zu by keyed hash, %llu are taken\n",
	    (unsigned long long)rank, x->n, (unsigned long long)x->sample);
	if (rank > x->sample)
		buf_adds(&x->end, "  dropped: sample\n");
	else
		buf_adds(&x->end, "  out\n");
}

int prep_explain_print(struct prep_explain *x, struct err *e)
{
	if (x->rows < x->row)
		return err_set(e, "missing", "--explain %llu: the input has %llu rows",
		    (unsigned long long)x->row, (unsigned long long)x->rows);
	if (x->converted)
		buf_addf(&x->end, "  converted: id %s/%llu, answers %s\n", x->rules->name,
		    (unsigned long long)x->row,
		    x->rules->native ? "have weight 1 (native)" : "have weight 0 (prompt)");
	if (x->converted && x->twin)
		buf_addf(&x->end, "  dropped: duplicate: it equals row %llu\n",
		    (unsigned long long)x->twin);
	else if (x->converted && x->sample)
		tell_sample(x);
	else if (x->converted)
		buf_adds(&x->end, "  out\n");
	fwrite(x->trace.data, 1, x->trace.len, stdout);
	fwrite(x->end.data, 1, x->end.len, stdout);
	return prog_flush(e);
}
