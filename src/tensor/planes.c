#include "tensor/planes.h"

#include <stdint.h>
#include <string.h>

/* Steps of constant length, so that compilers make vectors of them. */
enum { STEP = 32 };

static void split2(unsigned char *restrict hi, unsigned char *restrict lo, const char *p)
{
	uint16_t v[STEP];

	memcpy(v, p, sizeof(v));
	for (int i = 0; i < STEP; i++) {
		hi[i] = (unsigned char)(v[i] >> 8);
		lo[i] = (unsigned char)(v[i] & 255);
	}
}

static void join2(char *p, const unsigned char *hi, const unsigned char *lo)
{
	uint16_t v[STEP];

	for (int i = 0; i < STEP; i++)
		v[i] = (uint16_t)(hi[i] << 8 | lo[i]);
	memcpy(p, v, sizeof(v));
}

static void split4(unsigned char *to, size_t n, const char *p)
{
	uint32_t v[STEP];

	memcpy(v, p, sizeof(v));
	for (unsigned k = 0; k < 4; k++)
		for (int i = 0; i < STEP; i++)
			to[k * n + (size_t)i] = (unsigned char)(v[i] >> (24 - 8 * k) & 255);
}

static void join4(char *p, const unsigned char *from, size_t n)
{
	uint32_t v[STEP] = {0};

	for (unsigned k = 0; k < 4; k++)
		for (int i = 0; i < STEP; i++)
			v[i] |= (uint32_t)from[k * n + (size_t)i] << (24 - 8 * k);
	memcpy(p, v, sizeof(v));
}

void planes_split(unsigned char *planes, const char *elements, size_t n, size_t size)
{
	size_t i = 0;

	for (; n - i >= STEP; i += STEP)
		if (size == 2)
			split2(planes + i, planes + n + i, elements + 2 * i);
		else
			split4(planes + i, n, elements + 4 * i);
	for (; i < n; i++)
		for (size_t k = 0; k < size; k++)
			planes[k * n + i] = (unsigned char)elements[i * size + (size - 1 - k)];
}

void planes_join(char *elements, const unsigned char *planes, size_t n, size_t size)
{
	size_t i = 0;

	for (; n - i >= STEP; i += STEP)
		if (size == 2)
			join2(elements + 2 * i, planes + i, planes + n + i);
		else
			join4(elements + 4 * i, planes + i, n);
	for (; i < n; i++)
		for (size_t k = 0; k < size; k++)
			elements[i * size + (size - 1 - k)] = (char)planes[k * n + i];
}
