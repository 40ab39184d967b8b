/* Hidden states: shapes, the checks of their values, 16-bit floats, the norm. */

#include <math.h>

#include "base/err.h"
#include "tensor/cast.h"
#include "tensor/half.h"
#include "tensor/norm.h"
#include "tensor/states.h"
#include "unit.h"

/* ---- where slots lie ---- */

static const struct {
	const char *name;
	size_t rows, hidden; /* known before; 0: not */
	unsigned ndim;
	uint64_t dim[3];
	unsigned k;
	size_t width;	   /* found */
	const char *class; /* NULL: good */
} shapes[] = {
    {"vLLM's", 5, 0, 3, {5, 4, 8}, 4, 8, NULL},
    {"a trainer's", 5, 0, 2, {5, 24}, 3, 8, NULL},
    {"with a batch axis", 5, 0, 3, {1, 5, 24}, 3, 8, NULL},
    {"one token, vLLM's", 1, 0, 3, {1, 4, 8}, 4, 8, NULL},
    {"one token, one layer", 1, 0, 3, {1, 1, 8}, 1, 8, NULL},
    {"one token, batch axis", 1, 0, 3, {1, 1, 24}, 3, 8, NULL},
    {"as many tokens as layers", 4, 0, 3, {4, 4, 8}, 4, 8, NULL},
    {"hidden size known", 5, 8, 2, {5, 24}, 3, 8, NULL},
    {"fewer rows", 5, 0, 3, {4, 4, 8}, 4, 0, "rows"},
    {"more rows", 5, 0, 2, {6, 24}, 3, 0, "rows"},
    {"a layer less", 5, 0, 3, {5, 3, 8}, 4, 0, "layers"},
    {"a layer more", 5, 0, 3, {5, 5, 8}, 4, 0, "layers"},
    {"early builds' [layers, tokens, H]", 5, 0, 3, {4, 5, 8}, 4, 0, "rows"},
    {"another width", 5, 8, 2, {5, 8}, 3, 0, "layers"},
    {"no multiple", 5, 0, 2, {5, 25}, 3, 0, "layers"},
    {"no width", 5, 0, 2, {5, 0}, 3, 0, "layers"},
    {"one dimension", 5, 0, 1, {5}, 1, 0, "shape"},
    {"too many layers", 5, 0, 2, {5, 34}, 17, 0, "layers"},
};

static void slots(void **state)
{
	static uint16_t data[200];

	(void)state;
	for (size_t i = 0; i < LEN(shapes); i++) {
		struct tensor t = tensor_flat("t", DT_BF16, shapes[i].ndim, shapes[i].dim, data);
		struct states s = {.rows = shapes[i].rows, .hidden = shapes[i].hidden};
		struct err e = {0};
		int rc = states_add(&s, &t, shapes[i].k, &e);

		if (shapes[i].class ? rc == 0 || strcmp(e.class, shapes[i].class) != 0 : rc != 0)
			fail_msg("%s: %d %s", shapes[i].name, rc, e.msg);
		if (rc == 0)
			assert_int_equal(s.hidden, shapes[i].width);
	}
}

