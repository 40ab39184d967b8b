#include "tensor/half.h"

#include <stdint.h>
#include <string.h>

static float from_bits(uint32_t u)
{
	float x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

static uint32_t to_bits(float x)
{
	uint32_t u;

	memcpy(&u, &x, sizeof(u));
	return u;
}

static float load_f16(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, e = h >> 10 & 31, m = h & 1023;

	if (e == 31)
		return from_bits(sign | 0x7f800000 | m << 13);
	if (e == 0) /* zero and subnormals: m * 2^-24 */
		return from_bits(sign | to_bits((float)m * 0x1p-24f));
	return from_bits(sign | (e + 112) << 23 | m << 13);
}

static uint16_t store_f16(float x)
{
	uint32_t u = to_bits(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;

	if (a > 0x7f800000)
		return (uint16_t)(sign | 0x7e00);
	if (a >= 0x477ff000) /* 65520, halfway between the largest number and the next */
		return (uint16_t)(sign | 0x7c00);
	if (a < 0x38800000) { /* below 2^-14: adding 0.5 rounds to multiples of 2^-24 */
		float r = from_bits(a) + 0.5f;

		return (uint16_t)(sign | (to_bits(r) - 0x3f000000));
	}
	a += 0xfff + (a >> 13 & 1);
	return (uint16_t)(sign | ((a >> 13) - (112u << 10)));
}

static uint16_t store_bf16(float x)
{
	uint32_t u = to_bits(x);

	if ((u & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(u >> 16 | 0x40);
	u += 0x7fff + (u >> 16 & 1);
	return (uint16_t)(u >> 16);
}

float half_load(enum dtype dtype, const void *p)
{
	uint16_t h;
	float x;

	if (dtype == DT_F32) {
		memcpy(&x, p, sizeof(x));
		return x;
	}
	memcpy(&h, p, sizeof(h));
	return dtype == DT_BF16 ? from_bits((uint32_t)h << 16) : load_f16(h);
}

void half_store(enum dtype dtype, void *p, float x)
{
	uint16_t h;

	if (dtype == DT_F32) {
		memcpy(p, &x, sizeof(x));
		return;
	}
	h = dtype == DT_BF16 ? store_bf16(x) : store_f16(x);
	memcpy(p, &h, sizeof(h));
}
