#include <string.h>

#include "jinja/builtins.h"
#include "jinja/parse.h"

static struct node *fail(struct parser *p, uint32_t at, const char *msg)
{
	parse_fail(p, at, "%s", msg);
	return NULL;
}

/* ---- atoms ---- */

static int constant(struct parser *p, struct value *out)
{
	if (at_word(p, "true") || at_word(p, "True"))
		value_bool(out, 1);
	else if (at_word(p, "false") || at_word(p, "False"))
		value_bool(out, 0);
	else if (at_word(p, "none") || at_word(p, "None"))
		value_none(out);
	else
		return 0;
	return 1;
}

static struct node *parse_name(struct parser *p)
{
	struct node *n = parse_node(p, N_NAME, p->tok->at);

	n->name = p->tok->s;
	if (constant(p, &n->value))
		n->kind = N_CONST;
	p->tok++;
	return n;
}

/* Literals that follow one another are one. */
static struct node *parse_string(struct parser *p)
{
	struct node *n = parse_node(p, N_CONST, p->tok->at);
	const struct token *first = p->tok;
	size_t len = 0, at = 0;
	char *s;

	for (; p->tok->kind == T_STRING; p->tok++)
		len += p->tok->s.n;
	if (p->tok == first + 1) {
		value_str(&n->value, first->s.p, len);
		return n;
	}
	s = arena_alloc(&p->t->mem, len);
	for (const struct token *t = first; t < p->tok; t++) {
		memcpy(s + at, t->s.p, t->s.n);
		at += t->s.n;
	}
	value_str(&n->value, s, len);
	return n;
}

static struct node *parse_list(struct parser *p)
{
	struct node *n = parse_node(p, N_LIST, p->tok->at);
	struct chain items = {0};

	p->tok++;
	while (p->tok->kind != T_RBRACKET) {
		struct node *item;

		if (items.first && need(p, T_COMMA) < 0)
			return NULL;
		if (p->tok->kind == T_RBRACKET)
			break;
		item = parse_expr(p);
		if (!item)
			return NULL;
		chain_add(&items, item);
	}
	n->list = items.first;
	p->tok++;
	return n;
}

static struct node *parse_dict(struct parser *p)
{
	struct node *n = parse_node(p, N_DICT, p->tok->at);
	struct chain items = {0};

	p->tok++;
	while (p->tok->kind != T_RBRACE) {
		struct node *key, *val;

		if (items.first && need(p, T_COMMA) < 0)
			return NULL;
		if (p->tok->kind == T_RBRACE)
			break;
		key = parse_expr(p);
		if (!key || need(p, T_COLON) < 0)
			return NULL;
		val = parse_expr(p);
		if (!val)
			return NULL;
		chain_add(&items, key);
		chain_add(&items, val);
	}
	n->list = items.first;
	p->tok++;
	return n;
}

static int ends_tuple(const struct parser *p, const char *stop)
{
	return p->tok->kind == T_PRINT_END || p->tok->kind == T_BLOCK_END ||
	       p->tok->kind == T_RPAREN || (stop && at_word(p, stop));
}

/* Items by `item`; empty only in parentheses. */
static struct node *tuple_of(
    struct parser *p, struct node *(*item)(struct parser *), const char *stop, int parentheses)
{
	struct node *n = parse_node(p, N_TUPLE, p->tok->at);
	struct chain items = {0};
	int commas = 0;

	while (!ends_tuple(p, stop)) {
		struct node *one = item(p);

		if (!one)
			return NULL;
		chain_add(&items, one);
		if (!take(p, T_COMMA))
			break;
		commas = 1;
	}
	n->list = items.first;
	if (commas)
		return n;
	if (items.first)
		return items.first;
	return parentheses ? n : fail(p, p->tok->at, "expected an expression");
}

struct node *parse_tuple(struct parser *p, int with_cond, const char *stop)
{
	return tuple_of(p, with_cond ? parse_expr : parse_expr_no_cond, stop, 0);
}

static struct node *parse_parentheses(struct parser *p)
{
	struct node *n;

	p->tok++;
	n = tuple_of(p, parse_expr, NULL, 1);
	return n && need(p, T_RPAREN) == 0 ? n : NULL;
}

struct node *parse_atom(struct parser *p)
{
	struct node *n;

