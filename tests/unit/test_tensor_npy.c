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

static void headers(void **state)
{
	static const struct {
		unsigned ndim;
		uint64_t dim[3];
		const char *dict;
	} rows[] = {{0, {0}, "{'descr': '<i8', 'fortran_order': False, 'shape': (), }"},
	    {1, {6}, "{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }"},
	    {2, {2, 3}, "{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }"},
	    {3, {1, 0, 9}, "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 0, 9), }"}};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct tensor t = tensor_flat("t", DT_I64, rows[i].ndim, rows[i].dim, v);
		struct buf b = written(&t);
		size_t head = 10 + (size_t)(unsigned char)b.data[8], n = strlen(rows[i].dict);

		assert_memory_equal(b.data, "\x93NUMPY\1\0", 8);
		assert_int_equal(b.data[9], 0);
		assert_int_equal(head % 64, 0);
		assert_memory_equal(b.data + 10, rows[i].dict, n);
		for (size_t k = 10 + n; k < head - 1; k++)
			assert_int_equal(b.data[k], ' ');
		assert_int_equal(b.data[head - 1], '\n');
		assert_int_equal(b.len - head, t.part[0].bytes);
		assert_memory_equal(b.data + head, v, t.part[0].bytes);
		buf_free(&b);
	}
}

static void no_bf16(void **state)
{
	struct tensor t = tensor_1d("t", DT_BF16, 1, v);
	struct err e;

	(void)state;
	assert_int_equal(npy_write(NULL, &t, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(headers), cmocka_unit_test(no_bf16)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
