#include "merge/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/prog.h"
#include "io/lines.h"
#include "io/out.h"
#include "merge/record.h"
#include "json/doc.h"

struct manifest {
	json_t *root, *outputs;
};

/* ---- a set as JSON ---- */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *hex(uint64_t h)
{
	struct buf b = {0};
	json_t *j;

	buf_add_hex64(&b, h);
	j = json_stringn(b.data, b.len);
	buf_free(&b);
	return j;
}

static void add_counts(json_t *to, const struct set_counts *c)
{
	json_object_set_new(to, "records", number(c->records));
	json_object_set_new(to, "tokens", number(c->tokens));
	json_object_set_new(to, "prompt_tokens", number(c->tokens - c->response));
	json_object_set_new(to, "response_tokens", number(c->response));
}

static json_t *lengths(const struct set *s)
{
	json_t *j = json_object(), *below = json_object();

	json_object_set_new(j, "shortest", number(s->all.records ? s->shortest : 0));
	json_object_set_new(j, "longest", number(s->longest));
	for (size_t i = 0; i < SET_BINS; i++) {
		char end[24];

		snprintf(end, sizeof(end), "%llu", (unsigned long long)set_bin_end(i));
		if (s->bin[i] > 0)
			json_object_set_new(below, end, number(s->bin[i]));
	}
	json_object_set_new(j, "below", below);
	return j;
}

/* Sorted by name: numbers depend on the order of the inputs. */
static json_t *by_dataset(const struct set *s, const struct datasets *d)
{
	json_t *j = json_object();

	for (size_t i = 0; i < d->n; i++) {
		size_t k = d->sorted[i];
		json_t *row;

		if (k >= s->ndatasets || s->dataset[k].records == 0)
			continue;
		row = json_object();
		add_counts(row, &s->dataset[k]);
		json_object_set_new(j, d->name[k], row);
	}
	return j;
}

static void add_set(json_t *to, const struct set *s, const struct datasets *d)
{
	add_counts(to, &s->all);
	json_object_set_new(to, "bytes", number(s->bytes));
	json_object_set_new(to, "xxh64", hex(hash64_now(s->hash)));
	json_object_set_new(to, "lengths", lengths(s));
	json_object_set_new(to, "datasets", by_dataset(s, d));
}

/* ---- writing ---- */

static json_t *strings(const struct opt_list *l)
{
	json_t *j = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(j, json_string(l->v[i]));
	return j;
}

static json_t *options(const struct merge_opts *o)
{
	struct span dedup = opt_word(DEDUP_WORDS, o->dedup);
	json_t *j = json_object();

	json_object_set_new(j, "seed", number(o->seed));
	json_object_set_new(j, "shuffle", json_boolean(!o->no_shuffle));
	json_object_set_new(j, "min_len", number(o->min_len));
	json_object_set_new(
	    j, "max_len", o->max_len == UINT64_MAX ? json_null() : number(o->max_len));
	json_object_set_new(j, "min_response", number(o->min_response));
	json_object_set_new(j, "dedup", json_stringn(dedup.p, dedup.n));
	json_object_set_new(j, "cap", strings(&o->cap));
	json_object_set_new(j, "mix", strings(&o->mix));
	json_object_set_new(j, "split", strings(&o->split));
	return j;
}

static json_t *inputs(const struct lines_file *f, size_t n)
{
	json_t *j = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *row = json_object();

		json_object_set_new(row, "file", json_string(f[i].name));
		json_object_set_new(row, "records", number(f[i].records));
		json_object_set_new(row, "bytes", number(f[i].bytes));
		json_object_set_new(row, "xxh64", hex(f[i].xxh64));
		json_array_append_new(j, row);
	}
	return j;
}

static json_t *outputs(const struct manifest_parts *p)
{
	json_t *j = json_array();

	for (size_t i = 0; i < p->nsets; i++) {
		const struct manifest_set *s = &p->sets[i];
		json_t *row = json_object();

		json_object_set_new(row, "name", json_stringn(s->name.p, s->name.n));
		json_object_set_new(row, "file", json_string(s->file ? s->file : "-"));
		add_set(row, s->set, p->datasets);
		json_array_append_new(j, row);
	}
	return j;
}

