/* The queue, the order, what an earlier run left, loops in answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "infer/infer.h"
#include "infer/item.h"
#include "infer/pace.h"
#include "infer/report.h"
#include "infer/result.h"

static void the_longest_first(void **state)
{
	static const uint64_t expect[] = {5, 9, 1, 9, 7, 3, 3, 8};
	static const size_t want[] = {1, 3, 7, 4, 0, 5, 6, 2};
	struct item items[8] = {0};
	struct queue q = {0};

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		items[i].expect = expect[i];
		items[i].seq = i;
		queue_add(&q, &items[i]);
	}
	for (size_t i = 0; i < 8; i++) {
		struct item *it = queue_first(&q);

		assert_int_equal(it->seq, want[i]);
		queue_take(&q, it);
	}
	assert_null(queue_first(&q));
	queue_free(&q);
}

static void waits_until_its_time(void **state)
{
	struct item a = {.not_before = 20}, b = {.not_before = 10, .seq = 1}, c = {.seq = 2};
	struct queue q = {0};

	(void)state;
	assert_true(queue_next_time(&q) == UINT64_MAX);
	queue_wait(&q, &a);
	queue_wait(&q, &b);
	queue_suspect(&q, &c);
	assert_true(queue_next_time(&q) == 10);
	assert_null(queue_due(&q, 9));
	assert_ptr_equal(queue_due(&q, 10), &b);
	assert_ptr_equal(queue_last(&q), &c);
	queue_take(&q, &b);
	queue_take(&q, &c);
	assert_null(queue_last(&q));
	assert_null(queue_due(&q, 19));
	assert_ptr_equal(queue_any(&q), &a);
	queue_free(&q);
}

/* Against the plainest queue there is. */
static void many_in_and_out(void **state)
{
	enum { N = 500 };
	static struct item items[N];
	struct queue q = {0};
	unsigned seed = 1;
	size_t in = 0;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		items[i] =
		    (struct item){.seq = i, .expect = (seed = seed * 1103515245 + 12345) >> 20};
		queue_add(&q, &items[i]);
		in++;
		if (i % 3 == 2) { /* one from the middle goes */
			struct item *it = q.fresh.v[seed % q.fresh.n];

			queue_take(&q, it);
			in--;
		}
	}
	for (uint64_t last = UINT64_MAX; in > 0; in--) {
		struct item *it = queue_first(&q);

		assert_true(it->expect <= last);
		last = it->expect;
		queue_take(&q, it);
	}
	assert_null(queue_first(&q));
	queue_free(&q);
}

static int collect(void *ctx, const char *line, size_t n, struct err *e)
{
	(void)e;
	buf_add(ctx, line, n);
	buf_addc(ctx, ' ');
	return 0;
}

static void in_input_order(void **state)
{
	enum { N = 300 };
	struct buf got = {0}, want = {0};
	struct order o = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < N; i++)
		if (i % 5 != 3)
			buf_addf(&want, "%zu ", i);
	for (size_t i = 0; i < N; i++) {
		size_t seq = i * 7 % N; /* every number once */
		struct buf line = {0};

		if (seq % 5 != 3)
			buf_addf(&line, "%zu", seq);
		assert_int_equal(
		    order_tell(&o, seq, seq % 5 != 3 ? &line : NULL, collect, &got, &e), 0);
	}
	assert_string_equal(buf_cstr(&got), buf_cstr(&want));
	assert_true(o.first == N);
	order_free(&o);
	buf_free(&got);
	buf_free(&want);
}

static void loops(void **state)
{
	static int32_t ids[4096];
	size_t n = sizeof(ids) / sizeof(*ids);

	(void)state;
	for (size_t i = 0; i < n; i++)
		ids[i] = (int32_t)(i * i % 7919);
	assert_int_equal(result_loops(ids, n), 0);
	assert_int_equal(result_loops(ids, 0), 0);
	for (size_t period = 1; period <= RESULT_PERIOD; period = period * 2 + 1) {
		size_t tail =
		    period * RESULT_TIMES > RESULT_LOOP ? period * RESULT_TIMES : RESULT_LOOP;

		for (size_t i = 0; i < n; i++)
			ids[i] = (int32_t)(i * i % 7919);
		for (size_t i = n - tail; i < n; i++)
			ids[i] = (int32_t)(100000 + i % period);
		assert_int_equal(result_loops(ids, n), 1);
		ids[n - tail / 2] = -1;
		assert_int_equal(result_loops(ids, n), 0);
	}
}

