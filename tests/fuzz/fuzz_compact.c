/* Any bytes as a compact file, and the same with the sum of its head made to fit, so that what it
 * guards is reached, too. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "tensor/compact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t get(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* Writes the head's sum over the bytes where it stands. */
static void mend_head(unsigned char *p, size_t n)
{
	uint64_t tokens, at, sum;

	if (n < 56)
		return;
	tokens = get(p + 16, 8) % 1024;
	at = 48 + (get(p + 44, 4) % 1024 + 7) / 8 * 8 + tokens * (p[36] & 2 ? 5 : 4);
	at = (at + 7) / 8 * 8;
	if (at > n - 8)
		return;
	sum = hash64(p, at, 0);
	for (int i = 0; i < 8; i++)
		p[at + (size_t)i] = (unsigned char)(sum >> (8 * i));
}

/* Reads all that the reader says is there. */
static void touch(const void *p, size_t n)
{
	const volatile unsigned char *c = p;

	for (size_t i = 0; i < n; i++)
		(void)c[i];
}

static void try(const void *p, size_t n)
{
	struct err e;
	struct compact_file *f = compact_parse(p, n, &e);
	const struct compact *c;

	if (!f)
		return;
	c = compact_get(f);
	touch(c->id.p, c->id.n);
	touch(c->ids, c->n * sizeof(*c->ids));
	if (c->mask)
		touch(c->mask, c->n * sizeof(*c->mask));
	for (unsigned k = 0; k < c->states.nslots; k++)
		touch(c->states.slot[k].p, c->states.rows * c->states.slot[k].stride);
	compact_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* a copy of exactly n bytes, so that a step over the end is seen */
	unsigned char *copy = xmemdup(data, n);

	try(copy, n);
	mend_head(copy, n);
	try(copy, n);
	free(copy);
	return 0;
}