static json_t *document(const struct manifest_parts *p)
{
	json_t *j = json_object();

	json_object_set_new(j, "program", json_string("e3-merge"));
	json_object_set_new(j, "version", json_string(E3_VERSION));
	json_object_set_new(j, "options", options(p->o));
	json_object_set_new(j, "inputs", inputs(p->inputs, p->ninputs));
	json_object_set_new(j, "in", number(p->totals.in));
	json_object_set_new(j, "rejected", number(p->totals.rejected));
	json_object_set_new(j, "dropped", number(p->totals.dropped));
	json_object_set_new(j, "outputs", outputs(p));
	return j;
}

int manifest_write(const char *path, const struct manifest_parts *parts, struct err *e)
{
	json_t *j = document(parts);
	char *json = json_dumps(j, JSON_INDENT(2));
	struct buf text = {0};
	int rc;

	buf_addf(&text, "%s\n", json);
	rc = out_put(path, 0, &text, e);
	buf_free(&text);
	free(json);
	json_decref(j);
	return rc;
}

/* ---- checking ---- */

static int bad(const char *path, const char *what, struct err *e)
{
	return err_set(e, "type", "%s: no manifest of e3-merge: %s", path, what);
}

struct manifest *manifest_load(const char *path, struct err *e)
{
	struct manifest *m = xcalloc(1, sizeof(*m));
	size_t i;
	json_t *row;

	m->root = doc_load(path, e);
	if (!m->root && strcmp(e->class, "json") == 0)
		err_suffix(e, ": expected a manifest, as --manifest writes it");
	if (!m->root)
		goto fail;
	m->outputs = json_object_get(m->root, "outputs");
	if (!json_is_array(m->outputs)) {
		bad(path, "outputs: expected an array", e);
		goto fail;
	}
	json_array_foreach(m->outputs, i, row)
	{
		if (!json_is_string(json_object_get(row, "name")) ||
		    !json_is_string(json_object_get(row, "file"))) {
			bad(path, "an output without name or file", e);
			goto fail;
		}
	}
	return m;
fail:
	manifest_free(m);
	return NULL;
}

void manifest_free(struct manifest *m)
{
	if (m)
		json_decref(m->root);
	free(m);
}

size_t manifest_outputs(const struct manifest *m)
{
	return json_array_size(m->outputs);
}

const char *manifest_file(const struct manifest *m, size_t output)
{
	return json_string_value(json_object_get(json_array_get(m->outputs, output), "file"));
}

static void add_value(struct buf *to, const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;

	buf_adds(to, text ? text : "nothing");
	free(text);
}

/* Members of a and b side by side; `place` is the path to them. */
static size_t compare(const json_t *a, const json_t *b, struct buf *place, struct buf *to)
{
	size_t n = 0, len = place->len;
	const char *key;
	json_t *v;

	if (!json_is_object(a) || !json_is_object(b)) {
		if (json_equal(a, b))
			return 0;
		buf_addf(to, "%s: the manifest says ", buf_cstr(place));
		add_value(to, a);
		buf_adds(to, ", the set ");
		add_value(to, b);
		buf_addc(to, '\n');
		return 1;
	}
	json_object_foreach((json_t *)(uintptr_t)a, key, v)
	{
		buf_addf(place, ": %s", key);
		n += compare(v, json_object_get(b, key), place, to);
		place->len = len;
	}
	json_object_foreach((json_t *)(uintptr_t)b, key, v)
	{
		buf_addf(place, ": %s", key);
		if (!json_object_get(a, key))
			n += compare(NULL, v, place, to);
		place->len = len;
	}
	return n;
}

size_t manifest_compare(const struct manifest *m, size_t output, const struct set *set,
    const struct datasets *datasets, struct buf *to)
{
	const json_t *said = json_array_get(m->outputs, output);
	const char *name = json_string_value(json_object_get(said, "name"));
	json_t *is = json_object();
	struct buf place = {0};
	size_t n;

	json_object_set_new(is, "name", json_string(name));
	json_object_set_new(is, "file", json_string(manifest_file(m, output)));
	add_set(is, set, datasets);
	buf_adds(&place, name);
	n = compare(said, is, &place, to);
	buf_free(&place);
	json_decref(is);
	return n;
}
