/* Iterations kept: found again, checked, done without running them. */
#include "jinja/memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jinja/eval.h"
#include "json/val.h"

#define MAX_ENTRIES 6		      /* of one item; the oldest is forgotten */
#define MAX_BYTES   ((size_t)1 << 30) /* nothing more is noted then */

/* Where an iteration's text stood in the last rendering into an output. */
struct place {
	const struct jinja_out *out;
	unsigned long rendering;
	size_t at;
};

/* What one iteration read and did. */
struct entry {
	struct entry *next; /* of the same item */
	const struct node *loop;
	const struct jmember *key;
	const struct guard *guard;
	const struct member *set;
	size_t nguard, nset;
	const char *text;
	const struct jinja_run *run; /* ends count from the text's start */
	size_t n, nrun;
	int flow;
	int barren;	       /* it can't be noted: run it without, its own loops can */
	struct place place[2]; /* prompts and whole turns are rendered by turns */
};

struct jinja_memo *jinja_memo_open(void)
{
	return xcalloc(1, sizeof(struct jinja_memo));
}

void jinja_memo_reset(struct jinja_memo *m, const void *changing)
{
	arena_reset(&m->mem);
	if (m->nslot > 0)
		memset(m->slot, 0, m->nslot * sizeof(*m->slot));
	m->used = m->hits = 0;
	m->changing = changing;
}

size_t jinja_memo_hits(const struct jinja_memo *m)
{
	return m->hits;
}

void jinja_memo_close(struct jinja_memo *m)
{
	if (!m)
		return;
	arena_free(&m->mem);
	free(m->slot);
	free(m->note.state);
	free(m->note.from);
	free(m->note.guard);
	free(m->note.set);
	free(m);
}

/* ---- values that outlive a rendering ---- */

/* The address of what a container of the context holds stands for it: the context does not change
 * while there is a memo, but for the array that the caller has named. */
static int keep_container(const struct jinja_memo *m, const struct value *v, struct value *out)
{
	const struct jval *of = v->kind == V_DICT ? v->u.dict->of : v->u.list->of;
	const void *p = !of ? NULL : v->kind == V_DICT ? (void *)of->u.obj.m : (void *)of->u.arr.v;

	if (!p || p == m->changing)
		return -1;
	out->u.s.p = p;
	out->u.s.n = v->kind == V_DICT ? of->u.obj.n : of->u.arr.n;
	return 0;
}

/* -1: it can't be kept. */
static int keep(struct jinja_memo *m, const struct value *v, struct value *out)
{
	*out = *v;
	switch (v->kind) {
	case V_MISSING: out->kind = V_UNDEF; return 0;
	case V_UNDEF:
	case V_NONE:
	case V_BOOL:
	case V_INT:
	case V_FLOAT:
	case V_FUNC: return 0;
	case V_STR:
		out->u.s.p = arena_strndup(&m->mem, v->u.s.p, v->u.s.n);
		out->u.s.b = NULL;
		return v->flags & STR_RUNS ? -1 : 0;
	case V_MACRO:
		if (v->u.macro->outer != m->note.root)
			return -1;
		out->u.s.p = (const char *)v->u.macro->def;
		return 0;
	case V_DICT:
	case V_LIST: return keep_container(m, v, out);
	default: return -1;
	}
}

/* Kept values that can be given to a template again. */
static int can_be_set(const struct value *v)
{
	return v->kind == V_NONE || v->kind == V_BOOL || v->kind == V_INT || v->kind == V_FLOAT ||
	       v->kind == V_STR;
}

static int same_string(const struct value *a, const struct value *b)
{
	return a->u.s.n == b->u.s.n && a->origin == b->origin && a->flags == b->flags &&
	       (a->u.s.n == 0 || memcmp(a->u.s.p, b->u.s.p, a->u.s.n) == 0);
}

/* Whether v is what was kept. A macro is the same if its definition is: it was kept only if it sees
 * the template's own variables. */
