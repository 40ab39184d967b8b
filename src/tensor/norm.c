#include "tensor/norm.h"

#include <math.h>

#include "tensor/half.h"

void norm_apply(char *out, const struct norm_in *in, const float *weight, double eps)
{
	size_t size = dtypes[in->dtype].size;

	for (size_t r = 0; r < in->rows; r++) {
		const char *row = in->p + r * in->stride;
		char *to = out + r * in->n * size;
		double sum = 0;
		float scale;

		for (size_t i = 0; i < in->n; i++) {
			double x = half_load(in->dtype, row + i * size);

			sum += x * x;
		}
		scale = (float)(1 / sqrt(sum / (double)in->n + eps));
		for (size_t i = 0; i < in->n; i++)
			half_store(in->dtype, to + i * size,
			    half_load(in->dtype, row + i * size) * scale * weight[i]);
	}
}
