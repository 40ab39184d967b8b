#include "tensor/pt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "tensor/pickle.h"
#include "tensor/save.h"
#include "tensor/zip.h"

/* ---- writing ---- */

#define ROOT "archive/"

static int record(struct zip_writer *w, const char *name, struct span data, struct err *e)
{
	if (zip_record(w, name, data.n, e) < 0 || save_write(w->file, data.p, data.n, e) < 0)
		return -1;
	return zip_record_end(w, e);
}

static int tensor_record(
    struct zip_writer *w, uint64_t number, const struct tensor *t, struct err *e)
{
	char name[40];
	uint64_t elements, bytes;

	if (tensor_size(t, &elements, &bytes) < 0)
		return err_set(e, "format", "tensor %s: its size overflows", t->name);
	snprintf(name, sizeof(name), ROOT "data/%llu", (unsigned long long)number);
	if (zip_record(w, name, bytes, e) < 0 || save_tensor(w->file, t, e) < 0)
		return -1;
	return zip_record_end(w, e);
}

/* The archive around a pickle; tensors are those of the items, numbered as they come. */
static int archive(
    struct save *s, const struct buf *pkl, const struct pt_item *items, size_t n, struct err *e)
{
	struct zip_writer w;
	uint64_t number = 0;
	int rc = -1;

	zip_begin(&w, s);
	if (record(&w, ROOT "data.pkl", (struct span){pkl->data, pkl->len}, e) < 0 ||
	    record(&w, ROOT ".format_version", SPAN("1"), e) < 0 ||
	    record(&w, ROOT ".storage_alignment", SPAN("64"), e) < 0 ||
	    record(&w, ROOT "byteorder", SPAN("little"), e) < 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		if (items[i].kind == PT_TENSOR &&
		    tensor_record(&w, number++, &items[i].tensor, e) < 0)
			goto out;
	if (record(&w, ROOT "version", SPAN("3\n"), e) < 0)
		goto out;
	rc = zip_end(&w, e);
out:
	zip_free(&w);
	return rc;
}

int pt_write_dict(struct save *s, const struct pt_item *items, size_t n, struct err *e)
{
	struct buf pkl = {0};
	uint64_t number = 0;
	int rc;

	pickle_begin(&pkl);
	pickle_dict(&pkl);
	pickle_mark(&pkl);
	for (size_t i = 0; i < n; i++) {
		pickle_str(&pkl, items[i].key, strlen(items[i].key));
		switch (items[i].kind) {
		case PT_TENSOR: pickle_tensor(&pkl, &items[i].tensor, number++); break;
		case PT_STR: pickle_str(&pkl, items[i].str.p, items[i].str.n); break;
		case PT_INT: pickle_int(&pkl, items[i].num); break;
		case PT_BOOL: pickle_bool(&pkl, items[i].num != 0); break;
		}
	}
	pickle_items(&pkl);
	pickle_end(&pkl);
	rc = archive(s, &pkl, items, n, e);
	buf_free(&pkl);
	return rc;
}

int pt_write_tensor(struct save *s, const struct tensor *t, struct err *e)
{
	struct pt_item item = {.kind = PT_TENSOR, .tensor = *t};
	struct buf pkl = {0};
	int rc;

	pickle_begin(&pkl);
	pickle_tensor(&pkl, t, 0);
	pickle_end(&pkl);
	rc = archive(s, &pkl, &item, 1, e);
	buf_free(&pkl);
	return rc;
}

int pt_write_counts(struct save *s, const struct pt_count *c, size_t n, struct err *e)
{
	enum { BATCH = 1000 }; /* items under one mark, as Python's pickler groups them */
	struct buf pkl = {0};
	int rc;

	pickle_begin(&pkl);
	pickle_dict(&pkl);
	for (size_t i = 0; i < n; i++) {
		if (i % BATCH == 0)
			pickle_mark(&pkl);
		pickle_int(&pkl, c[i].key);
		pickle_int(&pkl, c[i].n);
		if (i % BATCH == BATCH - 1 || i == n - 1)
			pickle_items(&pkl);
	}
	pickle_end(&pkl);
	rc = archive(s, &pkl, NULL, 0, e);
	buf_free(&pkl);
	return rc;
}

/* ---- reading ---- */

struct pt {
	struct filemap map;
	struct zip zip;
	struct arena arena;
	struct span root; /* the folder of all records, with its slash */
	struct pt_item *item;
	size_t n;
	int bare;
};

static const struct zip_entry *find(const struct pt *f, const char *folder, struct span name)
{
	struct buf b = {0};
	const struct zip_entry *r;

	buf_add(&b, f->root.p, f->root.n);
	buf_adds(&b, folder);
	buf_add(&b, name.p, name.n);
	r = zip_get(&f->zip, (struct span){b.data, b.len});
	buf_free(&b);
	return r;
}

static int read_tensor(struct pt *f, struct tensor *t, const struct pv_tensor *v, struct err *e)
{
	const struct zip_entry *r = find(f, "data/", v->storage->record);
	size_t size = dtypes[v->storage->dtype].size;
	uint64_t elements, bytes;

	if (!r)
		return err_set(e, "format", "no record data/%.*s", (int)v->storage->record.n,
		    v->storage->record.p);
	t->dtype = v->storage->dtype;
	t->ndim = v->ndim;
	memcpy(t->dim, v->dim, sizeof(t->dim));
	if (tensor_size(t, &elements, &bytes) < 0 || v->offset > r->data.n / size ||
	    bytes > r->data.n - v->offset * size)
		return err_set(e, "format",
		    "%s: its shape needs more than the %zu bytes of its record",
		    t->name ? t->name : "tensor", r->data.n);
	if (r->data.n != v->storage->elements * size)
		return err_set(e, "format", "%s: its record has %zu bytes, not %llu elements",
		    t->name ? t->name : "tensor", r->data.n,
		    (unsigned long long)v->storage->elements);
	t->rows = 1;
	t->nparts = 1;
	t->part[0] = (struct tensor_part){r->data.p + v->offset * size, bytes, bytes};
	return 0;
}

static int read_value(struct pt *f, struct pt_item *item, const struct pv *v, struct err *e)
{
	switch (v->kind) {
	case PV_TENSOR:
		item->kind = PT_TENSOR;
		item->tensor.name = item->key;
		return read_tensor(f, &item->tensor, v->u.tensor, e);
	case PV_STR:
		item->kind = PT_STR;
		item->str = v->u.s;
		return 0;
	case PV_INT:
	case PV_BOOL:
		item->kind = v->kind == PV_INT ? PT_INT : PT_BOOL;
		item->num = v->u.i;
		return 0;
	default:
		return err_set(e, "format", "%s: a value that is no tensor, string, int or bool",
		    item->key ? item->key : "top level");
	}
}

static int read_items(struct pt *f, const struct pv *top, struct err *e)
{
	f->bare = top->kind != PV_DICT;
	f->n = f->bare ? 1 : top->u.dict->n;
	f->item = arena_array(&f->arena, f->n + 1, sizeof(*f->item));
	memset(f->item, 0, (f->n + 1) * sizeof(*f->item));
	if (f->bare)
		return read_value(f, &f->item[0], top, e);
	for (size_t i = 0; i < f->n; i++) {
		const struct pv *k = &top->u.dict->kv[2 * i];

		if (k->kind == PV_STR)
			f->item[i].key = arena_strndup(&f->arena, k->u.s.p, k->u.s.n);
		else if (k->kind == PV_INT)
			f->item[i].number = k->u.i;
		else
			return err_set(e, "format", "a key that is neither a string nor an int");
		if (read_value(f, &f->item[i], k + 1, e) < 0)
			return -1;
	}
	return 0;
}

static int find_root(struct pt *f, struct err *e)
{
	static const char name[] = "data.pkl";
	const size_t n = sizeof(name) - 1;

	for (size_t i = 0; i < f->zip.n; i++) {
		struct span s = f->zip.entry[i].name;

		if (s.n > n && s.p[s.n - n - 1] == '/' && memcmp(s.p + s.n - n, name, n) == 0) {
			f->root = (struct span){s.p, s.n - n};
			return 0;
		}
	}
	return err_set(e, "format", "a zip archive without data.pkl");
}

static int parse(struct pt *f, struct err *e)
{
	const struct zip_entry *r;
	struct pv top;

	if (zip_parse(&f->zip, &f->map, e) < 0 || find_root(f, e) < 0)
		return -1;
	r = find(f, "", SPAN("byteorder"));
	if (r && map_need(&f->map, r->data.p, r->data.n, e) < 0)
		return -1;
	if (r && !span_eq(r->data, "little"))
		return err_set(e, "format", "its byte order is not little");
	r = find(f, "", SPAN("data.pkl"));
	if (map_need(&f->map, r->data.p, r->data.n, e) < 0)
		return -1;
	if (pickle_read(&top, r->data, &f->arena, e) < 0)
		return -1;
	return read_items(f, &top, e);
}

static struct pt *take(struct filemap map, struct err *e)
{
	struct pt *f = xcalloc(1, sizeof(*f));

