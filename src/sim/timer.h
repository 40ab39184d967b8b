/* timer.h - what is due when: a binary heap of deadlines
 *
 * Times are nanoseconds of one monotonic clock, the caller's. Equal times fire in the order in
 * which they were set, so that a run at zero latency is first come, first served. An entry stands
 * in its owner, which may be moved only after timer_stop. */
#ifndef E3_SIM_TIMER_H
#define E3_SIM_TIMER_H

#include <stddef.h>
#include <stdint.h>

struct timer {
	uint64_t due, order;
	size_t at; /* place in the heap, from 1; 0: not set */
	int kind;  /* the caller's */
	void *owner;
};

struct timers {
	struct timer **v;
	size_t n, cap;
	uint64_t order;
};

void timer_set(struct timers *h, struct timer *t, uint64_t due); /* anew, if it is set */
void timer_stop(struct timers *h, struct timer *t);		 /* no matter whether it is set */
struct timer *timer_due(struct timers *h, uint64_t now);	 /* taken out; NULL: none is due */
int timer_next(const struct timers *h, uint64_t *due);		 /* 0: none is set */
void timers_free(struct timers *h);

#endif
