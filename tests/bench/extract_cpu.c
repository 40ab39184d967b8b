/* The loops of e3-extract on memory that is there, GB of states a second of processor time: the
 * check of every value, and the two sums. */
#include <stdio.h>
#include <time.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "tensor/crc32.h"
#include "tensor/states.h"

enum { ROWS = 500, SLOTS = 4, HIDDEN = 7168, TURNS = 20 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void show(const char *name, double best)
{
	printf("%-44s %8.1f GB/s\n", name, (double)ROWS * SLOTS * HIDDEN * 2 / best / 1e9);
}

int main(void)
{
	size_t n = (size_t)ROWS * SLOTS * HIDDEN;
	uint16_t *v = xreallocarray(NULL, n, sizeof(*v));
	uint64_t dim[3] = {ROWS, SLOTS, HIDDEN};
	struct tensor t = tensor_flat("hidden_states", DT_BF16, 3, dim, v);
	struct states s = {.rows = ROWS};
	double best[3] = {1e9, 1e9, 1e9};
	struct err e;

	for (size_t i = 0; i < n; i++)
		v[i] = (uint16_t)(i * 2654435761u >> 16 & 0xbfff);
	if (states_add(&s, &t, SLOTS, &e) < 0)
		return 1;
	for (int turn = 0; turn < TURNS; turn++) {
		volatile uint64_t sum;
		double at[4] = {now()};

		if (states_check(&s, 0, &e) < 0)
			return 1;
		at[1] = now();
		sum = hash64(v, n * 2, 0);
		at[2] = now();
		sum ^= crc32_add(0, v, n * 2);
		at[3] = now();
		for (int i = 0; i < 3; i++)
			best[i] = at[i + 1] - at[i] < best[i] ? at[i + 1] - at[i] : best[i];
	}
	show("finite, zero, constant, twice: one core", best[0]);
	show("xxh64: one core", best[1]);
	show("crc-32: one core", best[2]);
	return 0;
}
