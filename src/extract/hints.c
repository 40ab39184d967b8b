#include "extract/hints.h"

#include "extract/say.h"

/* Rows that are looked at: enough for a mean, few enough to cost nothing. */
enum { LOOK_ROWS = 32 };

/* A layer half as large as the one before; rows that differ less than a norm leaves, or more. */
#define SHRUNK	     0.5
#define SPREAD_LEAST 1.2
#define SPREAD_MOST  4.0

void look_at(struct look *l, const struct states *s)
{
	size_t first = s->rows > 1 ? 1 : 0, step = (s->rows - first) / LOOK_ROWS + 1, n = 0;

	*l = (struct look){.rows = s->rows};
	for (size_t r = first; r < s->rows; r += step, n++)
		for (unsigned i = 0; i < s->nslots; i++) {
			double x = states_rms(s, i, r);

			l->rms[i] += x;
			if (i + 1 < s->nslots)
				continue;
			l->last_min = n == 0 || x < l->last_min ? x : l->last_min;
			l->last_max = x > l->last_max ? x : l->last_max;
		}
	for (unsigned i = 0; i < s->nslots && n > 0; i++)
		l->rms[i] /= (double)n;
}

static void say_depth(const struct hints *h, const struct plan *p)
{
	for (unsigned i = 1; i < p->set.nlayers; i++)
		if (h->rms[i] < SHRUNK * h->rms[i - 1]) {
			say("the states of layer %d are %.1f times smaller than those of layer %d: "
			    "are these the "
			    "layers that the server captures, in this order?",
			    p->set.layer[i], h->rms[i - 1] / h->rms[i], p->set.layer[i - 1]);
			return;
		}
}

static void say_norm(const struct hints *h, const struct plan *p)
{
	double spread = h->spread / h->records;

	if (!p->set.last)
		return;
	if (p->delivered == NORM_BEFORE && spread < SPREAD_LEAST)
		say("the rows of the last state are all of one size, as after the final norm: is "
		    "--norm before "
		    "right?");
	if (p->delivered == NORM_AFTER && spread > SPREAD_MOST)
		say("the rows of the last state differ by %.1f times in size, as before the final "
		    "norm: is it "
		    "really after?",
		    spread);
}

void hints_add(struct hints *h, const struct plan *p, const struct look *l)
{
	if (h->records >= HINT_RECORDS || l->rows < HINT_TOKENS || l->last_min <= 0)
		return;
	for (unsigned i = 0; i < STATES_SLOTS; i++)
		h->rms[i] += l->rms[i];
	h->spread += l->last_max / l->last_min;
	if (++h->records < HINT_RECORDS)
		return;
	say_depth(h, p);
	say_norm(h, p);
}
