/* How many at once, by what a server's figures say; and a server that makes no token. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "infer/adapt.h"
#include "infer/endpoint.h"
#include "infer/infer.h"

static void silent(const char *text)
{
	(void)text;
}

/* A reply of /metrics. */
static void tell(struct run *r, struct endpoint *ep, const char *text)
{
	struct http_done d = {.status = 200, .retry_after = -1};

	buf_adds(&d.body, text);
	adapt_done(r, ep, &d);
	buf_free(&d.body);
}

#define LOAD(running, waiting, cache, preempted)                                      \
	"vllm:num_requests_running " #running "\nvllm:num_requests_waiting " #waiting \
	"\nvllm:kv_cache_usage_perc " #cache "\nvllm:num_preemptions_total " #preempted "\n"

static void the_controller(void **state)
{
	static const struct {
		const char *name, *load;
		double before, preempted, want;
	} table[] = {
	    {"room: one more", LOAD(10, 0, 0.5, 0), 10, 0, 11},
	    {"room: 5% more", LOAD(60, 0, 0.5, 0), 60, 0, 63},
	    {"never above the limit", LOAD(100, 0, 0.5, 0), 100, 0, 100},
	    {"a few that wait are wanted", LOAD(20, 2, 0.5, 0), 20, 0, 20},
	    {"what waits is too much", LOAD(20, 30, 0.5, 0), 50, 0, 20},
	    {"never below one", LOAD(20, 90, 0.5, 0), 50, 0, 1},
	    {"the cache is full: no growth", LOAD(20, 0, 0.95, 0), 20, 0, 20},
	    {"pushed out of the cache", LOAD(50, 0, 0.99, 3), 50, 2, 40},
	    {"as often as before", LOAD(50, 0, 0.99, 3), 50, 3, 50},
	    {"at the first look: before this run", LOAD(50, 0, 0.99, 3), 50, -1, 50},
	};
	struct options o = {.adaptive = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct endpoint *ep = endpoint_new("http://x");
		struct run r = {.o = &o, .now = 100000};

		ep->state = EP_UP;
		ep->limit = 100;
		ep->allowed = table[i].before;
		if (table[i].preempted >= 0)
			ep->preemptions = table[i].preempted;
		tell(&r, ep, table[i].load);
		if (ep->allowed != table[i].want)
			fail_msg("%s: %f", table[i].name, ep->allowed);
		endpoint_free(ep);
	}
}

static void holds_after_a_preemption(void **state)
{
	struct options o = {.adaptive = 1};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000};

	(void)state;
	ep->state = EP_UP;
	ep->limit = 100;
	ep->allowed = 50;
	ep->preemptions = 2;
	tell(&r, ep, LOAD(50, 0, 0.5, 3));
	assert_true(ep->allowed == 40);
	r.now += 5000;
	tell(&r, ep, LOAD(40, 0, 0.5, 3));
	assert_true(ep->allowed == 40);
	adapt_retracted(&r, ep);
	assert_true(ep->allowed == 40); /* once a minute */
	r.now += 60000;
	tell(&r, ep, LOAD(40, 0, 0.5, 3));
	assert_true(ep->allowed == 42);
	adapt_retracted(&r, ep);
	assert_true(ep->allowed == 42 * 0.8);
	endpoint_free(ep);
}

static void bounded_by_the_cache(void **state)
{
	struct options o = {.adaptive = 1};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000};

	(void)state;
	ep->state = EP_UP;
	ep->limit = 100;
	ep->allowed = 100;
	ep->facts.kv_tokens = 100000;
	r.n.answers = 100;
	r.n.prompt_tokens = 100 * 1000;
	r.n.completion_tokens = 100 * 2000; /* 2000 tokens a request: 45 fit */
	tell(&r, ep, LOAD(60, 0, 0.5, 0));
	assert_true(ep->allowed == 45);
	endpoint_free(ep);
}

static void without_adaptive_nothing_moves(void **state)
{
	struct options o = {0};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000};

	(void)state;
	ep->state = EP_UP;
	ep->limit = 100;
	ep->allowed = 50;
	tell(&r, ep, LOAD(20, 90, 0.99, 5));
	adapt_retracted(&r, ep);
	assert_true(ep->allowed == 50);
	endpoint_free(ep);
}

static void a_server_that_hangs(void **state)
{
	struct options o = {0};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000, .say = silent};

	(void)state;
	r.progress = progress_open(PROGRESS_OFF);
	ep->state = EP_UP;
	ep->limit = 100;
	ep->allowed = 50;
	ep->running = 3;
	tell(&r, ep, "vllm:generation_tokens_total 5\n");
	r.now += 299000;
	tell(&r, ep, "vllm:generation_tokens_total 6\n");
	r.now += 299000;
	tell(&r, ep, "vllm:generation_tokens_total 6\n");
	assert_int_equal(ep->state, EP_UP);
	r.now += 1000;
	tell(&r, ep, "vllm:generation_tokens_total 6\n");
	assert_int_equal(ep->state, EP_DOWN);
	assert_int_equal(r.n.outages, 1);
	progress_close(r.progress);
	endpoint_free(ep);
}

/* Its whole process hangs: not even its figures come. */
static void a_server_that_answers_nobody(void **state)
{
	struct options o = {0};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000, .say = silent};
	struct http_done d = {.curl = 28};

	(void)state;
	r.progress = progress_open(PROGRESS_OFF);
	ep->state = EP_UP;
	ep->running = 3;
	for (int i = 0; i < 2; i++, r.now += 60000)
		adapt_done(&r, ep, &d);
	assert_int_equal(ep->figures, FIGURES_UNKNOWN);
	tell(&r, ep, "vllm:generation_tokens_total 5\n");
	r.now += 299000;
	adapt_done(&r, ep, &d);
	assert_int_equal(ep->state, EP_UP);
	r.now += 1000;
	adapt_done(&r, ep, &d);
	assert_int_equal(ep->state, EP_DOWN);
	progress_close(r.progress);
	endpoint_free(ep);
}

