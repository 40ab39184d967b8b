/* The record scanner against the tree reader: both take or refuse the same objects, a record's copy
 * is itself, and what is written reads back to the same bytes. */
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

static void check_record(struct rec *r, struct arena *a)
{
	struct rec_edit gone = {"a", {0}};
	struct buf b = {0}, c = {0}, again = {0};
	struct ints ids = {0};
	struct rec r2 = {0};
	struct jval v, w;
	struct err e;

	rec_copy(&b, r, NULL, 0);
	check(b.len == r->line.n && memcmp(b.data, r->line.p, b.len) == 0);
	buf_reset(&b);
	rec_copy(&b, r, &gone, 1);
	check(rec_parse(&r2, b.data, b.len, &e) == 0 && !rec_get(&r2, "a").p);
	for (size_t i = 0; i < r->n; i++) {
		ints_reset(&ids);
		if (ids_read(&ids, r->m[i].val, "m", &e) < 0 || ids.n == 0)
			continue;
		buf_reset(&b);
		ids_write(&b, ids.v, ids.n);
		ints_reset(&ids);
		check(ids_read(&ids, (struct span){b.data, b.len}, "m", &e) == 0);
	}
	check(val_parse(&v, r->line, 0, a, NULL, &e) == 0);
	val_write(&c, &v, NULL);
	check(val_parse(&w, (struct span){c.data, c.len}, 1, a, NULL, &e) == 0);
	val_write(&again, &w, NULL);
	check(c.len == again.len && memcmp(c.data, again.data, c.len) == 0);
	buf_free(&b);
	buf_free(&c);
	buf_free(&again);
	ints_free(&ids);
	rec_free(&r2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* an exact copy, so that a read past the end is seen */
	char *line = malloc(n ? n : 1);
	struct arena a = {0};
	struct rec r = {0};
	struct jval v;
	struct err e;

	if (n)
		memcpy(line, data, n);
	if (rec_parse(&r, line, n, &e) == 0)
		check_record(&r, &a);
	else if (val_parse(&v, (struct span){line, n}, 0, &a, NULL, &e) == 0)
		check(v.kind != J_OBJ);
	rec_free(&r);
	arena_free(&a);
	free(line);
	return 0;
}
