#include "infer/doubt.h"

#include "bpe/bpe.h"
#include "infer/infer.h"
#include "infer/item.h"

/* What was cut tells nothing, but is not held for ever. */
static int in_doubt(const struct run *r)
{
	const uint64_t *n = r->n.statuses;

	return r->chat && r->o->policy[STATUS_UNPARSED] == POLICY_UNSAID &&
	       n[STATUS_OK] + n[STATUS_EMPTY] + n[STATUS_REASONING_ONLY] == 0 &&
	       n[STATUS_LENGTH] + n[STATUS_REPETITION] < DOUBT_MANY;
}

static void settle(struct run *r, struct item *it)
{
	if (it->dropped)
		item_reject(r, it, 1);
	else
		item_out(r, it);
}

void doubt_verdict(struct run *r, struct item *it)
{
	struct item **p = &r->doubted;

	if (!in_doubt(r)) {
		settle(r, it);
		return;
	}
	while (*p)
		p = &(*p)->next;
	*p = it;
	r->ndoubted++;
}

static struct item *next(struct run *r)
{
	struct item *it = r->doubted;

	if (it) {
		r->doubted = it->next;
		r->ndoubted--;
	}
	return it;
}

void doubt_write(struct run *r)
{
	struct item *it;

	while ((it = next(r)))
		settle(r, it);
}

void doubt_forget(struct run *r)
{
	struct item *it;

	while ((it = next(r)))
		item_forget(r, it);
}

/* What such answers have in common, and the beginning of the question. */
static void tell(const struct run *r, struct buf *b)
{
	struct span end = bpe_token(chat_bpe(r->chat), r->odd_end);

	if (r->n.odd_ends >= DOUBT_MANY)
		buf_addf(b, "end with %.*s, which ends no turn in --model %s: is that", (int)end.n,
		    end.p, r->o->model);
	else
		buf_addf(b, "can't be told into their parts: is --model %s", r->o->model);
}

void doubt_settle(struct run *r)
{
	struct buf b = {0};
	struct err e;

	if (r->failed)
		return;
	if (in_doubt(r) && r->n.statuses[STATUS_UNPARSED] >= DOUBT_MANY) {
		tell(r, &b);
		err_set(&e, "config",
		    "the first %d answers %s the folder of the model served (%s)? (--on-unparsed "
		    "keep goes on all the same)",
		    DOUBT_MANY, buf_cstr(&b), r->model);
		buf_free(&b);
		infer_fail(r, &e);
	} else if (!in_doubt(r) || r->window == r->ndoubted) {
		doubt_write(r);
	}
}
