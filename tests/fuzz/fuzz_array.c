/* The end of an array's element does not depend on how the text is cut: the first byte says into
 * what pieces. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "io/array.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct array whole = {0}, pieces = {0};
	size_t step, end, at = 0;
	char *a, *b;

	if (n < 2)
		return 0;
	step = data[0] % 16 + 1u;
	n--;
	a = malloc(n);
	b = malloc(n);
	if (!a || !b)
		abort();
	memcpy(a, data + 1, n);
	memcpy(b, data + 1, n);
	end = array_end(&whole, a, n);
	while (at < n) {
		size_t piece = n - at < step ? n - at : step;
		size_t got = array_end(&pieces, b + at, piece);

		at += got;
		if (got < piece)
			break;
	}
	if (at != end || memcmp(a, b, n) != 0)
		abort();
	free(a);
	free(b);
	return 0;
}
