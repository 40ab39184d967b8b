/* memo.h - the iterations of a template's loops, kept from one rendering to the next
 *
 * The prompts of a conversation are renderings of one template over its first n messages, so nearly
 * every iteration of its loop does again what it did the last time. An iteration of a loop over
 * objects of the context is noted once: its item, what it read from outside, and what it did, which
 * is text and attributes of namespaces set. Where all that was read is as it was then, it would do
 * the same again, and what it did is done without it. Nothing is guessed: an iteration that reads
 * what can't be compared (a list, a generator, a loop's state) is not kept.
 *
 * What is read is noted as the largest expression that gave a plain value and reads only from
 * outside: `loop.index0 > ns.last_query_index` is false again when the index has moved on, and
 * `messages[loop.index0 + 1].role == 'tool'` true when there are more messages.
 *
 * Only loops that the template itself runs, not those in macros, captured blocks or noted
 * iterations.
 */
#ifndef E3_JINJA_MEMO_H
#define E3_JINJA_MEMO_H

#include "jinja/ast.h"
#include "jinja/rt.h"

/* ---- for exec.c: one iteration, its target and its scope set ---- */

/* 1 *flow is done (-1: failed), 0 run it: then memo_end has to follow. */
int memo_begin(
    struct rt *rt, struct frame *f, const struct node *loop, const struct value *item, int *flow);
void memo_end(struct rt *rt, int flow);

/* ---- what an iteration that is noted does; rt->note is not NULL ---- */

/* What was read before an expression (memo_mark, below); where memo_outer says so behind it, its
 * value or its truth. */
struct memo_mark {
	size_t guards;
	unsigned bound, hard;
};
void memo_value(
    struct rt *rt, const struct node *n, const struct memo_mark *since, const struct value *v);
void memo_truth(struct rt *rt, const struct node *n, const struct memo_mark *since, int yes);

void memo_read(
    struct rt *rt, const struct frame *f, const struct node *n, const struct value *slot);
/* Attribute n of a loop or a namespace, read; attribute n->name of a namespace, set. */
void memo_member(struct rt *rt, struct frame *f, const struct node *n, const struct value *of,
    const struct value *v);
void memo_set_member(struct rt *rt, struct frame *f, const struct node *n, const struct value *of);
void memo_set(struct rt *rt, const struct value *slot);
void memo_enter(struct rt *rt, struct frame *f, const struct scope *s);
void memo_spoil(struct rt *rt); /* it depends on what can't be noted */
/* A part of an expression was left out, which is evaluated when things are otherwise and may then
 * read what only the iteration has: the whole can't be noted, what was read can. */
void memo_skip(struct rt *rt);

/* ---- memo.c and memo_note.c share ---- */

enum guard_kind {
	GUARD_NODE,   /* an expression's value where the body begins */
	GUARD_TRUTH,  /* whether it is true there */
	GUARD_SLOT,   /* a variable of the template */
	GUARD_GLOBAL, /* a name of the context */
	GUARD_MEMBER, /* a namespace's attribute: slot `at`, name */
	GUARD_SPACE,  /* which namespace stands in slot `at` */
};

struct guard {
	uint8_t kind;
	const struct node *node;
	size_t at;
	struct span name;
	struct value want;
};

struct member {
	size_t slot;
	struct dict *of; /* while it is noted */
	struct span name;
	struct value v;
};

enum slot_state { SLOT_OUTER, SLOT_INNER, SLOT_OF_GLOBAL, SLOT_OF_SLOT };

/* The iteration that is noted. */
struct memo_note {
	struct frame *root;
	size_t nslots, item; /* the item's slot */
	const struct node *loop;
	const struct jmember *key;
	size_t text; /* where its text begins */
	uint8_t *state;
	size_t *from; /* SLOT_OF_*: the global's or the slot's number */
	size_t capstate, capfrom;
	struct guard *guard;
	size_t nguard, capguard;
	struct member *set;
	size_t nset, capset;
	unsigned bound; /* reads of what only the iteration has, parts left out */
	unsigned hard;	/* reads of what can't be noted */
};

struct jinja_memo {
	struct arena mem;
	const void *changing;
	struct entry **slot; /* by loop and item */
	size_t nslot, used, hits;
	struct memo_note note;
};

static inline struct memo_mark memo_mark(const struct memo_note *m)
{
	return (struct memo_mark){m->nguard, m->bound, m->hard};
}

/* Whether the expression, with all that it read, can be evaluated where the body begins. */
static inline int memo_outer(
    const struct memo_note *m, const struct frame *f, const struct memo_mark *since)
{
	return f == m->root && m->nguard > since->guards && m->bound == since->bound &&
	       m->hard == since->hard;
}

/* The value that a guard is about, now. -1 failed, 0 there is none. */
int memo_guard_value(struct rt *rt, struct frame *f, const struct guard *g, struct value *out);

#endif
