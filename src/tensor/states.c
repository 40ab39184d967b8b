#include "tensor/states.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "tensor/half.h"

/* ---- where slots lie ---- */

static void shape_text(const struct tensor *t, char out[100])
{
	size_t n = 0;

	out[0] = '\0';
	for (unsigned i = 0; i < t->ndim; i++)
		n += (size_t)snprintf(
		    out + n, 100 - n, "%s%llu", i > 0 ? ", " : "", (unsigned long long)t->dim[i]);
}

/* Rows and elements a row; *slots is 0 where the shape does not say how many. */
static int read_shape(const struct states *s, const struct tensor *t, uint64_t *rows,
    uint64_t *width, uint64_t *slots)
{
	*slots = 0;
	if (t->ndim == 2) {
		*rows = t->dim[0];
		*width = t->dim[1];
	} else if (t->ndim == 3 && t->dim[0] == 1 && t->dim[1] == s->rows) {
		*rows = t->dim[1];
		*width = t->dim[2];
	} else if (t->ndim == 3) {
		*rows = t->dim[0];
		*width = t->dim[1] * t->dim[2];
		*slots = t->dim[1];
	} else {
		return -1;
	}
	return 0;
}

static int check_shape(
    const struct states *s, const struct tensor *t, unsigned k, uint64_t *width, struct err *e)
{
	char shape[100];
	uint64_t rows, slots;

	shape_text(t, shape);
	if (read_shape(s, t, &rows, width, &slots) < 0)
		return err_set(
		    e, "shape", "%s has shape [%s], expected rows of layers", t->name, shape);
	if (rows != s->rows)
		return err_set(e, "rows", "%s has shape [%s]: %llu rows for %zu ids", t->name,
		    shape, (unsigned long long)rows, s->rows);
	if (slots != 0 && slots != k)
		return err_set(e, "layers", "%s has shape [%s]: %llu layers, %u were asked for",
		    t->name, shape, (unsigned long long)slots, k);
	if (*width == 0 || *width % k != 0 || (s->hidden != 0 && *width != k * s->hidden))
		return err_set(e, "layers",
		    "%s has shape [%s]: %llu values a token are not %u layers of %zu", t->name,
		    shape, (unsigned long long)*width, k, s->hidden);
	return 0;
}

int states_add(struct states *s, const struct tensor *t, unsigned k, struct err *e)
{
	size_t size = dtypes[t->dtype].size;
	uint64_t width = 0;

	if (t->dtype != DT_BF16 && t->dtype != DT_F16 && t->dtype != DT_F32)
		return err_set(e, "dtype", "%s is %s, expected bf16, f16 or f32", t->name,
		    dtypes[t->dtype].name);
	if (s->nslots > 0 && t->dtype != s->dtype)
		return err_set(e, "dtype", "%s is %s, the other states are %s", t->name,
		    dtypes[t->dtype].name, dtypes[s->dtype].name);
	if (k == 0 || k > STATES_SLOTS - s->nslots)
		return err_set(
		    e, "layers", "%u layers, at most %d are held", k + s->nslots, STATES_SLOTS);
	if (check_shape(s, t, k, &width, e) < 0)
		return -1;
	s->hidden = width / k;
	s->dtype = t->dtype;
	for (unsigned i = 0; i < k; i++)
		s->slot[s->nslots++] = (struct states_slot){
		    .p = (const char *)tensor_data(t) + i * s->hidden * size,
		    .stride = k * s->hidden * size,
		};
	return 0;
}

struct tensor states_tensor(const struct states *s, const char *name, unsigned first, unsigned n)
{
	size_t bytes = s->hidden * dtypes[s->dtype].size;
	struct tensor t = {.name = name, .dtype = s->dtype, .ndim = 2, .rows = s->rows};

	t.dim[0] = s->rows;
	t.dim[1] = n * s->hidden;
	for (unsigned i = first; i < first + n; i++) {
		const struct states_slot *slot = &s->slot[i];
		struct tensor_part *last = t.nparts > 0 ? &t.part[t.nparts - 1] : NULL;

		if (last && slot->p == last->p + last->bytes && slot->stride == last->stride)
			last->bytes += bytes;
		else
			t.part[t.nparts++] = (struct tensor_part){slot->p, bytes, slot->stride};
	}
	/* dense rows are one piece */
	if (t.nparts == 1 && t.part[0].stride == t.part[0].bytes) {
		t.part[0].bytes *= t.rows;
		t.rows = 1;
	}
	return t;
}

/* ---- checks ---- */

/* The lanes of eight bytes: the exponent's bits, its lowest bit, and all but the sign. An exponent
 * of all ones is NaN or Inf: adding its lowest bit carries into the sign's place, which was masked
 * out, and into no other lane. */
struct lanes {
	uint64_t exponent, one, value;
};

