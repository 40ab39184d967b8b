/* numpy's files. */

#include "base/err.h"
#include "tensor/npy.h"
#include "tensor/save.h"
#include "tmp.h"
#include "unit.h"

static const int64_t v[6] = {1, 2, 3, 4, 5, 6};

static struct buf written(const struct tensor *t)
{
	struct err e;
	struct save *s = save_open(tmp_path("x.npy"), &e);

	assert_int_equal(npy_write(s, t, &e), 0);
	assert_int_equal(save_finish(s, NULL, &e), 0);
	return tmp_read(tmp_path("x.npy"));
}

static void round_trips(void **state)
{
	static const struct {
		unsigned ndim;
		uint64_t dim[3];
		const char *shape;
	} rows[] = {
	    {0, {0}, "()"}, {1, {6}, "(6,)"}, {2, {2, 3}, "(2, 3)"}, {3, {1, 0, 9}, "(1, 0, 9)"}};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct tensor t = tensor_flat("t", DT_I64, rows[i].ndim, rows[i].dim, v), r;
		struct buf b = written(&t);
		struct err e;

		assert_non_null(strstr(buf_cstr(&b) + 10, rows[i].shape));
		assert_int_equal(npy_parse(&r, b.data, b.len, &e), 0);
		assert_int_equal(r.ndim, rows[i].ndim);
		assert_memory_equal(r.dim, rows[i].dim, rows[i].ndim * sizeof(*r.dim));
		assert_int_equal(((const char *)tensor_data(&r) - b.data) % 64, 0);
		assert_int_equal(npy_parse(&r, b.data, b.len - (i != 3), &e), i != 3 ? -1 : 0);
		buf_free(&b);
	}
}

static void refused(void **state)
{
	static const char *const heads[] = {
	    "{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }",
	    "{'descr': '<i8', 'fortran_order': True, 'shape': (1,), }",
	    "{'descr': '<i8', 'fortran_order': False, 'shape': (1", "{'descr': '<i8'}", "",
	    "{'descr': '<i8', 'fortran_order': False, 'shape': (x,), }",
	    "{'descr': '<i8', 'fortran_order': False, 'shape': (1,1,1,1,1), }",
	    "{'descr': '<i8', 'fortran_order': False, 'shape': (99999999999999999999,), }"};
	struct tensor t = tensor_1d("t", DT_BF16, 1, v), r;
	struct err e;
	char file[300];

	(void)state;
	for (size_t i = 0; i < LEN(heads); i++) {
		size_t n = strlen(heads[i]);

		memcpy(file, "\x93NUMPY\1\0", 8);
		file[8] = (char)n;
		file[9] = 0;
		memcpy(file + 10, heads[i], n);
		memset(file + 10 + n, 0, 8);
		if (npy_parse(&r, file, 10 + n + 8, &e) == 0)
			fail_msg("%s was read", heads[i]);
	}
	assert_int_equal(npy_parse(&r, "\x93NUMPY\2\0", 8, &e), -1);
	assert_int_equal(npy_write(NULL, &t, &e), -1); /* numpy has no bf16 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(round_trips), cmocka_unit_test(refused)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
