#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "extract/run.h"
#include "extract/say.h"

/* Ids and mask as the files hold them. */
static int64_t *widen(const struct item *it)
{
	int64_t *v = xreallocarray(NULL, 2 * it->ids.n, sizeof(*v));

	for (size_t i = 0; i < it->ids.n; i++) {
		v[i] = it->ids.v[i];
		v[it->ids.n + i] = it->mask.data[i];
	}
	return v;
}

static int capture(struct run *r, struct item *it, struct capture *c, struct err *e)
{
	struct capture_want w = plan_want(&r->plan, it->ids.v, it->ids.n);

	if (r->o->backend == BACKEND_JSON)
		return capture_json(c, it->states, &w, e);
	if (dumpdir_claim(r->dump, it->file, CLAIM_WAIT_MS, &r->stop, &it->claim, e) < 0)
		return -1;
	it->came = 1;
	if (r->o->backend == BACKEND_DUMP)
		return capture_dump(c, it->claim.path, &w, e);
	return capture_vllm(c, it->claim.path, &w, e);
}

/* The first record's plan is its own until the loop takes it over with the record. */
static int agree(struct run *r, struct item *it, const struct capture *c, struct err *e)
{
	if (r->plan.adopted)
		return plan_agree(&r->plan, c, e);
	it->plan = xmemdup(&r->plan, sizeof(r->plan));
	return plan_adopt(it->plan, c, r->resuming ? &r->old : NULL, e);
}

static int make(struct run *r, struct item *it, struct capture *c, struct err *e)
{
	struct sample s = {.id = it->job->id, .n = it->ids.n};
	const struct plan *p;
	int64_t *rows;
	int rc;

	if (agree(r, it, c, e) < 0)
		return -1;
	p = it->plan ? it->plan : &r->plan;
	rows = widen(it);
	s.ids = rows;
	s.mask = rows + it->ids.n;
	s.states = c->states;
	s.aux = p->set.nlayers;
	s.last = p->set.last;
	s.norm = p->delivered;
	rc = produce(&it->product, p, &s, it->job->record, e);
	free(rows);
	return rc;
}

static void remove_source(struct run *r, struct item *it)
{
	struct err e;

	if (it->claim.path && claim_remove(r->dump, &it->claim, &e) < 0)
		say("%s", e.msg);
}

void work_item(void *ctx, void *item)
{
	struct run *r = ctx;
	struct item *it = item;
	struct capture c = {0};
	struct err e = {0};

	if (it->discard) {
		/* vLLM may still write, and would make the file anew; a dump has its name before
		 * the reply comes, or there is none */
		dumpdir_claim(r->dump, it->file, r->o->backend == BACKEND_DUMP ? 0 : CLAIM_WAIT_MS,
		    &r->stop, &it->claim, &e);
		remove_source(r, it);
		return;
	}
	it->failed = capture(r, it, &c, &e) < 0 || make(r, it, &c, &e) < 0;
	capture_close(&c);
	if (!it->failed)
		return;
	it->err = e;
	/* what was stopped is left for the next run; what failed is of no use to anybody */
	if (strcmp(e.class, "stopped") == 0)
		claim_free(&it->claim);
	else
		remove_source(r, it);
}

/* ---- back in the loop ---- */

static int one_of(const char *class, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(class, list[i]) == 0)
			return 1;
	return 0;
}

/* No file, and none before from this server: the next record would wait for nothing, too. */
static void no_dumps(struct run *r, struct item *it)
{
	struct err e = it->err;

	if (r->o->backend == BACKEND_DUMP)
		err_set(&e, "absent",
		    "the server wrote no dump into %s (%s): was it started with the plug-in and "
		    "E3_DUMP_DIR (pipelines/sglang), and is --dump-dir that folder?",
		    r->o->dump_dir, it->err.msg);
	else
		err_set(&e, "absent",
		    "the server's file never came into %s (%s): is --dump-dir the folder that it "
		    "writes, as this machine sees it?",
		    r->o->dump_dir, it->err.msg);
	item_fail_run(r, it, &e);
}

static void bad_work(struct run *r, struct item *it)
{
	/* no whole file: another try may bring it */
	static const char *const again[] = {"no-file", "absent", "truncated", "format"};
	/* wrong for every record as long as nothing is mended, when it is so for the first one */
	static const char *const all[] = {
	    "layers", "norm", "layout", "manifest", "members", "dump-dir", "shape", "dtype"};

	if (strcmp(it->err.class, "system") == 0) {
		it->state = READY;
		run_fail(r, &it->err);
	} else if (strcmp(it->err.class, "stopped") == 0) {
		it->state = READY;
	} else if (!r->plan.adopted && one_of(it->err.class, all, sizeof(all) / sizeof(all[0]))) {
		it->state = READY;
		run_fail(r, &it->err);
	} else if (!it->host->dumped && strcmp(it->err.class, "absent") == 0) {
		no_dumps(r, it);
	} else if (one_of(it->err.class, again, sizeof(again) / sizeof(again[0])) &&
		   ++it->attempts < r->o->max_attempts) {
		it->state = READY;
		it->not_before = clock_ms() + 100 * it->attempts;
	} else {
		struct err e = it->err;

		item_bad(r, it, &e);
	}
}

/* Once, when the first record is through. Without the manifest no line may come: a resumed run
 * would not know what it goes on with. */
static int first_good(struct run *r)
{
	struct err e;

	if (setinfo_save(&r->plan.set, r->o->out_dir, &e) < 0)
		return run_fail(r, &e);
	for (size_t i = 0; i < r->n; i++) {
		struct item *it = r->item[(r->head + i) % r->cap];

		it->bytes = plan_bytes(&r->plan, it->ids.n);
	}
	forecast_say(r);
	return 0;
}

void item_worked(struct run *r, struct item *it)
{
	r->at_work--;
	if (it->plan && !it->failed)
		r->plan = *it->plan;
	free(it->plan);
	it->plan = NULL;
	if (it->discard) {
		it->state = it->after;
		it->discard = 0;
		return;
	}
	it->host->dumped |= it->came;
	it->came = 0;
	if (it->failed) {
		bad_work(r, it);
		return;
	}
	host_right(it);
	it->state = r->good++ > 0 || first_good(r) == 0 ? GOOD : READY;
	hints_add(&r->hints, &r->plan, &it->product.look);
}
