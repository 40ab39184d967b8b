#include "io/array.h"

#include <string.h>

/* Past the string's end, or n. */
static size_t pass_string(struct array *a, const char *p, size_t n)
{
	size_t i = 0;

	for (;;) {
		const char *q = memchr(p + i, '"', n - i);
		size_t at = q ? (size_t)(q - p) : n, k = at;
		int odd;

		while (k > i && p[k - 1] == '\\')
			k--;
		odd = (at - k) % 2 != 0;
		if (k == i)
			odd ^= a->backslash;
		a->backslash = q ? 0 : odd;
		if (!q)
			return n;
		i = at + 1;
		if (!odd) {
			a->string = 0;
			return i;
		}
	}
}

size_t array_end(struct array *a, char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		if (a->string) {
			i += pass_string(a, p + i, n - i);
			continue;
		}
		switch (p[i]) {
		case '"': a->string = 1; break;
		case '{':
		case '[': a->depth++; break;
		case '}': a->depth -= a->depth > 0; break;
		case ',':
		case ']':
			if (a->depth == 0)
				return i;
			a->depth -= p[i] == ']';
			break;
		case '\n':
		case '\r': p[i] = ' '; break;
		default: break;
		}
		i++;
	}
	return n;
}
