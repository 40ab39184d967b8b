/* iter.h - walking over values, and the generators that filters return
 *
 * As in Python, map, select, items, unique, reverse and their like are lazy and can be walked
 * once: they are true even when nothing is left, have no length and no index.
 */
#ifndef E3_JINJA_ITER_H
#define E3_JINJA_ITER_H

#include <stddef.h>

#include "jinja/value.h"

struct rt;
struct node;
struct frame;

struct iter {
	/* 1 an item, 0 the end, -1 */
	int (*next)(struct rt *rt, struct iter *it, struct value *out);
	struct value over; /* what is walked */
	size_t i;
	int done;
	uint32_t born;	   /* of a generator: memo.h's iteration that made it */
	struct iter *from; /* of a generator: where its items come from, once it is opened */
	void *how;	   /* of a generator: its own */
};

/* Fills mem, or returns the generator that v is. NULL with an error: not iterable. */
struct iter *iter_open(struct rt *rt, const struct value *v, struct iter *mem);
int iter_next(struct rt *rt, struct iter *it, struct value *out);
int iter_can(const struct value *v);

/* A new generator over `over`. Like Python's it does nothing before its first item is asked for;
 * then its `next` opens what it walks by iter_source (NULL: not iterable). */
struct iter *iter_new(struct rt *rt, const struct value *over,
    int (*next)(struct rt *, struct iter *, struct value *), struct value *out);
struct iter *iter_source(struct rt *rt, struct iter *it);

/* All (remaining) items, as a list. */
int iter_list(struct rt *rt, const struct value *v, enum vkind kind, struct value *out);

/* ---- for loops ---- */

struct loop {
	struct value over;
	struct iter mem, *it;
	const struct node *node;
	struct frame *frame;	      /* where the loop's filter is evaluated */
	size_t count;		      /* items given so far: loop.index */
	struct value cur, prev, next; /* V_MISSING where there is none */
	int peeked;		      /* next holds an item, or V_MISSING at the end */
	size_t length;
	int has_length;
	struct value changed; /* loop.changed: the last arguments */
};

int loop_open(struct rt *rt, struct loop *l, const struct value *over);
int loop_next(struct rt *rt, struct loop *l, struct value *out);
int loop_peek(struct rt *rt, struct loop *l); /* fills next */
/* Python's: the length of what is walked; of a generator, what it still gives is counted. */
int loop_length(struct rt *rt, struct loop *l, size_t *n);
/* An attribute of `loop`: 1, 0 when there is none of the name, -1. */
int loop_attr(struct rt *rt, struct loop *l, struct span name, struct value *out);

#endif