/* Two tensors become three slots, and these any other pair again. */
static void regroup(void **state)
{
	uint16_t aux[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
	uint16_t last[2][3] = {{21, 22, 23}, {24, 25, 26}};
	uint64_t a[2] = {2, 6}, l[2] = {2, 3};
	struct tensor ta = tensor_flat("aux", DT_BF16, 2, a, aux), all, one;
	struct tensor tl = tensor_flat("last", DT_BF16, 2, l, last);
	struct states s = {.rows = 2};
	struct err e;

	(void)state;
	assert_int_equal(states_add(&s, &ta, 2, &e), 0);
	assert_int_equal(states_add(&s, &tl, 1, &e), 0);
	all = states_tensor(&s, "all", 0, 3);
	assert_int_equal(all.nparts, 2); /* neighbours are one piece */
	assert_int_equal(all.dim[1], 9);
	assert_int_equal(
	    ((const uint16_t *)(const void *)(all.part[1].p + all.part[1].stride))[0], 24);
	one = states_tensor(&s, "one", 1, 1);
	assert_int_equal(one.rows, 2);
	assert_int_equal(
	    ((const uint16_t *)(const void *)(one.part[0].p + one.part[0].stride))[0], 10);
	one = states_tensor(&s, "aux", 0, 2);
	assert_int_equal(one.rows, 1); /* dense: one piece of all the bytes */
	tl.dtype = DT_F16;
	s.nslots = 2;
	assert_int_equal(states_add(&s, &tl, 1, &e), -1);
	assert_string_equal(e.class, "dtype");
	tl.dtype = DT_I64;
	assert_int_equal(states_add(&s, &tl, 1, &e), -1);
}

/* ---- values ---- */

enum { ROWS = 5, SLOTS = 3, HIDDEN = 71 };

static char values[ROWS * SLOTS * HIDDEN * 4 + 1];

static struct states filled(enum dtype dtype, size_t shift)
{
	struct states s = {.dtype = dtype, .rows = ROWS, .hidden = HIDDEN, .nslots = SLOTS};
	size_t size = dtypes[dtype].size;

	for (size_t i = 0; i < ROWS * SLOTS * HIDDEN; i++)
		half_store(dtype, values + shift + i * size, (float)(i % 97) - 50);
	for (unsigned k = 0; k < SLOTS; k++)
		s.slot[k] = (struct states_slot){values + shift + k * HIDDEN * size,
		    SLOTS * HIDDEN * size, k + 1 < SLOTS ? (int)k * 10 : STATES_LAST};
	return s;
}

static char *element(const struct states *s, unsigned slot, size_t row, size_t i)
{
	return values + (s->slot[slot].p - values) + row * s->slot[slot].stride +
	       i * dtypes[s->dtype].size;
}

static void finite(void **state)
{
	static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
	static const size_t at[] = {0, 1, 15, 16, 63, 64, HIDDEN - 2, HIDDEN - 1};
	struct err e = {0};

	(void)state;
	for (enum dtype d = DT_BF16; d <= DT_F32; d++)
		for (size_t i = 0; i < LEN(at) * LEN(bad); i++) {
			struct states s = filled(d, i & 1);

			assert_int_equal(states_check(&s, STATES_NONE, &e), 0);
			half_store(d, element(&s, 1, 3, at[i / LEN(bad)]), bad[i % LEN(bad)]);
			assert_int_equal(states_check(&s, STATES_NONE, &e), -1);
			assert_string_equal(e.class, "nonfinite");
			assert_string_equal(e.msg, "layer 10 (slot 1), row 3 of 5: NaN or Inf");
		}
}

/* The largest numbers are not infinite. */
static void largest(void **state)
{
	static const uint16_t most[] = {0x7f7f, 0xff7f, 0x7bff, 0xfbff};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(most); i++) {
		struct states s = filled(i < 2 ? DT_BF16 : DT_F16, 0);

		memcpy(element(&s, 2, 4, 7), &most[i], 2);
		assert_int_equal(states_check(&s, STATES_NONE, &e), 0);
	}
}

static void zeros(void **state)
{
	struct err e;

	(void)state;
	for (enum dtype d = DT_BF16; d <= DT_F32; d++) {
		struct states s = filled(d, 0);

		for (size_t i = 0; i < HIDDEN; i++)
			half_store(d, element(&s, 2, 2, i), i % 2 ? -0.0f : 0.0f);
		assert_int_equal(states_check(&s, STATES_NONE, &e), -1);
		assert_string_equal(e.class, "zero");
		assert_string_equal(e.msg, "last layer (slot 2), row 2 of 5: all values are 0");
		half_store(d, element(&s, 2, 2, HIDDEN - 1), 1e-6f);
		assert_int_equal(states_check(&s, STATES_NONE, &e), 0);
	}
}

static void same_rows_and_slots(void **state)
{
	struct states s = filled(DT_BF16, 0);
	struct err e;

	(void)state;
	for (size_t r = 1; r < ROWS; r++)
		memcpy(element(&s, 0, r, 0), element(&s, 0, 0, 0), HIDDEN * 2);
	assert_int_equal(states_check(&s, STATES_NONE, &e), -1);
	assert_string_equal(e.class, "constant");
	/* slot 0 is the embedding: a text of one word repeated */
	assert_int_equal(states_check(&s, 0, &e), 0);
	s.rows = 1;
	assert_int_equal(states_check(&s, STATES_NONE, &e), 0);
	s = filled(DT_BF16, 0);
	for (size_t r = 0; r < ROWS; r++)
		memcpy(element(&s, 2, r, 0), element(&s, 0, r, 0), HIDDEN * 2);
	assert_int_equal(states_check(&s, STATES_NONE, &e), -1);
	assert_string_equal(e.class, "twice");
	half_store(DT_BF16, element(&s, 2, 4, 70), 3);
	assert_int_equal(states_check(&s, STATES_NONE, &e), 0);
}

/* ---- 16-bit floats ---- */

/* Every f16 and bf16 comes back as it was; what lies between two goes to the nearer, ties to even.
 */
static void halves(void **state)
{
	(void)state;
	for (uint32_t u = 0; u < 65536; u++)
		for (enum dtype d = DT_BF16; d <= DT_F16; d++) {
			uint16_t h = (uint16_t)u, back;
			float x = half_load(d, &h);

			half_store(d, &back, x);
			if (isnan(x))
				assert_true(isnan(half_load(d, &back)));
			else
				assert_int_equal(back, h);
		}
}

