/* The iterations of a loop in the last rendering, in order, so that those that would do the same
 * are done together, without a look at each.
 *
 * An iteration does again what it did in the last rendering into the same output if that what it
 * read is the same. It is where the loop goes over the same objects up to one behind it, and
 * begins with the same variables, names of the context and namespaces, if the iteration reads
 * nothing else: no length, no other list. Which iterations are such (steady) is told from the
 * expressions that its notes hold, by what stands in them, evaluated or not. Then their text and
 * runs are in the output already, and stay. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/memo.h"

struct step {
	const struct jmember *key;
	const struct entry *e; /* NULL: not steady, or it breaks off */
	struct rt_place behind;
};

#define MAX_STEPS ((size_t)1 << 20) /* of all trails; where they end, iterations are looked at */

struct trail {
	struct trail *next;  /* of another loop */
	struct trail *again; /* of the same, run again in the same rendering */
	struct trail *now;   /* of the first: the one that was run last */
	const struct node *loop;
	const struct jinja_out *out;
	unsigned long rendering;
	struct rt_place at; /* where the loop begins */
	size_t first;	    /* where the first run behind that begins */
	struct step *step;
	size_t n, cap;
	/* What an iteration can read; strings are in `bytes`. */
	struct value *state;
	size_t nstate, capstate;
	struct buf bytes;
	int usable;
};

void memo_trails_reset(struct jinja_memo *m)
{
	for (struct trail *t = m->trails; t; t = t->next)
		for (struct trail *r = t; r; r = r->again)
			r->n = 0;
}

static void free_runs(struct trail *t)
{
	for (struct trail *again; t; t = again) {
		again = t->again;
		free(t->step);
		free(t->state);
		buf_free(&t->bytes);
		free(t);
	}
}

void memo_trails_free(struct jinja_memo *m)
{
	for (struct trail *t = m->trails, *next; t; t = next) {
		next = t->next;
		free_runs(t);
	}
}

static struct trail *new_trail(const struct rt *rt, const struct node *loop)
{
	struct trail *t = xcalloc(1, sizeof(*t));

	t->loop = loop;
	t->out = rt->out;
	t->now = t;
	return t;
}

/* That of the loop's run of the same number in the last rendering. */
static struct trail *find_trail(struct rt *rt, const struct node *loop)
{
	struct jinja_memo *m = rt->env->memo;
	struct trail *t = m->trails;

	while (t && (t->loop != loop || t->out != rt->out))
		t = t->next;
	if (!t) {
		t = new_trail(rt, loop);
		t->next = m->trails;
		m->trails = t;
		return t;
	}
	if (t->rendering != rt->out->renderings)
		return t->now = t;
	if (!t->now->again)
		t->now->again = new_trail(rt, loop);
	return t->now = t->now->again;
}

/* ---- what an iteration can read ---- */

/* A value as it is compared; V_LOOP where it can't be. Of containers of the context and macros the
 * address is what counts. */
static struct value comparable(const struct rt *rt, const struct frame *f, const struct value *v)
{
	struct value out = *v;
	size_t n = 0;

	switch (v->kind) {
	case V_MISSING:
	case V_UNDEF: return (struct value){.kind = V_UNDEF};
	case V_NONE:
	case V_BOOL:
	case V_INT:
	case V_FLOAT:
	case V_FUNC:
	case V_NAMESPACE: return out; /* its attributes follow */
	case V_STR: out.kind = v->flags & STR_RUNS ? V_LOOP : V_STR; return out;
	case V_MACRO:
		out.kind = v->u.macro->outer == f ? V_MACRO : V_LOOP;
		out.u.s.p = (const char *)v->u.macro->def;
		return out;
	case V_DICT:
	case V_LIST:
		out.u.s.p = memo_container(rt->env->memo, v, &n);
		out.u.s.n = n;
		out.kind = out.u.s.p ? v->kind : V_LOOP;
		return out;
	default: out.kind = V_LOOP; return out;
	}
}

