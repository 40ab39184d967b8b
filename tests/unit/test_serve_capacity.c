#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "serve/capacity.h"

static void a_limit_is_found_and_followed(void **state)
{
	struct capacity c;

	(void)state;
	capacity_begin(&c, 64);
	assert_int_equal(capacity_now(&c), 64);
	for (size_t running = 63; running >= 8; running--) /* of 64, 56 come back */
		assert_int_equal(capacity_refused(&c, running), 0);
	assert_int_equal(capacity_now(&c), 8);
	/* every second answer brings one too many */
	for (int i = 0; i < 50; i++) {
		capacity_answered(&c);
		assert_int_equal(capacity_now(&c), 8);
		capacity_answered(&c);
		assert_int_equal(capacity_now(&c), 9);
		capacity_refused(&c, 8);
	}
	for (int i = 0; i < 111; i++)
		capacity_answered(&c);
	assert_int_equal(capacity_now(&c), 63);
	for (int i = 0; i < 10; i++)
		capacity_answered(&c);
	assert_int_equal(capacity_now(&c), 64); /* and no more */
}

static void a_third_for_other_reasons_changes_little(void **state)
{
	struct capacity c;

	(void)state;
	capacity_begin(&c, 64);
	for (int i = 0; i < 1000; i++) {
		capacity_refused(&c, 40);
		capacity_answered(&c);
		capacity_answered(&c);
	}
	assert_int_equal(capacity_now(&c), 64);
}

static void it_takes_none(void **state)
{
	struct capacity c;

	(void)state;
	capacity_begin(&c, 0); /* there is no such limit */
	for (int i = 1; i < CAPACITY_MANY; i++)
		assert_int_equal(capacity_refused(&c, 0), 0);
	assert_int_equal(capacity_refused(&c, 1), 0);
	assert_int_equal(capacity_refused(&c, 0), 1);
	assert_int_equal(capacity_now(&c), 1);
	capacity_answered(&c);
	assert_int_equal(capacity_refused(&c, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_limit_is_found_and_followed),
	    cmocka_unit_test(a_third_for_other_reasons_changes_little),
	    cmocka_unit_test(it_takes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
