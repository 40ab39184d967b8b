#include <string.h>

#include "base/err.h"
#include "json/ids.h"
#include "json/rec.h"

#define BLOCK \
	128 /* bytes; their counts fit in a byte each, which is what vector units add fastest */

struct tally {
	size_t commas, digits, zeros, ones;
};

/* What an array's inside is made of. The loop over a block has a fixed length and no branches, so
 * that the compiler makes it one of vectors; the last block is filled up with blanks. */
static struct tally tally(const char *p, size_t n)
{
	struct tally t = {0};
	char last[BLOCK];

	for (; n > 0; p += BLOCK, n -= n < BLOCK ? n : BLOCK) {
		unsigned char commas = 0, digits = 0, zeros = 0, ones = 0;

		if (n < BLOCK) {
			memset(last, ' ', sizeof(last));
			p = memcpy(last, p, n);
		}
		for (int i = 0; i < BLOCK; i++) {
			commas = (unsigned char)(commas + (p[i] == ','));
			digits = (unsigned char)(digits + ((unsigned char)(p[i] - '0') < 10));
			zeros = (unsigned char)(zeros + (p[i] == '0'));
			ones = (unsigned char)(ones + (p[i] == '1'));
		}
		t.commas += commas;
		t.digits += digits;
		t.zeros += zeros;
		t.ones += ones;
	}
	return t;
}

/* 1 where the array holds nothing but digits and commas, which JSON's grammar makes numbers. */
static int is_plain(struct span v, struct tally *t)
{
	if (span_is_null(v) || v.n < 2 || v.p[0] != '[')
		return 0;
	*t = tally(v.p + 1, v.n - 2);
	return t->commas + t->digits == v.n - 2;
}

/* 0 where no number of a plain array has ten digits, as all from 2^31 have: such a one covers seven
 * bytes from some multiple of four on, and a comma lacks the bit 0x10 of the digits. In fours, which
 * the compiler makes vectors of; the eighth byte is anything, at the end the bracket. */
static int may_be_long(struct span v)
{
	static const char digits[4] = {0x10, 0x10, 0x10, 0x10}, eighth[4] = {0, 0, 0, 0x10};
	uint32_t want, any, a, b, found = 0;

	memcpy(&want, digits, sizeof(want));
	memcpy(&any, eighth, sizeof(any));
	for (size_t i = 1; i + 8 <= v.n; i += 4) {
		memcpy(&a, v.p + i, sizeof(a));
		memcpy(&b, v.p + i + 4, sizeof(b));
		found |= (a & (b | any) & want) == want;
	}
	return found != 0;
}

int ids_plain(struct span v)
{
	struct tally t;

	return is_plain(v, &t) && !may_be_long(v);
}

int ids_count(struct span v, const char *name, size_t *n, struct err *e)
{
	struct ints ids = {0};
	struct tally t;
	int rc;

	if (is_plain(v, &t) && !may_be_long(v)) {
		*n = v.n > 2 ? t.commas + 1 : 0;
		return 0;
	}
	rc = ids_read(&ids, v, name, e);
	*n = ids.n;
	ints_free(&ids);
	return rc;
}

int mask_count(struct span v, const char *name, size_t *zeros, size_t *ones, struct err *e)
{
	struct buf mask = {0};
	struct tally t;
	int rc;

	/* as many digits as numbers: each has one */
	if (is_plain(v, &t) && t.zeros + t.ones == t.digits &&
	    (v.n == 2 || t.digits == t.commas + 1)) {
		*zeros = t.zeros;
		*ones = t.ones;
		return 0;
	}
	rc = mask_read(&mask, v, name, e);
	*ones = *zeros = 0;
	for (size_t i = 0; i < mask.len; i++)
		++*(mask.data[i] ? ones : zeros);
	buf_free(&mask);
	return rc;
}