	f->map = map;
	if (parse(f, e) == 0)
		return f;
	pt_close(f);
	return NULL;
}

struct pt *pt_parse(const void *p, size_t n, struct err *e)
{
	return take((struct filemap){.p = p, .n = n}, e);
}

struct pt *pt_open(const char *path, enum map_how how, struct err *e)
{
	struct filemap map;
	struct pt *f;

	if (map_open(&map, path, how, e) < 0)
		return NULL;
	f = take(map, e);
	if (!f)
		err_prefix(e, "%s: ", path);
	return f;
}

int pt_bare(const struct pt *f)
{
	return f->bare;
}

size_t pt_count(const struct pt *f)
{
	return f->n;
}

const struct pt_item *pt_at(const struct pt *f, size_t i)
{
	return &f->item[i];
}

const struct pt_item *pt_get(const struct pt *f, const char *key)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->item[i].key && strcmp(f->item[i].key, key) == 0)
			return &f->item[i];
	return NULL;
}

const struct tensor *pt_tensor(const struct pt *f, const char *key)
{
	const struct pt_item *item = pt_get(f, key);

	return item && item->kind == PT_TENSOR ? &item->tensor : NULL;
}

const struct filemap *pt_map(const struct pt *f)
{
	return &f->map;
}

int pt_check(const struct pt *f, struct err *e)
{
	return zip_check(&f->zip, e);
}

void pt_close(struct pt *f)
{
	if (!f)
		return;
	zip_close(&f->zip);
	map_close(&f->map);
	arena_free(&f->arena);
	free(f);
}
