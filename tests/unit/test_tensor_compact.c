/* The compact format: there and back bit for bit, and files that are none. */

#include "base/err.h"
#include "tensor/compact.h"
#include "tensor/planes.h"
#include "tensor/save.h"
#include "tmp.h"
#include "unit.h"

enum { HIDDEN = 48, SLOTS = 4, ROWS = 41 };

static uint32_t next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 22; /* the low bits of such a generator repeat early */
}

/* Elements whose high bytes repeat, as those of states do. */
static void fill(char *p, size_t elements, size_t size)
{
	uint32_t x = 5;

	for (size_t i = 0; i < elements; i++)
		for (size_t k = 0; k < size; k++)
			p[i * size + k] =
			    (char)(k + 1 == size ? 0x3c + next(&x) % 4 : next(&x) & 0xff);
}

static struct buf written(const struct compact *c)
{
	struct err e;
	struct save *s = save_open(tmp_path("x.e3c"), &e);

	assert_int_equal(compact_write(s, c, &e), 0);
	assert_int_equal(save_finish(s, NULL, &e), 0);
	return tmp_read(tmp_path("x.e3c"));
}

static int64_t ids[ROWS], mask[ROWS];
static char data[ROWS * SLOTS * HIDDEN * 4];

/* States as a server delivers them: slots side by side in a row. */
static struct compact sample(enum dtype dtype, size_t rows, unsigned slots, size_t hidden)
{
	size_t size = dtypes[dtype].size;
	struct compact c = {.id = SPAN("a/1"),
	    .n = rows,
	    .ids = ids,
	    .mask = mask,
	    .last = 1,
	    .norm = COMPACT_BEFORE,
	    .states = {.dtype = dtype, .rows = rows, .hidden = hidden, .nslots = slots}};

	for (unsigned i = 0; i < slots; i++)
		c.states.slot[i] = (struct states_slot){
		    .p = data + i * hidden * size, .stride = slots * hidden * size};
	for (size_t i = 0; i < rows; i++) {
		ids[i] = (int64_t)(i * 4000);
		mask[i] = i % 3 != 0;
	}
	fill(data, rows * slots * hidden, size);
	return c;
}

static void same(const struct compact *a, const struct compact *b)
{
	size_t row = a->states.hidden * dtypes[a->states.dtype].size;

	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->ids, b->ids, a->n * sizeof(*a->ids));
	assert_int_equal(a->mask != NULL, b->mask != NULL);
	if (a->mask)
		assert_memory_equal(a->mask, b->mask, a->n * sizeof(*a->mask));
	assert_int_equal(a->last, b->last);
	assert_int_equal(a->norm, b->norm);
	assert_int_equal(a->id.n, b->id.n);
	assert_memory_equal(a->id.p, b->id.p, a->id.n);
	assert_int_equal(a->states.dtype, b->states.dtype);
	assert_int_equal(a->states.nslots, b->states.nslots);
	assert_int_equal(a->states.hidden, b->states.hidden);
	for (unsigned k = 0; k < a->states.nslots; k++)
		for (size_t r = 0; r < a->n; r++)
			assert_memory_equal(a->states.slot[k].p + r * a->states.slot[k].stride,
			    b->states.slot[k].p + r * b->states.slot[k].stride, row);
}

static void there_and_back(void **state)
{
	static const enum dtype kinds[] = {DT_BF16, DT_F16, DT_F32};
	static const struct {
		size_t rows;
		unsigned slots;
		size_t hidden;
	} shapes[] = {{ROWS, SLOTS, HIDDEN}, {1, 1, 1}, {2, 3, 7}, {7, 2, 33}, {0, 1, 8}};

	(void)state;
	for (size_t d = 0; d < LEN(kinds); d++)
		for (size_t i = 0; i < LEN(shapes); i++) {
			struct compact c =
			    sample(kinds[d], shapes[i].rows, shapes[i].slots, shapes[i].hidden);
			struct compact_file *f;
			struct buf b;
			struct err e;

			c.mask = i == 2 ? NULL : mask;
			c.norm = (int)i % 3;
			c.last = i % 2 == 0;
			b = written(&c);
			f = compact_open(tmp_path("x.e3c"), MAP_ALL, &e);
			if (!f)
				fail_msg("%s", e.msg);
			same(&c, compact_get(f));
			assert_int_equal(compact_map(f)->n, b.len);
			compact_close(f);
			buf_free(&b);
		}
}

