
#include "base/err.h"
#include "extract/capture.h"
#include "tensor/st.h"

/* The metadata of the dump contract: layers "2,30,58", convention "in" or "out", norm "before" or
 * "after". */
static int read_meta(struct capture *c, struct err *e)
{
	struct span layers = st_meta(c->st, "layers"), norm = st_meta(c->st, "norm");
	struct span convention = st_meta(c->st, "convention");

	c->said.convention = LAYERS_UNSAID;
	c->said.norm = NORM_UNSAID;
	if (layers.n > 0 && setinfo_read_layers(&c->said, layers, e) < 0)
		return err_prefix(e, "the file's metadata: ");
	if (convention.p)
		c->said.convention = span_eq(convention, "out") ? LAYERS_OUT : LAYERS_IN;
	if (norm.p)
		c->said.norm = span_eq(norm, "after") ? NORM_AFTER : NORM_BEFORE;
	return 0;
}

static int add_states(struct capture *c, const struct capture_want *w, struct err *e)
{
	const struct tensor *aux = st_get(c->st, "aux_hidden_states");
	const struct tensor *last = st_get(c->st, "last_hidden_states");
	uint64_t hidden = last && last->ndim > 0 ? last->dim[last->ndim - 1] : w->hidden;

	if (w->last && !last)
		return err_set(e, "members",
		    "no last_hidden_states in the server's file: write layout seed with --no-last");
	if (!aux)
		return last ? capture_eagle(hidden, w, hidden, e)
			    : err_set(e, "members", "no aux_hidden_states in the server's file");
	if (hidden > 0 && c->aux > 1 && aux->ndim > 0 && aux->dim[aux->ndim - 1] == hidden)
		return capture_eagle(hidden, w, hidden, e);
	c->states.rows = w->n;
	c->states.hidden = hidden;
	if (states_add(&c->states, aux, c->aux, e) < 0)
		return -1;
	return w->last ? states_add(&c->states, last, 1, e) : 0;
}

static int read_dump(struct capture *c, const struct capture_want *w, struct err *e)
{
	const struct tensor *ids = st_get(c->st, "input_ids");

	if (read_meta(c, e) < 0)
		return -1;
	c->aux = w->nlayers > 0 ? w->nlayers : c->said.nlayers;
	c->last = w->last;
	if (!ids)
		return err_set(e, "members", "no input_ids in the server's file");
	if (capture_ids(ids, w, e) < 0)
		return -1;
	if (c->aux == 0 && st_get(c->st, "aux_hidden_states"))
		return err_set(
		    e, "layers", "the server does not say which layers it captured: give --layers");
	return add_states(c, w, e);
}

int capture_dump(struct capture *c, const char *path, const struct capture_want *w, struct err *e)
{
	*c = (struct capture){0};
	c->st = st_open(path, e);
	if (!c->st)
		return -1;
	if (read_dump(c, w, e) == 0)
		return 0;
	capture_close(c);
	return -1;
}