/* A proxy that fails for a moment: who has told figures is looked at again, and told of no more only
 * after it has been away. */
static void figures_that_fail_once(void **state)
{
	struct options o = {.concurrency = 4, .flow.quiet = 1};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000, .say = silent};
	struct http_done d = {.status = 502};

	(void)state;
	r.progress = progress_open(PROGRESS_OFF);
	ep->state = EP_UP;
	ep->running = 3;
	tell(&r, ep, "vllm:generation_tokens_total 5\n");
	r.now += 150000;
	adapt_done(&r, ep, &d);
	assert_int_equal(ep->figures, FIGURES_TOLD);
	r.now += 150000;
	adapt_done(&r, ep, &d); /* it answers: that is no hang */
	assert_int_equal(ep->state, EP_UP);
	tell(&r, ep, "vllm:generation_tokens_total 5\n");
	assert_int_equal(ep->state, EP_DOWN);
	endpoint_is_up(&r, ep);
	adapt_done(&r, ep, &d);
	assert_int_equal(ep->figures, FIGURES_NONE);
	progress_close(r.progress);
	endpoint_free(ep);
}

static char said[200];

static void hear(const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
}

static void no_metrics(void **state)
{
	struct options o = {.adaptive = 1};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {
	    .o = &o, .now = 100000, .say = hear, .progress = progress_open(PROGRESS_OFF)};

	(void)state;
	ep->state = EP_UP;
	tell(&r, ep, "<html>");
	assert_int_equal(ep->figures, FIGURES_NONE);
	assert_string_equal(said, "http://x: no figures at /metrics: a hang shows only at /health, "
				  "and --adaptive has no effect");
	endpoint_free(ep);
	progress_close(r.progress);
}

/* Of one without figures it is judged by its health, and by its answers. */
static void health_instead(void **state)
{
	struct options o = {.flow.quiet = 1};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000, .say = silent};
	struct http_done late = {.curl = 28}, ill = {.status = 503}, none = {.status = 404};

	(void)state;
	r.progress = progress_open(PROGRESS_OFF);
	ep->state = EP_UP;
	ep->running = 3;
	for (int i = 0; i < 3; i++, r.now += 60000)
		adapt_done(&r, ep, &late);
	assert_int_equal(ep->figures, FIGURES_NONE);
	for (int i = 0; i < 5; i++, r.now += 60000)
		adapt_done(&r, ep, i % 2 ? &late : &ill);
	endpoint_answers(ep);
	for (int i = 0; i < 5; i++, r.now += 60000)
		adapt_done(&r, ep, &ill);
	adapt_done(&r, ep, &none); /* who does not know of health says nothing of it */
	r.now += 299000;
	adapt_done(&r, ep, &ill);
	assert_int_equal(ep->state, EP_UP);
	r.now += 1000;
	adapt_done(&r, ep, &late);
	assert_int_equal(ep->state, EP_DOWN);
	endpoint_is_up(&r, ep);
	assert_int_equal(
	    ep->figures, FIGURES_UNKNOWN); /* it may have been started anew, with them */
	progress_close(r.progress);
	endpoint_free(ep);
}

/* Of one that counts no tokens its figures say at least that it answers. */
static void figures_without_tokens(void **state)
{
	struct options o = {.flow.quiet = 1};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000, .say = silent};
	struct http_done late = {.curl = 28};

	(void)state;
	r.progress = progress_open(PROGRESS_OFF);
	ep->state = EP_UP;
	ep->running = 3;
	for (int i = 0; i < 20; i++, r.now += 200000) {
		tell(&r, ep, "vllm:num_requests_running 3\n");
		assert_int_equal(ep->figures, FIGURES_TOLD);
		r.now += 200000;
		adapt_done(&r, ep, &late);
	}
	assert_int_equal(ep->state, EP_UP);
	progress_close(r.progress);
	endpoint_free(ep);
}

/* A server that is down is asked after 1, 2, 4 .. 30 seconds; many that were lost at once are one
 * failure. */
static void a_server_that_stays_away(void **state)
{
	static const uint64_t seconds[] = {1, 2, 4, 8, 16, 30, 30};
	struct options o = {0};
	struct endpoint *ep = endpoint_new("http://x");
	struct run r = {.o = &o, .now = 100000};
	struct err why;

	(void)state;
	err_set(&why, "outage", "gone");
	ep->state = EP_DOWN;
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		endpoint_is_down(&r, ep, &why);
		endpoint_is_down(&r, ep, &why);
		assert_true(ep->probe_at == r.now + 1000 * seconds[i]);
		r.now = ep->probe_at;
	}
	endpoint_free(ep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_controller),
	    cmocka_unit_test(holds_after_a_preemption),
	    cmocka_unit_test(bounded_by_the_cache),
	    cmocka_unit_test(without_adaptive_nothing_moves),
	    cmocka_unit_test(a_server_that_hangs),
	    cmocka_unit_test(a_server_that_answers_nobody),
	    cmocka_unit_test(figures_that_fail_once),
	    cmocka_unit_test(no_metrics),
	    cmocka_unit_test(health_instead),
	    cmocka_unit_test(figures_without_tokens),
	    cmocka_unit_test(a_server_that_stays_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
