/* Writes a sample of every format into a folder, for tensor.py to read with the real libraries:
 *	tensor_write DIR
 *	tensor_write DIR big	a file of more than 4 GiB, from little memory, for Zip64 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "tensor/npy.h"
#include "tensor/pt.h"
#include "tensor/save.h"
#include "tensor/st.h"

static struct err err;

static struct save *start(const char *dir, const char *name)
{
	struct buf b = {0};
	struct save *s;

	buf_addf(&b, "%s/%s", dir, name);
	s = save_open(buf_cstr(&b), &err);
	buf_free(&b);
	if (!s) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
	return s;
}

static void done(int rc, struct save *s)
{
	if (rc < 0 || save_finish(s, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(1);
	}
}

/* Hidden states [5, 4, 6] of one server file, cut into aux and last as trainers want them. */
enum { S = 5, K = 4, H = 6 };

static uint16_t states[S][K][H];
static int64_t ids[S] = {0, 1, 163585, 7, 5000000000};
static unsigned char mask[3] = {1, 0, 1};

static struct tensor part(const char *name, unsigned first, unsigned n)
{
	struct tensor t = {.name = name, .dtype = DT_BF16, .ndim = 2, .rows = S, .nparts = 1};

	t.dim[0] = S;
	t.dim[1] = (uint64_t)n * H;
	t.part[0] = (struct tensor_part){(const char *)states[0][first], n * H * 2, K * H * 2};
	return t;
}

static void small(const char *dir)
{
	static const uint64_t empty[2] = {0, 4}, one[1] = {S};
	struct pt_item items[] = {
	    {.key = "input_ids",
		.kind = PT_TENSOR,
		.tensor = tensor_1d("input_ids", DT_I64, S, ids)},
	    {.key = "aux", .kind = PT_TENSOR, .tensor = part("aux", 0, 3)},
	    {.key = "last", .kind = PT_TENSOR, .tensor = part("last", 3, 1)},
	    {.key = "mask", .kind = PT_TENSOR, .tensor = tensor_1d("mask", DT_BOOL, 3, mask)},
	    {.key = "empty",
		.kind = PT_TENSOR,
		.tensor = tensor_flat("empty", DT_F32, 2, empty, "")},
	    {.key = "scalar",
		.kind = PT_TENSOR,
		.tensor = tensor_flat("scalar", DT_I64, 0, one, &ids[2])},
	    {.key = "id", .kind = PT_STR, .str = SPAN("a/\xc3\xa9")},
	    {.key = "big", .kind = PT_INT, .num = -5000000000},
	    {.key = "yes", .kind = PT_BOOL, .num = 1},
	};
	static const struct pt_count counts[] = {{0, 255}, {1, 256}, {70000, 5000000000}};
	struct tensor st[] = {part("aux", 0, 3), tensor_1d("input_ids", DT_I64, S, ids),
	    tensor_flat("empty", DT_F32, 2, empty, ""), part("last", 3, 1)};
	struct save *s = start(dir, "dict.pt");
	char *p = (char *)states;

	for (size_t i = 0; i < sizeof(states); i++)
		p[i] = (char)(i * 7);
	done(pt_write_dict(s, items, sizeof(items) / sizeof(items[0]), &err), s);
	s = start(dir, "bare.pt");
	done(pt_write_tensor(s, &items[0].tensor, &err), s);
	s = start(dir, "counts.pt");
	done(pt_write_counts(s, counts, 3, &err), s);
	s = start(dir, "a.safetensors");
	done(st_write(s, st, 4, &err), s);
	s = start(dir, "ids.npy");
	done(npy_write(s, &items[0].tensor, &err), s);
	s = start(dir, "mask.npy");
	done(npy_write(s, &items[3].tensor, &err), s);
	s = start(dir, "empty.npy");
	done(npy_write(s, &items[4].tensor, &err), s);
}

/* One megabyte, repeated by a stride of 0. */
static void big(const char *dir)
{
	enum { ROW = 1 << 20, ROWS = 4200 };
	static unsigned char row[ROW];
	struct pt_item items[2] = {
	    {.key = "big", .kind = PT_TENSOR}, {.key = "ids", .kind = PT_TENSOR}};
	struct save *s = start(dir, "big.pt");

	for (size_t i = 0; i < ROW; i++)
		row[i] = (unsigned char)(i * 31 >> 3);
	items[0].tensor =
	    (struct tensor){.name = "big", .dtype = DT_U8, .ndim = 2, .rows = ROWS, .nparts = 1};
	items[0].tensor.dim[0] = ROWS;
	items[0].tensor.dim[1] = ROW;
	items[0].tensor.part[0] = (struct tensor_part){(const char *)row, ROW, 0};
	items[1].tensor = tensor_1d("ids", DT_I64, S, ids);
	done(pt_write_dict(s, items, 2, &err), s);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (argc > 2 && strcmp(argv[2], "big") == 0)
		big(argv[1]);
	else
		small(argv[1]);
	return 0;
}
