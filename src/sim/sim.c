#include "sim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "bpe/bpe.h"
#include "json/doc.h"
#include "json/val.h"

#define CONTEXT_DEFAULT 262144u
#define CONFIG_MAX	(16u << 20)

uint64_t sim_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- config.json ---- */

struct config {
	uint64_t layers, hidden, context;
};

/* A positive whole number of text_config, or of the top level. */
static void number(const struct jval *config, const char *name, uint64_t *out)
{
	const struct jval *text = val_get(config, "text_config");
	const struct jval *v = text ? val_get(text, name) : NULL;

	if (!v)
		v = val_get(config, name);
	if (v && v->kind == J_INT && v->u.i > 0)
		*out = (uint64_t)v->u.i;
}

/* A folder without a config is served with what the options say. */
static void read_config(const char *dir, struct config *c)
{
	struct buf path = {0}, text = {0};
	struct arena a = {0};
	struct jval v;
	struct err e;

	buf_addf(&path, "%s/config.json", dir);
	if (doc_slurp(&text, buf_cstr(&path), CONFIG_MAX, &e) == 0 &&
	    val_parse(&v, (struct span){text.data, text.len}, 1, &a, NULL, &e) == 0) {
		number(&v, "num_hidden_layers", &c->layers);
		number(&v, "hidden_size", &c->hidden);
		number(&v, "max_position_embeddings", &c->context);
	}
	buf_free(&path);
	buf_free(&text);
	arena_free(&a);
}

static int read_layers(struct states_spec *s, const struct opt_list *l, struct err *e)
{
	uint64_t k;

	if (l->n > STATES_LAYERS)
		return err_set(e, "usage", "--layers: at most %d", STATES_LAYERS);
	s->nlayers = 0;
	for (size_t i = 0; i < l->n; i++) {
		if (num_u64(l->v[i], strlen(l->v[i]), &k) < 0 || (i > 0 && k <= s->layer[i - 1]))
			return err_set(e, "usage", "--layers %s: expected rising numbers", l->v[i]);
		if (k >= s->total)
			return err_set(e, "layers", "--layers %s: the model has %u layers", l->v[i],
			    (unsigned)s->total);
		s->layer[s->nlayers++] = (uint32_t)k;
	}
	return 0;
}

/* EAGLE-3's choice, as the servers make it: what enters layers 2, the middle, and the third from
 * the end; of a model too small for that, the first and the last. */
static int set_states(struct sim *s, const struct config *c, struct err *e)
{
	struct states_spec *st = &s->states;
	uint32_t n = (uint32_t)(c->layers > 0 ? c->layers : 8);
	const uint32_t many[] = {2, n / 2, n - 3}, few[] = {0, n - 1};

	st->total = n;
	st->hidden = s->opt->hidden > 0 ? s->opt->hidden : c->hidden > 0 ? c->hidden : 64;
	st->after_norm = s->opt->norm;
	if (s->opt->layers.n > 0)
		return read_layers(st, &s->opt->layers, e);
	st->nlayers = n > 6 ? 3 : n > 1 ? 2 : 1;
	memcpy(st->layer, n > 6 ? many : few, st->nlayers * sizeof(*st->layer));
	return 0;
}

/* ---- the server's parts ---- */

static int open_model(struct sim *s, struct err *e)
{
	if (render_open(s, e) < 0)
		return -1;
	s->bpe_work = bpe_work_open(s->tok);
	s->vocab = vocab_open(s->tok, e);
	return s->vocab ? 0 : -1;
}

/* The folder's last name, as servers call a local model when nothing else is said. */
static void set_name(struct sim *s)
{
	const char *p = s->opt->served_model ? s->opt->served_model : s->opt->model;

	buf_adds(&s->name, p);
	buf_cstr(&s->name);
}

static int read_faults(struct sim *s, struct err *e)
{
	s->plan.seed = s->opt->seed;
	for (size_t i = 0; i < s->opt->faults.n; i++)
		if (fault_add(&s->plan, s->opt->faults.v[i], e) < 0)
			return -1;
	return 0;
}

/* Each request would find it out for itself. */
static int check_dump_dir(const char *dir, struct err *e)
{
	struct stat st;
	int rc = dir ? stat(dir, &st) : 0;

	if (dir && rc == 0 && !S_ISDIR(st.st_mode)) {
		errno = ENOTDIR;
		rc = -1;
	}
	if (dir && rc == 0)
		rc = access(dir, W_OK | X_OK);
	return rc < 0 ? err_sys(e, "--dump-dir %s", dir) : 0;
}

/* The server's time begins when it listens: how long the model took to open shortens no fault. */
static void start_clock(struct sim *s)
{
	struct fault_hits at_start;

	fault_draw(&s->plan, 0, &at_start);
	s->now = s->opened_at = s->slots_at = sim_clock();
	if (at_start.on[F_LOADING])
		s->loading_until = s->now + at_start.arg[F_LOADING] * 1000000u;
	if (at_start.on[F_STORM])
		s->storm_until = s->now + at_start.arg[F_STORM] * 1000000u;
}

int sim_open(struct sim *s, const struct sim_opts *opt, struct err *e)
{
	struct config c = {.context = CONTEXT_DEFAULT};

	*s = (struct sim){.opt = opt, .listen = -1, .signals = -1};
	s->queue_end = &s->queue;
	s->sweep.kind = T_SWEEP;
	read_config(opt->model, &c);
	s->context = opt->context > 0 ? opt->context : c.context;
	set_name(s);
	if (check_dump_dir(opt->dump_dir, e) < 0 || read_faults(s, e) < 0 ||
	    set_states(s, &c, e) < 0 || open_model(s, e) < 0 || conn_open(s, e) < 0)
		return -1;
	start_clock(s);
	return 0;
}

int sim_serve(struct sim *s, struct err *e)
{
	return conn_loop(s, e);
}

void sim_close(struct sim *s)
{
	conn_close(s);
	engine_flush(s);
	timers_free(&s->timers);
	fault_free(&s->plan);
	vocab_close(s->vocab);
	if (s->bpe_work)
		bpe_work_close(s->bpe_work);
	render_close(s);
	buf_free(&s->name);
}
