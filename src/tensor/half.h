/* half.h - 16-bit floats: bf16 (8 exponent bits) and f16 (IEEE 754 binary16)
 *
 * To float exactly; back with round to nearest, ties to even, as torch and numpy do. NaN stays NaN.
 */
#ifndef E3_HALF_H
#define E3_HALF_H

#include "tensor/tensor.h"

float half_load(enum dtype dtype, const void *p); /* DT_BF16, DT_F16, DT_F32; p may be unaligned */
void half_store(enum dtype dtype, void *p, float x);

#endif
