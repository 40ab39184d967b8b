/* Hidden states: the formula of the man page, written once more, against the files. */

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/err.h"
#include "sim/fault.h"
#include "sim/states.h"
#include "tensor/st.h"
#include "tmp.h"
#include "unit.h"

#define H 24

static const int32_t tokens[] = {163584, 7, 7, 0, 4095, 99};
static const struct states_spec spec = {
    .layer = {2, 30, 58}, .nlayers = 3, .total = 61, .hidden = H, .after_norm = 1};

static struct ints ids(void)
{
	return (struct ints){(int32_t *)tokens, LEN(tokens), 0};
}

static unsigned mix(unsigned long x)
{
	x &= 0xffffffff;
	x = ((x >> 16) ^ x) * 0x7feb352d & 0xffffffff;
	x = ((x >> 15) ^ x) * 0x846ca68b & 0xffffffff;
	return (unsigned)((x >> 16) ^ x);
}

static unsigned formula(
    unsigned long id, unsigned long at, unsigned long layer, int after, unsigned long c)
{
	unsigned row = mix(id * 0x85ebca6b + at * 0xc2b2ae35 + layer * 0x27d4eb2f + 1);
	unsigned x = mix(row + c * 0x9e3779b9);
	unsigned exponent = (after ? 120 : 116 + (row & 7)) + (x >> 28 & 7);

	return (x >> 31) << 15 | exponent << 7 | (x >> 21 & 0x7f);
}

static unsigned value(const struct tensor *t, size_t i)
{
	uint16_t v;

	memcpy(&v, (const char *)tensor_data(t) + 2 * i, 2);
	return v;
}

static void formula_holds(void **state)
{
	(void)state;
	for (unsigned id = 0; id < 200000; id += 777)
		for (unsigned c = 0; c < 5; c++)
			for (int after = 0; after < 2; after++)
				assert_int_equal(state_bits(id, id % 31, 61, after, c),
				    formula(id, id % 31, 61, after, c));
}

/* Never zero, never infinite: the exponent stays far from both ends. */
static void finite_and_not_zero(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		unsigned e = state_bits(i, i / 3, i % 62, (int)(i & 1), i % 97) >> 7 & 0xff;

		assert_in_range(e, 116, 130);
	}
}

static void vllm_file(void **state)
{
	struct fault_hits none = {{0}, {0}};
	struct ints v = ids();
	struct err e = {0};
	const struct tensor *hs, *ti;
	const char *path;
	struct st *f;

	(void)state;
	path = tmp_path("states.safetensors");
	assert_int_equal(states_write_vllm(&spec, &v, &none, path, &e), 0);
	f = st_open(path, MAP_ALL, &e);
	assert_non_null(f);
	assert_int_equal(st_count(f), 2);
	hs = st_get(f, "hidden_states");
	ti = st_get(f, "token_ids");
	assert_int_equal(hs->dtype, DT_BF16);
	assert_int_equal(hs->dim[0], LEN(tokens));
	assert_int_equal(hs->dim[1], 4);
	assert_int_equal(hs->dim[2], H);
	for (size_t r = 0; r < LEN(tokens); r++) {
		static const unsigned layer[] = {2, 30, 58, 61};
		int64_t id;

		memcpy(&id, (const char *)tensor_data(ti) + 8 * r, 8);
		assert_int_equal(id, tokens[r]);
		for (size_t k = 0; k < 4; k++)
			for (size_t c = 0; c < H; c++)
				assert_int_equal(value(hs, (r * 4 + k) * H + c),
				    formula((unsigned long)tokens[r], r, layer[k], 0, c));
	}
	st_close(f);
	unlink(path);
}

