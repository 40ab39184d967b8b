/* symbols.h - the names of one scope while a template is compiled (see scope.h) */
#ifndef E3_JINJA_SYMBOLS_H
#define E3_JINJA_SYMBOLS_H

#include "jinja/ast.h"

struct compile {
	struct jinja *t;
	struct err *e;
	struct arena mem;
	unsigned depth, loops, apart;
	int over; /* more slots than a frame can have; the error is set */
};

/* The slots of one frame. */
struct func {
	struct func *outer;
	struct slot_name {
		struct span name;
		unsigned level, apart;
	} * v;
	size_t n, cap;
};

struct symbol {
	struct span name;
	uint8_t action; /* enum load_action */
	uint8_t stored;
	struct func *func; /* where it lives: its own slot ... */
	uint16_t slot;
	struct func *from_func; /* ... and the one a LOAD_ALIAS starts from */
	uint16_t from_slot;
};

struct symbols {
	struct compile *c;
	struct symbols *parent;
	const struct symbols *base; /* of a branch */
	struct func *func;
	unsigned level;
	unsigned apart; /* not 0: slots that no other scope of this level shares */
	struct symbol *v;
	size_t n, cap;
};

void symbols_root(struct symbols *s, struct compile *c, struct func *f);
void symbols_inner(struct symbols *s, struct symbols *parent);
void symbols_function(struct symbols *s, struct symbols *parent, struct func *f);
/* A branch of an if: sees the scope's symbols, keeps its own until they are merged. What only
 * some branches set starts as what it is without them. */
void symbols_branch(struct symbols *s, const struct symbols *of);
void symbols_merge(struct symbols *s, const struct symbols *branch);

void symbols_load(struct symbols *s, struct span name);
void symbols_store(struct symbols *s, struct span name);
void symbols_param(struct symbols *s, struct span name);

struct var symbols_var(struct symbols *s, struct span name);
void symbols_finish(const struct symbols *s, struct scope *out);

int symbols_fail(struct compile *c, const struct node *n, const char *msg);
int symbols_deeper(struct symbols *s, const struct node *n); /* one level; taken back by depth-- */

#endif
