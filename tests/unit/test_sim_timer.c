/* The heap of deadlines, against a plain search. */

#include "sim/timer.h"
#include "unit.h"

#define N 200

static void by_time_then_order(void **state)
{
	struct timers h = {0};
	struct timer t[4] = {{.kind = 0}, {.kind = 1}, {.kind = 2}, {.kind = 3}};
	static const uint64_t due[] = {20, 10, 20, 10};
	static const int want[] = {1, 3, 0, 2};
	uint64_t next;

	(void)state;
	assert_int_equal(timer_next(&h, &next), 0);
	for (int i = 0; i < 4; i++)
		timer_set(&h, &t[i], due[i]);
	assert_int_equal(timer_next(&h, &next), 1);
	assert_int_equal(next, 10);
	assert_null(timer_due(&h, 9));
	for (int i = 0; i < 4; i++)
		assert_int_equal(timer_due(&h, 20)->kind, want[i]);
	assert_null(timer_due(&h, UINT64_MAX));
	timers_free(&h);
}

/* Sets, moves and stops at random; each time the earliest must come out. */
static void against_a_search(void **state)
{
	struct timers h = {0};
	struct timer t[N] = {{0}};
	uint32_t x = 1;

	(void)state;
	for (int step = 0; step < 20000; step++) {
		size_t i, best = N;

		x = x * 1664525u + 1013904223u;
		i = (x >> 8) % N;
		if (x >> 30 == 0)
			timer_stop(&h, &t[i]);
		else
			timer_set(&h, &t[i], (x >> 16) % 1000);
		for (i = 0; i < N; i++)
			if (t[i].at && (best == N || t[i].due < t[best].due ||
					   (t[i].due == t[best].due && t[i].order < t[best].order)))
				best = i;
		if (x >> 28 == 15 && best < N)
			assert_ptr_equal(timer_due(&h, UINT64_MAX), &t[best]);
		else
			assert_ptr_equal(best < N ? &t[best] : NULL, h.n > 0 ? h.v[0] : NULL);
	}
	timers_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(by_time_then_order),
	    cmocka_unit_test(against_a_search),
	};

	return cmocka_run_group_tests_name("sim_timer", tests, NULL, NULL);
}
