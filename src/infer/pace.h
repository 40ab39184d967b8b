/* pace.h - how long a failed attempt waits, and how many may be made again */
#ifndef E3_INFER_PACE_H
#define E3_INFER_PACE_H

#include <stdint.h>

#define PACE_MAX_MS 60000

/* Full jitter: between nothing and max_ms, so that clients do not come back in step. random is the
 * generator's state, never 0. */
uint64_t pace_jitter(uint64_t *random, double max_ms);
/* The pause before attempt number `attempts` + 1: drawn below first_ms doubled with each attempt,
 * at most PACE_MAX_MS. */
uint64_t pace_backoff(uint64_t *random, double first_ms, unsigned attempts);

/* Whether one more retry keeps them within a tenth of the requests, and 10; those over it wait until
 * there is nothing else to send. */
int pace_retry_allowed(uint64_t retries, uint64_t requests);

#endif
