/* The rule of the draft vocabulary, and the check before anything is written. */

#include "base/err.h"
#include "base/ints.h"
#include "unit.h"
#include "vocabmap/map.h"

/* Counts of ids 0.., forced ids, N: the ids that are kept. A negative number ends a list. */
static const struct {
	const char *name;
	int supervised[8], forced[4], kept[8];
	uint64_t draft;
} rows[] = {
    {"by count", {1, 5, 3, 9, 0, 0, 0, 2}, {-1}, {1, 3, -1}, 2},
    {"ties to the lower id", {2, 3, 3, 3, 0, 0, 0, 9}, {-1}, {1, 7, -1}, 2},
    {"filled up from 0", {0, 0, 0, 0, 0, 7, 0, 0}, {-1}, {0, 1, 5, -1}, 3},
    {"none occurs", {0, 0, 0, 0, 0, 0, 0, 0}, {-1}, {0, 1, -1}, 2},
    {"forced pushes out", {9, 8, 7, 6, 0, 0, 0, 0}, {6, -1}, {0, 1, 6, -1}, 3},
    {"forced twice, and frequent anyway", {9, 8, 7, 6, 0, 0, 0, 0}, {0, 0, -1}, {0, 1, -1}, 2},
    {"all forced", {9, 8, 7, 6, 0, 0, 0, 0}, {4, 7, -1}, {4, 7, -1}, 2},
    {"the whole vocabulary", {1, 2, 3, 4, 5, 6, 7, 8}, {-1}, {0, 1, 2, 3, 4, 5, 6, 7}, 8},
};

static void rule(void **state)
{
	(void)state;
	for (size_t r = 0; r < LEN(rows); r++) {
		struct counts c;
		struct ints forced = {0};
		struct ranking rank;
		struct map m;
		struct err e;

		counts_init(&c, 8);
		for (int i = 0; i < 8; i++)
			c.id[i].supervised = c.id[i].total = (uint64_t)rows[r].supervised[i];
		for (int i = 0; rows[r].forced[i] >= 0; i++)
			ints_push(&forced, rows[r].forced[i]);
		ranking_make(&rank, &c, 0, &forced);
		map_make(&m, &rank, rows[r].draft);
		assert_int_equal(map_check(&m, &e), 0);
		for (uint64_t i = 0; i < rows[r].draft; i++)
			if ((int64_t)i + m.d2t[i] != rows[r].kept[i])
				fail_msg("%s: draft id %d", rows[r].name, (int)i);
		/* every way to break it is seen */
		m.d2t[0]++;
		assert_int_equal(map_check(&m, &e), -1);
		m.d2t[0]--;
		m.t2d[rows[r].kept[rows[r].draft - 1]] = 0;
		assert_int_equal(map_check(&m, &e), -1);
		m.t2d[rows[r].kept[0]] = 0;
		assert_int_equal(map_check(&m, &e), -1);
		map_free(&m);
		ranking_free(&rank);
		ints_free(&forced);
		counts_free(&c);
	}
}

static void covered(void **state)
{
	struct counts c;
	struct ints none = {0};
	struct ranking rank;

	(void)state;
	counts_init(&c, 4);
	c.id[1] = (struct count){5, 6};
	c.id[2] = (struct count){1, 10};
	ranking_make(&rank, &c, 0, &none);
	assert_int_equal(ranking_covered(&rank, &c, 1).supervised, 5);
	assert_int_equal(ranking_covered(&rank, &c, 1).total, 6);
	assert_int_equal(ranking_covered(&rank, &c, 99).total, 16);
	ranking_free(&rank);
	ranking_make(&rank, &c, 1, &none); /* by all tokens */
	assert_int_equal(rank.id[0], 2);
	ranking_free(&rank);
	counts_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(rule), cmocka_unit_test(covered)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
