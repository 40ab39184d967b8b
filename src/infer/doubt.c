#include "infer/doubt.h"

#include "infer/infer.h"
#include "infer/item.h"

/* What was cut tells nothing. */
static int in_doubt(const struct run *r)
{
	const uint64_t *n = r->n.statuses;

	return r->chat && r->o->policy[STATUS_UNPARSED] == POLICY_UNSAID &&
	       n[STATUS_OK] + n[STATUS_EMPTY] + n[STATUS_REASONING_ONLY] == 0;
}

int doubt_take(struct run *r, struct item *it, enum status status)
{
	struct item **p = &r->doubted;

	if (status != STATUS_UNPARSED || !in_doubt(r))
		return 0;
	while (*p)
		p = &(*p)->next;
	*p = it;
	r->ndoubted++;
	return 1;
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
		item_out(r, it);
}

void doubt_forget(struct run *r)
{
	struct item *it;

	while ((it = next(r)))
		item_forget(r, it);
}

void doubt_settle(struct run *r)
{
	struct err e;

	if (r->failed)
		return;
	if (in_doubt(r) && r->n.statuses[STATUS_UNPARSED] >= DOUBT_MANY) {
		err_set(&e, "config",
		    "the first %d answers can't be told into their parts: is --model %s the folder "
		    "of the model served (%s)? (--on-unparsed keep goes on all the same)",
		    DOUBT_MANY, r->o->model, r->model);
		infer_fail(r, &e);
	} else if (!in_doubt(r) || r->window == r->ndoubted) {
		doubt_write(r);
	}
}
