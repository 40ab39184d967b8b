/* parse.h - tokens to nodes
 *
 *	statements  parse.c: {% for %}, {% if %}, {% macro %}, {% set %} ...
 *	expressions parse_expr.c, loosest first: inline if, or, and, not, comparisons, + -, ~,
 *		    * / // %, **, unary
 *	operands    parse_atom.c: literals, names, postfix (.x [x] (x)), filters and tests; targets
 *
 * Recursion is bounded by PARSE_DEPTH.
 */
#ifndef E3_JINJA_PARSE_H
#define E3_JINJA_PARSE_H

#include "jinja/ast.h"
#include "jinja/lex.h"

#define PARSE_DEPTH 150

struct parser {
	struct jinja *t;
	const struct token *tok; /* the current one */
	unsigned depth;
	unsigned loops; /* enclosing ones that break can leave */
	struct err *e;
};

/* Fills t->body. */
int parse_template(struct jinja *t, const struct tokens *tokens, struct err *e);

/* ---- between the three files; NULL and -1 are errors ---- */

struct node *parse_node(struct parser *p, enum node_kind kind, uint32_t at);
int parse_fail(struct parser *p, uint32_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int parse_deeper(struct parser *p);

int at_word(const struct parser *p, const char *word);
int take(struct parser *p, enum token_kind kind); /* 1: was there, and is behind us */
int take_word(struct parser *p, const char *word);
int need(struct parser *p, enum token_kind kind);

struct node *parse_node1(struct parser *p, enum node_kind kind, uint32_t at, struct node *a);
struct node *parse_expr(struct parser *p);
struct node *parse_expr_no_cond(struct parser *p); /* without an inline if */
/* a, b, c: a tuple; one expression without a comma is itself. `stop` (may be NULL) is a word that
 * ends it. */
struct node *parse_tuple(struct parser *p, int with_cond, const char *stop);
/* A target of set or for: names, a.b where `ns`, tuples of them. */
struct node *parse_target(struct parser *p, int ns, const char *stop);
struct node *parse_atom(struct parser *p);
struct node *parse_postfix(struct parser *p, struct node *n);
struct node *parse_filters_and_tests(struct parser *p, struct node *n);
/* |a|b(c) over `operand`, which is NULL for the filter of a block; `first`: without its bar. */
struct node *parse_filters(struct parser *p, struct node *operand, int first);

/* A list under construction. */
struct chain {
	struct node *first, **end;
};
void chain_add(struct chain *c, struct node *n);

#endif