static int same_value(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case V_BOOL:
	case V_INT: return a->u.i == b->u.i;
	case V_FLOAT: return memcmp(&a->u.d, &b->u.d, sizeof(a->u.d)) == 0;
	case V_FUNC: return a->u.func == b->u.func;
	case V_MACRO: return a->u.s.p == b->u.s.p;
	case V_DICT:
	case V_LIST: return a->u.s.p == b->u.s.p && a->u.s.n == b->u.s.n;
	case V_STR:
		return a->u.s.n == b->u.s.n && a->origin == b->origin && a->flags == b->flags &&
		       (a->u.s.n == 0 || memcmp(a->u.s.p, b->u.s.p, a->u.s.n) == 0);
	default: return 1;
	}
}

/* The state as it is gathered and compared with what the trail has from the last rendering. */
struct look {
	struct trail *t;
	size_t n;
	int same;
};

static void look_at(struct look *k, struct value v)
{
	struct trail *t = k->t;

	if (k->same && k->n < t->nstate && same_value(&t->state[k->n], &v)) {
		k->n++;
		return;
	}
	if (k->same) {
		k->same = 0;
		t->nstate = k->n; /* what comes behind is new */
	}
	t->state = xgrow(t->state, &t->capstate, k->n + 1, sizeof(*t->state));
	t->state[k->n++] = v;
	t->nstate = k->n;
}

static void look_at_namespace(struct look *k, struct rt *rt, const struct frame *f, struct dict *ns)
{
	struct value v;

	dict_open(rt, ns);
	value_int(&v, ns->number);
	look_at(k, v);
	value_int(&v, (int64_t)ns->n);
	look_at(k, v);
	for (size_t i = 0; i < ns->n; i++) {
		look_at(k, comparable(rt, f, &ns->p[i].key));
		v = comparable(rt, f, &ns->p[i].val);
		look_at(k, v);
		if (v.kind == V_LOOP || v.kind == V_MACRO || v.kind == V_NAMESPACE)
			k->t->usable = 0;
	}
}

static void look_at_all(struct look *k, struct rt *rt, const struct frame *f)
{
	for (size_t i = 0; i < rt->t->nglobal; i++)
		look_at(k, comparable(rt, f, &rt->global[i]));
	for (size_t i = 0; i < rt->t->slots; i++) {
		look_at(k, comparable(rt, f, &f->slot[i]));
		if (f->slot[i].kind == V_NAMESPACE)
			look_at_namespace(k, rt, f, f->slot[i].u.dict);
	}
}

/* Strings that the state has from this rendering outlive it. */
static void own_strings(struct trail *t)
{
	struct buf old = t->bytes;
	size_t at = 0;

	t->bytes = (struct buf){0};
	for (size_t i = 0; i < t->nstate; i++)
		if (t->state[i].kind == V_STR)
			buf_add(&t->bytes, t->state[i].u.s.p, t->state[i].u.s.n);
	for (size_t i = 0; i < t->nstate; i++)
		if (t->state[i].kind == V_STR) {
			t->state[i].u.s.p = t->bytes.data ? t->bytes.data + at : "";
			at += t->state[i].u.s.n;
		}
	buf_free(&old);
}

/* Whether the state is that of the last rendering. */
static int same_state(struct trail *t, struct rt *rt, const struct frame *f)
{
	struct look k = {t, 0, 1};

	t->usable = 1;
	look_at_all(&k, rt, f);
	if (k.same && k.n == t->nstate)
		return 1;
	t->nstate = k.n;
	own_strings(t);
	return 0;
}

/* ---- which iterations read nothing else ---- */

struct walk {
	const struct rt *rt;
	const struct frame *f;
	const struct node *loop;
	const struct loop *l;
	size_t at; /* the iteration */
};

