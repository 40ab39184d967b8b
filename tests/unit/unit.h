/* What unit tests share: cmocka's headers in the order it wants them, and a few checks. */
#ifndef E3_UNIT_H
#define E3_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A skipped test says why; tests/run puts it behind the test's name. */
#undef skip
#define skip(...)                                          \
	do {                                               \
		print_message("# skipped %s: ", __func__); \
		print_message(__VA_ARGS__);                \
		print_message("\n");                       \
		_skip(__FILE__, __LINE__);                 \
	} while (0)

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

/* The bytes at p are the C string want; the message shows both and the name of the row. */
#define assert_bytes(name, p, n, want)                                             \
	do {                                                                       \
		const char *assert_p = (p);                                        \
		size_t assert_n = (n);                                             \
		if (assert_n != strlen(want) ||                                    \
		    (assert_n > 0 && memcmp(assert_p, want, assert_n) != 0))       \
			fail_msg("%s: got '%.*s', want '%s'", name, (int)assert_n, \
			    assert_p ? assert_p : "", want);                       \
	} while (0)

#endif
