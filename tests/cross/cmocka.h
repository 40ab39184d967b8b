/* Enough of cmocka to run a unit test on a processor for which there is none: tests/cli/neon.bats.
 * The first failure ends the program. */
#ifndef E3_CROSS_CMOCKA_H
#define E3_CROSS_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
	const char *name;
	void (*run)(void **state);
};

#define cmocka_unit_test(f) \
	{                   \
#f, f       \
	}
#define fail_msg(...)                                           \
	do {                                                    \
		printf("not ok - %s:%d: ", __FILE__, __LINE__); \
		printf(__VA_ARGS__);                            \
		printf("\n");                                   \
		exit(1);                                        \
	} while (0)
#define assert_true(x)                             \
	do {                                       \
		if (!(x))                          \
			fail_msg("not true: " #x); \
	} while (0)
#define assert_int_equal(a, b)			       assert_true((a) == (b))
#define assert_ptr_equal(a, b)			       assert_true((a) == (b))
#define cmocka_run_group_tests(tests, setup, teardown) cross_run(tests, LEN(tests))

static inline int cross_run(const struct CMUnitTest *test, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		test[i].run(NULL);
		printf("ok %zu - %s\n", i + 1, test[i].name);
	}
	return 0;
}

#endif
