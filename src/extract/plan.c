#include "extract/plan.h"

#include <string.h>

#include "base/err.h"

static const char *const backends[] = {"vllm", "sglang-dump", "sglang-json"};
static const char *const norms[] = {"before", "after"};

/* ---- from the options ---- */

/* What the command line alone shows to be wrong, before a file or a server is asked. */
static int misuse(struct err *e)
{
	e->class = "usage";
	return -1;
}

/* EAGLE-3's default choice, as what enters layers 2, n/2 and n-3 (ref: SpecForge, speculators). */
static int default_layers(struct plan *p, struct err *e)
{
	int64_t n = p->config.num_hidden_layers;
	int shift = p->o->layer_ids == LAYERS_OUT ? 1 : 0;

	if (n < 8)
		return err_set(e, "layers",
		    "%s/config.json: no num_hidden_layers of 8 or more, for the usual three: give "
		    "--layers",
		    p->o->model);
	p->set.layer[0] = 2 - shift;
	p->set.layer[1] = (int)(n / 2) - shift;
	p->set.layer[2] = (int)n - 3 - shift;
	p->set.nlayers = 3;
	return 0;
}

static int read_layers(struct plan *p, struct err *e)
{
	struct buf text = {0};
	int rc;

	if (p->o->layers.n == 0)
		return p->o->backend == BACKEND_DUMP ? 0 : default_layers(p, e);
	for (size_t i = 0; i < p->o->layers.n; i++)
		buf_addf(&text, "%s%s", i > 0 ? "," : "", p->o->layers.v[i]);
	rc = setinfo_read_layers(&p->set, (struct span){text.data, text.len}, e);
	buf_free(&text);
	if (rc < 0)
		err_prefix(e, "--layers: ");
	return rc < 0 ? misuse(e) : 0;
}

static int check_layers(const struct plan *p, struct err *e)
{
	int64_t n = p->config.num_hidden_layers;
	int highest = p->set.nlayers > 0 ? p->set.layer[p->set.nlayers - 1] : 0;
	int top = p->set.convention == LAYERS_OUT ? (int)n - 1 : (int)n;

	if (n > 0 && highest > top)
		return err_set(
		    e, "layers", "layer %d: the model has %lld layers", highest, (long long)n);
	if (n > 0 && p->set.last && highest == top)
		return err_set(e, "layers",
		    "layer %d is the last layer, which is taken anyway: leave it out of "
		    "--layers",
		    highest);
	return 0;
}

/* What is left to say once `delivered` is known. */
static int settle_norm(struct plan *p, struct err *e)
{
	int apply = p->o->apply_norm;

	if (apply && !p->set.last)
		return err_set(
		    e, "norm", "--apply-norm is for the last layer, and --no-last leaves it out");
	if (apply && p->delivered == NORM_AFTER)
		return err_set(e, "norm",
		    "the last state comes after the final norm already: leave out "
		    "--apply-norm");
	if (apply && p->set.layout == LAYOUT_SPECULATORS)
		return err_set(e, "norm",
		    "layout speculators wants the last state before the final norm: leave out "
		    "--apply-norm");
	p->set.norm = !p->set.last ? NORM_UNSAID : apply ? NORM_AFTER : p->delivered;
	p->set.applied = apply;
	return layout_refuse(p->set.layout, p->set.nlayers, p->set.last, p->set.norm, e);
}

/* The states are as wide as the norm. */
static int check_width(const struct plan *p, uint64_t hidden, struct err *e)
{
	if (p->o->apply_norm && p->weights.n != hidden)
		return err_set(e, "norm",
		    "the norm of --model has %zu weights, the states are %llu wide", p->weights.n,
		    (unsigned long long)hidden);
	return 0;
}

static int load_model(struct plan *p, struct err *e)
{
	if (!p->o->model)
		return 0;
	if (config_load(&p->config, p->o->model, e) < 0)
		return -1;
	return p->o->apply_norm ? weights_load(&p->weights, p->o->model, e) : 0;
}

/* The floats in the files, where they come as `came`. */
static enum dtype written_type(const struct extract_opts *o, enum dtype came)
{
	static const enum dtype said[] = {DT_BF16, DT_F16, DT_F32};

	return o->dtype < 0 ? came : said[o->dtype];
}

int plan_open(struct plan *p, const struct extract_opts *o, struct err *e)
{
	*p = (struct plan){.o = o, .delivered = (enum norm)o->norm};
	p->set.dtype = written_type(o, DT_COUNT);
	p->set.layout = (enum layout)o->layout;
	p->set.last = !o->no_last;
	p->set.convention = (enum convention)o->layer_ids;
	p->set.norm = NORM_UNSAID;
	memcpy(p->set.backend, backends[o->backend], strlen(backends[o->backend]) + 1);
	if (load_model(p, e) < 0 || read_layers(p, e) < 0)
		return -1;
	p->set.hidden = p->config.hidden_size > 0 ? (uint64_t)p->config.hidden_size : 0;
	if (o->backend == BACKEND_JSON && p->set.hidden == 0)
		return err_set(e, "layers",
		    "sglang-json does not tell how wide a layer is, and so not whether aux layers "
		    "came or the last one alone; %s/config.json has no hidden_size",
		    o->model);
	if (o->backend == BACKEND_VLLM) {
		p->set.convention = LAYERS_IN;
		if (p->delivered == NORM_UNSAID)
			p->delivered = NORM_BEFORE;
	}
	if (check_layers(p, e) < 0)
		return -1;
	/* a dump may still say what is missing */
	if (o->backend == BACKEND_DUMP && (p->set.nlayers == 0 || p->delivered == NORM_UNSAID))
		return 0;
	return settle_norm(p, e) < 0 ? misuse(e) : 0;
}

