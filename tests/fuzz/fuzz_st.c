/* Any bytes as a safetensors file, and as one that is still being written. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "tensor/st.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Reads every byte that the reader says is a tensor's. */
static void touch(const struct tensor *t)
{
	const volatile unsigned char *p = tensor_data(t);

	for (size_t i = 0; i < t->part[0].bytes; i++)
		(void)p[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* a copy of exactly n bytes, so that a step over the end is seen */
	void *copy = xmemdup(data, n);
	struct err e;
	uint64_t size;
	struct st *f = st_parse(copy, n, &e);

	if (f) {
		for (size_t i = 0; i < st_count(f); i++)
			touch(st_at(f, i));
		st_meta(f, "norm");
		st_close(f);
	}
	st_expect(copy, n, &size, &e);
	free(copy);
	return 0;
}
