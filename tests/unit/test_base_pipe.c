#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pipe.h"

enum { NEVER = 1000000 };

/* A source of numbered items, of which some fail, and what became of them. */
struct plan {
	int n, read_fails, work_fails, write_fails;
	int jitter;
	pthread_mutex_t lock;
	int items, read, written, in_read, in_write;
	int most_ahead; /* items read and not yet written */
	unsigned threads_seen;
};

static void jitter(const struct plan *p, int i)
{
	struct timespec t = {0, (i * 7919) % 5 * 100000};

	if (p->jitter)
		nanosleep(&t, NULL);
}

static void *item_new(void *ctx)
{
	((struct plan *)ctx)->items++;
	return xcalloc(1, sizeof(int));
}

static void item_free(void *ctx, void *item)
{
	((struct plan *)ctx)->items--;
	free(item);
}

static int plan_read(void *ctx, void *item, struct err *e)
{
	struct plan *p = ctx;
	int ahead;

	if (p->in_read++)
		abort(); /* two at once */
	jitter(p, p->read + 1);
	p->in_read--;
	if (p->read == p->n)
		return 0;
	if (p->read == p->read_fails)
		return err_set(e, "x", "read %d", p->read);
	*(int *)item = p->read;
	pthread_mutex_lock(&p->lock);
	ahead = ++p->read - p->written;
	if (ahead > p->most_ahead)
		p->most_ahead = ahead;
	pthread_mutex_unlock(&p->lock);
	return 1;
}

static int plan_work(void *ctx, size_t thread, void *item, struct err *e)
{
	struct plan *p = ctx;
	int i = *(int *)item;

	pthread_mutex_lock(&p->lock);
	p->threads_seen |= 1u << thread;
	pthread_mutex_unlock(&p->lock);
	jitter(p, i);
	return i == p->work_fails ? err_set(e, "x", "work %d", i) : 0;
}

static int plan_write(void *ctx, void *item, struct err *e)
{
	struct plan *p = ctx;
	int i = *(int *)item;

	if (p->in_write++)
		abort(); /* two at once */
	if (i != p->written)
		abort(); /* out of order */
	jitter(p, i + 2);
	p->in_write--;
	if (i == p->write_fails)
		return err_set(e, "x", "write %d", i);
	pthread_mutex_lock(&p->lock);
	p->written++;
	pthread_mutex_unlock(&p->lock);
	return 0;
}

static const struct pipe_ops ops = {item_new, item_free, plan_read, plan_work, plan_write};

/* The same at any number of threads: what was written, and which error it was. */
static void order_and_errors(void **state)
{
	static const struct {
		int n, read_fails, work_fails, write_fails, written;
		const char *error;
	} t[] = {
	    {0, NEVER, NEVER, NEVER, 0, NULL},
	    {1, NEVER, NEVER, NEVER, 1, NULL},
	    {300, NEVER, NEVER, NEVER, 300, NULL},
	    {300, 0, NEVER, NEVER, 0, "read 0"},
	    {300, 50, NEVER, NEVER, 50, "read 50"},
	    {300, 300, NEVER, NEVER, 300, NULL},
	    {300, NEVER, 0, NEVER, 0, "work 0"},
	    {300, NEVER, 77, NEVER, 77, "work 77"},
	    {300, NEVER, 299, NEVER, 299, "work 299"},
	    {300, NEVER, NEVER, 5, 5, "write 5"},
	    {300, 8, 7, 6, 6, "write 6"},
	    {300, 6, 7, 8, 6, "read 6"},
	    {300, 8, 6, 7, 6, "work 6"},
	};
	static const size_t threads[] = {0, 1, 2, 3, 8};

	(void)state;
	for (size_t i = 0; i < LEN(t) * LEN(threads) * 2; i++) {
		size_t row = i / 2 % LEN(t), nt = threads[i / 2 / LEN(t)];
		struct plan p = {.n = t[row].n,
		    .read_fails = t[row].read_fails,
		    .work_fails = t[row].work_fails,
		    .write_fails = t[row].write_fails,
		    .jitter = (int)i % 2,
		    .lock = PTHREAD_MUTEX_INITIALIZER};
		struct err e = {.msg = "none"};
		int rc = pipe_run(&ops, &p, nt, &e);

		if (rc != (t[row].error ? -1 : 0) || p.written != t[row].written ||
		    strcmp(e.msg, t[row].error ? t[row].error : "none") != 0)
			fail_msg("row %zu, %zu threads: %d, %s, %d written", row, nt, rc, e.msg,
			    p.written);
		assert_int_equal(p.items, 0);
		assert_true((size_t)p.most_ahead <= (nt > 1 ? 2 * nt + 2 : 1));
		assert_true(nt > 1 || p.threads_seen <= 1);
	}
}

static void processors(void **state)
{
	(void)state;
	assert_true(pipe_processors() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order_and_errors),
	    cmocka_unit_test(processors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