static int line(struct resume *r, const char *text, struct err *e)
{
	return resume_line(r, text, strlen(text), 1, e);
}

#define GEN "\"generations\":[{\"model\":\"m\",\"sampling\":{\"max_new_tokens\":8}}]"

static void the_done_set(void **state)
{
	struct resume r = {.sampling = SPAN("{\"max_new_tokens\":8}"), .model = "m"};
	struct err e = {0};

	(void)state;
	assert_int_equal(
	    line(&r, "{\"id\":\"a\"," GEN ",\"infer_key\":\"00000000000000ff\"}", &e), 0);
	assert_int_equal(line(&r, "{\"id\":\"b\",\"infer_key\":\"0000000000000001\"}", &e), 0);
	assert_int_equal(resume_find(&r, SPAN("a"), 0xff), RESUME_DONE);
	assert_int_equal(resume_find(&r, SPAN("a"), 0xfe), RESUME_CHANGED);
	assert_int_equal(resume_find(&r, SPAN("b"), 0xff), RESUME_CHANGED);
	assert_int_equal(resume_find(&r, SPAN("c"), 0xff), RESUME_NEW);
	assert_int_equal(line(&r, "{\"id\":\"a\",\"infer_key\":\"00000000000000ff\"}", &e), -1);
	assert_string_equal(e.class, "duplicate");
	assert_int_equal(line(&r, "{\"id\":\"d\"}", &e), -1);
	r.sampling = SPAN("{\"max_new_tokens\":9}");
	assert_int_equal(
	    line(&r, "{\"id\":\"e\"," GEN ",\"infer_key\":\"00000000000000ff\"}", &e), -1);
	assert_non_null(strstr(e.msg, "{\"max_new_tokens\":8}"));
	assert_non_null(strstr(e.msg, "{\"max_new_tokens\":9}"));
	r.sampling = SPAN("{\"max_new_tokens\":8}");
	assert_int_equal(resume_check_maker(&r, "m", "", &e), 0);
	assert_int_equal(resume_check_maker(&r, "m", "v1", &e), 0);
	assert_int_equal(resume_check_maker(&r, "another", "", &e), -1);
	assert_non_null(strstr(e.msg, "model m"));
	strcpy(r.weights, "v1");
	assert_int_equal(resume_check_maker(&r, "m", "v1", &e), 0);
	assert_int_equal(resume_check_maker(&r, "m", "v2", &e), -1);
	assert_non_null(strstr(e.msg, "weights v1, the server has v2"));
	strcpy(r.model, "other");
	assert_int_equal(
	    line(&r, "{\"id\":\"f\"," GEN ",\"infer_key\":\"00000000000000ff\"}", &e), -1);
	assert_non_null(strstr(e.msg, "model m"));
	resume_free(&r);
}

#define OLD "{\"id\":\"b\",\"reject\":{\"class\":\"old\",\"infer_key\":\"0000000000000002\"}}\n"

static void carried_rejects(void **state)
{
	static const char rejects[] =
	    "{\"id\":\"a\",\"reject\":{\"program\":\"e3-infer\",\"class\":\"refused\",\"reason\":"
	    "\"HTTP "
	    "400\",\"file\":\"f\",\"line\":1,\"status\":400,\"infer_key\":\"0000000000000001\","
	    "\"permanent\":true}}\n"
	    "{\"raw\":\"x\",\"reject\":{\"class\":\"json\"}}\n" OLD OLD OLD OLD
	    "{\"id\":\"b\",\"reject\":{\"class\":\"transient\",\"reason\":\"r\",\"infer_key\":"
	    "\"0000000000000002\",\"progress\":{\"next\":1}}}\n"
	    "{\"id\":\"c\",\"reject\":{\"class\":\"transient\",\"reason\":\"r\",\"infer_key\":"
	    "\"0000000000000003\"}}\n";
	struct resume r = {.model = "m"};
	const struct carried *c;
	char path[] = "rejects-XXXXXX";
	struct err e = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, rejects, sizeof(rejects) - 1), sizeof(rejects) - 1);
	close(fd);
	hashset_add(&r.ids, hash128("c", 1)); /* answered since */
	assert_int_equal(resume_rejects(&r, path, &e), 0);
	unlink(path);
	assert_int_equal(r.ncarried, 6);
	assert_int_equal(resume_rejects(&r, path, &e), 0); /* none is no error */
	assert_null(resume_carried(&r, SPAN("c")));
	c = resume_carried(&r, SPAN("a"));
	assert_non_null(c);
	assert_true(c->key == 1);
	assert_int_equal(c->permanent, 1);
	assert_string_equal(c->class, "refused");
	assert_string_equal(
	    c->more, "\"status\":400,\"infer_key\":\"0000000000000001\",\"permanent\":true");
	assert_null(c->progress);
	c = resume_carried(&r, SPAN("b")); /* the last one counts */
	assert_non_null(c);
	assert_string_equal(c->class, "transient");
	assert_int_equal(c->permanent, 0);
	assert_string_equal(c->progress, "{\"next\":1}");
	resume_free(&r);
}

