/* planes.h - elements apart into planes of their bytes, and together again
 *
 * Plane 0 holds the highest byte of each element (sign and exponent, which repeat), the last plane
 * the lowest (mantissa, which does not). size is 2 or 4; planes lie one behind the other, n bytes
 * each; the elements are little-endian and may be unaligned. */
#ifndef E3_PLANES_H
#define E3_PLANES_H

#include <stddef.h>

void planes_split(unsigned char *planes, const char *elements, size_t n, size_t size);
void planes_join(char *elements, const unsigned char *planes, size_t n, size_t size);

#endif
