#include "merge/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "io/lines.h"
#include "io/temp.h"

#define PARTS_MAX 1024
#define PART_RUN  (256u << 10) /* of a part, that is written and read in one go */

/* As many parts as leave each a run worth a disk's while. A set of up to PARTS_MAX times the
 * memory, 1 TiB by default, then has parts that fit. */
static size_t parts_for(uint64_t memory)
{
	size_t n = 1;

	while (n < PARTS_MAX && memory / (2 * n) >= PART_RUN)
		n *= 2;
	return n;
}

/* Beside the output, where there must be room for the set anyway; to be freed. */
static char *spool_dir(const struct merge_opts *o)
{
	const char *slash;

	if (o->tmp_dir)
		return xstrdup(o->tmp_dir);
	if (!o->flow.output || strcmp(o->flow.output, "-") == 0 ||
	    strncmp(o->flow.output, "/dev/", 5) == 0)
		return NULL;
	slash = strrchr(o->flow.output, '/');
	if (!slash)
		return xstrdup(".");
	return xstrndup(
	    o->flow.output, slash == o->flow.output ? 1 : (size_t)(slash - o->flow.output));
}

static int open_splits(struct merge *m, struct err *e)
{
	size_t n = m->plan->nsplit;

	m->out = xcalloc(n, sizeof(struct out *));
	m->set = xcalloc(n + 1, sizeof(*m->set));
	for (size_t i = 0; i <= n; i++)
		set_init(&m->set[i], m->o->manifest != NULL);
	for (size_t i = 0; i < n; i++) {
		m->out[i] = out_open(m->plan->split[i].file, m->o->flow.zstd, e);
		if (!m->out[i])
			return -1;
	}
	return 0;
}

/* ---- decisions ---- */

static int set_quotas(const struct datasets *d, const struct quota *q, size_t n, const char *option,
    double *to, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		int k = datasets_find(d, q[i].dataset);

		if (k < 0)
			return err_set(e, "missing", "--%s: there is no record of dataset %.*s",
			    option, (int)q[i].dataset.n, q[i].dataset.p);
		to[k] = q[i].number;
	}
	return 0;
}

static int decide(struct merge *m, struct err *e)
{
	size_t n = m->datasets.n;
	double *cap = xcalloc(n, sizeof(*cap)), *weight = xcalloc(n, sizeof(*weight));
	uint64_t *whole = xcalloc(n, sizeof(*whole));
	struct limits limits = {
	    m->o->dedup == DEDUP_IDS || m->o->dedup == DEDUP_PROMPT, whole, weight, (uint16_t)n};
	uint16_t empty = 0;

	for (size_t i = 0; i < n; i++)
		cap[i] = weight[i] = -1;
	if (set_quotas(&m->datasets, m->plan->cap, m->plan->ncap, "cap", cap, e) < 0 ||
	    set_quotas(&m->datasets, m->plan->mix, m->plan->nmix, "mix", weight, e) < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		whole[i] = cap[i] < 0 ? UINT64_MAX : (uint64_t)cap[i];
	m->verdict = index_decide(m->index, &limits, &empty);
	if (!m->verdict)
		err_set(e, "missing", "--mix: no record of dataset %s is left",
		    m->datasets.name[empty]);
out:
	free(cap);
	free(weight);
	free(whole);
	return m->verdict ? 0 : -1;
}

/* ---- the end ---- */

static int publish_splits(struct merge *m, struct err *e)
{
	for (size_t i = 0; i < m->plan->nsplit; i++) {
		struct out *o = m->out[i];

		m->out[i] = NULL;
		if (out_finish(o, e) < 0)
			return -1;
	}
	return 0;
}

static int publish_manifest(struct merge *m, struct err *e)
{
	struct manifest_parts p = {.o = m->o,
	    .totals = flow_totals(m->flow),
	    .datasets = &m->datasets,
	    .nsets = m->plan->nsplit + 1};
	struct manifest_set *sets = xcalloc(p.nsets, sizeof(*sets));
	int rc;

	sets[0] = (struct manifest_set){SPAN("train"), m->o->flow.output, &m->set[0]};
	for (size_t i = 1; i < p.nsets; i++)
		sets[i] = (struct manifest_set){
		    m->plan->split[i - 1].name, m->plan->split[i - 1].file, &m->set[i]};
	p.sets = sets;
	p.inputs = flow_files(m->flow, &p.ninputs);
	rc = manifest_write(m->o->manifest, &p, e);
	free(sets);
	return rc;
}

static void add_statistics(struct merge *m)
{
	struct set_counts all = {0};

	for (size_t i = 0; i <= m->plan->nsplit; i++) {
		all.tokens += m->set[i].all.tokens;
		all.response += m->set[i].all.response;
	}
	flow_stat(m->flow, "tokens", all.tokens);
	flow_stat(m->flow, "response_tokens", all.response);
}

static void merge_free(struct merge *m)
{
	flow_abort(m->flow);
	for (size_t i = 0; i < m->plan->nsplit; i++)
		out_abort(m->out ? m->out[i] : NULL);
	for (size_t i = 0; m->set && i <= m->plan->nsplit; i++)
		set_free(&m->set[i]);
	free(m->out);
	free(m->set);
	free(m->verdict);
	free(m->file);
	index_close(m->index);
	spool_close(m->spool);
	datasets_free(&m->datasets);
}

/* Long before the records go there. */
static int check_tmp_dir(const struct merge_opts *o, struct err *e)
{
	struct temp *t;

	if (!o->tmp_dir)
		return 0;
	t = temp_open(o->tmp_dir, "--tmp-dir", e);
	temp_close(t);
	return t ? 0 : -1;
}

/* Splits and manifest come before the main output, which make looks at. */
int merge_run(const struct merge_opts *o, const struct plan *plan, struct err *e)
{
	struct merge m = {.o = o, .plan = plan};
	struct flow_opt flow = o->flow;
	char *dir = spool_dir(o);
	int rc = -1;

	flow.digests = o->manifest != NULL;
	for (size_t i = 0; i < plan->nsplit; i++)
		opt_list_add(&flow.outputs, plan->split[i].file);
	if (o->manifest)
		opt_list_add(&flow.outputs, o->manifest);
	m.parts = parts_for(o->memory);
	m.index = index_open();
	m.spool = spool_open(o->memory, dir);
	m.flow = check_tmp_dir(o, e) == 0 ? flow_open("e3-merge", &flow, e) : NULL;
	if (!m.flow || open_splits(&m, e) < 0)
		goto out;
	if (merge_gather(&m, e) < 0 || decide(&m, e) < 0 || merge_emit(&m, e) < 0)
		goto out;
	add_statistics(&m);
	if (publish_splits(&m, e) < 0 || (o->manifest && publish_manifest(&m, e) < 0))
		goto out;
	rc = flow_finish(m.flow, e);
	if (rc == 0)
		m.flow = NULL;
out:
	merge_free(&m);
	opt_list_free(&flow.outputs);
	free(dir);
	return rc;
}
