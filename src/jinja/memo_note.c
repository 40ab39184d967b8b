/* What an iteration reads and sets, while it runs. */

#include "base/mem.h"
#include "jinja/eval.h"
#include "jinja/iter.h"
#include "jinja/memo.h"

#define MAX_GUARDS 48

static struct span no_name(void)
{
	return (struct span){NULL, 0};
}

void memo_spoil(struct rt *rt)
{
	rt->note->hard++;
}

void memo_skip(struct rt *rt)
{
	rt->note->bound++;
}

static int same_guard(const struct guard *a, const struct guard *b)
{
	return a->kind == b->kind && a->node == b->node && a->at == b->at &&
	       span_same(a->name, b->name);
}

/* The first of equal ones stays: it was read first. */
static void add_guard(struct memo_note *m, struct guard g)
{
	for (size_t i = 0; i < m->nguard; i++)
		if (same_guard(&m->guard[i], &g))
			return;
	if (m->nguard == MAX_GUARDS) {
		m->hard++;
		return;
	}
	m->guard = xgrow(m->guard, &m->capguard, m->nguard + 1, sizeof(*m->guard));
	m->guard[m->nguard++] = g;
}

/* ---- expressions ---- */

static int is_plain(const struct value *v)
{
	switch (v->kind) {
	case V_NONE:
	case V_UNDEF:
	case V_BOOL:
	case V_INT:
	case V_FLOAT: return 1;
	case V_STR: return v->u.s.n <= 64 && !(v->flags & STR_RUNS);
	default: return 0;
	}
}

/* What the expression read becomes the expression. */
static void collapse(struct memo_note *m, const struct memo_mark *since, struct guard g)
{
	size_t to = since->guards;

	for (size_t i = to; i < m->nguard; i++)
		if (m->guard[i].kind == GUARD_SPACE)
			m->guard[to++] = m->guard[i];
	m->nguard = to;
	add_guard(m, g);
}

void memo_value(
    struct rt *rt, const struct node *n, const struct memo_mark *since, const struct value *v)
{
	if (is_plain(v))
		collapse(rt->note, since, (struct guard){GUARD_NODE, n, 0, no_name(), *v});
}

void memo_truth(struct rt *rt, const struct node *n, const struct memo_mark *since, int yes)
{
	struct guard g = {.kind = GUARD_TRUTH, .node = n};

	value_bool(&g.want, yes);
	collapse(rt->note, since, g);
}

/* ---- variables ---- */

static size_t slot_number(const struct memo_note *m, const struct value *slot)
{
	if (slot < m->root->slot || slot >= m->root->slot + m->nslots)
		return SIZE_MAX;
	return (size_t)(slot - m->root->slot);
}

/* A loop or a namespace is fine if only an attribute of it is read: memo_member takes it back. */
static int is_hard(const struct value *v)
{
	return v->kind == V_NAMESPACE || v->kind == V_LOOP;
}

static void read_number(struct memo_note *m, size_t i, const struct value *v, const struct node *n)
{
	struct guard g = {GUARD_SLOT, NULL, i, no_name(), *v};

	if (m->state[i] == SLOT_OUTER && i == m->item)
		return;
	m->bound += m->state[i] != SLOT_OUTER;
	if (m->state[i] == SLOT_INNER)
		return;
	if (is_hard(v)) {
		m->hard++;
		return;
	}
	if (m->state[i] != SLOT_OUTER) {
		g.kind = m->state[i] == SLOT_OF_GLOBAL ? GUARD_GLOBAL : GUARD_SLOT;
		g.at = m->from[i];
	} else if (n) {
		g = (struct guard){GUARD_NODE, n, 0, no_name(), *v};
	}
	add_guard(m, g);
}

void memo_read(struct rt *rt, const struct frame *f, const struct node *n, const struct value *slot)
{
	struct memo_note *m = rt->note;
	size_t i = slot_number(m, slot);

	if (i == SIZE_MAX)
		m->bound++; /* a macro's own */
	else
		read_number(m, i, slot, f == m->root ? n : NULL);
}

