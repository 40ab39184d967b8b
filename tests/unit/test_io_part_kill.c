/* part.h and kill -9: what was synced is there, and no line is torn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/err.h"
#include "io/part.h"
#include "tmp.h"

static const char *const kinds[] = {"a.jsonl", "a.jsonl.zst"};

#define KILLS 12

struct count {
	uint64_t next;
};

static int expect_next(void *ctx, const char *line, size_t n, uint64_t number, struct err *e)
{
	struct count *c = ctx;
	char want[64];
	int len = snprintf(want, sizeof(want), "{\"n\":%llu,", (unsigned long long)c->next);

	(void)number;
	if (n < (size_t)len || memcmp(line, want, (size_t)len) != 0 || line[n - 1] != '}')
		return err_set(e, "json", "expected number %llu", (unsigned long long)c->next);
	c->next++;
	return 0;
}

/* Writes numbered lines, going on where the file ends, syncing now and then; how many lines are
 * synced goes to the descriptor. */
static void writer(const char *path, unsigned seed, int synced)
{
	struct err e = {0};
	struct part *p = part_open(path, 0, 1, &e);
	struct count c = {0};
	char line[400];

	if (!p || part_replay(p, expect_next, &c, &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		_exit(3);
	}
	for (;;) {
		int n = snprintf(line, sizeof(line), "{\"n\":%llu,\"x\":\"%0*d\"}",
		    (unsigned long long)c.next++, (int)(seed % 300), 7);

		seed = seed * 1103515245u + 12345u;
		if (part_append(p, line, (size_t)n, &e) < 0)
			_exit(3);
		if ((seed >> 16) % 50 != 0)
			continue;
		if (part_sync(p, &e) < 0 || pwrite(synced, &c.next, sizeof(c.next), 0) < 0)
			_exit(3);
	}
}

static void pause_us(long us)
{
	struct timespec t = {0, us * 1000};

	nanosleep(&t, NULL);
}

static void killed_at_random(void **state)
{
	(void)state;
	srand(20240229);
	for (size_t i = 0; i < 2; i++) {
		char *path = xstrdup(tmp_path(kinds[i]));
		int fd = open(tmp_path("synced"), O_RDWR | O_CREAT | O_TRUNC, 0600);
		struct count c = {0};
		struct err e = {0};
		uint64_t synced = 0;
		struct part *p;

		/* where all is slow, as under Valgrind, the first ones come to nothing */
		for (int k = 0; k < KILLS || (k < 20 * KILLS && lseek(fd, 0, SEEK_END) == 0); k++) {
			pid_t child = fork();
			int status;

			if (child == 0)
				writer(path, (unsigned)k, fd);
			pause_us((1000 + rand() % 15000) * (1 + k / KILLS));
			kill(child, SIGKILL);
			assert_int_equal(waitpid(child, &status, 0), child);
			assert_true(WIFSIGNALED(status)); /* it did not find a wrong line */
		}
		p = part_open(path, 0, 1, &e);
		if (!p || part_replay(p, expect_next, &c, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(pread(fd, &synced, sizeof(synced), 0), sizeof(synced));
		assert_true(synced > 0);
		assert_true(c.next >= synced);
		assert_int_equal(part_finish(p, &e), 0);
		close(fd);
		free(path);
		tmp_clean();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(killed_at_random),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
