#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "extract/manifest.h"
#include "tensor/compact.h"
#include "tensor/pt.h"
#include "tensor/st.h"

/* Members by layout: where ids, aux and last stand. speculators keeps all layers in one. */
static const struct {
	const char *ids, *aux, *last;
} names[] = {
    [LAYOUT_SEED] = {"input_ids", "hidden_states", "last_hidden_states"},
    [LAYOUT_SPECFORGE] = {"input_ids", "aux_hidden_state", "hidden_state"},
    [LAYOUT_MODELOPT] = {"input_ids", "aux_hidden_states", "hidden_states"},
    [LAYOUT_SPECULATORS] = {"token_ids", "hidden_states", NULL},
};

static const struct tensor *member(const struct layout_file *f, const char *name, struct err *e)
{
	const struct tensor *t = f->pt ? pt_tensor(f->pt, name) : st_get(f->st, name);

	if (!t)
		err_set(e, "members", "there is no tensor %s", name);
	return t;
}

static int is_row(const struct tensor *t, struct err *e)
{
	if (t->dtype == DT_I64 && t->ndim == 1)
		return 0;
	return err_set(e, "shape", "%s: expected int64 of one dimension", t->name);
}

static const struct filemap *map_of(const struct layout_file *f)
{
	return f->pt ? pt_map(f->pt) : f->st ? st_map(f->st) : compact_map(f->compact);
}

static int check_mask(const struct sample *s, struct err *e)
{
	for (size_t i = 0; s->mask && i < s->n; i++)
		if (s->mask[i] != 0 && s->mask[i] != 1)
			return err_set(e, "mask", "loss_mask[%zu]: expected 0 or 1", i);
	return 0;
}

static int copy_row(const struct layout_file *f, int64_t *to, const struct tensor *t, struct err *e)
{
	size_t bytes = (size_t)t->dim[0] * sizeof(*to);

	if (map_need(map_of(f), tensor_data(t), bytes, e) < 0)
		return -1;
	if (bytes > 0)
		memcpy(to, tensor_data(t), bytes);
	return 0;
}

/* Ids and mask are copied, since in a file they may be unaligned. */
static int read_rows(struct layout_file *f, enum layout l, struct err *e)
{
	const struct tensor *ids = member(f, names[l].ids, e);
	const struct tensor *mask = NULL;
	size_t n;

	if (!ids || is_row(ids, e) < 0)
		return -1;
	n = (size_t)ids->dim[0];
	if (layout_needs_mask(l)) {
		mask = member(f, "loss_mask", e);
		if (!mask || is_row(mask, e) < 0)
			return -1;
		if (mask->dim[0] != n)
			return err_set(e, "length", "loss_mask has %llu values for %zu ids",
			    (unsigned long long)mask->dim[0], n);
	}
	f->own = xreallocarray(NULL, 2 * n + 1, sizeof(*f->own));
	if (copy_row(f, f->own, ids, e) < 0 || (mask && copy_row(f, f->own + n, mask, e) < 0))
		return -1;
	f->s.n = n;
	f->s.ids = f->own;
	f->s.mask = mask ? f->own + n : NULL;
	return check_mask(&f->s, e);
}

static int read_states(struct layout_file *f, enum layout l, struct err *e)
{
	const struct tensor *aux = member(f, names[l].aux, e), *last;
	unsigned all = f->s.aux + (f->s.last ? 1 : 0);

	f->s.states.rows = f->s.n;
	if (!aux)
		return -1;
	if (l == LAYOUT_SPECULATORS)
		return states_add(&f->s.states, aux, all, e);
	if (states_add(&f->s.states, aux, f->s.aux, e) < 0)
		return -1;
	if (!f->s.last)
		return 0;
	last = member(f, names[l].last, e);
	return last ? states_add(&f->s.states, last, 1, e) : -1;
}

static void read_modelopt(struct layout_file *f)
{
	const struct pt_item *id = pt_get(f->pt, "conversation_id");
	const struct pt_item *pre = pt_get(f->pt, "hidden_states_prenorm");

	if (id && id->kind == PT_STR)
		f->s.id = id->str;
	f->s.norm = pre && pre->num ? NORM_BEFORE : NORM_AFTER;
}

static int read_compact(struct layout_file *f, struct err *e)
{
	const struct compact *c = compact_get(f->compact);

	if (c->states.nslots != f->s.aux + (f->s.last ? 1 : 0) || c->last != f->s.last)
		return err_set(e, "layers", "it holds %u layers, %s the last, the set has %u",
		    c->states.nslots, c->last ? "with" : "without", f->s.aux + (f->s.last ? 1 : 0));
	f->s.id = c->id;
	f->s.n = c->n;
	f->s.ids = c->ids;
	f->s.mask = c->mask;
	f->s.states = c->states;
	f->s.norm = c->norm == COMPACT_BEFORE  ? NORM_BEFORE
		    : c->norm == COMPACT_AFTER ? NORM_AFTER
					       : NORM_UNSAID;
	return check_mask(&f->s, e);
}

static int read_any(struct layout_file *f, enum layout l, struct err *e)
{
	if (l == LAYOUT_COMPACT)
		return read_compact(f, e);
	if (f->pt && pt_bare(f->pt))
		return err_set(e, "members", "a tensor, expected a dict");
	if (read_rows(f, l, e) < 0 || read_states(f, l, e) < 0)
		return -1;
	if (l == LAYOUT_MODELOPT)
		read_modelopt(f);
	return 0;
}

int layout_open(struct layout_file *f, const char *path, const struct setinfo *set,
    enum map_how how, struct err *e)
{
	*f = (struct layout_file){
	    .s = {.aux = set->nlayers, .last = set->last, .norm = NORM_UNSAID}};
	switch (set->layout) {
	case LAYOUT_SPECULATORS: f->st = st_open(path, how, e); break;
	case LAYOUT_COMPACT: f->compact = compact_open(path, how, e); break;
	default: f->pt = pt_open(path, how, e);
	}
	if (!f->st && !f->compact && !f->pt)
		return -1;
	if (read_any(f, set->layout, e) == 0)
		return 0;
	layout_close(f);
	return err_prefix(e, "%s: ", path);
}

struct span layout_bytes(const struct layout_file *f)
{
	return (struct span){map_of(f)->p, map_of(f)->n};
}

int layout_agree(const struct layout_file *f, const struct setinfo *set, struct err *e)
{
	const struct states *s = &f->s.states;

	if (s->dtype == set->dtype && s->hidden == set->hidden)
		return 0;
	return err_set(e, "dtype", "%s of hidden size %zu, the set is %s of %llu",
	    dtypes[s->dtype].name, s->hidden, dtypes[set->dtype].name,
	    (unsigned long long)set->hidden);
}

int layout_check(const struct layout_file *f, struct err *e)
{
	return f->pt ? pt_check(f->pt, e) : 0;
}

void layout_close(struct layout_file *f)
{
	pt_close(f->pt);
	st_close(f->st);
	compact_close(f->compact);
	free(f->own);
	*f = (struct layout_file){0};
}
