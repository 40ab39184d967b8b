#include "jinja/parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"

struct node *parse_node(struct parser *p, enum node_kind kind, uint32_t at)
{
	struct node *n = arena_alloc(&p->t->mem, sizeof(*n));

	*n = (struct node){.kind = (uint8_t)kind, .at = at, .var = {0, NO_SLOT}};
	return n;
}

int parse_fail(struct parser *p, uint32_t at, const char *fmt, ...)
{
	char msg[sizeof(p->e->msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return jinja_error(p->t, at, msg, p->e);
}

int parse_deeper(struct parser *p)
{
	if (++p->depth > PARSE_DEPTH)
		return parse_fail(p, p->tok->at, "nested deeper than %d", PARSE_DEPTH);
	return 0;
}

void chain_add(struct chain *c, struct node *n)
{
	*(c->end ? c->end : &c->first) = n;
	c->end = &n->next;
}

int at_word(const struct parser *p, const char *word)
{
	return p->tok->kind == T_NAME && span_eq(p->tok->s, word);
}

int take(struct parser *p, enum token_kind kind)
{
	if (p->tok->kind != kind)
		return 0;
	if (kind != T_EOF)
		p->tok++;
	return 1;
}

int take_word(struct parser *p, const char *word)
{
	return at_word(p, word) && take(p, T_NAME);
}

static int cut(size_t n)
{
	return n > 100 ? 100 : (int)n;
}

int need(struct parser *p, enum token_kind kind)
{
	if (take(p, kind))
		return 0;
	if (p->tok->kind == T_NAME)
		return parse_fail(p, p->tok->at, "expected %s, found '%.*s'", token_name(kind),
		    cut(p->tok->s.n), p->tok->s.p);
	return parse_fail(
	    p, p->tok->at, "expected %s, found %s", token_name(kind), token_name(p->tok->kind));
}

static int body_until(
    struct parser *p, const char *const *ends, const struct node *opened, struct node **out);

/* The end of a tag, a body, and the tag `end` that closes it. */
static int closed_body(
    struct parser *p, const char *end, const struct node *opened, struct node **out)
{
	const char *const ends[] = {end, NULL};

	if (body_until(p, ends, opened, out) < 0)
		return -1;
	p->tok++;
	return 0;
}

static struct node *parse_for(struct parser *p, uint32_t at)
{
	static const char *const ends[] = {"endfor", "else", NULL};
	struct node *n = parse_node(p, N_FOR, at);
	const struct token *target = p->tok;

	n->a = parse_target(p, 0, "in");
	if (!n->a)
		return NULL;
	if (!take_word(p, "in")) {
		parse_fail(p, p->tok->at, "expected 'in'");
		return NULL;
	}
	n->b = parse_tuple(p, 0, "recursive");
	if (!n->b)
		return NULL;
	if (take_word(p, "if")) {
		const struct token *here;

		n->c = parse_expr(p);
		if (!n->c)
			return NULL;
		here = p->tok;
		p->tok = target;
		n->d = parse_target(p, 0, "in"); /* again: its variables are others */
		p->tok = here;
	}
	if (at_word(p, "recursive")) {
		parse_fail(p, p->tok->at, "recursive loops are not supported");
		return NULL;
	}
	p->loops++;
	if (body_until(p, ends, n, &n->list) < 0)
		return NULL;
	p->loops--;
	if (take_word(p, "endfor"))
		return n;
	p->tok++;
	return closed_body(p, "endfor", n, &n->els) < 0 ? NULL : n;
}

static struct node *parse_if(struct parser *p, uint32_t at)
{
	static const char *const ends[] = {"elif", "else", "endif", NULL};
	struct node *n = parse_node(p, N_IF, at);
	struct chain branches = {0};

	for (;;) {
		struct node *b = parse_node(p, N_BRANCH, p->tok->at);

		b->a = parse_tuple(p, 0, NULL);
		if (!b->a || body_until(p, ends, n, &b->list) < 0)
			return NULL;
		chain_add(&branches, b);
		n->list = branches.first;
		if (take_word(p, "elif"))
			continue;
		if (take_word(p, "endif"))
			return n;
		p->tok++;
		b = parse_node(p, N_BRANCH, p->tok->at);
		chain_add(&branches, b);
		return closed_body(p, "endif", n, &b->list) < 0 ? NULL : n;
	}
}

static struct node *parse_set(struct parser *p, uint32_t at)
{
	struct node *n = parse_node(p, N_SET, at);

	n->a = parse_target(p, 1, NULL);
	if (!n->a)
		return NULL;
	if (take(p, T_ASSIGN)) {
		n->b = parse_tuple(p, 1, NULL);
		return n->b ? n : NULL;
	}
	n->kind = N_SET_BLOCK;
	if (p->tok->kind == T_PIPE) {
		n->b = parse_filters(p, NULL, 0);
		if (!n->b)
			return NULL;
	}
	return closed_body(p, "endset", n, &n->list) < 0 ? NULL : n;
}

/* (a, b=1) */
static int parse_params(struct parser *p, struct node **out)
{
	struct chain params = {0};
	int defaults = 0;

	if (need(p, T_LPAREN) < 0)
		return -1;
	while (p->tok->kind != T_RPAREN) {
		struct node *n;

		if (params.first && need(p, T_COMMA) < 0)
			return -1;
		n = parse_node(p, N_PARAM, p->tok->at);
		n->name = p->tok->s;
		if (need(p, T_NAME) < 0)
			return -1;
		for (const struct node *o = params.first; o; o = o->next)
			if (span_same(o->name, n->name))
				return parse_fail(
				    p, n->at, "two parameters '%.*s'", cut(n->name.n), n->name.p);
		if (take(p, T_ASSIGN)) {
			n->a = parse_expr(p);
			if (!n->a)
				return -1;
			defaults = 1;
		} else if (defaults) {
			return parse_fail(
			    p, n->at, "a parameter without a default behind one with");
		}
		chain_add(&params, n);
	}
	*out = params.first;
	return need(p, T_RPAREN);
}

static struct node *parse_macro(struct parser *p, uint32_t at)
{
	struct node *n = parse_node(p, N_MACRO, at);
	unsigned loops = p->loops;

	n->name = p->tok->s;
	if (need(p, T_NAME) < 0 || parse_params(p, &n->b) < 0)
		return NULL;
	n->a = parse_node(p, N_NAME, at);
	n->a->name = n->name;
	p->loops = 0;
	if (closed_body(p, "endmacro", n, &n->list) < 0)
		return NULL;
	p->loops = loops;
	return n;
}

static struct node *parse_with(struct parser *p, uint32_t at)
{
	struct node *n = parse_node(p, N_WITH, at);
	struct chain sets = {0};

	while (p->tok->kind != T_BLOCK_END) {
		struct node *s = parse_node(p, N_SET, p->tok->at);

		if (sets.first && need(p, T_COMMA) < 0)
			return NULL;
		s->a = parse_node(p, N_NAME, p->tok->at);
		s->a->name = p->tok->s;
		if (need(p, T_NAME) < 0 || need(p, T_ASSIGN) < 0)
			return NULL;
		s->b = parse_expr(p);
		if (!s->b)
			return NULL;
		chain_add(&sets, s);
	}
	n->b = sets.first;
	return closed_body(p, "endwith", n, &n->list) < 0 ? NULL : n;
}

static struct node *parse_filter_block(struct parser *p, uint32_t at)
{
	struct node *n = parse_node(p, N_FILTER_BLOCK, at);

	n->b = parse_filters(p, NULL, 1);
	return !n->b || closed_body(p, "endfilter", n, &n->list) < 0 ? NULL : n;
}

/* transformers makes the body a function of its own: break can't leave it. */
static struct node *parse_generation(struct parser *p, uint32_t at)
{
	struct node *n = parse_node(p, N_GENERATION, at);
	unsigned loops = p->loops;

	p->loops = 0;
	if (closed_body(p, "endgeneration", n, &n->list) < 0)
		return NULL;
	p->loops = loops;
	return n;
}

static struct node *parse_jump(struct parser *p, uint32_t at, enum node_kind kind)
{
	if (p->loops > 0)
		return parse_node(p, kind, at);
	parse_fail(p, at, "'%s' outside a loop", kind == N_BREAK ? "break" : "continue");
	return NULL;
}

static struct node *parse_break(struct parser *p, uint32_t at)
{
	return parse_jump(p, at, N_BREAK);
}

static struct node *parse_continue(struct parser *p, uint32_t at)
{
	return parse_jump(p, at, N_CONTINUE);
}

static const struct {
	const char *name;
	struct node *(*parse)(struct parser *, uint32_t); /* NULL: Jinja2 has it, we don't */
} statements[] = {
    {"if", parse_if},
    {"for", parse_for},
    {"set", parse_set},
    {"macro", parse_macro},
    {"filter", parse_filter_block},
    {"generation", parse_generation},
    {"with", parse_with},
    {"break", parse_break},
    {"continue", parse_continue},
    {"autoescape", NULL},
    {"block", NULL},
    {"call", NULL},
    {"extends", NULL},
    {"from", NULL},
    {"import", NULL},
    {"include", NULL},
    {"print", NULL},
};

/* Behind {%. */
static struct node *parse_statement(struct parser *p)
{
	const struct token *tag = p->tok;
	struct node *n;

	if (need(p, T_NAME) < 0)
		return NULL;
	for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
		if (!span_eq(tag->s, statements[i].name))
			continue;
		if (!statements[i].parse) {
			parse_fail(
			    p, tag->at, "the statement '%s' is not supported", statements[i].name);
			return NULL;
		}
		if (parse_deeper(p) < 0)
			return NULL;
		n = statements[i].parse(p, tag->at);
		p->depth--;
		return n;
	}
	parse_fail(p, tag->at, "unknown tag '%.*s'", cut(tag->s.n), tag->s.p);
	return NULL;
}

static int ends_body(const struct parser *p, const char *const *ends)
{
	for (; ends && *ends; ends++)
		if (at_word(p, *ends))
			return 1;
	return 0;
}

static struct node *parse_print(struct parser *p)
{
	struct node *n = parse_node(p, N_PRINT, p->tok->at);

	p->tok++;
	n->a = parse_tuple(p, 1, NULL);
	return n->a && need(p, T_PRINT_END) == 0 ? n : NULL;
}

/* Statements up to a tag out of `ends`, whose word is the current token then; without ends to the
 * end of the template. */
static int parse_body(struct parser *p, const char *const *ends, struct node **out)
{
	struct chain body = {0};

	while (p->tok->kind != T_EOF) {
		struct node *n;

		if (p->tok->kind == T_DATA) {
			n = parse_node(p, N_DATA, p->tok->at);
			n->name = p->tok->s;
			p->tok++;
		} else if (p->tok->kind == T_PRINT_BEGIN) {
			n = parse_print(p);
		} else {
			if (need(p, T_BLOCK_BEGIN) < 0)
				return -1;
			if (ends_body(p, ends)) {
				*out = body.first;
				return 0;
			}
			n = parse_statement(p);
			if (n && need(p, T_BLOCK_END) < 0)
				return -1;
		}
		if (!n)
			return -1;
		chain_add(&body, n);
	}
	*out = body.first;
	return 0;
}

static int body_until(
    struct parser *p, const char *const *ends, const struct node *opened, struct node **out)
{
	take(p, T_COLON); /* allowed, as in Python */
	if (need(p, T_BLOCK_END) < 0 || parse_body(p, ends, out) < 0)
		return -1;
	if (p->tok->kind == T_EOF)
		return parse_fail(p, opened->at, "the block has no {%% %s %%}",
		    ends[1] && ends[2] ? ends[2] : ends[0]);
	return 0;
}

int parse_template(struct jinja *t, const struct tokens *tokens, struct err *e)
{
	struct parser p = {.t = t, .tok = tokens->v, .e = e};

	return parse_body(&p, NULL, &t->body);
}
