#include "jinja/scope.h"

#include <stdio.h>
#include <string.h>

#include "jinja/symbols.h"

static int visit(struct symbols *s, const struct node *n);

static int visit_list(struct symbols *s, const struct node *n)
{
	for (; n; n = n->next)
		if (visit(s, n) < 0)
			return -1;
	return 0;
}

static int visit_target(struct symbols *s, const struct node *n, int param)
{
	if (n->kind == N_NSREF)
		return visit(s, n->a);
	if (n->kind == N_NAME) {
		if (param)
			symbols_param(s, n->name);
		else
			symbols_store(s, n->name);
		return 0;
	}
	for (n = n->list; n; n = n->next)
		if (visit_target(s, n, param) < 0)
			return -1;
	return 0;
}

static int visit_branch(struct symbols *s, const struct node *body)
{
	struct symbols in;

	symbols_branch(&in, s);
	if (visit_list(&in, body) < 0)
		return -1;
	symbols_merge(s, &in);
	return 0;
}

/* The first branch, all the elifs and the else are seen apart. */
static int visit_if(struct symbols *s, const struct node *n)
{
	const struct node *b = n->list;
	struct symbols part[3];

	if (visit(s, b->a) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		symbols_branch(&part[i], s);
	if (visit_list(&part[0], b->list) < 0)
		return -1;
	for (b = b->next; b && b->a; b = b->next)
		if (visit(&part[1], b->a) < 0 || visit_branch(&part[1], b->list) < 0)
			return -1;
	if (b && visit_list(&part[2], b->list) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		symbols_merge(s, &part[i]);
	return 0;
}

static int visit_children(struct symbols *s, const struct node *n)
{
	const struct node *const child[] = {n->a, n->b, n->c, n->d};

	for (size_t i = 0; i < 4; i++)
		if (child[i] && visit(s, child[i]) < 0)
			return -1;
	return visit_list(s, n->list);
}

static int visit_with(struct symbols *s, const struct node *n)
{
	for (const struct node *set = n->b; set; set = set->next)
		if (visit(s, set->b) < 0)
			return -1;
	return 0;
}

/* Notes what a scope's own statements read and set, without the scopes inside it. */
static int visit(struct symbols *s, const struct node *n)
{
	int rc = 0;

	if (symbols_deeper(s, n) < 0)
		return -1;
	switch (n->kind) {
	case N_NAME: symbols_load(s, n->name); break;
	case N_IF: rc = visit_if(s, n); break;
	case N_FOR: rc = visit(s, n->b); break;
	case N_SET: rc = visit(s, n->b) < 0 ? -1 : visit_target(s, n->a, 0); break;
	case N_SET_BLOCK: rc = visit_target(s, n->a, 0); break;
	case N_MACRO: symbols_store(s, n->name); break;
	case N_FILTER_BLOCK: rc = visit(s, n->b); break;
	case N_WITH: rc = visit_with(s, n); break;
	case N_GENERATION: break;
	default: rc = visit_children(s, n); break;
	}
	s->c->depth--;
	return rc;
}

/* ---- second pass: names to variables, scopes to loads ---- */

static int resolve(struct symbols *s, struct node *n, int soft);

static int resolve_list(struct symbols *s, struct node *n, int soft)
{
	for (; n; n = n->next)
		if (resolve(s, n, soft) < 0)
			return -1;
	return 0;
}

static int resolve_target(struct symbols *s, struct node *n)
{
	if (n->kind == N_NSREF)
		return resolve(s, n->a, 0);
	if (n->kind == N_NAME) {
		if (s->c->loops > 0 && span_eq(n->name, "loop"))
			return symbols_fail(s->c, n, "can't assign to 'loop' inside a loop");
		return resolve(s, n, 0);
	}
	for (n = n->list; n; n = n->next)
		if (resolve_target(s, n) < 0)
			return -1;
	return 0;
}

static int uses_list(const struct node *n, const char *name);

/* Whether a name is read anywhere inside. */
static int uses(const struct node *n, const char *name)
{
	if (n->kind == N_NAME)
		return span_eq(n->name, name);
	return (n->a && uses(n->a, name)) || (n->b && uses_list(n->b, name)) ||
	       (n->c && uses(n->c, name)) || (n->d && uses(n->d, name)) ||
	       uses_list(n->list, name) || uses_list(n->els, name);
}

static int uses_list(const struct node *n, const char *name)
{
	for (; n; n = n->next)
		if (uses(n, name))
			return 1;
	return 0;
}

/* The condition of a loop runs in a function of its own, between the iterations: its variables
 * are not those of the body. */
static int resolve_for_test(struct symbols *s, struct node *n)
{
	struct symbols test;

	symbols_inner(&test, s);
	test.apart = ++s->c->apart;
	if (visit_target(&test, n->d, 1) < 0 || visit(&test, n->c) < 0 ||
	    resolve_target(&test, n->d) < 0 || resolve(&test, n->c, 0) < 0)
		return -1;
	symbols_finish(&test, &n->scope[1]);
	return 0;
}

static int resolve_for(struct symbols *s, struct node *n, int soft)
{
	struct symbols body, els;
	int rc;

	if (resolve(s, n->b, soft) < 0)
		return -1;
	s->c->loops++;
	if (n->c && resolve_for_test(s, n) < 0)
		return -1;
	symbols_inner(&body, s);
	if (uses_list(n->list, "loop")) {
		symbols_param(&body, SPAN("loop"));
		n->var = symbols_var(&body, SPAN("loop"));
	}
	rc = visit_target(&body, n->a, 1) < 0 || visit_list(&body, n->list) < 0 ||
	     resolve_target(&body, n->a) < 0 || resolve_list(&body, n->list, 0) < 0;
	symbols_finish(&body, &n->scope[0]);
	if (!rc && n->els) {
		symbols_inner(&els, s);
		rc = visit_list(&els, n->els) < 0 || resolve_list(&els, n->els, 0) < 0;
		symbols_finish(&els, &n->scope[2]);
	}
	s->c->loops--;
	return rc ? -1 : 0;
}

static void declare_special(struct symbols *s, struct node *n, const char *name, uint8_t flag)
{
	for (const struct node *p = n->b; p; p = p->next)
		if (span_eq(p->name, name))
			return;
	if (!uses_list(n->list, name))
		return;
	symbols_param(s, (struct span){name, strlen(name)});
	n->extra |= flag;
}

static int resolve_macro(struct symbols *s, struct node *n)
{
	struct symbols in;
	struct func f;

	symbols_function(&in, s, &f);
	for (struct node *p = n->b; p; p = p->next)
		symbols_param(&in, p->name);
	declare_special(&in, n, "caller", MACRO_CALLER);
	declare_special(&in, n, "kwargs", MACRO_KWARGS);
	declare_special(&in, n, "varargs", MACRO_VARARGS);
	for (struct node *p = n->b; p; p = p->next)
		if (p->a && visit(&in, p->a) < 0)
			return -1;
	if (visit_list(&in, n->list) < 0)
		return -1;
	for (struct node *p = n->b; p; p = p->next) {
		p->var = symbols_var(&in, p->name);
		if (p->a && resolve(&in, p->a, 0) < 0)
			return -1;
	}
	if (resolve_list(&in, n->list, 0) < 0)
		return -1;
	symbols_finish(&in, &n->scope[0]);
	n->slots = (uint16_t)f.n;
	return resolve(s, n->a, 0);
}

/* A set block, a filter block, a generation block: n->b is a filter or NULL. */
static int resolve_block(struct symbols *s, struct node *n)
{
	struct symbols in;

	symbols_inner(&in, s);
	if (visit_list(&in, n->list) < 0 || (n->b && visit(&in, n->b) < 0) ||
	    resolve_list(&in, n->list, 0) < 0 || (n->b && resolve(&in, n->b, 0) < 0))
		return -1;
	symbols_finish(&in, &n->scope[0]);
	return n->a ? resolve_target(s, n->a) : 0;
}

static int resolve_with(struct symbols *s, struct node *n)
{
	struct symbols in;

	symbols_inner(&in, s);
	for (struct node *set = n->b; set; set = set->next)
		symbols_param(&in, set->a->name);
	if (visit_list(&in, n->list) < 0)
		return -1;
	for (struct node *set = n->b; set; set = set->next)
		if (resolve(s, set->b, 0) < 0 || resolve(&in, set->a, 0) < 0)
			return -1;
	if (resolve_list(&in, n->list, 0) < 0)
		return -1;
	symbols_finish(&in, &n->scope[0]);
	return 0;
}

static int resolve_children(struct symbols *s, struct node *n, int soft)
{
	struct node *const child[] = {n->a, n->b, n->c, n->d};

	for (size_t i = 0; i < 4; i++)
		if (child[i] && resolve(s, child[i], soft) < 0)
			return -1;
	return resolve_list(s, n->list, soft);
}

static int check_known(struct symbols *s, const struct node *n, int soft)
{
	char msg[160];

	if (n->callee || soft)
		return 0;
	snprintf(msg, sizeof(msg), "no %s named '%.*s'", n->kind == N_FILTER ? "filter" : "test",
	    n->name.n > 100 ? 100 : (int)n->name.n, n->name.p);
	return symbols_fail(s->c, n, msg);
}

static int resolve_here(struct symbols *s, struct node *n, int soft)
{
	switch (n->kind) {
	case N_NAME: n->var = symbols_var(s, n->name); return 0;
	case N_IF: return resolve_list(s, n->list, 1);
	case N_COND: return resolve_children(s, n, 1);
	case N_FOR: return resolve_for(s, n, soft);
	case N_SET: return resolve(s, n->b, soft) < 0 ? -1 : resolve_target(s, n->a);
	case N_MACRO: return resolve_macro(s, n);
	case N_SET_BLOCK:
	case N_FILTER_BLOCK:
	case N_GENERATION: return resolve_block(s, n);
	case N_WITH: return resolve_with(s, n);
	case N_FILTER:
	case N_TEST:
		if (check_known(s, n, soft) < 0)
			return -1;
		break;
	default: break;
	}
	return resolve_children(s, n, soft);
}

static int resolve(struct symbols *s, struct node *n, int soft)
{
	int rc;

	if (symbols_deeper(s, n) < 0)
		return -1;
	rc = resolve_here(s, n, soft);
	s->c->depth--;
	return rc;
}

int scope_resolve(struct jinja *t, struct err *e)
{
	struct compile c = {.t = t, .e = e};
	struct symbols root;
	struct func f;
	int rc;

	symbols_root(&root, &c, &f);
	rc = visit_list(&root, t->body) < 0 || resolve_list(&root, t->body, 0) < 0;
	if (!rc) {
		symbols_finish(&root, &t->scope);
		t->slots = f.n;
		rc = c.over;
	}
	arena_free(&c.mem);
	return rc ? -1 : 0;
}
