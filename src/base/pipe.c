#define _GNU_SOURCE /* sched_getaffinity and CPU_COUNT: POSIX has no word for "may run on" */
#include "base/pipe.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

/* Item number s, counted from 0 in input order, lives in slot s % n from its read to its write. */
struct slot {
	void *item;
	int worked; /* or failed: its turn to be written has come as soon as it is the next */
	int failed;
	struct err err;
};

struct pipeline {
	const struct pipe_ops *ops;
	void *ctx;
	struct slot *slot;
	size_t n;
	pthread_mutex_t lock;
	pthread_cond_t change;
	uint64_t next_read, next_work, next_write;
	uint64_t end; /* no item from here on will be written: end of input, or behind a failure */
	int reading, writing;
	struct err *err;
	int failed;
};

struct worker {
	struct pipeline *p;
	size_t number;
	pthread_t thread;
};

static struct slot *slot_of(struct pipeline *p, uint64_t s)
{
	return &p->slot[s % p->n];
}

static void fail_at(struct pipeline *p, uint64_t s)
{
	slot_of(p, s)->failed = slot_of(p, s)->worked = 1;
	if (p->end > s + 1)
		p->end = s + 1;
}

/* The three stages. Each is entered and left with the lock held. */

static void do_read(struct pipeline *p)
{
	uint64_t s = p->next_read;
	struct slot *slot = slot_of(p, s);
	int rc;

	p->reading = 1;
	slot->worked = slot->failed = 0;
	pthread_mutex_unlock(&p->lock);
	rc = p->ops->read(p->ctx, slot->item, &slot->err);
	pthread_mutex_lock(&p->lock);
	p->reading = 0;
	if (rc == 0 && p->end > s)
		p->end = s;
	if (rc != 0)
		p->next_read++;
	if (rc < 0)
		fail_at(p, s);
}

static void do_work(struct pipeline *p, size_t thread)
{
	uint64_t s = p->next_work++;
	struct slot *slot = slot_of(p, s);
	int rc;

	if (slot->failed) /* it could not be read */
		return;
	pthread_mutex_unlock(&p->lock);
	rc = p->ops->work(p->ctx, thread, slot->item, &slot->err);
	pthread_mutex_lock(&p->lock);
	slot->worked = 1;
	if (rc < 0)
		fail_at(p, s);
}

static void do_write(struct pipeline *p)
{
	struct slot *slot = slot_of(p, p->next_write);
	int rc = -1;

	p->writing = 1;
	if (!slot->failed) {
		pthread_mutex_unlock(&p->lock);
		rc = p->ops->write(p->ctx, slot->item, &slot->err);
		pthread_mutex_lock(&p->lock);
	}
	p->writing = 0;
	if (rc < 0) {
		*p->err = slot->err;
		p->failed = 1;
		p->end = p->next_write;
		return;
	}
	p->next_write++;
}

/* Writing comes first, since it sets items free; reading last, since it may block. */
static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct pipeline *p = w->p;

	pthread_mutex_lock(&p->lock);
	while (p->next_write < p->end) {
		uint64_t workable = p->next_read < p->end ? p->next_read : p->end;

		if (!p->writing && p->next_write < p->next_work &&
		    slot_of(p, p->next_write)->worked)
			do_write(p);
		else if (p->next_work < workable)
			do_work(p, w->number);
		else if (!p->reading && p->next_read < p->end &&
			 p->next_read - p->next_write < p->n)
			do_read(p);
		else {
			pthread_cond_wait(&p->change, &p->lock);
			continue;
		}
		pthread_cond_broadcast(&p->change);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* A thread that can't be had is done without: the caller's own is always there. */
static void run_threads(struct pipeline *p, size_t threads)
{
	struct worker *w = xcalloc(threads, sizeof(*w));
	size_t n = 1;

	for (; n < threads; n++) {
		w[n] = (struct worker){.p = p, .number = n};
		if (pthread_create(&w[n].thread, NULL, worker_main, &w[n]) != 0)
			break;
	}
	w[0].p = p;
	worker_main(&w[0]);
	for (size_t i = 1; i < n; i++)
		pthread_join(w[i].thread, NULL);
	free(w);
}

int pipe_run(const struct pipe_ops *ops, void *ctx, size_t threads, struct err *e)
{
	size_t n = threads > 1 ? threads * 2 + 2 : 1;
	struct pipeline p = {.ops = ops, .ctx = ctx, .n = n, .end = UINT64_MAX, .err = e};

	p.slot = xcalloc(n, sizeof(*p.slot));
	for (size_t i = 0; i < n; i++)
		p.slot[i].item = ops->item_new(ctx);
	pthread_mutex_init(&p.lock, NULL);
	pthread_cond_init(&p.change, NULL);
	run_threads(&p, threads ? threads : 1);
	pthread_cond_destroy(&p.change);
	pthread_mutex_destroy(&p.lock);
	for (size_t i = 0; i < n; i++)
		ops->item_free(ctx, p.slot[i].item);
	free(p.slot);
	return p.failed ? -1 : 0;
}

size_t pipe_processors(void)
{
	cpu_set_t set;
	long n;

	/* fails on machines with more than CPU_SETSIZE (1024) processors */
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return (size_t)CPU_COUNT(&set);
	n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (size_t)n : 1;
}
