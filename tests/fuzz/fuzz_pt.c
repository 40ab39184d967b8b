/* Any bytes as a file of torch.save; and, behind a first byte of 0, as its pickle alone. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "tensor/pickle.h"
#include "tensor/pt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_pickle(const char *p, size_t n)
{
	struct arena a = {0};
	struct pv v;
	struct err e;

	pickle_read(&v, (struct span){p, n}, &a, &e);
	arena_free(&a);
}

static void read_file(const void *p, size_t n)
{
	struct err e;
	struct pt *f = pt_parse(p, n, &e);

	if (!f)
		return;
	pt_check(f, &e);
	for (size_t i = 0; i < pt_count(f); i++) {
		const struct pt_item *item = pt_at(f, i);
		const volatile unsigned char *d =
		    item->kind == PT_TENSOR ? tensor_data(&item->tensor) : NULL;

		for (size_t k = 0; d && k < item->tensor.part[0].bytes; k++)
			(void)d[k];
	}
	pt_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *copy = xmemdup(data, n);

	if (n > 0 && data[0] == 0)
		read_pickle(copy + 1, n - 1);
	else
		read_file(copy, n);
	free(copy);
	return 0;
}
