#include "tensor/st.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "tensor/le.h"
#include "tensor/save.h"
#include "json/val.h"

struct st {
	struct filemap map;
	struct arena arena;
	struct tensor *t; /* sorted by their offsets */
	size_t n;
	const struct jval *meta; /* "__metadata__", or NULL */
};

/* ---- writing ---- */

void st_header(struct buf *out, const struct tensor *t, size_t n)
{
	size_t start = out->len;
	uint64_t at = 0, len;

	buf_add(out, "\0\0\0\0\0\0\0\0{", 9);
	for (size_t i = 0; i < n; i++) {
		uint64_t elements, bytes = 0;

		tensor_size(&t[i], &elements, &bytes);
		buf_adds(out, i > 0 ? "," : "");
		buf_add_json(out, t[i].name, strlen(t[i].name));
		buf_addf(out, ":{\"dtype\":\"%s\",\"shape\":[", dtypes[t[i].dtype].st);
		for (unsigned k = 0; k < t[i].ndim; k++) {
			buf_adds(out, k > 0 ? "," : "");
			buf_add_u64(out, t[i].dim[k]);
		}
		buf_adds(out, "],\"data_offsets\":[");
		buf_add_u64(out, at);
		buf_addc(out, ',');
		buf_add_u64(out, at += bytes);
		buf_adds(out, "]}");
	}
	buf_addc(out, '}');
	while ((out->len - start) % 8 != 0)
		buf_addc(out, ' ');
	len = out->len - start - 8;
	for (int i = 0; i < 8; i++)
		out->data[start + (size_t)i] = (char)(len >> (8 * i) & 0xff);
}

int st_write(struct save *s, const struct tensor *t, size_t n, struct err *e)
{
	struct buf head = {0};
	int rc;

	st_header(&head, t, n);
	rc = save_write(s, head.data, head.len, e);
	buf_free(&head);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = save_tensor(s, &t[i], e);
	return rc;
}

/* ---- reading ---- */

static int read_dtype(struct tensor *t, const struct jval *v, struct err *e)
{
	for (int i = 0; i < DT_COUNT; i++)
		if (val_is_str(v, dtypes[i].st)) {
			t->dtype = (enum dtype)i;
			return 0;
		}
	t->dtype = DT_COUNT;
	return v && v->kind == J_STR ? 0 : err_set(e, "format", "tensor %s: no dtype", t->name);
}

static int read_shape(struct tensor *t, const struct jval *v, struct err *e)
{
	if (!v || v->kind != J_ARR)
		return err_set(e, "format", "tensor %s: no shape", t->name);
	for (size_t i = 0; i < v->u.arr.n; i++) {
		const struct jval *d = &v->u.arr.v[i];

		if (d->kind != J_INT || d->u.i < 0)
			return err_set(e, "format", "tensor %s: shape[%zu] is no size", t->name, i);
		if (i < TENSOR_DIMS)
			t->dim[i] = (uint64_t)d->u.i;
	}
	t->ndim = (unsigned)v->u.arr.n;
	return 0;
}

/* Whether it is one that can be handed out. The others only take their place in the file. */
static int is_known(const struct tensor *t)
{
	return t->dtype != DT_COUNT && t->ndim <= TENSOR_DIMS;
}

static int read_offsets(struct tensor *t, const struct jval *v, struct span data, struct err *e)
{
	uint64_t elements, size, begin, end;

	if (!v || v->kind != J_ARR || v->u.arr.n != 2 || v->u.arr.v[0].kind != J_INT ||
	    v->u.arr.v[1].kind != J_INT || v->u.arr.v[0].u.i < 0 ||
	    v->u.arr.v[1].u.i < v->u.arr.v[0].u.i)
		return err_set(e, "format", "tensor %s: data_offsets are no range", t->name);
	begin = (uint64_t)v->u.arr.v[0].u.i;
	end = (uint64_t)v->u.arr.v[1].u.i;
	if (is_known(t) && (tensor_size(t, &elements, &size) < 0 || size != end - begin))
		return err_set(
		    e, "format", "tensor %s: data_offsets do not fit dtype and shape", t->name);
	if (end > data.n)
		return err_set(e, "truncated", "tensor %s ends at byte %llu of %zu bytes of data",
		    t->name, (unsigned long long)end, data.n);
	t->rows = 1;
	t->nparts = 1;
	t->part[0] = (struct tensor_part){data.p + begin, end - begin, end - begin};
	return 0;
}

static int read_metadata(struct st *f, const struct jval *v, struct err *e)
{
	int ok = v->kind == J_OBJ;

	f->meta = v;
	for (size_t i = 0; ok && i < v->u.obj.n; i++)
		ok = v->u.obj.m[i].val.kind == J_STR;
	return ok ? 0 : err_set(e, "format", "__metadata__: expected an object of strings");
}

static int by_offset(const void *a, const void *b)
{
	const struct tensor *x = a, *y = b;

	if (x->part[0].p != y->part[0].p)
		return x->part[0].p < y->part[0].p ? -1 : 1;
	return (x->part[0].bytes > y->part[0].bytes) - (x->part[0].bytes < y->part[0].bytes);
}

/* The tensors, sorted, cover the data exactly. */
static int check_cover(const struct st *f, struct span data, struct err *e)
{
	const char *at = data.p;

	for (size_t i = 0; i < f->n; i++) {
		if (f->t[i].part[0].p != at)
			return err_set(e, "format", "tensor %s: %s before its data", f->t[i].name,
			    f->t[i].part[0].p < at ? "an overlap" : "a gap");
		at += f->t[i].part[0].bytes;
	}
	if (at != data.p + data.n)
		return err_set(e, "format", "%zu bytes behind the last tensor",
		    (size_t)(data.p + data.n - at));
	return 0;
}

