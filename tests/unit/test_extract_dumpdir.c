/* The dump directory: names, locks of every kind, files that are not whole yet, leftovers. */

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <time.h>

#include "base/err.h"
#include "extract/dumpdir.h"
#include "tmp.h"
#include "unit.h"

static struct dumpdir *dir;
static atomic_int stop;

static int setup(void **state)
{
	struct err e;

	if (tmp_setup(state) < 0)
		return -1;
	dir = dumpdir_open(tmp_dir, "/srv/hs/", &e);
	return dir ? 0 : -1;
}

static int teardown(void **state)
{
	dumpdir_close(dir);
	return tmp_teardown(state);
}

static int empty(void **state)
{
	(void)state;
	atomic_store(&stop, 0);
	tmp_clean();
	return 0;
}

static void names(void **state)
{
	static const struct {
		const char *server, *name; /* NULL: refused */
	} rows[] = {{"/srv/hs/a.safetensors", "a.safetensors"},
	    {"/srv/hs//a.safetensors", "a.safetensors"}, {"/srv/hs/", NULL}, {"/srv/hs", NULL},
	    {"/srv/hsx/a", NULL}, {"/srv/hs/../a", NULL}, {"/srv/hs/b/a", NULL},
	    {"/srv/hs/.a", NULL}, {"/etc/passwd", NULL}, {"a", NULL}, {"", NULL}};
	char name[256];
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct span s = {rows[i].server, strlen(rows[i].server)};
		int rc = dumpdir_name(dir, s, name, &e);

		if (rc != (rows[i].name ? 0 : -1))
			fail_msg("%s: %d", rows[i].server, rc);
		if (rc == 0)
			assert_string_equal(name, rows[i].name);
		else
			assert_string_equal(e.class, "dump-dir");
	}
}

static const char whole[] =
    "\x35\0\0\0\0\0\0\0{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}"
    "  data";

#define WHOLE (sizeof(whole) - 1)

static int claim(const char *name, struct claim *c, struct err *e)
{
	return dumpdir_claim(dir, name, CLAIM_WAIT_MS, &stop, c, e);
}

static void without_a_lock(void **state)
{
	struct claim c;
	struct err e;

	(void)state;
	tmp_write(tmp_path("a.safetensors"), whole, WHOLE);
	assert_int_equal(claim("a.safetensors", &c, &e), 0);
	assert_int_equal(c.lock, -1);
	assert_int_equal(claim_remove(dir, &c, &e), 0);
	assert_false(tmp_exists(tmp_path("a.safetensors")));
	assert_null(c.path);
	assert_int_equal(claim_remove(dir, &c, &e), 0); /* nothing is claimed: nothing happens */
}

static void one_look(void **state)
{
	struct claim c;
	struct err e;

	(void)state;
	assert_int_equal(dumpdir_claim(dir, "none.safetensors", 0, &stop, &c, &e), -1);
	assert_string_equal(e.class, "absent");
	claim_free(&c);
	tmp_write(tmp_path("a.safetensors"), whole, WHOLE);
	assert_int_equal(dumpdir_claim(dir, "a.safetensors", 0, &stop, &c, &e), 0);
	assert_int_equal(claim_remove(dir, &c, &e), 0);
	assert_false(tmp_exists(tmp_path("a.safetensors")));
}

/* A writer in another thread: what it still has to do, and when. */
struct writer {
	pthread_t thread;
	int lock; /* held; or -1: appends the rest of the file instead */
	int write;
};

static void *run_writer(void *arg)
{
	struct writer *w = arg;
	struct timespec t = {.tv_nsec = 50000000};

	nanosleep(&t, NULL);
	if (w->write)
		tmp_write(tmp_path("a.safetensors"), whole, WHOLE);
	if (w->lock >= 0)
		close(w->lock);
	return NULL;
}

static int hold(const char *name, int mode)
{
	int fd = open(tmp_path(name), O_RDWR | O_CREAT, mode);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	return fd;
}

static void waits_for_the_lock(void **state)
{
	static const int modes[] = {0644, 0444};

	(void)state;
	for (size_t i = 0; i < LEN(modes); i++) {
		struct writer w = {.lock = hold("a.safetensors.lock", modes[i]), .write = 1};
		struct claim c;
		struct err e;

		pthread_create(&w.thread, NULL, run_writer, &w);
		assert_int_equal(claim("a.safetensors", &c, &e), 0);
		assert_true(tmp_exists(c.path));
		assert_int_equal(claim_remove(dir, &c, &e), 0);
		pthread_join(w.thread, NULL);
		assert_int_equal(tmp_clean(), 0);
	}
}

static void waits_until_whole(void **state)
{
	struct writer w = {.lock = -1, .write = 1};
	struct claim c;
	struct err e;

	(void)state;
	tmp_write(tmp_path("a.safetensors"), whole, WHOLE - 1);
	pthread_create(&w.thread, NULL, run_writer, &w);
	assert_int_equal(claim("a.safetensors", &c, &e), 0);
	pthread_join(w.thread, NULL);
	claim_free(&c);
	assert_true(tmp_exists(tmp_path("a.safetensors")));
}

