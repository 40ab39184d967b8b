/* le.h - little-endian numbers of 1 to 8 bytes; private to tensor/ */
#ifndef E3_LE_H
#define E3_LE_H

#include <stdint.h>

#include "base/buf.h"

static inline uint64_t le_get(const void *p, int bytes)
{
	const unsigned char *c = p;
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)c[i] << (8 * i);
	return v;
}

static inline void le_put(struct buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_addc(b, (char)(v >> (8 * i) & 0xff));
}

#endif
