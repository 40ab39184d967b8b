/* --fault: what is understood, and whom it strikes. */

#include "base/err.h"
#include "sim/fault.h"
#include "unit.h"

static void spellings(void **state)
{
	static const struct {
		const char *text;
		int ok;
		enum fault kind;
		double rate;
		uint64_t from, to, arg;
	} rows[] = {
	    {"reset=0.5", 1, F_RESET, 0.5, 1, 0, 0},
	    {"429@3", 1, F_429, 0, 3, 3, 1},
	    {"429@3-7:30", 1, F_429, 0, 3, 7, 30},
	    {"loading@0:5000", 1, F_LOADING, 0, 0, 0, 5000},
	    {"trickle=1:2", 1, F_TRICKLE, 1, 1, 0, 2},
	    {"", 0, 0, 0, 0, 0, 0},
	    {"reset", 0, 0, 0, 0, 0, 0},
	    {"reset=", 0, 0, 0, 0, 0, 0},
	    {"reset=2", 0, 0, 0, 0, 0, 0},
	    {"reset=-0.1", 0, 0, 0, 0, 0, 0},
	    {"reset=nan", 0, 0, 0, 0, 0, 0},
	    {"reset@", 0, 0, 0, 0, 0, 0},
	    {"reset@7-3", 0, 0, 0, 0, 0, 0},
	    {"reset@1:5", 0, 0, 0, 0, 0, 0}, /* takes no argument */
	    {"429@1:", 0, 0, 0, 0, 0, 0},
	    {"reset@0", 0, 0, 0, 0, 0, 0}, /* no request, and nothing that lasts */
	    {"reset@0-5", 0, 0, 0, 0, 0, 0},
	    {"storm@0", 1, F_STORM, 0, 0, 0, 2000},
	    {"health@0", 1, F_HEALTH, 0, 0, 0, 0},
	    {"status@1:200", 1, F_STATUS, 0, 1, 1, 200},
	    {"status@1:599", 1, F_STATUS, 0, 1, 1, 599},
	    {"status@1:199", 0, 0, 0, 0, 0, 0},
	    {"status@1:600", 0, 0, 0, 0, 0, 0},
	    {"loading@0:1000000000", 1, F_LOADING, 0, 0, 0, 1000000000},
	    {"loading@0:1000000001", 0, 0, 0, 0, 0, 0},
	    {"deep=1:18446744073709551615", 0, 0, 0, 0, 0, 0},
	    {"rese=1", 0, 0, 0, 0, 0, 0},
	    {"resets=1", 0, 0, 0, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct fault_plan p = {0};
		struct err e = {0};
		int rc = fault_add(&p, rows[i].text, &e);

		if ((rc == 0) != rows[i].ok)
			fail_msg("%s: %s", rows[i].text, rc == 0 ? "taken" : e.msg);
		if (rows[i].ok) {
			assert_int_equal(p.v[0].kind, rows[i].kind);
			assert_true(p.v[0].rate == rows[i].rate);
			assert_int_equal(p.v[0].from, rows[i].from);
			assert_int_equal(p.v[0].to, rows[i].to);
			assert_int_equal(p.v[0].arg, rows[i].arg);
		} else {
			assert_string_equal(e.class, "usage");
			assert_non_null(strstr(e.msg, "--fault"));
		}
		fault_free(&p);
	}
}

static void by_number(void **state)
{
	struct fault_plan p = {0};
	struct fault_hits f;
	struct err e;

	(void)state;
	assert_int_equal(fault_add(&p, "reset@3-5", &e), 0);
	assert_int_equal(fault_add(&p, "429@4:9", &e), 0);
	for (uint64_t n = 0; n < 10; n++) {
		fault_draw(&p, n, &f);
		assert_int_equal(f.on[F_RESET], n >= 3 && n <= 5);
		assert_int_equal(f.on[F_429], n == 4);
		assert_int_equal(f.arg[F_429], n == 4 ? 9 : 0);
	}
	fault_free(&p);
}

/* The rate holds within what chance allows (5 sigma), is repeatable, and two faults or seeds do not
 * strike the same requests. */
static void by_rate(void **state)
{
	struct fault_plan p = {0}, q = {.seed = 1};
	struct fault_hits f, g;
	struct err e;
	int n = 0, both = 0, seeds = 0;

	(void)state;
	fault_add(&p, "reset=0.2", &e);
	fault_add(&p, "500=0.2", &e);
	fault_add(&q, "reset=0.2", &e);
	for (uint64_t k = 1; k <= 10000; k++) {
		fault_draw(&p, k, &f);
		n += f.on[F_RESET];
		both += f.on[F_RESET] && f.on[F_500];
		fault_draw(&q, k, &g);
		seeds += f.on[F_RESET] && g.on[F_RESET];
		fault_draw(&p, k, &g);
		assert_memory_equal(&f, &g, sizeof(f));
	}
	assert_in_range(n, 1800, 2200);
	assert_in_range(both, 300, 500);
	assert_in_range(seeds, 300, 500);
	fault_draw(&p, 0, &f); /* the start is no request */
	assert_int_equal(f.on[F_RESET], 0);
	fault_free(&p);
	fault_free(&q);
}

static void table_is_whole(void **state)
{
	(void)state;
	for (int i = 0; i < FAULTS; i++) {
		assert_non_null(fault_table[i].name);
		assert_non_null(fault_table[i].what);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(fault_table[i].name, fault_table[k].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(spellings),
	    cmocka_unit_test(by_number),
	    cmocka_unit_test(by_rate),
	    cmocka_unit_test(table_is_whole),
	};

	return cmocka_run_group_tests_name("sim_fault", tests, NULL, NULL);
}