#define USER "{\"role\":\"user\",\"content\":\"q\"}"

#define USER_OLD "{\"role\":\"assistant\",\"content\":\"old\"}, " USER

static void replay(struct conv *c)
{
	static const char line[] =
	    "{\"messages\":[" USER ", " USER_OLD ", " USER_OLD ", " USER_OLD "]}";
	static struct rec rec;
	struct err e;

	assert_int_equal(rec_parse(&rec, line, strlen(line), &e), 0);
	assert_int_equal(conv_open(c, &rec, TURNS_ALL, &e), 0);
	rec_free(&rec);
}

/* The next answer to c, noted of the record. */
static void note(
    struct turns_file *t, const char *id, uint64_t key, struct conv *c, const char *say)
{
	struct turn turn = {
	    .id = {id, strlen(id)}, .key = key, .after = c->sum, .generation = SPAN("{}")};
	struct buf b = {0};
	struct err e;

	buf_addf(&b, "{\"role\":\"assistant\",\"content\":\"%s\"}", say);
	turn.message = (struct span){b.data, b.len};
	conv_answer(c, turn.message, turn.generation, 0);
	assert_int_equal(turns_note(t, &turn, &e), 0);
	buf_free(&b);
}

/* What is noted of the record goes on from `from` to `want`. */
static void noted(struct turns_file *t, const char *id, uint64_t key, const struct conv *from,
    const struct conv *want)
{
	struct buf progress = {0}, got = {0};
	struct conv c;

	replay(&c);
	conv_progress(from, &progress);
	conv_resume(&c, (struct span){progress.data, progress.len});
	turns_resume(t, (struct span){id, strlen(id)}, key, &c);
	assert_true(c.sum == want->sum);
	buf_reset(&progress);
	conv_progress(want, &progress);
	conv_progress(&c, &got);
	if (from->answers == 0) /* else the blanks between the record's messages are gone */
		assert_string_equal(buf_cstr(&got), buf_cstr(&progress));
	conv_free(&c);
	buf_free(&progress);
	buf_free(&got);
}

static void finished_turns(void **state)
{
	char path[] = "turns-XXXXXX";
	struct turns_file t = {.fd = -1};
	struct conv none, a, b, c, d, before;
	struct hashset done = {0};
	struct err e = {0};

	(void)state;
	close(mkstemp(path));
	replay(&none), replay(&a), replay(&b), replay(&c), replay(&d), replay(&before);
	assert_int_equal(turns_open(&t, path, NULL, &e), 0);
	note(&t, "b", 2, &b, "b1");
	note(&t, "a", 1, &a, "a1");
	note(&t, "c", 3, &c, "c1");
	note(&t, "a", 1, &a, "a2");
	conv_answer(&d, SPAN("{\"content\":\"d1\"}"), SPAN("{}"), 0); /* of a reject */
	conv_answer(&before, SPAN("{\"content\":\"d1\"}"), SPAN("{}"), 0);
	note(&t, "d", 4, &d, "d2");
	assert_int_equal(write(t.fd, "{\"id\":\"b\"", 9), 9);
	turns_close(&t, 0);
	hashset_add(&done, hash128("c", 1));
	assert_int_equal(turns_open(&t, path, &done, &e), 0);
	assert_int_equal(t.nplaces, 4);
	noted(&t, "a", 1, &none, &a);
	noted(&t, "a", 2, &none, &none);
	noted(&t, "b", 2, &none, &b);
	noted(&t, "c", 3, &none, &none);
	noted(&t, "d", 4, &none, &none);
	noted(&t, "d", 4, &before, &d);
	noted(&t, "d", 4, &a, &a);
	note(&t, "b", 2, &b, "b2");
	turns_close(&t, 0);
	assert_int_equal(turns_open(&t, path, &done, &e), 0);
	noted(&t, "b", 2, &none, &b);
	turns_close(&t, 1);
	conv_free(&none), conv_free(&a), conv_free(&b), conv_free(&c), conv_free(&d),
	    conv_free(&before);
	hashset_free(&done);
	unlink(path);
}

