/* ids_fast.h - the plain stretch of an integer array, many elements at a time; private to json/
 *
 * Plain is what our own writers write: digits and commas, no blanks. Both take elements that a
 * comma ends from *p on, put them out, move *p behind the last comma taken, and return how many
 * there were; the first thing that is not plain, and the last few dozen bytes, are left to the
 * caller, who reads by the grammar. Where the processor has no SSE2 they take nothing.
 */
#ifndef E3_JSON_IDS_FAST_H
#define E3_JSON_IDS_FAST_H

#include <stddef.h>
#include <stdint.h>

#define IDS_FAST_ROOM 3 /* elements behind those taken that out must have room for */

/* Ids of at most 8 digits. At least 8 bytes before *p can be read when *p - start is at least 8. */
size_t ids_fast(int32_t *out, const char *start, const char **p, const char *end);
/* The other way: as many ids below 10^6 as can be written at once, eight at a time, each with a comma
 * behind it. Moves *p behind them, where IDS_PUT_ROOM more bytes may be overwritten. */
#define IDS_PUT_ROOM 64
typedef size_t ids_put_fn(char **p, const int32_t *v, size_t n);
ids_put_fn ids_put;
/* The ways to do so that this processor has, the best first; NULL behind the last, for tests. */
ids_put_fn *ids_put_tier(unsigned i);

/* Zeros and ones, as bytes. */
size_t mask_fast(char *out, const char **p, const char *end);

#endif
