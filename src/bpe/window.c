#include "bpe/window.h"

#include <stdlib.h>
#include <string.h>

static const struct tier {
	const char *name;
	window_fn *window;
} tiers[] = {
    {"plain", window_plain},
    {"base", window_base},
#if defined(__x86_64__)
    {"avx2", window_avx2},
    {"avx512", window_avx512},
#endif
};

#define TIERS (sizeof(tiers) / sizeof(tiers[0]))

/* Of those, how many run here: each needs what the ones before it need. */
static unsigned tiers_here(void)
{
#if defined(__x86_64__)
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
	    !__builtin_cpu_supports("bmi2"))
		return 2;
	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
	    !__builtin_cpu_supports("avx512vbmi2"))
		return 3;
#endif
	return TIERS;
}

window_fn *window_tier(unsigned i)
{
	return i < tiers_here() ? tiers[i].window : NULL;
}

const char *window_tier_name(unsigned i)
{
	return i < tiers_here() ? tiers[i].name : NULL;
}

window_fn *window_best(void)
{
	const char *name = getenv("E3_VECTORS");
	unsigned n = tiers_here();

	for (unsigned i = 0; name && i < n; i++)
		if (strcmp(tiers[i].name, name) == 0)
			return tiers[i].window;
	return tiers[n - 1].window;
}

size_t window_fill(struct split *s, window_fn *window, uint32_t *end, size_t room)
{
	size_t n = 0;

	while (n + WINDOW <= room && s->pos < s->n) {
		size_t more = window(s, end + n);

		if (more == 0) {
			end[n++] = (uint32_t)split_next(s);
			continue;
		}
		n += more;
		s->pos = end[n - 1];
		if (s->pos > s->stop) /* what is left of a section is one too */
			s->stop = s->pos;
	}
	return n;
}