static int is_kept(const struct jinja_memo *m, const struct frame *f, const struct value *kept,
    const struct value *v)
{
	struct value now;

	if (v->kind != kept->kind)
		return v->kind == V_MISSING && kept->kind == V_UNDEF;
	switch (v->kind) {
	case V_UNDEF:
	case V_NONE: return 1;
	case V_BOOL:
	case V_INT: return v->u.i == kept->u.i;
	case V_FLOAT: return memcmp(&v->u.d, &kept->u.d, sizeof(v->u.d)) == 0;
	case V_STR: return same_string(kept, v);
	case V_FUNC: return v->u.func == kept->u.func;
	case V_MACRO: return v->u.macro->outer == f && (const char *)v->u.macro->def == kept->u.s.p;
	case V_DICT:
	case V_LIST:
		return keep_container(m, v, &now) == 0 && now.u.s.p == kept->u.s.p &&
		       now.u.s.n == kept->u.s.n;
	default: return 0;
	}
}

/* ---- the table ---- */

static size_t slot_of(const struct jinja_memo *m, const struct node *loop, const void *key)
{
	uint64_t h = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)loop;

	h *= 0xff51afd7ed558ccdu;
	return (size_t)(h >> 32) & (m->nslot - 1);
}

static void grow(struct jinja_memo *m)
{
	struct entry **old = m->slot;
	size_t n = m->nslot;

	m->nslot = n ? 2 * n : 256;
	m->slot = xcalloc(m->nslot, sizeof(struct entry *));
	for (size_t i = 0; i < n; i++)
		for (struct entry *e = old[i], *next; e; e = next) {
			struct entry **at = &m->slot[slot_of(m, e->loop, e->key)];

			next = e->next;
			e->next = *at;
			*at = e;
		}
	free(old);
}

/* ---- an iteration done again ---- */

int memo_guard_value(struct rt *rt, struct frame *f, const struct guard *g, struct value *out)
{
	const struct value *ns = &f->slot[g->at], *v;

	switch (g->kind) {
	case GUARD_NODE: return eval(rt, f, g->node, out) < 0 ? -1 : 1;
	case GUARD_TRUTH: {
		int yes = eval_truth(rt, f, g->node);

		value_bool(out, yes);
		return yes < 0 ? -1 : 1;
	}
	case GUARD_SLOT: *out = f->slot[g->at]; return 1;
	case GUARD_GLOBAL: *out = rt->global[g->at]; return 1;
	default: break;
	}
	if (ns->kind != V_NAMESPACE)
		return 0;
	if (g->kind == GUARD_SPACE) {
		value_int(out, ns->u.dict->number);
		return 1;
	}
	v = dict_find_str(rt, ns->u.dict, g->name.p, g->name.n);
	out->kind = V_UNDEF;
	if (v)
		*out = *v;
	return 1;
}

/* 1, 0, -1. An expression that fails here fails in the body: the guards before it hold. */
static int holds(struct rt *rt, struct frame *f, const struct entry *e)
{
	for (size_t i = 0; i < e->nguard; i++) {
		struct value now;
		int rc = memo_guard_value(rt, f, &e->guard[i], &now);

		if (rc <= 0)
			return rc;
		if (!is_kept(rt->env->memo, f, &e->guard[i].want, &now))
			return 0;
	}
	return 1;
}

static int emit(struct rt *rt, struct entry *e)
{
	const size_t at = rt->out->text.len;
	struct place *p = &e->place[e->place[0].out && e->place[0].out != rt->out];
	int there = p->out == rt->out && p->rendering + 1 == rt->out->renderings && p->at == at;

	*p = (struct place){rt->out, rt->out->renderings, at};
	return rt_emit_runs(rt, e->text, e->run, e->nrun, there);
}

static int set_members(struct rt *rt, struct frame *f, const struct entry *e)
{
	for (size_t i = 0; i < e->nset; i++) {
		const struct member *m = &e->set[i];
		struct value name;

		value_str(&name, m->name.p, m->name.n);
		if (dict_set(rt, f->slot[m->slot].u.dict, &name, &m->v) < 0)
			return -1;
	}
	return 0;
}

static int replay(struct rt *rt, struct frame *f, struct entry *e, int *flow)
{
	int good = holds(rt, f, e);

	if (good == 0)
		return 0;
	rt->env->memo->hits++;
	*flow = good < 0 || emit(rt, e) < 0 || set_members(rt, f, e) < 0 ? -1 : e->flow;
	return 1;
}

/* ---- one that is noted ---- */

static const struct jmember *key_of(const struct value *item)
{
	const struct jval *of = item->kind == V_DICT ? item->u.dict->of : NULL;

	return of ? of->u.obj.m : NULL;
}

