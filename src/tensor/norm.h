/* norm.h - the final RMSNorm of a model, applied to states captured before it
 *
 * y = x * rsqrt(mean(x^2) + eps) * weight in float32, rounded once to the dtype. The mean is
 * summed in double and in order, so that the result is the same on every machine. Norms whose
 * weights are stored without the 1 in them get it added by whoever reads them. */
#ifndef E3_NORM_H
#define E3_NORM_H

#include <stddef.h>

#include "tensor/tensor.h"

/* rows of n elements at in + r * stride; out is dense. dtype is bf16, f16 or f32. */
struct norm_in {
	enum dtype dtype;
	const char *p;
	size_t rows, n, stride;
};
void norm_apply(char *out, const struct norm_in *in, const float *weight, double eps);

#endif