void memo_set(struct rt *rt, const struct value *slot)
{
	size_t i = slot_number(rt->note, slot);

	if (i != SIZE_MAX)
		rt->note->state[i] = SLOT_INNER;
}

/* What a scope of the template's own frame begins with is looked at when it is read. */
static void enter_root(struct memo_note *m, const struct load *l)
{
	size_t from = l->from.slot;

	m->state[l->slot] = SLOT_INNER;
	if (l->action == LOAD_GLOBAL) {
		m->state[l->slot] = SLOT_OF_GLOBAL;
		m->from[l->slot] = l->global;
	} else if (l->action == LOAD_ALIAS && from != m->item) {
		m->state[l->slot] = m->state[from] == SLOT_OUTER ? SLOT_OF_SLOT : m->state[from];
		m->from[l->slot] = m->state[from] == SLOT_OUTER ? from : m->from[from];
	}
}

void memo_enter(struct rt *rt, struct frame *f, const struct scope *s)
{
	struct memo_note *m = rt->note;

	for (size_t i = 0; i < s->n; i++) {
		const struct load *l = &s->load[i];

		if (f == m->root && l->action != LOAD_PARAM)
			enter_root(m, l);
		else if (f != m->root && l->action == LOAD_GLOBAL)
			add_guard(m, (struct guard){GUARD_GLOBAL, NULL, l->global, no_name(),
					 rt->global[l->global]});
		else if (f != m->root && l->action == LOAD_ALIAS)
			memo_read(rt, f, NULL, frame_slot(f, l->from));
	}
}

/* ---- attributes of namespaces and loops ---- */

/* The number of the outer variable that an attribute is read from or set in. */
static size_t outer_base(struct memo_note *m, struct frame *f, const struct node *base)
{
	size_t i = base->kind == N_NAME ? slot_number(m, frame_slot(f, base->var)) : SIZE_MAX;

	return i != SIZE_MAX && m->state[i] == SLOT_OUTER ? i : SIZE_MAX;
}

static int was_set(const struct memo_note *m, const struct dict *of, struct span name)
{
	for (size_t i = 0; i < m->nset; i++)
		if (m->set[i].of == of && span_same(m->set[i].name, name))
			return 1;
	return 0;
}

static void guard_space(struct memo_note *m, size_t slot, const struct value *ns)
{
	struct guard g = {.kind = GUARD_SPACE, .at = slot};

	value_int(&g.want, ns->u.dict->number);
	add_guard(m, g);
}

static int is_stateful(struct span name)
{
	return span_eq(name, "changed") || span_eq(name, "cycle");
}

void memo_member(struct rt *rt, struct frame *f, const struct node *n, const struct value *of,
    const struct value *v)
{
	struct memo_note *m = rt->note;
	size_t i = outer_base(m, f, n->a);
	struct guard g = {GUARD_NODE, n, 0, no_name(), *v};

	if (i == SIZE_MAX) {
		/* the iteration's own, or one that came by another way */
		m->hard += of->kind == V_NAMESPACE && of->u.dict->born != rt->iteration;
		return;
	}
	if (of->kind == V_LOOP) {
		if (f == m->root && !is_stateful(n->name)) {
			m->hard--;
			add_guard(m, g);
		}
		return;
	}
	m->hard--;
	guard_space(m, i, of);
	if (was_set(m, of->u.dict, n->name)) {
		m->bound++;
		return;
	}
	if (f != m->root)
		g = (struct guard){GUARD_MEMBER, NULL, i, n->name, *v};
	add_guard(m, g);
}

void memo_set_member(struct rt *rt, struct frame *f, const struct node *n, const struct value *of)
{
	struct memo_note *m = rt->note;
	size_t i = outer_base(m, f, n->a);

	m->bound++;
	if (of->u.dict->born == rt->iteration)
		return;
	if (i == SIZE_MAX) {
		m->hard++;
		return;
	}
	guard_space(m, i, of);
	if (was_set(m, of->u.dict, n->name))
		return;
	m->set = xgrow(m->set, &m->capset, m->nset + 1, sizeof(*m->set));
	m->set[m->nset++] = (struct member){.slot = i, .of = of->u.dict, .name = n->name};
}
