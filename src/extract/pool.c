#include "extract/pool.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

struct queue {
	void **v; /* a ring of cap */
	size_t first, n, cap;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t some;
	struct queue in, out;
	int closing;
	int fd[2]; /* a byte for each item in `out` */
	void (*work)(void *ctx, void *item);
	void *ctx;
	pthread_t *thread;
	size_t threads;
};

static void push(struct queue *q, void *item)
{
	if (q->n == q->cap) {
		size_t cap = q->cap ? 2 * q->cap : 16;
		void **v = xreallocarray(NULL, cap, sizeof(*v));

		for (size_t i = 0; i < q->n; i++)
			v[i] = q->v[(q->first + i) % q->cap];
		free(q->v);
		*q = (struct queue){v, 0, q->n, cap};
	}
	q->v[(q->first + q->n++) % q->cap] = item;
}

static void *shift(struct queue *q)
{
	void *item;

	if (q->n == 0)
		return NULL;
	item = q->v[q->first];
	q->first = (q->first + 1) % q->cap;
	q->n--;
	return item;
}

static void *run(void *arg)
{
	struct pool *p = arg;
	void *item;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!(item = shift(&p->in)) && !p->closing)
			pthread_cond_wait(&p->some, &p->lock);
		if (!item)
			break;
		pthread_mutex_unlock(&p->lock);
		p->work(p->ctx, item);
		pthread_mutex_lock(&p->lock);
		push(&p->out, item);
		/* a full pipe is readable, which is all that it has to say */
		if (write(p->fd[1], "", 1) < 0)
			continue;
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int open_pipe(int fd[2], struct err *e)
{
	if (pipe(fd) < 0)
		return err_sys(e, "cannot make a pipe");
	for (int i = 0; i < 2; i++) {
		fcntl(fd[i], F_SETFD, FD_CLOEXEC);
		fcntl(fd[i], F_SETFL, O_NONBLOCK);
	}
	return 0;
}

struct pool *pool_open(
    size_t threads, void (*work)(void *ctx, void *item), void *ctx, struct err *e)
{
	struct pool *p = xcalloc(1, sizeof(*p));
	int rc = 0;

	if (open_pipe(p->fd, e) < 0) {
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->some, NULL);
	p->work = work;
	p->ctx = ctx;
	p->thread = xcalloc(threads, sizeof(*p->thread));
	while (p->threads < threads && rc == 0) {
		rc = pthread_create(&p->thread[p->threads], NULL, run, p);
		p->threads += rc == 0;
	}
	if (rc != 0) {
		pool_close(p);
		err_set(e, "system", "cannot start a thread: %s", strerror(rc));
		return NULL;
	}
	return p;
}

void pool_put(struct pool *p, void *item)
{
	pthread_mutex_lock(&p->lock);
	push(&p->in, item);
	pthread_cond_signal(&p->some);
	pthread_mutex_unlock(&p->lock);
}

void *pool_take(struct pool *p)
{
	char byte;
	void *item;

	pthread_mutex_lock(&p->lock);
	item = shift(&p->out);
	if (item && read(p->fd[0], &byte, 1) < 0)
		byte = 0; /* its byte found the pipe full */
	pthread_mutex_unlock(&p->lock);
	return item;
}

int pool_fd(const struct pool *p)
{
	return p->fd[0];
}

void pool_close(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closing = 1;
	pthread_cond_broadcast(&p->some);
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < p->threads; i++)
		pthread_join(p->thread[i], NULL);
	close(p->fd[0]);
	close(p->fd[1]);
	pthread_cond_destroy(&p->some);
	pthread_mutex_destroy(&p->lock);
	free(p->in.v);
	free(p->out.v);
	free(p->thread);
	free(p);
}