/* What check_cover has done with. */
static void leave_out_unknown(struct st *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		if (is_known(&f->t[i]))
			f->t[n++] = f->t[i];
	f->n = n;
}

static int read_tensors(struct st *f, const struct jval *root, struct span data, struct err *e)
{
	f->t = xcalloc(root->u.obj.n, sizeof(*f->t));
	for (size_t i = 0; i < root->u.obj.n; i++) {
		const struct jmember *m = &root->u.obj.m[i];
		struct tensor *t = &f->t[f->n];

		if (span_eq(m->key, "__metadata__")) {
			if (read_metadata(f, &m->val, e) < 0)
				return -1;
			continue;
		}
		t->name = arena_strndup(&f->arena, m->key.p, m->key.n);
		if (strlen(t->name) != m->key.n)
			return err_set(e, "format", "a tensor's name holds a NUL");
		if (read_dtype(t, val_get(&m->val, "dtype"), e) < 0 ||
		    read_shape(t, val_get(&m->val, "shape"), e) < 0 ||
		    read_offsets(t, val_get(&m->val, "data_offsets"), data, e) < 0)
			return -1;
		f->n++;
	}
	qsort(f->t, f->n, sizeof(*f->t), by_offset);
	if (check_cover(f, data, e) < 0)
		return -1;
	leave_out_unknown(f);
	return 0;
}

int st_expect(const void *p, size_t n, uint64_t *size, struct err *e)
{
	struct arena arena = {0};
	struct jval root;
	uint64_t len, end = 0;

	*size = 0;
	if (n < 8)
		return 0;
	len = le_get(p, 8);
	if (len > ST_HEADER_MAX || len < 2)
		return err_set(e, "format", "no safetensors file: a header of %llu bytes",
		    (unsigned long long)len);
	if (n - 8 < len)
		return 0;
	if (val_parse(&root, (struct span){(const char *)p + 8, len}, 0, &arena, NULL, e) < 0) {
		arena_free(&arena);
		e->class = "format";
		return err_prefix(e, "header: ");
	}
	for (size_t i = 0; root.kind == J_OBJ && i < root.u.obj.n; i++) {
		const struct jval *v = val_get(&root.u.obj.m[i].val, "data_offsets");

		if (v && v->kind == J_ARR && v->u.arr.n == 2 && v->u.arr.v[1].kind == J_INT &&
		    v->u.arr.v[1].u.i > 0 && (uint64_t)v->u.arr.v[1].u.i > end)
			end = (uint64_t)v->u.arr.v[1].u.i;
	}
	arena_free(&arena);
	*size = 8 + len + end;
	return 0;
}

static int parse(struct st *f, struct err *e)
{
	struct span all = {f->map.p, f->map.n};
	struct jval root;
	uint64_t len;

	if (map_need(&f->map, all.p, all.n < 8 ? all.n : 8, e) < 0)
		return -1;
	if (all.n < 8)
		return err_set(e, "truncated", "%zu bytes are no safetensors file", all.n);
	len = le_get(all.p, 8);
	if (len > ST_HEADER_MAX || len < 2)
		return err_set(e, "format", "no safetensors file: a header of %llu bytes",
		    (unsigned long long)len);
	if (len > all.n - 8)
		return err_set(e, "truncated",
		    "the header's %llu bytes reach over the end of the file",
		    (unsigned long long)len);
	if (map_need(&f->map, all.p + 8, len, e) < 0)
		return -1;
	/* the reference reader wants the object's brace to be the first byte */
	if (all.p[8] != '{')
		return err_set(e, "format", "the header does not begin with '{'");
	if (val_parse(&root, (struct span){all.p + 8, len}, 0, &f->arena, NULL, e) < 0) {
		e->class = "format";
		return err_prefix(e, "header: ");
	}
	return read_tensors(f, &root, (struct span){all.p + 8 + len, all.n - 8 - len}, e);
}

static struct st *take(struct filemap map, struct err *e)
{
	struct st *f = xcalloc(1, sizeof(*f));

	f->map = map;
	if (parse(f, e) == 0)
		return f;
	st_close(f);
	return NULL;
}

struct st *st_parse(const void *p, size_t n, struct err *e)
{
	return take((struct filemap){.p = p, .n = n}, e);
}

struct st *st_open(const char *path, enum map_how how, struct err *e)
{
	struct filemap map;
	struct st *f;

	if (map_open(&map, path, how, e) < 0)
		return NULL;
	f = take(map, e);
	if (!f)
		err_prefix(e, "%s: ", path);
	return f;
}

const struct tensor *st_get(const struct st *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->t[i].name, name) == 0)
			return &f->t[i];
	return NULL;
}

size_t st_count(const struct st *f)
{
	return f->n;
}

const struct tensor *st_at(const struct st *f, size_t i)
{
	return &f->t[i];
}

struct span st_meta(const struct st *f, const char *key)
{
	const struct jval *v = f->meta ? val_get(f->meta, key) : NULL;

	return v ? v->u.s : (struct span){0};
}

const struct filemap *st_map(const struct st *f)
{
	return &f->map;
}

void st_close(struct st *f)
{
	if (!f)
		return;
	map_close(&f->map);
	arena_free(&f->arena);
	free(f->t);
	free(f);
}