/* The variable that a name of the body stands for where the body begins; NULL: it is unset. */
static const struct value *outer_value(const struct walk *w, struct var v)
{
	const struct scope *s = &w->loop->scope[0];

	for (size_t i = 0; i < s->n; i++) {
		const struct load *l = &s->load[i];

		if (l->slot != v.slot)
			continue;
		if (l->action == LOAD_GLOBAL)
			return &w->rt->global[l->global];
		return l->action == LOAD_ALIAS ? &w->f->slot[l->from.slot] : NULL;
	}
	return &w->f->slot[v.slot];
}

static int is_loop(const struct walk *w, const struct node *n)
{
	return n->kind == N_NAME && n->var.hops == 0 && n->var.slot == w->loop->var.slot;
}

/* What kind of value a name has, as it is compared. */
static enum vkind kind_of_name(const struct walk *w, const struct node *n)
{
	const struct value *v;

	if (n->var.hops > 0 || is_loop(w, n))
		return V_LOOP;
	if (n->var.slot == w->loop->a->var.slot)
		return V_DICT; /* the item */
	v = outer_value(w, n->var);
	return v ? comparable(w->rt, w->f, v).kind : V_UNDEF;
}

/* As a part of an expression: what a macro reads when it is called does not stand in it. */
static int is_steady_name(const struct walk *w, const struct node *n)
{
	enum vkind kind = kind_of_name(w, n);

	return kind != V_LOOP && kind != V_NAMESPACE && kind != V_MACRO;
}

static int is_steady_attr(struct span name)
{
	static const char *const steady[] = {
	    "index0", "index", "first", "last", "previtem", "nextitem"};

	for (size_t i = 0; i < sizeof(steady) / sizeof(steady[0]); i++)
		if (span_eq(name, steady[i]))
			return 1;
	return 0;
}

/* Where the expression is loop.index0 or loop.index, or one of them plus or minus a number, what
 * is added to index0. */
static int offset(const struct walk *w, const struct node *n, int64_t *by)
{
	if (n->kind == N_ATTR && is_loop(w, n->a)) {
		*by = span_eq(n->name, "index");
		return *by || span_eq(n->name, "index0");
	}
	if ((n->kind != N_ADD && n->kind != N_SUB) || n->b->kind != N_CONST ||
	    n->b->value.kind != V_INT || n->b->value.u.i < 0 || n->b->value.u.i > INT32_MAX ||
	    !offset(w, n->a, by))
		return 0;
	*by += n->kind == N_ADD ? n->b->value.u.i : -n->b->value.u.i;
	return 1;
}

/* An element of the list that the loop goes over, at most one behind the iteration's own. */
static int is_neighbour(const struct walk *w, const struct node *n)
{
	const struct value *v;
	int64_t by;

	if (n->a->kind != N_NAME || n->a->var.hops > 0 || is_loop(w, n->a) ||
	    n->a->var.slot == w->loop->a->var.slot)
		return 0;
	v = outer_value(w, n->a->var);
	return v && v->kind == V_LIST && v->u.list == w->l->over.u.list && offset(w, n->b, &by) &&
	       by <= 1 && (int64_t)w->at + by >= 0;
}

static int is_steady(const struct walk *w, const struct node *n);

static int are_steady(const struct walk *w, const struct node *n)
{
	for (; n; n = n->next)
		if (!is_steady(w, n))
			return 0;
	return 1;
}

static int parts_steady(const struct walk *w, const struct node *n)
{
	const struct node *const part[] = {n->a, n->b, n->c, n->d};

	for (size_t i = 0; i < 4; i++)
		if (part[i] && !is_steady(w, part[i]))
			return 0;
	return are_steady(w, n->list);
}

static int is_steady_attribute(const struct walk *w, const struct node *n)
{
	const struct value *v;

	if (is_loop(w, n->a))
		return is_steady_attr(n->name);
	if (n->a->kind == N_NAME && n->a->var.hops == 0 && n->a->var.slot != w->loop->a->var.slot) {
		v = outer_value(w, n->a->var);
		if (v && v->kind == V_NAMESPACE)
			return 1;
	}
	return is_steady(w, n->a);
}

