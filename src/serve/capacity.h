/* capacity.h - how many requests at once a server takes, found by those that it turns away
 *
 * A server whose queue is full, or a gateway before it, answers 408, 425, 429 or 503 (CLASS_BUSY).
 * For each request that is turned away one fewer is sent at once, for every two that are answered
 * one more: so a limit is found and followed, and as long as no more than a third are turned away
 * for whatever other reason, nothing gets less.
 *
 *	capacity_begin(&c, most)		it is up; most: what the user allows
 *	running < capacity_now(&c)		one more may be sent
 *	capacity_answered(&c)			after a good answer
 *	capacity_refused(&c, running)		after one that was turned away
 */
#ifndef E3_SERVE_CAPACITY_H
#define E3_SERVE_CAPACITY_H

#include <stddef.h>

/* One after the other: no accident. */
#define CAPACITY_MANY 8
/* So often a record may be turned away without paying; more often it may be its own fault. */
#define CAPACITY_FREE 20
/* Seconds: a server that asks for a longer pause (Retry-After) is not believed. */
#define CAPACITY_PAUSE_MAX 3600

struct capacity {
	double most, now;
	unsigned refused; /* one after the other */
};

void capacity_begin(struct capacity *c, size_t most);
size_t capacity_now(const struct capacity *c); /* 1 to most */
void capacity_answered(struct capacity *c);
/* running: requests of ours that it still has. 1: it takes none at all, which is an outage. */
int capacity_refused(struct capacity *c, size_t running);

#endif
