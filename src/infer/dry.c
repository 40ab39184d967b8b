#include "infer/dry.h"

#include "base/num.h"
#include "infer/infer.h"
#include "infer/report.h"

/* Records that are not sent, and their bytes. */
static int read_rest(struct run *r, uint64_t *n, uint64_t *bytes, struct err *e)
{
	struct flow_held *h;
	int rc;

	while ((rc = flow_next(r->flow, &h, e)) > 0) {
		struct flow_job *job = flow_held_job(h);

		++*n;
		*bytes += job->line.n + 1;
		flow_drop(job, "dry run");
		if (flow_release(r->flow, h, e) < 0)
			return -1;
	}
	return rc;
}

static void estimate(struct run *r, uint64_t rest, uint64_t rest_bytes)
{
	double sent = (double)flow_totals(r->flow).out;
	double scale = sent > 0 ? (sent + (double)rest) / sent : 0;
	struct buf b = {0};
	char human[32];

	num_human((uint64_t)((double)r->n.out_bytes * scale), human);
	buf_addf(&b, "dry run: of %.0f records %.0f were answered; all would take ",
	    sent + (double)rest, sent);
	report_time(&b, (double)(r->now - r->began) / 1000 * scale);
	buf_adds(&b, " at this rate, ");
	report_number(&b, (double)r->n.prompt_tokens * scale);
	buf_adds(&b, " prompt tokens, ");
	report_number(&b, (double)r->n.completion_tokens * scale);
	buf_addf(&b, " new tokens, %s of output", human);
	report_line(r, "%s", buf_cstr(&b));
	buf_free(&b);
	if (rest && sent > 0 && r->read_bytes > 0)
		report_line(r, "dry run: the rest has %.2f times the bytes a record of those sent",
		    (double)rest_bytes / (double)rest / ((double)r->read_bytes / (double)r->seq));
}

int dry_finish(struct run *r, struct err *e)
{
	uint64_t rest = 0, bytes = 0;
	int rc;

	if (read_rest(r, &rest, &bytes, e) < 0)
		return -1;
	report_summary(r);
	report_stats(r);
	estimate(r, rest, bytes);
	rc = flow_finish(r->flow, e);
	if (rc == 0)
		r->flow = NULL;
	return rc;
}
