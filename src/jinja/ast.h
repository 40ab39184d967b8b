/* ast.h - a template, parsed
 *
 * One kind of node for everything, in the template's arena; what its members mean depends on the
 * kind and stands in the list below. Lists are chained by `next`.
 */
#ifndef E3_JINJA_AST_H
#define E3_JINJA_AST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "jinja/value.h"

struct err;

enum node_kind {
	/* statements */
	N_DATA,		/* name: the text */
	N_PRINT,	/* a: expression */
	N_FOR,		/* a: target, b: iterable, c: condition or NULL, d: the target again for the
			 * condition, list: body, els: else; scope 0 body, 1 condition, 2 else; var:
			 * the loop variable's slot when the body uses it, else slot NO_SLOT */
	N_IF,		/* list: N_BRANCH... */
	N_BRANCH,	/* a: condition, NULL for else; list: body */
	N_SET,		/* a: target, b: value */
	N_SET_BLOCK,	/* a: target, b: filter or NULL, list: body; scope 0 */
	N_MACRO,	/* name, a: N_NAME that takes it, b: N_PARAM..., list: body; scope 0, slots;
			 * extra: MACRO_* */
	N_PARAM,	/* name, a: default or NULL; var */
	N_FILTER_BLOCK, /* b: filter, list: body; scope 0 */
	N_GENERATION,	/* list: body; scope 0 */
	N_WITH,		/* b: N_SET..., list: body; scope 0 */
	N_BREAK,
	N_CONTINUE,
	/* expressions */
	N_CONST, /* value */
	N_NAME,	 /* name; var */
	N_NSREF, /* a: N_NAME of the namespace, name: the attribute; a target only */
	N_TUPLE,
	N_LIST, /* list: items */
	N_DICT, /* list: key, value, key, value... */
	N_COND, /* a: condition, b: then, c: else or NULL */
	N_AND,
	N_OR, /* a, b */
	N_NOT,
	N_NEG,
	N_POS, /* a */
	N_ADD,
	N_SUB,
	N_MUL,
	N_DIV,
	N_FLOORDIV,
	N_MOD,
	N_POW,	   /* a, b */
	N_CONCAT,  /* list */
	N_COMPARE, /* a, list: N_OPERAND... */
	N_OPERAND, /* op: enum compare_op, a */
	N_ATTR,	   /* a, name; extra: ATTR_KEY */
	N_ITEM,	   /* a, b: index */
	N_SLICE,   /* a, b: start, c: stop, d: step; each NULL or an expression */
	N_CALL,	   /* a: what is called, list: arguments */
	N_FILTER,
	N_TEST,	   /* a: operand (NULL in the filter of a block), name, list; callee */
	N_KEYWORD, /* name, a: an argument by name */
	N_STAR,
	N_STARSTAR, /* a: arguments from a list or a dict */
	N_KINDS,
};

enum compare_op { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_IN, CMP_NOT_IN };

/* What a macro's body uses besides its parameters; each has a slot behind theirs, in this order. */
enum { MACRO_CALLER = 1, MACRO_KWARGS = 2, MACRO_VARARGS = 4 };

/* Of a dict the name can only be a key. */
enum { ATTR_KEY = 1 };

#define NO_SLOT UINT16_MAX

/* Where a variable lives: in the frame so many macros outside, at a slot. */
struct var {
	uint16_t hops, slot;
};

/* What a scope sets when it is entered. Left, all its slots are unset. */
enum load_action { LOAD_PARAM, LOAD_UNSET, LOAD_GLOBAL, LOAD_ALIAS };

struct load {
	uint8_t action;
	uint16_t slot;
	struct var from; /* LOAD_ALIAS */
	uint32_t global; /* LOAD_GLOBAL: number of a free name */
};

struct scope {
	struct load *load;
	size_t n;
};

struct node {
	uint8_t kind, op, extra;
	uint16_t slots; /* N_MACRO: of a frame */
	uint32_t at;	/* offset in the template's text */
	struct var var;
	struct node *next;
	struct node *a, *b, *c, *d;
	struct node *list, *els;
	struct span name;
	struct value value;
	struct scope scope[3];
	const struct callable *callee;
};

struct jinja {
	char *name;
	struct span text; /* with line ends made LF and the last one removed */
	struct arena mem;
	struct node *body;
	struct scope scope;
	size_t slots;
	struct span *global; /* the free names */
	size_t nglobal, capglobal;
};

/* "NAME:LINE:COLUMN: msg" of class "template"; returns -1. */
int jinja_error(const struct jinja *t, uint32_t at, const char *msg, struct err *e);

#endif
