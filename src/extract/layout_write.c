#include "base/err.h"
#include "extract/layout.h"
#include "tensor/compact.h"
#include "tensor/pt.h"
#include "tensor/save.h"
#include "tensor/st.h"

#define MEMBERS 6

static struct pt_item item(struct tensor t)
{
	return (struct pt_item){.key = t.name, .kind = PT_TENSOR, .tensor = t};
}

/* [S, W] as a batch of one: [1, S, W]. */
static struct tensor batched(struct tensor t)
{
	t.ndim = 3;
	t.dim[2] = t.dim[1];
	t.dim[1] = t.dim[0];
	t.dim[0] = 1;
	return t;
}

static struct tensor aux_of(const struct sample *s, const char *name)
{
	return states_tensor(&s->states, name, 0, s->aux);
}

static struct tensor last_of(const struct sample *s, const char *name)
{
	return states_tensor(&s->states, name, s->aux, 1);
}

static size_t seed_items(struct pt_item *to, const struct sample *s)
{
	size_t n = 2;

	to[n++] = item(aux_of(s, "hidden_states"));
	if (s->last)
		to[n++] = item(last_of(s, "last_hidden_states"));
	return n;
}

static size_t specforge_items(struct pt_item *to, const struct sample *s)
{
	to[2] = item(batched(last_of(s, "hidden_state")));
	to[3] = item(batched(aux_of(s, "aux_hidden_state")));
	return 4;
}

static size_t modelopt_items(struct pt_item *to, const struct sample *s)
{
	size_t n = 2;

	to[n++] = item(last_of(s, "hidden_states"));
	to[n++] = item(aux_of(s, "aux_hidden_states"));
	to[n++] = (struct pt_item){.key = "conversation_id", .kind = PT_STR, .str = s->id};
	if (s->norm == NORM_BEFORE)
		to[n++] =
		    (struct pt_item){.key = "hidden_states_prenorm", .kind = PT_BOOL, .num = 1};
	return n;
}

static int write_dict(struct save *f, enum layout l, const struct sample *s, struct err *e)
{
	struct pt_item items[MEMBERS];
	size_t n;

	items[0] = item(tensor_1d("input_ids", DT_I64, s->n, s->ids));
	items[1] = item(tensor_1d("loss_mask", DT_I64, s->n, s->mask));
	switch (l) {
	case LAYOUT_SPECFORGE: n = specforge_items(items, s); break;
	case LAYOUT_MODELOPT: n = modelopt_items(items, s); break;
	default: n = seed_items(items, s);
	}
	return pt_write_dict(f, items, n, e);
}

static int write_safetensors(struct save *f, const struct sample *s, struct err *e)
{
	struct tensor t[2] = {states_tensor(&s->states, "hidden_states", 0, s->aux + 1),
	    tensor_1d("token_ids", DT_I64, s->n, s->ids)};

	t[0].ndim = 3;
	t[0].dim[1] = s->aux + 1;
	t[0].dim[2] = s->states.hidden;
	return st_write(f, t, 2, e);
}

static int write_compact(struct save *f, const struct sample *s, struct err *e)
{
	struct compact c = {.id = s->id,
	    .n = s->n,
	    .ids = s->ids,
	    .mask = s->mask,
	    .last = s->last,
	    .norm = s->norm == NORM_BEFORE  ? COMPACT_BEFORE
		    : s->norm == NORM_AFTER ? COMPACT_AFTER
					    : COMPACT_UNSAID,
	    .states = s->states};

	return compact_write(f, &c, e);
}

static int write_any(struct save *f, enum layout l, const struct sample *s, struct err *e)
{
	switch (l) {
	case LAYOUT_SPECULATORS: return write_safetensors(f, s, e);
	case LAYOUT_COMPACT: return write_compact(f, s, e);
	default: return write_dict(f, l, s, e);
	}
}

int layout_write(
    const char *path, enum layout l, const struct sample *s, struct save_sum *sum, struct err *e)
{
	struct save *f;

	if (layout_needs_mask(l) && !s->mask)
		return err_set(e, "mask",
		    "layout %s needs a loss mask, and these files hold none: give --records",
		    layout_word(l));
	f = save_open_part(path, e);
	if (!f)
		return -1;
	if (write_any(f, l, s, e) < 0) {
		save_abort(f);
		return -1;
	}
	return save_finish(f, sum, e);
}