static char said[4][200];
static size_t nsaid;

static void hear(const char *text)
{
	if (nsaid < 4)
		snprintf(said[nsaid++], sizeof(said[0]), "%s", text);
}

static struct item *take(struct run *r)
{
	struct flow_held *held;
	struct err e;

	assert_int_equal(flow_next(r->flow, &held, &e), 1);
	item_take(r, held);
	return queue_first(&r->queue);
}

#define ASK(id) "{\"id\":\"" id "\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}"

/* Of ten records seven were done; one took 10 s, two are left. */
static void the_time_that_is_left(void **state)
{
	static const char record[] = ASK("0");
	char path[] = "input-XXXXXX";
	const char *file = path;
	struct options o;
	struct run r = {.o = &o, .say = hear, .now = 10000};
	struct buf line = {0}, id = {0};
	struct item *it = NULL;
	struct err e = {0};
	int fd = mkstemp(path);

	(void)state;
	infer_defaults(&o);
	o.flow.files = (struct opt_list){.v = &file, .n = 1};
	r.progress = progress_open(PROGRESS_OFF);
	for (int i = 0; i < 10; i++) {
		buf_reset(&line);
		buf_addf(&line, ASK("%d"), i);
		buf_reset(&id);
		buf_add_hex64(&id, resume_key((struct span){line.data, line.len}, SPAN("")));
		buf_addf(&id, "%d", i);
		if (i < 7) {
			hashset_add(&r.resume.ids, hash128(id.data + 16, 1));
			hashset_add(&r.resume.done, hash128(id.data, id.len));
		}
		buf_addc(&line, '\n');
		assert_int_equal(write(fd, line.data, line.len), line.len);
	}
	close(fd);
	r.total_bytes = 10 * sizeof(record);
	r.flow = flow_open("e3-infer", &o.flow, &e);
	if (!r.flow)
		fail_msg("%s", e.msg);
	for (int i = 0; i < 8; i++)
		it = take(&r);
	assert_non_null(it);
	queue_take(&r.queue, it);
	item_out(&r, it);
	report_state(&r);
	assert_string_equal(said[0], "8 done, 0 in flight, 0 tok/s, 20 s left");
	flow_abort(r.flow);
	unlink(path);
	queue_free(&r.queue);
	resume_free(&r.resume);
	progress_close(r.progress);
	buf_free(&line);
	buf_free(&id);
}

static void keys(void **state)
{
	uint64_t k = resume_key(SPAN("{\"id\":1}"), SPAN("p"));

	(void)state;
	assert_true(k == resume_key(SPAN("{\"id\":1}"), SPAN("p")));
	assert_true(k != resume_key(SPAN("{\"id\":1} "), SPAN("p")));
	assert_true(k != resume_key(SPAN("{\"id\":1}"), SPAN("q")));
	assert_true(k == hash64("{\"id\":1}\np", 10, 0));
}

/* Full jitter: anything from nothing to the bound, which doubles up to a minute. */
static void pauses(void **state)
{
	static const struct {
		unsigned attempts;
		uint64_t bound;
	} table[] = {{1, 1000}, {2, 2000}, {3, 4000}, {6, 32000}, {7, 60000}, {1000, 60000}};
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		uint64_t low = UINT64_MAX, high = 0;

		for (int k = 0; k < 1000; k++) {
			uint64_t ms = pace_backoff(&random, 1000, table[i].attempts);

			low = ms < low ? ms : low;
			high = ms > high ? ms : high;
		}
		assert_true(low < table[i].bound / 20);
		assert_in_range(high, table[i].bound * 19 / 20, table[i].bound);
	}
	assert_int_equal(pace_backoff(&random, 0, 9), 0);
}

static void the_retry_budget(void **state)
{
	(void)state;
	assert_true(pace_retry_allowed(9, 0));
	assert_false(pace_retry_allowed(10, 9));
	assert_true(pace_retry_allowed(10, 10));
	assert_true(pace_retry_allowed(109, 1000));
	assert_false(pace_retry_allowed(110, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_longest_first),
	    cmocka_unit_test(waits_until_its_time),
	    cmocka_unit_test(many_in_and_out),
	    cmocka_unit_test(in_input_order),
	    cmocka_unit_test(loops),
	    cmocka_unit_test(the_done_set),
	    cmocka_unit_test(carried_rejects),
	    cmocka_unit_test(finished_turns),
	    cmocka_unit_test(the_time_that_is_left),
	    cmocka_unit_test(keys),
	    cmocka_unit_test(pauses),
	    cmocka_unit_test(the_retry_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
