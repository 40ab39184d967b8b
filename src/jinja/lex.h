/* lex.h - template text to tokens, with Jinja's rules of white space
 *
 * trim_blocks: the newline behind a block tag or comment goes. lstrip_blocks: blanks between the
 * start of a line and such a tag go. Neither is true of {{ }}. "-" inside a delimiter removes all
 * white space on its side, "+" turns trim or lstrip off there.
 */
#ifndef E3_JINJA_LEX_H
#define E3_JINJA_LEX_H

#include "jinja/ast.h"

enum token_kind {
	T_EOF,
	T_DATA,
	T_BLOCK_BEGIN, /* {% */
	T_BLOCK_END,
	T_PRINT_BEGIN, /* {{ */
	T_PRINT_END,
	T_NAME,
	T_STRING,
	T_NUMBER, /* value */
	T_ADD,
	T_SUB,
	T_MUL,
	T_DIV,
	T_FLOORDIV,
	T_MOD,
	T_POW,
	T_TILDE,
	T_LBRACKET,
	T_RBRACKET,
	T_LPAREN,
	T_RPAREN,
	T_LBRACE,
	T_RBRACE,
	T_EQ,
	T_NE,
	T_LT,
	T_LE,
	T_GT,
	T_GE,
	T_ASSIGN,
	T_DOT,
	T_COLON,
	T_PIPE,
	T_COMMA,
	T_SEMICOLON,
};

struct token {
	enum token_kind kind;
	uint32_t at;
	struct span s;	    /* T_DATA, T_NAME; T_STRING: its value */
	struct value value; /* T_NUMBER */
};

struct tokens {
	struct token *v;
	size_t n, cap;
};

/* Ends with T_EOF. tokens_free after use; the texts live in the template. */
int lex(struct jinja *t, struct tokens *out, struct err *e);
void tokens_free(struct tokens *t);

const char *token_name(enum token_kind kind);

#endif