/* More rows than a block holds, and planes long enough to be tried first. */
static void many_blocks(void **state)
{
	size_t hidden = 40000, rows = 31, bytes = rows * hidden * 2;
	char *big = xmalloc(bytes);
	struct compact c = sample(DT_BF16, rows, 1, 1), from = c;
	struct compact_file *f;
	struct buf b;
	struct err e;

	(void)state;
	fill(big, rows * hidden, 2);
	from.states.hidden = hidden;
	from.states.slot[0] = (struct states_slot){.p = big, .stride = hidden * 2};
	b = written(&from);
	/* two bits in the high plane, eight in the low one */
	assert_in_range(b.len, 0, bytes * 64 / 100);
	f = compact_parse(b.data, b.len, &e);
	if (!f)
		fail_msg("%s", e.msg);
	same(&from, compact_get(f));
	compact_close(f);
	/* what packs to next to nothing is stored as it is: no file unpacks to 256 times its size
	 */
	memset(big, 0, bytes);
	buf_free(&b);
	b = written(&from);
	assert_true(b.len > bytes / 256);
	f = compact_parse(b.data, b.len, &e);
	if (!f)
		fail_msg("%s", e.msg);
	compact_close(f);
	buf_free(&b);
	free(big);
}

/* Every byte of a file is under a sum or a check; every cut is seen. */
static void damage(void **state)
{
	struct compact c = sample(DT_BF16, 3, 2, 9);
	struct buf b = written(&c);
	struct err e;

	(void)state;
	for (size_t n = 0; n < b.len; n++) {
		struct compact_file *f = compact_parse(b.data, n, &e);

		if (f)
			fail_msg("read when cut to %zu bytes", n);
		if (n < 8)
			assert_string_equal(e.class, "truncated");
	}
	for (size_t i = 0; i < b.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			struct compact_file *f;

			b.data[i] = (char)(b.data[i] ^ 1 << bit);
			f = compact_parse(b.data, b.len, &e);
			if (f)
				fail_msg("read with bit %d of byte %zu wrong", bit, i);
			b.data[i] = (char)(b.data[i] ^ 1 << bit);
		}
	buf_addc(&b, 'x');
	assert_null(compact_parse(b.data, b.len, &e));
	assert_non_null(strstr(e.msg, "behind the last block"));
	buf_free(&b);
}

static void claims(void **state)
{
	static const struct {
		size_t at;
		char byte;
		const char *class;
	} rows[] = {
	    {8, 2, "format"},			     /* version */
	    {12, 0, "format"},			     /* dtype */
	    {12, 4, "format"}, {22, 1, "truncated"}, /* 2^48 tokens */
	    {30, 1, "format"},			     /* of 2^48 values */
	    {32, 0, "format"},			     /* no layers, many */
	    {32, 17, "format"}, {36, 16, "format"},  /* an unknown flag */
	    {43, 127, "format"},		     /* blocks of 2 G rows */
	    {47, 127, "truncated"},		     /* an id of 2 G bytes */
	};
	struct compact c = sample(DT_BF16, 3, 2, 9);
	struct buf b = written(&c);

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		char was = b.data[rows[i].at];
		struct err e;

		b.data[rows[i].at] = rows[i].byte;
		assert_null(compact_parse(b.data, b.len, &e));
		if (strcmp(e.class, rows[i].class) != 0)
			fail_msg("byte %zu: %s: %s", rows[i].at, e.class, e.msg);
		b.data[rows[i].at] = was;
	}
	buf_free(&b);
}

static void planes(void **state)
{
	static char from[4 * 200], back[4 * 200];
	static unsigned char apart[4 * 200];

	(void)state;
	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)(i * i + 7 * i);
	for (size_t size = 2; size <= 4; size += 2)
		for (size_t n = 0; n <= 200; n++) {
			planes_split(apart, from, n, size);
			for (size_t i = 0; i < n * size; i++)
				assert_int_equal(
				    (char)apart[(size - 1 - i % size) * n + i / size], from[i]);
			planes_join(back, apart, n, size);
			assert_memory_equal(back, from, n * size);
		}
}

static void ids_that_do_not_fit(void **state)
{
	struct compact c = sample(DT_BF16, 3, 2, 9);
	struct err e;
	struct save *s = save_open(tmp_path("y.e3c"), &e);

	(void)state;
	ids[1] = INT64_C(1) << 32;
	assert_int_equal(compact_write(s, &c, &e), -1);
	assert_string_equal(e.class, "range");
	save_abort(s);
	assert_false(tmp_exists(tmp_path("y.e3c")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(planes),
	    cmocka_unit_test(there_and_back), cmocka_unit_test(many_blocks),
	    cmocka_unit_test(damage), cmocka_unit_test(claims),
	    cmocka_unit_test(ids_that_do_not_fit)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
