/* compact_int.h - what compact's reader and writer share; private to tensor/ */
#ifndef E3_COMPACT_INT_H
#define E3_COMPACT_INT_H

#include <stddef.h>

#include "tensor/tensor.h"

#define COMPACT_MAGIC \
	"\x89"        \
	"E3HS\r\n\x1a"

enum { COMPACT_VERSION = 1, COMPACT_HEAD = 48 };
enum { COMPACT_LAST = 1, COMPACT_MASK = 2, COMPACT_IS_BEFORE = 4, COMPACT_IS_AFTER = 8 };

/* Planes smaller than this part of themselves are stored whole. */
enum { COMPACT_MOST = 256 };

/* dtypes by their number in the file. */
static const enum dtype compact_dtypes[] = {DT_COUNT, DT_BF16, DT_F16, DT_F32};

enum { COMPACT_DTYPES = sizeof(compact_dtypes) / sizeof(compact_dtypes[0]) };

/* Bytes up to the next multiple of eight. */
static inline size_t compact_pad(size_t n)
{
	return (8 - n % 8) % 8;
}

#endif
