/* Which records stay, and that it depends on nothing but the records. */
#include "unit.h"

#include <stdio.h>

#include "merge/index.h"

/* Rows of records as "KEY.ID.LINE.CONTENT.DATASET", small numbers; key and id alike mean the same
 * id. */
struct row {
	uint64_t key, id, line, content;
	uint16_t dataset;
};

static const uint64_t no_cap[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
static const double no_weight[4] = {-1, -1, -1, -1};

/* The verdicts as letters, in the rows' order, when added in another one. */
static void decide(const struct row *row, size_t n, size_t stride, const struct limits *l, char *to)
{
	struct index *x = index_open();
	uint16_t empty = 99;
	uint8_t *v;
	size_t at[64];

	for (size_t i = 0; i < n; i++) {
		size_t k = i * stride % n; /* stride and n have no common factor */
		struct entry e = {row[k].key << 56 | row[k].key, row[k].id, row[k].line,
		    {row[k].content, 0}, (uint32_t)i, row[k].dataset};

		at[k] = i;
		index_add(x, &e);
	}
	v = index_decide(x, l, &empty);
	for (size_t i = 0; i < n; i++)
		to[i] = v ? "kicpm"[v[at[i]]] : '!';
	to[n] = '\0';
	if (!v && n < 64)
		snprintf(to, 64, "empty %d", empty);
	free(v);
	index_close(x);
}

static void choices(void **state)
{
	static const struct row rows[] = {
	    /* key, id, line, content, dataset */
	    {5, 1, 1, 10, 0},
	    {3, 1, 1, 11, 0},
	    {3, 2, 1, 12, 0}, /* the same key, another id */
	    {9, 1, 7, 13, 0}, /* the same id three times: the smallest line stays */
	    {9, 1, 4, 14, 0},
	    {9, 1, 9, 10, 0},
	    {7, 1, 1, 10, 1}, /* the content of the first */
	    {1, 1, 1, 20, 1},
	    {2, 1, 1, 21, 1},
	    {200, 1, 1, 22, 1}, /* in another part of the index */
	    {250, 1, 1, 23, 2},
	};
	static const uint64_t two[4] = {2, UINT64_MAX, 0, UINT64_MAX};
	static const double even[4] = {1, 1, -1, -1}, thirds[4] = {2, 1, 0, -1};
	static const double none[4] = {0, 0, 0, -1}, absent[4] = {1, -1, -1, 1};
	static const struct {
		struct limits l;
		const char *want;
	} t[] = {
	    {{0, no_cap, no_weight, 4}, "kkkikikkkkk"},
	    {{1, no_cap, no_weight, 4}, "kkkikickkkk"},
	    {{0, two, no_weight, 4}, "pkkipikkkkp"},
	    {{1, two, no_weight, 4}, "pkkipickkkp"},
	    /* kept 4 of 0, 4 of 1 and 1 of 2 */
	    {{0, no_cap, even, 4}, "kkkikikkkkk"},
	    {{0, no_cap, thirds, 4}, "kkkikimkkmm"},
	    {{0, two, even, 4}, "pkkipimkkmp"},
	    {{0, no_cap, none, 4}, "mmmimimmmmm"},
	    {{0, no_cap, absent, 4}, "empty 3"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		for (size_t stride = 1; stride < LEN(rows); stride++) {
			char got[65];

			decide(rows, LEN(rows), stride, &t[i].l, got);
			if (strcmp(got, t[i].want) != 0)
				fail_msg(
				    "row %zu, stride %zu: %s, want %s", i, stride, got, t[i].want);
		}
	}
}

/* Records that are equal to the last byte: one stays, whichever. */
static void equal_records(void **state)
{
	static const struct row rows[] = {{1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}};
	struct limits l = {1, no_cap, no_weight, 4};
	char got[65];

	(void)state;
	decide(rows, 3, 1, &l, got);
	assert_string_equal(got, "kii");
}

/* Two ids of one hash: what has the same id is found, whatever stands between. */
static void two_ids_of_one_key(void **state)
{
	static const struct row rows[] = {{4, 1, 1, 1, 0}, {4, 2, 2, 2, 0}, {4, 1, 3, 3, 0}};
	struct limits l = {0, no_cap, no_weight, 4};
	char got[65];

	(void)state;
	decide(rows, 3, 1, &l, got);
	assert_string_equal(got, "kki");
}

static void no_records(void **state)
{
	struct limits l = {1, no_cap, no_weight, 0};
	struct index *x = index_open();
	uint16_t empty;
	uint8_t *v = index_decide(x, &l, &empty);

	(void)state;
	assert_non_null(v);
	free(v);
	index_close(x);
	index_close(NULL);
}

static void weights_are_exact(void **state)
{
	static const struct {
		uint64_t available[2];
		double weight[2];
		uint64_t want[2];
	} t[] = {
	    {{9, 100}, {0.1, 0.7}, {9, 63}},
	    {{100, 100}, {0.1, 0.7}, {14, 100}},
	    {{3, 1000}, {1, 333.3333}, {3, 999}},
	    {{1000, 1}, {1000, 1}, {1000, 1}},
	    {{7, 7}, {0, 5}, {0, 7}},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct limits l = {0, no_cap, t[i].weight, 2};
		struct index *x = index_open();
		uint64_t kept[2] = {0};
		uint32_t n = 0;
		uint16_t empty;
		uint8_t *v;

		for (uint16_t d = 0; d < 2; d++)
			for (uint64_t k = 0; k < t[i].available[d]; k++) {
				struct entry e = {k * 0x9e3779b97f4a7c15u, k, d, {0}, n++, d};

				e.id = n;
				index_add(x, &e);
			}
		v = index_decide(x, &l, &empty);
		for (uint32_t k = 0; k < n; k++)
			kept[k >= t[i].available[0]] += v[k] == CHOICE_KEEP;
		if (kept[0] != t[i].want[0] || kept[1] != t[i].want[1])
			fail_msg("row %zu: %d and %d", i, (int)kept[0], (int)kept[1]);
		free(v);
		index_close(x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(choices),
	    cmocka_unit_test(equal_records),
	    cmocka_unit_test(two_ids_of_one_key),
	    cmocka_unit_test(no_records),
	    cmocka_unit_test(weights_are_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
