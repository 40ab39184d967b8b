#include "sim/sim.h"

#include "base/err.h"
#include "bpe/bpe.h"

int render_open(struct sim *s, struct err *e)
{
	s->bpe = bpe_open(s->opt->model, e);
	s->tok = s->bpe;
	return s->bpe ? 0 : -1;
}

int render_prompt(
    struct sim *s, const struct rec *r, struct arena *a, struct ints *ids, struct err *e)
{
	(void)s, (void)r, (void)a, (void)ids;
	return err_set(e, "params", "chat messages are not served, only text and ids");
}

void render_close(struct sim *s)
{
	bpe_close(s->bpe);
}
