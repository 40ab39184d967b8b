/* Says what our readers see in files that the real libraries wrote, a line an item:
 *	KEY KIND DTYPE [SHAPE] BYTES-IN-HEX | VALUE
 * tensor_read FILE...	by the ending: .pt .safetensors */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "tensor/pt.h"
#include "tensor/st.h"

static void show(const char *key, const struct tensor *t)
{
	uint64_t n, bytes;

	tensor_size(t, &n, &bytes);
	printf("%s tensor %s [", key, dtypes[t->dtype].name);
	for (unsigned i = 0; i < t->ndim; i++)
		printf("%s%llu", i > 0 ? "," : "", (unsigned long long)t->dim[i]);
	printf("] ");
	for (uint64_t i = 0; i < bytes; i++)
		printf("%02x", ((const unsigned char *)tensor_data(t))[i]);
	printf("\n");
}

static int read_pt(const char *path, struct err *e)
{
	struct pt *f = pt_open(path, MAP_ALL, e);

	if (!f || pt_check(f, e) < 0) {
		pt_close(f);
		return -1;
	}
	for (size_t i = 0; i < pt_count(f); i++) {
		const struct pt_item *v = pt_at(f, i);
		char key[40];

		snprintf(key, sizeof(key), "%lld", (long long)v->number);
		if (v->kind == PT_TENSOR)
			show(pt_bare(f) ? "-" : v->key, &v->tensor);
		else if (v->kind == PT_STR)
			printf("%s str %.*s\n", v->key, (int)v->str.n, v->str.p);
		else
			printf("%s %s %lld\n", v->key ? v->key : key,
			    v->kind == PT_INT ? "int" : "bool", (long long)v->num);
	}
	pt_close(f);
	return 0;
}

static int read_st(const char *path, struct err *e)
{
	struct st *f = st_open(path, MAP_ALL, e);

	if (!f)
		return -1;
	for (size_t i = 0; i < st_count(f); i++)
		show(st_at(f, i)->name, st_at(f, i));
	st_close(f);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *dot = strrchr(argv[i], '.');
		struct err e;
		int rc = !dot			   ? -1
			 : strcmp(dot, ".pt") == 0 ? read_pt(argv[i], &e)
						   : read_st(argv[i], &e);

		if (rc < 0)
			printf("error %s\n", e.msg);
	}
	return 0;
}
