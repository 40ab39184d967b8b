/* queue.h - which record is next
 *
 * Fresh records leave the longest first, so that no long one is left for the end; records of equal
 * length leave in input order. Records that wait (a retry's pause) leave when their time has come,
 * before fresh ones. Suspects of poison, who need a server for themselves, come when nothing else
 * is to be done. The queue borrows the items; an item is in it at most once.
 */
#ifndef E3_INFER_QUEUE_H
#define E3_INFER_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct item;

struct heap {
	struct item **v;
	size_t n, cap;
};

struct queue {
	struct heap fresh;   /* the longest on top */
	struct heap waiting; /* the earliest on top */
	struct heap suspects;
};

void queue_add(struct queue *q, struct item *it);  /* fresh */
void queue_wait(struct queue *q, struct item *it); /* until it->not_before */
void queue_suspect(struct queue *q, struct item *it);
struct item *queue_due(const struct queue *q, uint64_t now); /* a waiting one, or NULL; stays */
struct item *queue_first(const struct queue *q); /* the first fresh one, or NULL; stays */
struct item *queue_last(const struct queue *q);	 /* a suspect, or NULL; stays */
void queue_take(struct queue *q, struct item *it);
uint64_t queue_next_time(
    const struct queue *q);		       /* when the next waiting one is due; or UINT64_MAX */
struct item *queue_any(const struct queue *q); /* one that is in it, or NULL */
void queue_free(struct queue *q);

#endif