static void dump_file(void **state)
{
	struct fault_hits none = {{0}, {0}};
	struct ints v = ids();
	struct err e = {0};
	const struct tensor *aux, *last;
	const char *path;
	struct st *f;
	FILE *raw;
	char head[400] = "";

	(void)state;
	assert_int_equal(states_write_dump(&spec, &v, &none, tmp_dir, "a:1;", &e), 0);
	path = tmp_path("a:1;.safetensors");
	f = st_open(path, MAP_ALL, &e);
	assert_non_null(f);
	aux = st_get(f, "aux_hidden_states");
	last = st_get(f, "last_hidden_states");
	assert_int_equal(aux->dim[1], 3 * H);
	assert_int_equal(last->dim[1], H);
	for (size_t r = 0; r < LEN(tokens); r++)
		for (size_t c = 0; c < H; c++) {
			unsigned long id = (unsigned long)tokens[r];

			assert_int_equal(
			    value(aux, r * 3 * H + 2 * H + c), formula(id, r, 58, 0, c));
			assert_int_equal(value(last, r * H + c), formula(id, r, 62, 1, c));
		}
	st_close(f);
	raw = fopen(path, "rb");
	assert_non_null(raw);
	assert_true(fread(head, 1, sizeof(head) - 1, raw) > 100);
	fclose(raw);
	assert_non_null(
	    strstr(head + 8, "{\"__metadata__\":{\"layers\":\"2,30,58\",\"convention\":\"in\","
			     "\"norm\":\"after\",\"rid\":\"a:1;\"},"));
	unlink(path);
}

static void names_that_are_refused(void **state)
{
	static const char *const bad[] = {"", ".x", "a/b", "../a"};
	struct fault_hits none = {{0}, {0}};
	struct ints v = ids();
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++)
		assert_int_equal(states_write_dump(&spec, &v, &none, tmp_dir, bad[i], &e), -1);
}

/* What each fault leaves of the file of vLLM's kind. */
static void faults(void **state)
{
	static const struct {
		enum fault fault;
		uint64_t arg, rows, slots;
		enum dtype dtype;
		size_t at;     /* this value ... */
		unsigned bits; /* ... is this */
	} rows[] = {
	    {F_HS_SHORT, 2, 4, 4, DT_BF16, 0, 0},
	    {F_HS_LONG, 1, 7, 4, DT_BF16, 0, 0},
	    {F_HS_SLOT_LESS, 0, 6, 3, DT_BF16, 0, 0},
	    {F_HS_SLOT_MORE, 0, 6, 5, DT_BF16, 0, 0},
	    {F_HS_EAGLE, 0, 6, 1, DT_BF16, 0, 0},
	    {F_HS_F16, 0, 6, 4, DT_F16, 0, 0},
	    {F_HS_F32, 0, 6, 4, DT_F32, 0, 0},
	    {F_HS_NAN, 0, 6, 4, DT_BF16, 6 * 4 * H - 1, 0x7fc0},
	    {F_HS_INF, 0, 6, 4, DT_BF16, 0, 0x7f80},
	    {F_HS_ZERO, 0, 6, 4, DT_BF16, 17, 0},
	    {F_HS_ZERO_ROW, 0, 6, 4, DT_BF16, 3 * 4 * H, 0},
	    {F_HS_ZERO_SLOT, 0, 6, 4, DT_BF16, 4 * H, 0},
	};
	struct ints v = ids();
	const char *path;

	(void)state;
	path = tmp_path("fault.safetensors");
	for (size_t i = 0; i < LEN(rows); i++) {
		struct fault_hits f = {{0}, {0}};
		const struct tensor *hs;
		struct err e = {0};
		struct st *file;

		f.on[rows[i].fault] = 1;
		f.arg[rows[i].fault] = rows[i].arg;
		assert_int_equal(states_write_vllm(&spec, &v, &f, path, &e), 0);
		file = st_open(path, MAP_ALL, &e);
		if (!file)
			fail_msg("%s: %s", fault_table[rows[i].fault].name, e.msg);
		hs = st_get(file, "hidden_states");
		assert_int_equal(hs->dim[0], rows[i].rows);
		assert_int_equal(hs->dim[1], rows[i].slots);
		assert_int_equal(hs->dtype, rows[i].dtype);
		if (rows[i].bits || rows[i].at)
			assert_int_equal(value(hs, rows[i].at), rows[i].bits);
		st_close(file);
		unlink(path);
	}
}

static float as_float(unsigned bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float v;

	memcpy(&v, &wide, sizeof(v));
	return v;
}

