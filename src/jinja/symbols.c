#include "jinja/symbols.h"

#include <string.h>

#include "jinja/scope.h"

int symbols_fail(struct compile *c, const struct node *n, const char *msg)
{
	return jinja_error(c->t, n->at, msg, c->e);
}

int symbols_deeper(struct symbols *s, const struct node *n)
{
	if (++s->c->depth > SCOPE_DEPTH)
		return symbols_fail(s->c, n, "nested too deep");
	return 0;
}

void symbols_root(struct symbols *s, struct compile *c, struct func *f)
{
	*f = (struct func){0};
	*s = (struct symbols){.c = c, .func = f};
}

void symbols_inner(struct symbols *s, struct symbols *parent)
{
	*s = (struct symbols){
	    .c = parent->c, .parent = parent, .func = parent->func, .level = parent->level + 1};
}

void symbols_function(struct symbols *s, struct symbols *parent, struct func *f)
{
	symbols_inner(s, parent);
	*f = (struct func){.outer = parent->func};
	s->func = f;
}

void symbols_branch(struct symbols *s, const struct symbols *of)
{
	*s = (struct symbols){.c = of->c,
	    .parent = of->parent,
	    .base = of,
	    .func = of->func,
	    .level = of->level,
	    .apart = of->apart};
}

static struct symbol *find_top(const struct symbols *s, struct span name)
{
	for (size_t i = 0; i < s->n; i++)
		if (span_same(s->v[i].name, name))
			return &s->v[i];
	return NULL;
}

/* In the scope itself, as the branch knows it. */
static struct symbol *find_own(const struct symbols *s, struct span name)
{
	struct symbol *sym = NULL;

	for (; s && !sym; s = s->base)
		sym = find_top(s, name);
	return sym;
}

static struct symbol *find(const struct symbols *s, struct span name)
{
	for (; s; s = s->parent) {
		struct symbol *sym = find_own(s, name);

		if (sym)
			return sym;
	}
	return NULL;
}

static void *grow(struct arena *a, void *v, size_t n, size_t *cap, size_t size)
{
	void *more;

	if (n < *cap)
		return v;
	*cap = *cap ? *cap * 2 : 8;
	more = arena_array(a, *cap, size);
	if (n > 0)
		memcpy(more, v, n * size);
	return more;
}

static uint16_t slot_for(struct symbols *s, struct span name)
{
	struct func *f = s->func;

	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].level == s->level && f->v[i].apart == s->apart &&
		    span_same(f->v[i].name, name))
			return (uint16_t)i;
	if (f->n == SCOPE_NAMES) {
		if (!s->c->over)
			jinja_error(s->c->t, 0, "too many variables", s->c->e);
		s->c->over = 1;
		return 0;
	}
	f->v = grow(&s->c->mem, f->v, f->n, &f->cap, sizeof(*f->v));
	f->v[f->n] = (struct slot_name){name, s->level, s->apart};
	return (uint16_t)f->n++;
}

/* The symbol of a name in s, which a branch copies from the scope. */
static struct symbol *own(struct symbols *s, struct span name)
{
	struct symbol *sym = find_top(s, name), *base;

	if (sym)
		return sym;
	base = find_own(s, name);
	s->v = grow(&s->c->mem, s->v, s->n, &s->cap, sizeof(*s->v));
	sym = &s->v[s->n++];
	if (base)
		*sym = *base;
	else
		*sym = (struct symbol){.name = name, .func = s->func, .slot = slot_for(s, name)};
	return sym;
}

static void alias(struct symbol *sym, const struct symbol *outer)
{
	sym->action = LOAD_ALIAS;
	sym->from_func = outer->func;
	sym->from_slot = outer->slot;
}

void symbols_load(struct symbols *s, struct span name)
{
	if (!find(s, name))
		own(s, name)->action = LOAD_GLOBAL;
}

void symbols_param(struct symbols *s, struct span name)
{
	struct symbol *sym = own(s, name);

	sym->action = LOAD_PARAM;
	sym->stored = 1;
}

/* What it is without being set: what an outer scope has, else `or_else`. */
static void from_outside(struct symbols *s, struct symbol *sym, enum load_action or_else)
{
	const struct symbol *outer = s->parent ? find(s->parent, sym->name) : NULL;

	sym->action = (uint8_t)or_else;
	if (outer)
		alias(sym, outer);
}

void symbols_store(struct symbols *s, struct span name)
{
	int known = find_own(s, name) != NULL;
	struct symbol *sym = own(s, name);

	if (!known)
		from_outside(s, sym, LOAD_UNSET);
	sym->stored = 1;
}

void symbols_merge(struct symbols *s, const struct symbols *branch)
{
	for (size_t i = 0; i < branch->n; i++) {
		const struct symbol *in = &branch->v[i], *have = find_own(s, in->name);
		struct symbol *sym;

		if (have && have->stored)
			continue;
		sym = own(s, in->name);
		if (!have)
			*sym = *in;
		if (!in->stored)
			continue;
		from_outside(s, sym, LOAD_GLOBAL);
		sym->stored = 1;
	}
}

struct var symbols_var(struct symbols *s, struct span name)
{
	const struct symbol *sym = find(s, name);
	struct var v = {0, NO_SLOT};

	if (!sym) {
		symbols_load(s, name);
		sym = find(s, name);
	}
	v.slot = sym->slot;
	for (const struct func *f = s->func; f != sym->func; f = f->outer)
		v.hops++;
	return v;
}

static uint32_t global_number(struct compile *c, struct span name)
{
	struct jinja *t = c->t;

	for (size_t i = 0; i < t->nglobal; i++)
		if (span_same(t->global[i], name))
			return (uint32_t)i;
	if (t->nglobal == SCOPE_NAMES * 4 && !c->over)
		c->over = jinja_error(t, 0, "too many names", c->e) < 0;
	if (c->over)
		return 0;
	t->global = grow(&t->mem, t->global, t->nglobal, &t->capglobal, sizeof(*t->global));
	t->global[t->nglobal] = name;
	return (uint32_t)t->nglobal++;
}

void symbols_finish(const struct symbols *s, struct scope *out)
{
	struct jinja *t = s->c->t;

	*out = (struct scope){.load = arena_array(&t->mem, s->n, sizeof(*out->load)), .n = s->n};
	for (size_t i = 0; i < s->n; i++) {
		const struct symbol *sym = &s->v[i];
		struct load *l = &out->load[i];

		*l = (struct load){.action = sym->action, .slot = sym->slot};
		if (sym->action == LOAD_GLOBAL)
			l->global = global_number(s->c, sym->name);
		if (sym->action != LOAD_ALIAS)
			continue;
		l->from.slot = sym->from_slot;
		for (const struct func *f = s->func; f != sym->from_func; f = f->outer)
			l->from.hops++;
	}
}