static void begin(struct rt *rt, struct frame *f, const struct node *loop, const void *key)
{
	struct jinja_memo *m = rt->env->memo;
	struct memo_note *n = &m->note;

	n->nslots = rt->t->slots;
	n->state = xgrow(n->state, &n->capstate, n->nslots + 1, sizeof(*n->state));
	n->from = xgrow(n->from, &n->capfrom, n->nslots + 1, sizeof(*n->from));
	memset(n->state, SLOT_OUTER, n->nslots);
	memset(n->from, 0, n->nslots * sizeof(*n->from));
	n->root = f;
	n->item = loop->a->var.slot;
	n->loop = loop;
	n->key = key;
	n->text = rt->out->text.len;
	n->nguard = n->nset = 0;
	n->bound = n->hard = 0;
	rt->iteration = ++rt->iterations;
	rt->note = n;
}

int memo_begin(
    struct rt *rt, struct frame *f, const struct node *loop, const struct value *item, int *flow)
{
	struct jinja_memo *m = rt->env->memo;
	const struct jmember *key = key_of(item);

	if (!key || loop->c || loop->a->kind != N_NAME || rt->calls > 0 || rt->captures > 0 ||
	    rt->generation)
		return 0;
	for (struct entry *e = m->nslot ? m->slot[slot_of(m, loop, key)] : NULL; e; e = e->next) {
		if (e->loop != loop || e->key != key)
			continue;
		if (e->barren)
			return 0;
		if (replay(rt, f, e, flow))
			return 1;
	}
	if (arena_size(&m->mem) <= MAX_BYTES)
		begin(rt, f, loop, key);
	return 0;
}

static int keep_guards(struct jinja_memo *m, struct entry *e)
{
	struct memo_note *n = &m->note;

	for (size_t i = 0; i < n->nguard; i++)
		if (keep(m, &n->guard[i].want, &n->guard[i].want) < 0)
			return -1;
	e->nguard = n->nguard;
	e->guard = arena_dup(&m->mem, n->guard, n->nguard * sizeof(*n->guard));
	return 0;
}

static int keep_members(struct rt *rt, struct jinja_memo *m, struct entry *e)
{
	struct memo_note *n = &m->note;

	for (size_t i = 0; i < n->nset; i++) {
		struct member *s = &n->set[i];
		const struct value *v = dict_find_str(rt, s->of, s->name.p, s->name.n);

		if (!v || !can_be_set(v) || keep(m, v, &s->v) < 0)
			return -1;
	}
	e->nset = n->nset;
	e->set = arena_dup(&m->mem, n->set, n->nset * sizeof(*n->set));
	return 0;
}

static void keep_text(const struct rt *rt, struct jinja_memo *m, struct entry *e)
{
	const struct jinja_out *o = rt->out;
	const size_t from = m->note.text;
	struct jinja_run *run;
	size_t r = o->nruns;

	e->n = o->text.len - from;
	e->text = arena_strndup(&m->mem, o->text.data ? o->text.data + from : "", e->n);
	while (r > 0 && o->runs[r - 1].end > from)
		r--;
	e->nrun = o->nruns - r;
	run = arena_array(&m->mem, e->nrun, sizeof(*run));
	for (size_t i = 0; i < e->nrun; i++) {
		run[i] = o->runs[r + i];
		run[i].end -= from;
	}
	e->run = run;
	e->place[0] = (struct place){o, o->renderings, from};
}

static void forget_oldest(struct entry *first)
{
	struct entry *e = first;
	size_t n = 1;

	for (struct entry *p = first; p->next; p = p->next)
		if (p->next->loop == first->loop && p->next->key == first->key) {
			e = p;
			n++;
		}
	if (n > MAX_ENTRIES)
		e->next = e->next->next;
}

void memo_end(struct rt *rt, int flow)
{
	struct jinja_memo *m = rt->env->memo;
	const struct memo_note *n = rt->note;
	struct entry **at, *e;

	rt->note = NULL;
	rt->iteration = 0;
	if (!n || flow < 0)
		return;
	e = arena_alloc(&m->mem, sizeof(*e));
	*e = (struct entry){.loop = n->loop, .key = n->key, .flow = flow};
	e->barren = n->hard > 0 || keep_guards(m, e) < 0 || keep_members(rt, m, e) < 0;
	if (!e->barren)
		keep_text(rt, m, e);
	if (m->used++ >= m->nslot)
		grow(m);
	at = &m->slot[slot_of(m, e->loop, e->key)];
	e->next = *at;
	*at = e;
	forget_oldest(e);
}