static float f16_as_float(unsigned h)
{
	float v = ldexpf((float)(1024 + (h & 1023)), (int)(h >> 10 & 31) - 25);

	return h >> 15 ? -v : v;
}

static float f32_value(const struct tensor *t, size_t i)
{
	float v;

	memcpy(&v, (const char *)tensor_data(t) + 4 * i, 4);
	return v;
}

/* Another width holds the same values; a layer twice and constant rows are what they are called. */
static void values_under_faults(void **state)
{
	static const enum fault kinds[] = {F_HS_F16, F_HS_F32, F_HS_TWICE, F_HS_CONSTANT};
	static const unsigned layer[] = {2, 30, 58, 61};
	struct ints v = ids();
	const char *path;

	(void)state;
	path = tmp_path("values.safetensors");
	for (size_t i = 0; i < LEN(kinds); i++) {
		struct fault_hits f = {{0}, {0}};
		const struct tensor *hs;
		struct err e = {0};
		struct st *file;

		f.on[kinds[i]] = 1;
		assert_int_equal(states_write_vllm(&spec, &v, &f, path, &e), 0);
		file = st_open(path, MAP_ALL, &e);
		assert_non_null(file);
		hs = st_get(file, "hidden_states");
		for (size_t n = 0; n < LEN(tokens) * 4 * H; n++) {
			size_t r = kinds[i] == F_HS_CONSTANT ? 0 : n / (4 * H), k = n / H % 4;
			unsigned l = layer[kinds[i] == F_HS_TWICE && k == 1 ? 0 : k];
			unsigned want = formula((unsigned long)tokens[r], r, l, 0, n % H);

			if (kinds[i] == F_HS_F16)
				assert_true(f16_as_float(value(hs, n)) == as_float(want));
			else if (kinds[i] == F_HS_F32)
				assert_true(f32_value(hs, n) == as_float(want));
			else
				assert_int_equal(value(hs, n), want);
		}
		st_close(file);
		unlink(path);
	}
}

/* What f16 has for the two that are no numbers, and for zero. */
static void odd_values_in_f16(void **state)
{
	static const struct {
		enum fault fault;
		size_t at;
		unsigned bits;
	} rows[] = {{F_HS_NAN, 6 * 4 * H - 1, 0x7e00}, {F_HS_INF, 0, 0x7c00}, {F_HS_ZERO, 5, 0}};
	struct ints v = ids();
	const char *path;

	(void)state;
	path = tmp_path("odd.safetensors");
	for (size_t i = 0; i < LEN(rows); i++) {
		struct fault_hits f = {{0}, {0}};
		struct err e = {0};
		struct st *file;

		f.on[rows[i].fault] = f.on[F_HS_F16] = 1;
		assert_int_equal(states_write_vllm(&spec, &v, &f, path, &e), 0);
		file = st_open(path, MAP_ALL, &e);
		assert_non_null(file);
		assert_int_equal(value(st_get(file, "hidden_states"), rows[i].at), rows[i].bits);
		st_close(file);
		unlink(path);
	}
}

/* Reads the numbers of JSON text one after the other, whatever stands between them. */
static int next_number(const char **p, float *out)
{
	char *end;

	*p += strspn(*p, "[],");
	*out = strtof(*p, &end);
	return end == *p ? 0 : (*p = end, 1);
}

static void json_rows(void **state)
{
	static const struct {
		enum fault fault;
		size_t slots;
	} rows[] = {{FAULTS, 3}, {F_HS_EAGLE, 1}, {F_HS_SLOT_LESS, 2}};
	static const unsigned layer[] = {2, 30, 58};
	struct ints v = ids();

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct fault_hits f = {{0}, {0}};
		struct buf b = {0};
		const char *p;
		float x;

		if (rows[i].fault < FAULTS)
			f.on[rows[i].fault] = 1;
		states_json(&spec, &v, &f, &b);
		p = buf_cstr(&b);
		assert_memory_equal(p, "[[[", 3);
		for (size_t n = 0; n < LEN(tokens) * rows[i].slots * H; n++) {
			size_t r = n / (rows[i].slots * H), k = n / H % rows[i].slots;
			int last = rows[i].fault == F_HS_EAGLE;

			assert_int_equal(next_number(&p, &x), 1);
			assert_true(x == as_float(formula((unsigned long)tokens[r], r,
					     last ? 62 : layer[k], last, n % H)));
		}
		assert_string_equal(p, "]]]");
		buf_free(&b);
	}
}

