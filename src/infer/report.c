#include "infer/report.h"

#include <stdarg.h>
#include <stdio.h>

#include "infer/endpoint.h"
#include "infer/infer.h"
#include "infer/probe.h"

void report_line(struct run *r, const char *fmt, ...)
{
	struct err text;
	char msg[sizeof(text.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	err_set(&text, "report", "%s", msg); /* a server's words may not write to a terminal */
	progress_clear(r->progress);
	r->say(text.msg);
}

void report_number(struct buf *b, double x)
{
	static const struct {
		double unit;
		const char *name;
	} units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (x >= units[i].unit && x >= 1e4) {
			buf_addf(b, "%.1f%s", x / units[i].unit, units[i].name);
			return;
		}
	}
	buf_addf(b, "%.0f", x);
}

void report_time(struct buf *b, double seconds)
{
	unsigned long long s = seconds > 0 ? (unsigned long long)seconds : 0;

	if (s >= 3600)
		buf_addf(b, "%llu h %02llu min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		buf_addf(b, "%llu min %02llu s", s / 60, s % 60);
	else
		buf_addf(b, "%llu s", s);
}

static double elapsed(const struct run *r)
{
	return (double)(r->now - r->began) / 1000;
}

static void add_rate(struct buf *b, const struct run *r)
{
	double t = elapsed(r);

	report_number(b, t > 0 ? (double)r->n.completion_tokens / t : 0);
	buf_adds(b, " tok/s");
}

/* By bytes of the input: what is done against what there is. What was found done took no time. */
static double time_left(const struct run *r, uint64_t done_here)
{
	uint64_t done = r->read_bytes - r->held_bytes, here = done - r->earlier_bytes;

	if (r->total_bytes == 0 || here == 0 || done_here == 0 || r->total_bytes < done)
		return -1;
	return elapsed(r) * (double)(r->total_bytes - done) / (double)here;
}

static void add_progress(struct buf *b, struct run *r)
{
	struct flow_totals t = {0};
	double left;

	if (r->flow) /* else it still waits for a server */
		t = flow_totals(r->flow);
	left = time_left(r, t.out);
	buf_addf(b, "%llu done", (unsigned long long)(t.out + t.resumed));
	if (t.rejected)
		buf_addf(b, ", %llu rejected", (unsigned long long)t.rejected);
	buf_addf(b, ", %zu in flight", endpoints_running(r));
	if (r->nep > 1)
		buf_addf(b, " at %zu of %zu", endpoints_in_state(r, EP_UP), r->nep);
	if (r->queue.waiting.n)
		buf_addf(b, ", %zu waiting", r->queue.waiting.n);
	buf_adds(b, ", ");
	add_rate(b, r);
	if (left >= 0) {
		buf_adds(b, ", ");
		report_time(b, left);
		buf_adds(b, " left");
	}
}

void report_progress(struct run *r)
{
	struct buf b = {0};

	if (!progress_due(r->progress))
		return;
	add_progress(&b, r);
	progress_draw(r->progress, buf_cstr(&b));
	buf_free(&b);
}

void report_server(struct run *r, const struct endpoint *ep)
{
	struct buf b = {0};

	if (r->o->flow.quiet)
		return;
	buf_addf(&b, "%s: %s", ep->url, serve_api_name(ep->facts.api));
	if (ep->facts.version[0])
		buf_addf(&b, " %s", ep->facts.version);
	buf_addf(&b, ", %s", r->model);
	if (ep->facts.context > 0)
		buf_addf(&b, ", context %lld", (long long)ep->facts.context);
	buf_addf(&b, ", %zu at once, %s", ep->limit,
	    serve_takes_ids(ep->route) ? "prompts as ids" : "prompts as messages");
	if (r->o->no_ids)
		buf_adds(&b, ", no ids back");
	report_line(r, "%s", buf_cstr(&b));
	buf_free(&b);
}

void report_waiting(struct run *r)
{
	if (r->o->flow.quiet)
		return;
	for (size_t i = 0; i < r->nep; i++) {
		const struct endpoint *ep = r->ep[i];

		if (ep->state == EP_DOWN)
			report_line(r, "%s: waiting: %s", ep->url, ep->why.msg);
		else if (ep->state != EP_LEAVING)
			report_line(
			    r, "%s: waiting: no answer from %s yet", ep->url, probe_path(ep));
	}
}

static void add_statuses(struct buf *b, const struct run *r)
{
	const char *sep = ": ";

	for (size_t i = 0; i < STATUS_N; i++) {
		if (r->n.statuses[i] == 0)
			continue;
		buf_addf(
		    b, "%s%llu %s", sep, (unsigned long long)r->n.statuses[i], infer_statuses[i]);
		if (i != STATUS_OK)
			buf_addf(
			    b, " (%.3g%%)", 100 * (double)r->n.statuses[i] / (double)r->n.answers);
		sep = ", ";
	}
}

static void add_count(struct buf *b, uint64_t n, const char *one, const char *many)
{
	buf_addf(b, "%llu %s", (unsigned long long)n, n == 1 ? one : many);
}

/* All that was answered so far. */
static void say_answers(struct run *r)
{
	struct buf b = {0};

	add_count(&b, r->n.answers, "answer", "answers");
	add_statuses(&b, r);
	buf_adds(&b, "; ");
	report_number(&b, (double)r->n.prompt_tokens);
	buf_adds(&b, " tokens in, ");
	report_number(&b, (double)r->n.completion_tokens);
	buf_adds(&b, " out in ");
	report_time(&b, elapsed(r));
	buf_adds(&b, " (");
	add_rate(&b, r);
	buf_adds(&b, "); ");
	add_count(&b, r->n.requests, "request, ", "requests, ");
	add_count(&b, r->n.retries, "retry, ", "retries, ");
	if (r->n.turned_away > 0)
		buf_addf(&b, "%llu turned away, ", (unsigned long long)r->n.turned_away);
	add_count(&b, r->n.outages, "outage", "outages");
	report_line(r, "%s", buf_cstr(&b));
	buf_free(&b);
}

static const struct item *oldest(const struct run *r)
{
	const struct item *old = r->flying;

	for (const struct item *it = r->flying; it; it = it->next)
		if (it->started < old->started)
			old = it;
	return old;
}

void report_state(struct run *r)
{
	const struct item *old = oldest(r);
	struct buf b = {0};

	add_progress(&b, r);
	report_line(r, "%s", buf_cstr(&b));
	say_answers(r);
	for (size_t i = 0; i < r->nep; i++) {
		const struct endpoint *ep = r->ep[i];

		report_line(r, "%s: %s, %zu of %.0f in flight, %llu ok, %llu failed, %llu %s%s%s",
		    ep->url, endpoint_state_name(ep), ep->running, endpoint_most(ep),
		    (unsigned long long)ep->ok, (unsigned long long)ep->failed,
		    (unsigned long long)ep->outages, ep->outages == 1 ? "outage" : "outages",
		    ep->state == EP_DOWN ? ": " : "", ep->state == EP_DOWN ? ep->why.msg : "");
	}
	report_line(r, "%zu records read ahead, %zu wait for a retry, %zu suspected of poison",
	    r->queue.fresh.n, r->queue.waiting.n, r->queue.suspects.n);
	if (old)
		report_line(r, "oldest in flight: %s at %s for %llu s", old->rid, old->ep->url,
		    (unsigned long long)((r->now - old->started) / 1000));
	buf_free(&b);
}

void report_summary(struct run *r)
{
	if (r->o->flow.quiet)
		return;
	if (r->n.requests == 0 && r->end == RUN_GOES_ON)
		report_line(r, "nothing was left to ask");
	else if (r->n.requests > 0)
		say_answers(r);
}

static void add_stat(struct run *r, const char *name, const uint64_t *n)
{
	struct buf b = {0};

	buf_addc(&b, '{');
	for (size_t i = 0; i < STATUS_N; i++)
		buf_addf(
		    &b, "%s\"%s\":%llu", i ? "," : "", infer_statuses[i], (unsigned long long)n[i]);
	buf_addc(&b, '}');
	flow_stat_json(r->flow, name, buf_cstr(&b));
	buf_free(&b);
}

void report_stats(struct run *r)
{
	uint64_t output[STATUS_N];

	for (size_t i = 0; i < STATUS_N; i++)
		output[i] = r->resume.statuses[i] + r->n.output[i];
	add_stat(r, "output_statuses", output);
	add_stat(r, "statuses", r->n.statuses);
	flow_stat(r->flow, "answers", r->n.answers);
	flow_stat(r->flow, "prompt_tokens", r->n.prompt_tokens);
	flow_stat(r->flow, "completion_tokens", r->n.completion_tokens);
	flow_stat(r->flow, "requests", r->n.requests);
	flow_stat(r->flow, "retries", r->n.retries);
	flow_stat(r->flow, "turned_away", r->n.turned_away);
	flow_stat(r->flow, "outages", r->n.outages);
}
