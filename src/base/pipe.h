/* pipe.h - an ordered pipeline: read, work on N threads, write in input order
 *
 * Items are few (2 a thread and 2 more) and recycled, so the memory is bounded and a slow writer
 * slows the reader. read and write run one at a time (each on whichever thread is free), in order;
 * work runs on all threads at once.
 *
 * Errors do not depend on the number of threads: the failure of an item stops the reading, the
 * items before it in input order are still worked on and written, and only when its turn has come
 * does pipe_run end, with -1 and its error. What was read behind it is thrown away. A read that
 * blocks is waited for.
 *
 * With one thread everything runs on the caller's, on one item.
 */
#ifndef E3_PIPE_H
#define E3_PIPE_H

#include <stddef.h>

struct err;

struct pipe_ops {
	void *(*item_new)(void *ctx);
	void (*item_free)(void *ctx, void *item);
	int (*read)(void *ctx, void *item, struct err *e);		  /* 1 filled, 0 end, -1 */
	int (*work)(void *ctx, size_t thread, void *item, struct err *e); /* 0, -1 */
	int (*write)(void *ctx, void *item, struct err *e);		  /* 0, -1 */
};

/* `thread` counts from 0 to threads - 1; fewer may run where the system has no more. */
int pipe_run(const struct pipe_ops *ops, void *ctx, size_t threads, struct err *e);

/* Processors this process may run on (sched_getaffinity, not the machine's number). */
size_t pipe_processors(void);

#endif
