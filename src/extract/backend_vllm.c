#include "base/err.h"
#include "extract/capture.h"
#include "tensor/st.h"

/* One slot for each layer id that the server was started with, ascending, the last layer's among
 * them. Early builds wrote [layers, tokens, H]: that shape is refused by states_add. */
static int add_slots(
    struct capture *c, const struct tensor *t, const struct capture_want *w, struct err *e)
{
	unsigned slots = w->nlayers + (w->last ? 1 : 0);

	if (t->ndim != 3)
		return err_set(e, "shape", "hidden_states: expected [tokens, layers, hidden]");
	if (t->dim[1] == 1 && slots > 1)
		return capture_eagle(t->dim[2], w, t->dim[2], e);
	if (!w->last && t->dim[1] == slots + 1)
		slots++; /* the last layer was delivered and is not wanted */
	c->states.rows = w->n;
	c->states.hidden = w->hidden;
	if (states_add(&c->states, t, slots, e) < 0)
		return e->class[0] == 'l'
			   ? err_prefix(e, "the server was started with other layer ids: ")
			   : -1;
	c->states.nslots = w->nlayers + (w->last ? 1 : 0);
	return 0;
}

int capture_vllm(struct capture *c, const char *path, const struct capture_want *w, struct err *e)
{
	const struct tensor *ids, *t;

	*c = (struct capture){.aux = w->nlayers, .last = w->last};
	c->said.convention = LAYERS_UNSAID;
	c->said.norm = NORM_UNSAID;
	c->st = st_open(path, MAP_ALL, e);
	if (!c->st)
		return -1;
	ids = st_get(c->st, "token_ids");
	t = st_get(c->st, "hidden_states");
	if (!ids || !t)
		err_set(e, "members", "no %s in the server's file",
		    ids ? "hidden_states" : "token_ids");
	else if (capture_ids(ids, w, e) == 0 && add_slots(c, t, w, e) == 0)
		return 0;
	capture_close(c);
	return -1;
}
