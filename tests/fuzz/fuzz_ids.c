/* An array of integers as ids and as a mask, by the fast readers, against the tree reader: both
 * take the same arrays, with the same elements, and the counts agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/ints.h"
#include "json/ids.h"
#include "json/rec.h"
#include "json/val.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(int ok)
{
	if (!ok)
		abort();
}

/* Whether v is an array of integers from 0 to most. */
static int holds(const struct jval *v, int64_t most)
{
	if (v->kind != J_ARR)
		return 0;
	for (size_t i = 0; i < v->u.arr.n; i++)
		if (v->u.arr.v[i].kind != J_INT || v->u.arr.v[i].u.i < 0 ||
		    v->u.arr.v[i].u.i > most)
			return 0;
	return 1;
}

static void check_ids(struct span text, const struct jval *v)
{
	struct ints ids = {0};
	struct buf written = {0};
	struct err e;
	size_t count = 0;
	int good = holds(v, INT32_MAX);

	check((ids_read(&ids, text, "ids", &e) == 0) == good);
	check((ids_count(text, "ids", &count, &e) == 0) == good);
	check(good || !ids_plain(text));
	if (good) {
		check(ids.n == v->u.arr.n);
		for (size_t i = 0; i < ids.n; i++)
			check(ids.v[i] == v->u.arr.v[i].u.i);
		check(count == ids.n);
		ids_write(&written, ids.v, ids.n);
		check(!holds(v, 999999) || ids_plain((struct span){written.data, written.len}));
		check(!ids_plain(text) ||
		      (written.len == text.n && memcmp(written.data, text.p, text.n) == 0));
	}
	ints_free(&ids);
	buf_free(&written);
}

static void check_mask(struct span text, const struct jval *v)
{
	struct buf mask = {0};
	struct err e;
	size_t zeros = 0, ones = 0, sum = 0;
	int good = holds(v, 1) && !memchr(text.p, '-', text.n); /* a mask knows no -0 */

	check((mask_read(&mask, text, "mask", &e) == 0) == good);
	check((mask_count(text, "mask", &zeros, &ones, &e) == 0) == good);
	if (good) {
		check(mask.len == v->u.arr.n && zeros + ones == mask.len);
		for (size_t i = 0; i < mask.len; i++) {
			check(mask.data[i] == v->u.arr.v[i].u.i);
			sum += (size_t)mask.data[i];
		}
		check(sum == ones);
	}
	buf_free(&mask);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char before[] = "{\"a\":", after[] = "}";
	const size_t nb = sizeof(before) - 1, na = sizeof(after) - 1;
	/* an exact copy, so that a read past the end is seen */
	char *line = malloc(nb + n + na);
	struct arena a = {0};
	struct rec r = {0};
	struct jval v;
	struct span text;
	struct err e;

	check(line != NULL);
	memcpy(line, before, nb);
	memcpy(line + nb, data, n);
	memcpy(line + nb + n, after, na);
	if (rec_parse(&r, line, nb + n + na, &e) == 0) {
		text = rec_get(&r, "a");
		check(val_parse(&v, text, 0, &a, NULL, &e) == 0);
		check_ids(text, &v);
		check_mask(text, &v);
	}
	rec_free(&r);
	arena_free(&a);
	free(line);
	return 0;
}