static const struct {
	enum dtype dtype;
	float x;
	uint16_t want;
} rounded[] = {
    {DT_F16, 65504, 0x7bff},
    {DT_F16, 65519.996f, 0x7bff},
    {DT_F16, 65520, 0x7c00},
    {DT_F16, -1e10f, 0xfc00},
    {DT_F16, 0x1p-24f, 1},
    {DT_F16, 0x1p-25f, 0},
    {DT_F16, 0x1.8p-24f, 2},
    {DT_F16, 0x1.000002p-25f, 1},
    {DT_F16, 0x1.ff8p-15f, 0x3ff},
    {DT_F16, 0x1.ffep-15f, 0x400},
    {DT_F16, 1 + 0x1p-11f, 0x3c00},
    {DT_F16, 1 + 0x3p-11f, 0x3c02},
    {DT_F16, -0.0f, 0x8000},
    {DT_BF16, 1 + 0x1p-8f, 0x3f80},
    {DT_BF16, 1 + 0x3p-8f, 0x3f82},
    {DT_BF16, 3.4e38f, 0x7f80},
    {DT_BF16, -0.0f, 0x8000},
    {DT_BF16, 0x1p-149f, 0},
};

static void rounding(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rounded); i++) {
		uint16_t h;

		half_store(rounded[i].dtype, &h, rounded[i].x);
		if (h != rounded[i].want)
			fail_msg("%s %a: got %04x, want %04x", dtypes[rounded[i].dtype].name,
			    (double)rounded[i].x, h, rounded[i].want);
	}
}

static void norm(void **state)
{
	static const float in[2][4] = {{3, -4, 0, 0}, {1, 1, 1, 1}}, weight[4] = {1, 2, 1, 0.5f};
	struct norm_in n = {DT_F32, (const char *)in, 2, 4, sizeof(in[0])};
	float out[2][4];

	(void)state;
	norm_apply((char *)out, &n, weight, 0);
	assert_float_equal(out[0][0], 1.2f, 1e-6f); /* sqrt((9 + 16) / 4) */
	assert_float_equal(out[0][1], -3.2f, 1e-6f);
	assert_float_equal(out[1][3], 0.5f, 1e-6f);
	norm_apply((char *)out, &n, weight, 3);
	assert_float_equal(out[1][0], 0.5f, 1e-6f); /* 1 / sqrt(1 + 3) */
}

/* ---- other types ---- */

static void casts(void **state)
{
	static const float floats[] = {1.0f, -2.5f, 65504.0f, 1e-8f, 0.333333343f, 3.0e-5f};
	static const enum dtype kinds[] = {DT_BF16, DT_F16, DT_F32};
	const uint64_t dim[2] = {1, 6};

	(void)state;
	for (size_t from = 0; from < LEN(kinds); from++)
		for (size_t to = 0; to < LEN(kinds); to++) {
			char in[24], want[24];
			struct states s = {.rows = 1};
			struct tensor t = tensor_flat("t", kinds[from], 2, dim, in);
			size_t a = dtypes[kinds[from]].size, b = dtypes[kinds[to]].size;
			struct err e;
			char *own;

			for (size_t i = 0; i < LEN(floats); i++) {
				/* of bf16 65504 would round to 65536, which f16 lacks */
				float x = i == 2 && kinds[from] == DT_BF16 ? 4 : floats[i];

				half_store(kinds[from], in + i * a, x);
				half_store(
				    kinds[to], want + i * b, half_load(kinds[from], in + i * a));
			}
			assert_int_equal(states_add(&s, &t, 1, &e), 0);
			own = states_cast(&s, kinds[to], &e);
			assert_non_null(own);
			assert_int_equal(s.dtype, kinds[to]);
			assert_int_equal(s.slot[0].stride, 6 * b);
			assert_memory_equal(s.slot[0].p, want, 6 * b);
			free(own);
		}
}

static void casts_that_overflow(void **state)
{
	static const float floats[] = {1, 2, 65520, 3, -1e30f, 65519};
	const uint64_t dim[2] = {2, 3};
	struct tensor t = tensor_flat("t", DT_F32, 2, dim, floats);
	struct states s = {.rows = 2};
	struct err e;

	(void)state;
	assert_int_equal(states_add(&s, &t, 1, &e), 0);
	assert_null(states_cast(&s, DT_F16, &e));
	assert_string_equal(e.class, "overflow");
	assert_string_equal(
	    e.msg, "2 values are too large for f16, the first in slot 0, row 0 of 2");
	assert_int_equal(s.dtype, DT_F32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(casts),
	    cmocka_unit_test(casts_that_overflow), cmocka_unit_test(slots),
	    cmocka_unit_test(regroup), cmocka_unit_test(finite), cmocka_unit_test(largest),
	    cmocka_unit_test(zeros), cmocka_unit_test(same_rows_and_slots),
	    cmocka_unit_test(halves), cmocka_unit_test(rounding), cmocka_unit_test(norm)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