int plan_convert(
    struct plan *p, const struct extract_opts *o, const struct setinfo *from, struct err *e)
{
	*p = (struct plan){.o = o, .delivered = from->norm, .set = *from, .adopted = 1};
	p->set.layout = (enum layout)o->layout;
	p->set.records = p->set.tokens = p->set.bytes = 0;
	p->set.complete = 0;
	p->set.dtype = written_type(o, from->dtype);
	if (o->no_last)
		p->set.last = 0;
	if (from->norm != NORM_UNSAID && o->norm != NORM_UNSAID && (enum norm)o->norm != from->norm)
		return err_set(e, "norm",
		    "the manifest says that the last state is %s the norm, --norm says %s",
		    norms[from->norm], norms[o->norm]);
	if (from->norm == NORM_UNSAID)
		p->delivered = (enum norm)o->norm;
	if (load_model(p, e) < 0 || check_width(p, from->hidden, e) < 0)
		return -1;
	p->set.applied |= from->applied;
	return settle_norm(p, e);
}

void plan_close(struct plan *p)
{
	weights_free(&p->weights);
}

/* ---- from the first file ---- */

static int adopt_layers(struct plan *p, const struct setinfo *said, struct err *e)
{
	struct buf a = {0}, b = {0};
	int differ;

	if (said->nlayers > 0 && p->set.nlayers == 0) {
		memcpy(p->set.layer, said->layer, sizeof(said->layer));
		p->set.nlayers = said->nlayers;
	}
	setinfo_layers(&a, &p->set);
	setinfo_layers(&b, said);
	differ = said->nlayers > 0 && strcmp(buf_cstr(&a), buf_cstr(&b)) != 0;
	if (differ)
		err_set(
		    e, "layers", "the server captured layers %s, --layers says %s", b.data, a.data);
	buf_free(&a);
	buf_free(&b);
	if (differ)
		return -1;
	if (said->convention != LAYERS_UNSAID && p->set.convention != LAYERS_UNSAID &&
	    said->convention != p->set.convention)
		return err_set(e, "layers",
		    "the server counts layers by what %s them, --layer-ids says the "
		    "other way",
		    said->convention == LAYERS_IN ? "enters" : "leaves");
	if (said->convention != LAYERS_UNSAID)
		p->set.convention = said->convention;
	if (p->set.convention == LAYERS_UNSAID)
		return err_set(e, "layers",
		    "the server does not say how it counts layers: say --layer-ids in or "
		    "out");
	return check_layers(p, e);
}

static int adopt_norm(struct plan *p, const struct setinfo *said, struct err *e)
{
	if (said->norm != NORM_UNSAID && p->delivered != NORM_UNSAID && said->norm != p->delivered)
		return err_set(e, "norm",
		    "the server says that the last state is %s the norm, --norm says %s",
		    norms[said->norm], norms[p->delivered]);
	if (said->norm != NORM_UNSAID)
		p->delivered = said->norm;
	if (p->set.last && p->delivered == NORM_UNSAID)
		return err_set(e, "norm",
		    "the server does not say whether the last state is before or after the final "
		    "norm: say "
		    "--norm");
	return settle_norm(p, e);
}

int plan_adopt(struct plan *p, const struct capture *c, const struct setinfo *old, struct err *e)
{
	if (adopt_layers(p, &c->said, e) < 0 || adopt_norm(p, &c->said, e) < 0)
		return -1;
	if (p->set.hidden > 0 && p->set.hidden != c->states.hidden)
		return err_set(e, "layers", "the server's hidden size is %zu, that of --model %llu",
		    c->states.hidden, (unsigned long long)p->set.hidden);
	if (check_width(p, c->states.hidden, e) < 0)
		return -1;
	p->set.hidden = c->states.hidden;
	p->came = c->states.dtype;
	p->set.dtype = written_type(p->o, p->came);
	if (old && setinfo_same(old, &p->set, e) < 0)
		return -1;
	p->adopted = 1;
	return 0;
}

int plan_agree(const struct plan *p, const struct capture *c, struct err *e)
{
	if (c->states.dtype != p->came)
		return err_set(e, "dtype", "the states are %s, those before were %s",
		    dtypes[c->states.dtype].name, dtypes[p->came].name);
	if (c->states.hidden != p->set.hidden)
		return err_set(e, "layers", "the states are %zu wide, those before were %llu",
		    c->states.hidden, (unsigned long long)p->set.hidden);
	if (c->said.nlayers > 0 &&
	    (c->said.nlayers != p->set.nlayers ||
		memcmp(c->said.layer, p->set.layer, p->set.nlayers * sizeof(p->set.layer[0])) != 0))
		return err_set(e, "layers", "the server captured other layers than before");
	if (c->said.norm != NORM_UNSAID && p->set.last && c->said.norm != p->delivered)
		return err_set(e, "norm",
		    "the server delivers the last state %s the norm, before it was %s",
		    norms[c->said.norm], norms[p->delivered]);
	return 0;
}

/* ---- what follows from it ---- */

struct capture_want plan_want(const struct plan *p, const int32_t *ids, size_t n)
{
	return (struct capture_want){.nlayers = p->set.nlayers,
	    .last = p->set.last,
	    .hidden = p->set.hidden,
	    .ids = ids,
	    .n = n};
}

uint64_t plan_bytes(const struct plan *p, uint64_t n)
{
	uint64_t layers = p->set.nlayers + (p->set.last ? 1 : 0);
	/* ids, mask, and the archive's own few kilobytes */
	return n * (layers * p->set.hidden *
			   dtypes[p->set.dtype < DT_COUNT ? p->set.dtype : DT_BF16].size +
		       16) +
	       8192;
}
