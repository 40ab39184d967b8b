
#include "base/err.h"
#include "extract/capture.h"
#include "tensor/st.h"

/* 0 or 1, the word's place in `words`; -1 where the file says nothing, -2 for another word. */
static int read_word(
    const struct capture *c, const char *key, const char *const words[2], struct err *e)
{
	struct span v = st_meta(c->st, key);

	if (!v.p)
		return -1;
	for (int i = 0; i < 2; i++)
		if (span_eq(v, words[i]))
			return i;
	err_set(e, "members", "the file's metadata: %s is \"%.*s\", expected \"%s\" or \"%s\"", key,
	    v.n < 100 ? (int)v.n : 100, v.p, words[0], words[1]);
	return -2;
}

/* The metadata of the dump contract: layers "2,30,58", convention, norm. */
static int read_meta(struct capture *c, struct err *e)
{
	static const char *const conventions[] = {"in", "out"}, *const norms[] = {
								    "before", "after"};
	struct span layers = st_meta(c->st, "layers");
	int convention = read_word(c, "convention", conventions, e);
	int norm = convention < -1 ? -2 : read_word(c, "norm", norms, e);

	if (norm < -1)
		return -1;
	c->said.convention = (enum convention)convention;
	c->said.norm = (enum norm)norm;
	if (layers.n > 0 && setinfo_read_layers(&c->said, layers, e) < 0)
		return err_prefix(e, "the file's metadata: ");
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
	if (hidden == 0)
		return err_set(e, "layers",
		    "%u aux layers, or the last one alone? Without last_hidden_states only --model "
		    "tells how wide a layer is: give it",
		    c->aux);
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
	c->st = st_open(path, MAP_ALL, e);
	if (!c->st)
		return -1;
	if (read_dump(c, w, e) == 0)
		return 0;
	capture_close(c);
	return -1;
}