	switch (p->tok->kind) {
	case T_NAME: return parse_name(p);
	case T_STRING: return parse_string(p);
	case T_NUMBER:
		n = parse_node(p, N_CONST, p->tok->at);
		n->value = p->tok->value;
		p->tok++;
		return n;
	case T_LPAREN: return parse_parentheses(p);
	case T_LBRACKET: return parse_list(p);
	case T_LBRACE: return parse_dict(p);
	default:
		parse_fail(
		    p, p->tok->at, "expected an expression, found %s", token_name(p->tok->kind));
		return NULL;
	}
}

/* ---- targets ---- */

static struct node *target_item(struct parser *p)
{
	struct node *n = NULL;

	if (p->tok->kind == T_LPAREN) {
		p->tok++;
		if (parse_deeper(p) < 0)
			return NULL;
		n = tuple_of(p, target_item, NULL, 1);
		p->depth--;
		return n && need(p, T_RPAREN) == 0 ? n : NULL;
	}
	if (p->tok->kind == T_NAME)
		n = parse_name(p);
	if (!n || n->kind != N_NAME)
		return fail(p, n ? n->at : p->tok->at, "can't assign to this");
	return n;
}

static struct node *target_item_ns(struct parser *p)
{
	struct node *name, *n;

	if (p->tok->kind != T_NAME || p->tok[1].kind != T_DOT)
		return target_item(p);
	n = parse_node(p, N_NSREF, p->tok->at);
	name = parse_name(p);
	if (name->kind != N_NAME)
		return fail(p, name->at, "can't assign to this");
	p->tok++;
	n->a = name;
	n->name = p->tok->s;
	return need(p, T_NAME) == 0 ? n : NULL;
}

struct node *parse_target(struct parser *p, int ns, const char *stop)
{
	return tuple_of(p, ns ? target_item_ns : target_item, stop, 0);
}

/* ---- postfix, filters, tests ---- */

static struct node *parse_argument(struct parser *p)
{
	uint32_t at = p->tok->at;
	struct node *n;

	if (take(p, T_MUL))
		return parse_node1(p, N_STAR, at, parse_expr(p));
	if (take(p, T_POW))
		return parse_node1(p, N_STARSTAR, at, parse_expr(p));
	if (p->tok->kind == T_NAME && p->tok[1].kind == T_ASSIGN) {
		struct span name = p->tok->s;

		p->tok += 2;
		n = parse_node1(p, N_KEYWORD, at, parse_expr(p));
		if (n)
			n->name = name;
		return n;
	}
	return parse_expr(p);
}

static int order_of(const struct node *n)
{
	return n->kind == N_STARSTAR ? 3 : n->kind == N_KEYWORD ? 1 : n->kind == N_STAR ? 2 : 0;
}

/* Positional before named, * once, ** last, no name twice. */
static int check_argument(struct parser *p, const struct node *list, const struct node *n)
{
	int star = 0, starstar = 0, named = 0, kind = order_of(n);

	for (const struct node *o = list; o; o = o->next) {
		int k = order_of(o);

		star |= k == 2;
		starstar |= k == 3;
		named |= k == 1;
		if (kind == 1 && k == 1 && span_same(o->name, n->name))
			return parse_fail(p, n->at, "an argument is given twice");
	}
	if (starstar || (kind == 2 && star) || (kind == 0 && (star || named)))
		return parse_fail(p, n->at, "arguments in the wrong order");
	return 0;
}

/* Behind the parenthesis. */
static int parse_arguments(struct parser *p, struct node **out)
{
	struct chain args = {0};

	while (p->tok->kind != T_RPAREN) {
		struct node *n;

		if (args.first) {
			if (need(p, T_COMMA) < 0)
				return -1;
			if (p->tok->kind == T_RPAREN)
				break;
		}
		n = parse_argument(p);
		if (!n || check_argument(p, args.first, n) < 0)
			return -1;
		chain_add(&args, n);
	}
	*out = args.first;
	p->tok++;
	return 0;
}

static struct node *parse_call(struct parser *p, struct node *callee)
{
	struct node *n = parse_node1(p, N_CALL, p->tok->at, callee);

	p->tok++;
	return n && parse_arguments(p, &n->list) == 0 ? n : NULL;
}

/* x[a, b]: the index is a tuple. */
static struct node *parse_indexes(struct parser *p, struct node *first)
{
	struct node *n = parse_node(p, N_TUPLE, first->at);
	struct chain items = {0};

