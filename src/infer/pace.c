#include "infer/pace.h"

#define RETRY_FLOOR 10 /* retries that are always allowed ... */
#define RETRY_SHARE 10 /* ... and one for so many requests */

uint64_t pace_jitter(uint64_t *random, double max_ms)
{
	uint64_t x = *random; /* xorshift64 */

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*random = x;
	return (uint64_t)((double)(x >> 11) / 9007199254740992.0 * max_ms);
}

uint64_t pace_backoff(uint64_t *random, double first_ms, unsigned attempts)
{
	double max = first_ms;

	for (unsigned i = 1; i < attempts && max < PACE_MAX_MS; i++)
		max *= 2;
	return pace_jitter(random, max < PACE_MAX_MS ? max : PACE_MAX_MS);
}

int pace_retry_allowed(uint64_t retries, uint64_t requests)
{
	return retries < RETRY_FLOOR + requests / RETRY_SHARE;
}