static int is_steady(const struct walk *w, const struct node *n)
{
	switch (n->kind) {
	case N_NAME: return is_steady_name(w, n);
	case N_ATTR: return is_steady_attribute(w, n);
	case N_ITEM:
		if (is_neighbour(w, n))
			return 1;
		break;
	default: break;
	}
	return parts_steady(w, n);
}

static int entry_steady(const struct walk *w, const struct entry *e)
{
	for (size_t i = 0; i < e->nguard; i++) {
		const struct node *n = e->guard[i].node;

		/* what a macro read when it was called has notes of its own */
		if (n && !(n->kind == N_NAME && kind_of_name(w, n) == V_MACRO) && !is_steady(w, n))
			return 0;
	}
	return 1;
}

/* ---- the trail of a loop ---- */

static int room_for_step(struct jinja_memo *m, struct trail *t)
{
	const size_t had = t->cap;

	if (t->n == t->cap && m->steps >= MAX_STEPS)
		return 0;
	t->step = xgrow(t->step, &t->cap, t->n + 1, sizeof(*t->step));
	m->steps += t->cap - had;
	return 1;
}

void memo_trail_add(struct rt *rt, struct frame *f, struct loop *l, const struct entry *e)
{
	struct trail *t = l->trail;
	struct walk w = {rt, f, NULL, l, l->count - 1};
	struct step *s;

	if (!t || t->n != w.at || !room_for_step(rt->env->memo, t))
		return;
	w.loop = t->loop;
	s = &t->step[t->n++];
	*s = (struct step){memo_key(&l->cur), NULL, rt_place(rt)};
	if (s->behind.nruns > t->at.nruns && t->first == SIZE_MAX)
		t->first = t->at.nruns > 0 ? rt->out->runs[t->at.nruns - 1].end : 0;
	if (t->usable && e && e->flow == FLOW_NEXT && entry_steady(&w, e))
		s->e = e;
}

/* How many iterations from the first are as they were. */
static size_t count_same(const struct rt *rt, const struct trail *t, const struct list *list)
{
	size_t n = 0;

	while (n + 1 < t->n && n + 1 < list->n && t->step[n].e &&
	       t->step[n].key == memo_key(&list->v[n]))
		n++;
	/* the one behind each is the same, too */
	if (n > 0 && (!t->step[n].key || t->step[n].key != memo_key(&list->v[n])))
		n--;
	return n > 0 && rt_is_there(rt, &t->at, &t->step[n - 1].behind) ? n : 0;
}

static int do_again(struct rt *rt, struct frame *f, struct loop *l, size_t n)
{
	struct trail *t = l->trail;
	const struct list *list = l->over.u.list;
	const struct rt_place *behind = &t->step[n - 1].behind;

	if (rt_step(rt, n * sizeof(t->step[0].key)) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (t->step[i].e->nset > 0 && memo_set_members(rt, f, t->step[i].e) < 0)
			return -1;
	l->it->i = l->count = n;
	l->cur = list->v[n - 1];
	rt->env->memo->hits += n;
	if (behind->nruns == t->at.nruns)
		t->first = SIZE_MAX;
	return rt_stay(rt, behind, t->first);
}

int memo_walk(struct rt *rt, struct frame *f, const struct node *loop, struct loop *l, int *through)
{
	struct trail *t;
	size_t n = 0;

	if (loop->c || loop->a->kind != N_NAME || l->over.kind != V_LIST || rt->calls > 0 ||
	    rt->captures > 0 || rt->generation)
		return 0;
	t = l->trail = find_trail(rt, loop);
	list_open(rt, l->over.u.list);
	if (same_state(t, rt, f) && t->usable && t->rendering + 1 == rt->out->renderings)
		n = count_same(rt, t, l->over.u.list);
	t->rendering = rt->out->renderings;
	t->n = n;
	if (n > 0) {
		*through = 1;
		return do_again(rt, f, l, n);
	}
	t->at = rt_place(rt);
	t->first = SIZE_MAX;
	return 0;
}
