#include "jinja/parse.h"

struct node *parse_node1(struct parser *p, enum node_kind kind, uint32_t at, struct node *a)
{
	struct node *n;

	if (!a)
		return NULL;
	n = parse_node(p, kind, at);
	n->a = a;
	return n;
}

static struct node *node2(
    struct parser *p, enum node_kind kind, uint32_t at, struct node *a, struct node *b)
{
	struct node *n = b ? parse_node1(p, kind, at, a) : NULL;

	if (n)
		n->b = b;
	return n;
}

static struct node *parse_unary(struct parser *p, int with_filter)
{
	uint32_t at = p->tok->at;
	struct node *n;

	if (parse_deeper(p) < 0)
		return NULL;
	if (take(p, T_SUB))
		n = parse_node1(p, N_NEG, at, parse_unary(p, 0));
	else if (take(p, T_ADD))
		n = parse_node1(p, N_POS, at, parse_unary(p, 0));
	else
		n = parse_atom(p);
	n = parse_postfix(p, n);
	if (with_filter)
		n = parse_filters_and_tests(p, n);
	p->depth--;
	return n;
}

/* Left to right, in Jinja2 also for **. */
static struct node *parse_pow(struct parser *p)
{
	struct node *n = parse_unary(p, 1);

	while (n && p->tok->kind == T_POW) {
		uint32_t at = p->tok++->at;

		n = node2(p, N_POW, at, n, parse_unary(p, 1));
	}
	return n;
}

static struct node *parse_product(struct parser *p)
{
	struct node *n = parse_pow(p);

	while (n) {
		enum token_kind k = p->tok->kind;
		enum node_kind kind = k == T_MUL	? N_MUL
				      : k == T_DIV	? N_DIV
				      : k == T_FLOORDIV ? N_FLOORDIV
				      : k == T_MOD	? N_MOD
							: N_KINDS;
		uint32_t at = p->tok->at;

		if (kind == N_KINDS)
			break;
		p->tok++;
		n = node2(p, kind, at, n, parse_pow(p));
	}
	return n;
}

static struct node *parse_concat(struct parser *p)
{
	struct node *n = parse_product(p), *all;
	struct chain parts = {0};

	if (!n || p->tok->kind != T_TILDE)
		return n;
	all = parse_node(p, N_CONCAT, p->tok->at);
	chain_add(&parts, n);
	while (take(p, T_TILDE)) {
		n = parse_product(p);
		if (!n)
			return NULL;
		chain_add(&parts, n);
	}
	all->list = parts.first;
	return all;
}

static struct node *parse_sum(struct parser *p)
{
	struct node *n = parse_concat(p);

	while (n && (p->tok->kind == T_ADD || p->tok->kind == T_SUB)) {
		enum node_kind kind = p->tok->kind == T_ADD ? N_ADD : N_SUB;
		uint32_t at = p->tok++->at;

		n = node2(p, kind, at, n, parse_concat(p));
	}
	return n;
}

/* The comparison at the current token, which is taken; -1: none. */
static int take_comparison(struct parser *p)
{
	static const struct {
		enum token_kind token;
		enum compare_op op;
	} ops[] = {{T_EQ, CMP_EQ}, {T_NE, CMP_NE}, {T_LT, CMP_LT}, {T_LE, CMP_LE}, {T_GT, CMP_GT},
	    {T_GE, CMP_GE}};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (take(p, ops[i].token))
			return (int)ops[i].op;
	if (take_word(p, "in"))
		return CMP_IN;
	if (at_word(p, "not") && p->tok[1].kind == T_NAME && span_eq(p->tok[1].s, "in")) {
		p->tok += 2;
		return CMP_NOT_IN;
	}
	return -1;
}

static struct node *parse_compare(struct parser *p)
{
	struct node *n = parse_sum(p), *all;
	uint32_t at = p->tok->at;
	struct chain operands = {0};
	int op = n ? take_comparison(p) : -1;

	if (op < 0)
		return n;
	all = parse_node1(p, N_COMPARE, at, n);
	for (; op >= 0; op = take_comparison(p)) {
		n = parse_node1(p, N_OPERAND, p->tok->at, parse_sum(p));
		if (!n)
			return NULL;
		n->op = (uint8_t)op;
		chain_add(&operands, n);
	}
	all->list = operands.first;
	return all;
}

static struct node *parse_not(struct parser *p)
{
	uint32_t at = p->tok->at;
	struct node *n;

	if (!take_word(p, "not"))
		return parse_compare(p);
	if (parse_deeper(p) < 0)
		return NULL;
	n = parse_node1(p, N_NOT, at, parse_not(p));
	p->depth--;
	return n;
}

static struct node *parse_and(struct parser *p)
{
	struct node *n = parse_not(p);
	uint32_t at = p->tok->at;

	while (n && take_word(p, "and"))
		n = node2(p, N_AND, at, n, parse_not(p));
	return n;
}

struct node *parse_expr_no_cond(struct parser *p)
{
	struct node *n = parse_and(p);
	uint32_t at = p->tok->at;

	while (n && take_word(p, "or"))
		n = node2(p, N_OR, at, n, parse_and(p));
	return n;
}

struct node *parse_expr(struct parser *p)
{
	struct node *n = parse_expr_no_cond(p);
	uint32_t at = p->tok->at;

	while (n && take_word(p, "if")) {
		n = node2(p, N_COND, at, parse_expr_no_cond(p), n);
		if (n && take_word(p, "else")) {
			if (parse_deeper(p) < 0)
				return NULL;
			n->c = parse_expr(p);
			p->depth--;
			if (!n->c)
				return NULL;
		}
	}
	return n;
}