static void json_says_what_is_no_number(void **state)
{
	struct fault_hits f = {{0}, {0}};
	struct ints v = ids();
	struct buf b = {0};

	(void)state;
	f.on[F_HS_INF] = f.on[F_HS_NAN] = 1;
	states_json(&spec, &v, &f, &b);
	assert_memory_equal(buf_cstr(&b), "[[[Infinity,", 12);
	assert_null(strstr(b.data, "NaN")); /* it is in the last state, which JSON has not */
	f.on[F_HS_EAGLE] = 1;
	buf_reset(&b);
	states_json(&spec, &v, &f, &b);
	assert_string_equal(buf_cstr(&b) + b.len - 7, ",NaN]]]");
	buf_free(&b);
}

/* A file that ends half way, one that can't be written to its end, and none. */
static void broken_files(void **state)
{
	struct fault_hits f = {{0}, {0}}, none = {{0}, {0}};
	struct rlimit was, little;
	struct ints v = ids();
	struct err e = {0};
	struct stat whole, st;
	const char *path;

	(void)state;
	path = tmp_path("x.safetensors");
	assert_int_equal(states_write_dump(&spec, &v, &none, tmp_dir, "x", &e), 0);
	assert_int_equal(stat(path, &whole), 0);
	f.on[F_HS_CUT] = 1;
	assert_int_equal(states_write_dump(&spec, &v, &f, tmp_dir, "x", &e), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, whole.st_size / 2);
	unlink(path);
	f.on[F_HS_MISSING] = 1;
	assert_int_equal(states_write_dump(&spec, &v, &f, tmp_dir, "x", &e), 0);
	assert_int_equal(states_write_vllm(&spec, &v, &f, path, &e), 0);
	assert_int_equal(stat(path, &st), -1);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	little = was;
	little.rlim_cur = 600;
	setrlimit(RLIMIT_FSIZE, &little);
	assert_int_equal(states_write_dump(&spec, &v, &none, tmp_dir, "x", &e), -1);
	assert_non_null(strstr(e.msg, "/.x.part: File too large"));
	assert_int_equal(states_write_vllm(&spec, &v, &none, path, &e), -1);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_int_equal(stat(tmp_path(".x.part"), &st), -1);
	unlink(tmp_path("x.safetensors"));
}

static void locks(void **state)
{
	struct err e = {0};
	int fd = states_lock(tmp_path("l"), &e), other;

	(void)state;
	assert_true(fd >= 0);
	other = open(tmp_path("l.lock"), O_RDONLY);
	assert_true(other >= 0);
	assert_int_equal(flock(other, LOCK_SH | LOCK_NB), -1);
	close(fd);
	assert_int_equal(flock(other, LOCK_SH | LOCK_NB), 0);
	close(other);
	unlink(tmp_path("l.lock"));
	assert_int_equal(states_lock(tmp_path("none/l"), &e), -1);
	assert_non_null(strstr(e.msg, "none/l.lock: No such file"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(formula_holds),
	    cmocka_unit_test(finite_and_not_zero),
	    cmocka_unit_test(vllm_file),
	    cmocka_unit_test(dump_file),
	    cmocka_unit_test(names_that_are_refused),
	    cmocka_unit_test(faults),
	    cmocka_unit_test(values_under_faults),
	    cmocka_unit_test(odd_values_in_f16),
	    cmocka_unit_test(json_rows),
	    cmocka_unit_test(json_says_what_is_no_number),
	    cmocka_unit_test(broken_files),
	    cmocka_unit_test(locks),
	};

	return cmocka_run_group_tests_name("sim_states", tests, tmp_setup, tmp_teardown);
}
