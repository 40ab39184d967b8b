/* The first pass: records in, their lines into the spool. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/item.h"
#include "merge/merge.h"
#include "merge/record.h"

/* Two hashes of the id that never meet; the second one decides where the first, the order, is
 * equal. */
#define ID_SEED 0x9e3779b97f4a7c15u

/* From work to commit, in job->out, which is not written. The dataset's name follows, and then the
 * line, where it is not the one that was read. */
struct note {
	struct rank rank;
	struct hash128 content;
	uint32_t tokens, response, side, name;
};

/* What a record's own numbers decide; NULL when it goes on. */
static const char *too(const struct merge_opts *o, const struct record *r)
{
	if (r->tokens < o->min_len)
		return "min_len";
	if (r->tokens > o->max_len)
		return "max_len";
	return r->response < o->min_response ? "min_response" : NULL;
}

/* The line without the member of a run that rejected it: it is no part of a set. */
static struct span clean(const struct rec *r, struct buf *to)
{
	const struct rec_edit none = {"reject", {NULL, 0}};

	if (!rec_get(r, none.name).p)
		return r->line;
	buf_reset(to);
	rec_copy(to, r, &none, 1);
	return (struct span){to->data, to->len};
}

static int work(void *ctx, void *thread, struct flow_job *job)
{
	const struct merge *m = ctx;
	struct reader *reader = thread;
	struct record r;
	struct note n = {0};
	struct span line;
	const char *why;

	job->verdict = FLOW_REJECT;
	if (record_read(reader, (enum dedup)m->o->dedup, job, &r) < 0)
		return 0;
	why = too(m->o, &r);
	if (why)
		return flow_drop(job, why);
	n.rank.key = hash64(r.id.p, r.id.n, m->o->seed);
	n.rank.id = hash64(r.id.p, r.id.n, ~m->o->seed ^ ID_SEED);
	line = clean(&reader->rec, &reader->text);
	n.rank.line = hash128(line.p, line.n).lo; /* XXH3, the faster one */
	n.content = r.content;
	n.tokens = r.tokens;
	n.response = r.response;
	n.side = (uint32_t)plan_side(m->plan, record_conversation(r.id));
	n.name = (uint32_t)r.dataset.n;
	buf_add(job->out, &n, sizeof(n));
	buf_add(job->out, r.dataset.p, r.dataset.n);
	if (line.p != job->line.p)
		buf_add(job->out, line.p, line.n);
	job->verdict = FLOW_OUT;
	return 0;
}

static uint32_t file_number(struct merge *m, const char *name)
{
	/* files come one after the other, and flow keeps one string for each */
	if (m->nfiles == 0 || m->file[m->nfiles - 1] != name) {
		m->file = xgrow(m->file, &m->cfiles, m->nfiles + 1, sizeof(*m->file));
		m->file[m->nfiles++] = name;
	}
	return (uint32_t)(m->nfiles - 1);
}

static size_t part_of(const struct merge *m, uint64_t key)
{
	/* a stretch of the input may be as long as a part of a shuffled set usually is */
	if (m->o->no_shuffle)
		return (size_t)(m->gathered / (m->o->memory / 16));
	return (size_t)(key >> 32) * m->parts >> 32;
}

static int spool_item(struct merge *m, struct item *item, struct span line, struct err *e)
{
	const struct span pieces[] = {{(const char *)item, sizeof(*item)}, line, SPAN("\n")};

	item->n = line.n + 1;
	m->gathered += item->n;
	return spool_add(m->spool, part_of(m, item->rank.key), pieces, 3, e);
}

static int keep(struct merge *m, struct flow_job *job)
{
	struct item item = {0};
	struct entry entry;
	struct note n;
	struct span name, line;
	int dataset;

	memcpy(&n, job->out->data, sizeof(n));
	name = (struct span){job->out->data + sizeof(n), n.name};
	line = (struct span){name.p + name.n, job->out->len - sizeof(n) - name.n};
	dataset = datasets_add(&m->datasets, name, &job->err);
	if (dataset < 0)
		return -1;
	if (m->records == UINT32_MAX)
		return err_set(&job->err, "range", "more than 2^32 records");
	n.rank.record = m->records++;
	entry = (struct entry){
	    n.rank.key, n.rank.id, n.rank.line, n.content, n.rank.record, (uint16_t)dataset};
	index_add(m->index, &entry);
	item.rank = n.rank;
	item.number = job->number;
	item.file = file_number(m, job->file);
	item.tokens = n.tokens;
	item.response = n.response;
	item.side = n.side;
	item.dataset = (uint16_t)dataset;
	item.element = (uint8_t)job->element;
	job->verdict = FLOW_HOLD;
	if (spool_item(m, &item, line.n ? line : job->line, &job->err) < 0)
		return -1;
	buf_reset(job->out);
	return 0;
}

static int commit(void *ctx, struct flow_job *job)
{
	return job->verdict == FLOW_OUT ? keep(ctx, job) : 0;
}

int merge_gather(struct merge *m, struct err *e)
{
	static const struct flow_ops ops = {reader_open, reader_close, work, commit};

	return flow_run(m->flow, &ops, m, e);
}