	chain_add(&items, first);
	while (take(p, T_COMMA)) {
		struct node *item = parse_expr(p);

		if (!item)
			return NULL;
		chain_add(&items, item);
	}
	n->list = items.first;
	return n;
}

/* One of a:b:c, or an index. */
static struct node *parse_subscript(struct parser *p, struct node *of)
{
	struct node *n = parse_node1(p, N_ITEM, p->tok->at, of), **part[3];

	p->tok++;
	part[0] = &n->b;
	part[1] = &n->c;
	part[2] = &n->d;
	for (int i = 0; i < 3; i++) {
		if (p->tok->kind != T_COLON && p->tok->kind != T_RBRACKET) {
			*part[i] = parse_expr(p);
			if (!*part[i])
				return NULL;
		}
		if (i == 2 || !take(p, T_COLON))
			break;
		n->kind = N_SLICE;
	}
	if (n->kind == N_ITEM && !n->b)
		return fail(p, p->tok->at, "expected an index");
	if (n->kind == N_ITEM && p->tok->kind == T_COMMA) {
		n->b = parse_indexes(p, n->b);
		if (!n->b)
			return NULL;
	}
	return need(p, T_RBRACKET) == 0 ? n : NULL;
}

static struct node *parse_dot(struct parser *p, struct node *of)
{
	struct node *n = parse_node1(p, N_ATTR, p->tok->at, of);

	p->tok++;
	if (p->tok->kind == T_NUMBER && p->tok->value.kind == V_INT) {
		n->kind = N_ITEM;
		n->b = parse_node(p, N_CONST, p->tok->at);
		n->b->value = p->tok->value;
		p->tok++;
		return n;
	}
	n->name = p->tok->s;
	n->extra = attr_is_key(n->name) ? ATTR_KEY : 0;
	return need(p, T_NAME) == 0 ? n : NULL;
}

struct node *parse_postfix(struct parser *p, struct node *n)
{
	while (n) {
		if (p->tok->kind == T_DOT)
			n = parse_dot(p, n);
		else if (p->tok->kind == T_LBRACKET)
			n = parse_subscript(p, n);
		else if (p->tok->kind == T_LPAREN)
			n = parse_call(p, n);
		else
			break;
	}
	return n;
}

struct node *parse_filters(struct parser *p, struct node *operand, int first)
{
	while (first || take(p, T_PIPE)) {
		struct node *n = parse_node(p, N_FILTER, p->tok->at);

		first = 0;
		n->a = operand;
		n->name = p->tok->s;
		if (need(p, T_NAME) < 0)
			return NULL;
		n->callee = filter_find(n->name);
		if (take(p, T_LPAREN) && parse_arguments(p, &n->list) < 0)
			return NULL;
		operand = n;
	}
	return operand;
}

/* Whether an argument without parentheses follows: `x is divisibleby 3`. */
static int bare_argument(const struct parser *p)
{
	enum token_kind k = p->tok->kind;

	if (k == T_NAME)
		return !at_word(p, "else") && !at_word(p, "or") && !at_word(p, "and");
	return k == T_STRING || k == T_NUMBER || k == T_LBRACKET || k == T_LBRACE;
}

/* Behind `is`. */
static struct node *parse_test(struct parser *p, struct node *operand, uint32_t at)
{
	int negated = take_word(p, "not");
	struct node *n = parse_node1(p, N_TEST, at, operand);

	n->name = p->tok->s;
	if (need(p, T_NAME) < 0)
		return NULL;
	n->callee = test_find(n->name);
	if (take(p, T_LPAREN)) {
		if (parse_arguments(p, &n->list) < 0)
			return NULL;
	} else if (bare_argument(p)) {
		if (at_word(p, "is"))
			return fail(p, p->tok->at, "tests can't be chained with 'is'");
		n->list = parse_postfix(p, parse_atom(p));
		if (!n->list)
			return NULL;
	}
	return negated ? parse_node1(p, N_NOT, at, n) : n;
}

struct node *parse_filters_and_tests(struct parser *p, struct node *n)
{
	while (n) {
		uint32_t at = p->tok->at;

		if (p->tok->kind == T_PIPE)
			n = parse_filters(p, n, 0);
		else if (take_word(p, "is"))
			n = parse_test(p, n, at);
		else if (p->tok->kind == T_LPAREN)
			n = parse_call(p, n);
		else
			break;
	}
	return n;
}