static struct lanes lanes_of(enum dtype dtype)
{
	switch (dtype) {
	case DT_BF16:
		return (struct lanes){0x7f807f807f807f80, 0x0080008000800080, 0x7fff7fff7fff7fff};
	case DT_F16:
		return (struct lanes){0x7c007c007c007c00, 0x0400040004000400, 0x7fff7fff7fff7fff};
	default: return (struct lanes){0x7f8000007f800000, 0x0080000000800000, 0x7fffffff7fffffff};
	}
}

struct scan {
	uint64_t any; /* non-zero: some element is not 0 */
	uint64_t bad; /* a sign bit: some element is NaN or Inf */
};

/* Inlined into each of those below, which differ in the width of their vectors. */
static inline __attribute__((always_inline)) struct scan scan_with(
    const char *p, size_t n, struct lanes k)
{
	uint64_t any = 0, bad = 0, x;
	size_t i = 0;

	/* blocks of constant length, so that compilers make vectors of them */
	for (; n - i >= 128; i += 128) {
		uint64_t v[16];

		memcpy(v, p + i, sizeof(v));
		for (int j = 0; j < 16; j++) {
			any |= v[j];
			bad |= (v[j] & k.exponent) + k.one;
		}
	}
	for (; n > i; i += 8) {
		x = 0;
		memcpy(&x, p + i, n - i < 8 ? n - i : 8);
		any |= x;
		bad |= (x & k.exponent) + k.one;
	}
	return (struct scan){any & k.value, bad & ~k.value};
}

typedef struct scan scan_fn(const char *p, size_t n, struct lanes k);

static struct scan scan_plain(const char *p, size_t n, struct lanes k)
{
	return scan_with(p, n, k);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static struct scan scan_avx2(
    const char *p, size_t n, struct lanes k)
{
	return scan_with(p, n, k);
}

static scan_fn *best_scan(void)
{
	return __builtin_cpu_supports("avx2") ? scan_avx2 : scan_plain;
}
#else
static scan_fn *best_scan(void)
{
	return scan_plain;
}
#endif

static int slot_error(const struct states *s, unsigned slot, size_t row, const char *class,
    const char *what, struct err *e)
{
	char layer[32] = "last layer";

	if (s->slot[slot].layer != STATES_LAST)
		snprintf(layer, sizeof(layer), "layer %d", s->slot[slot].layer);
	return err_set(
	    e, class, "%s (slot %u), row %zu of %zu: %s", layer, slot, row, s->rows, what);
}

static const char *row_at(const struct states *s, unsigned slot, size_t row)
{
	return s->slot[slot].p + row * s->slot[slot].stride;
}

/* What a pass has not yet seen to differ: bit j of same[i], slots i and j; bit i of constant. */
struct sameness {
	uint32_t constant;
	uint32_t same[STATES_SLOTS];
};

static void compare_row(const struct states *s, size_t row, size_t bytes, struct sameness *d)
{
	for (unsigned i = 0; i < s->nslots; i++) {
		const char *p = row_at(s, i, row);

		if (d->constant >> i & 1 && row > 0 && memcmp(p, row_at(s, i, 0), bytes) != 0)
			d->constant &= ~(1u << i);
		for (unsigned j = i + 1; d->same[i] != 0 && j < s->nslots; j++)
			if (d->same[i] >> j & 1 && memcmp(p, row_at(s, j, row), bytes) != 0)
				d->same[i] &= ~(1u << j);
	}
}

static int check_sameness(
    const struct states *s, int embedding, const struct sameness *d, struct err *e)
{
	for (unsigned i = 0; i < s->nslots; i++) {
		if (s->rows > 1 && d->constant >> i & 1 && s->slot[i].layer != embedding)
			return slot_error(s, i, s->rows - 1, "constant", "all rows are equal", e);
		for (unsigned j = i + 1; j < s->nslots; j++)
			if (d->same[i] >> j & 1)
				return slot_error(s, j, s->rows - 1, "twice",
				    "equal to an earlier slot in all rows", e);
	}
	return 0;
}

int states_check(const struct states *s, int embedding, struct err *e)
{
	size_t bytes = s->hidden * dtypes[s->dtype].size;
	struct lanes k = lanes_of(s->dtype);
	scan_fn *scan = best_scan();
	struct sameness d;

	memset(&d, 0xff, sizeof(d));
	for (size_t r = 0; r < s->rows; r++) {
		for (unsigned i = 0; i < s->nslots; i++) {
			struct scan v = scan(row_at(s, i, r), bytes, k);

			if (v.bad)
				return slot_error(s, i, r, "nonfinite", "NaN or Inf", e);
			if (!v.any)
				return slot_error(s, i, r, "zero", "all values are 0", e);
		}
		compare_row(s, r, bytes, &d);
	}
	return s->rows > 0 ? check_sameness(s, embedding, &d, e) : 0;
}

double states_rms(const struct states *s, unsigned slot, size_t row)
{
	size_t size = dtypes[s->dtype].size;
	const char *p = row_at(s, slot, row);
	double sum = 0;

	for (size_t i = 0; i < s->hidden; i++) {
		double x = half_load(s->dtype, p + i * size);

		sum += x * x;
	}
	return sqrt(sum / (double)s->hidden);
}