static void the_writer_failed(void **state)
{
	struct claim c;
	struct err e;

	(void)state;
	close(hold("a.safetensors.lock", 0644));
	assert_int_equal(claim("a.safetensors", &c, &e), -1);
	assert_string_equal(e.class, "no-file");
	assert_int_equal(claim_remove(dir, &c, &e), 0);
	assert_int_equal(tmp_clean(), 0);
}

static void stopped(void **state)
{
	int fd = hold("a.safetensors.lock", 0644);
	struct claim c;
	struct err e;

	(void)state;
	atomic_store(&stop, 2);
	assert_int_equal(claim("a.safetensors", &c, &e), -1);
	assert_string_equal(e.class, "stopped");
	claim_free(&c);
	close(fd);
	assert_int_equal(tmp_clean(), 1);
}

static void not_regular(void **state)
{
	struct claim c;
	struct err e;

	(void)state;
	tmp_write(tmp_path("b"), whole, WHOLE);
	assert_int_equal(symlink("b", tmp_path("a.safetensors")), 0);
	assert_int_equal(claim("a.safetensors", &c, &e), -1);
	assert_string_equal(e.class, "dump-dir");
	assert_int_equal(claim_remove(dir, &c, &e), 0);
	assert_true(tmp_exists(tmp_path("a.safetensors"))); /* and is not deleted either */
	tmp_clean();
	assert_int_equal(mkfifo(tmp_path("a.safetensors.lock"), 0600), 0);
	tmp_write(tmp_path("a.safetensors"), whole, WHOLE);
	assert_int_equal(claim("a.safetensors", &c, &e), -1);
	assert_string_equal(e.class, "dump-dir");
	claim_free(&c);
}

static void leftovers(void **state)
{
	struct timespec now, before = {0};
	struct sweep s = {0};
	struct leftovers l;
	struct err e;
	int fd;

	(void)state;
	tmp_write(tmp_path("a.safetensors"), whole, WHOLE);
	close(hold("a.safetensors.lock", 0644));
	close(hold("alone.safetensors.lock", 0644));
	tmp_write(tmp_path("held.safetensors"), whole, WHOLE);
	fd = hold("held.safetensors.lock", 0644);
	tmp_puts(tmp_path("foreign"), "x");
	assert_int_equal(dumpdir_sweep(dir, &s, &l, &e), 0);
	assert_int_equal(l.files, 3);
	assert_int_equal(l.old + l.mine, 0);
	s.before = &before; /* none of them is older */
	assert_int_equal(dumpdir_sweep(dir, &s, &l, &e), 0);
	assert_int_equal(l.old, 0);
	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += 10;
	s.before = &now;
	assert_int_equal(dumpdir_sweep(dir, &s, &l, &e), 0);
	assert_int_equal(l.old, 2);
	assert_int_equal(l.files, 1);
	assert_true(tmp_exists(tmp_path("held.safetensors")));
	assert_true(tmp_exists(tmp_path("foreign")));
	assert_false(tmp_exists(tmp_path("a.safetensors.lock")));
	close(fd);
}

/* Whatever their age; those of others stay. */
static void leftovers_by_name(void **state)
{
	struct sweep s = {.mine = "e3x-1-"};
	struct leftovers l;
	struct err e;
	int fd;

	(void)state;
	tmp_write(tmp_path("cmpl-e3x-1-a-0-12.safetensors"), whole, WHOLE);
	close(hold("cmpl-e3x-1-a-0-12.safetensors.lock", 0644));
	tmp_write(tmp_path("e3x-1-b.safetensors"), whole, WHOLE);
	close(hold("cmpl-e3x-1-c-0-12.safetensors.lock", 0644));
	tmp_write(tmp_path("cmpl-e3x-11-a-0-12.safetensors"), whole, WHOLE);
	tmp_write(tmp_path("e3x-2-e3x-1.safetensors"), whole, WHOLE);
	/* begun by a server that was killed; that of another client may still be written */
	tmp_puts(tmp_path(".e3x-1-e.part"), "x");
	tmp_puts(tmp_path(".e3x-2-e.part"), "x");
	fd = hold("cmpl-e3x-1-d-0-12.safetensors.lock", 0644);
	assert_int_equal(dumpdir_sweep(dir, &s, &l, &e), 0);
	assert_int_equal(l.mine, 4);
	assert_int_equal(l.held, 1);
	assert_int_equal(l.files, 2);
	close(fd);
	assert_int_equal(dumpdir_sweep(dir, &s, &l, &e), 0);
	assert_int_equal(l.mine, 1);
	assert_int_equal(l.held, 0);
	assert_int_equal(tmp_clean(), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names),
	    cmocka_unit_test_setup(without_a_lock, empty), cmocka_unit_test_setup(one_look, empty),
	    cmocka_unit_test_setup(waits_for_the_lock, empty),
	    cmocka_unit_test_setup(waits_until_whole, empty),
	    cmocka_unit_test_setup(the_writer_failed, empty),
	    cmocka_unit_test_setup(stopped, empty), cmocka_unit_test_setup(not_regular, empty),
	    cmocka_unit_test_setup(leftovers, empty),
	    cmocka_unit_test_setup(leftovers_by_name, empty)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
