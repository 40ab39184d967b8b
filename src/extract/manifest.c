#include "extract/manifest.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/num.h"
#include "base/prog.h"
#include "io/out.h"
#include "json/doc.h"

static const char *const conventions[] = {"in", "out"};
static const char *const norms[] = {"before", "after"};

/* ---- layers ---- */

void setinfo_layers(struct buf *out, const struct setinfo *s)
{
	for (unsigned i = 0; i < s->nlayers; i++)
		buf_addf(out, "%s%d", i > 0 ? "," : "", s->layer[i]);
}

static int add_layer(struct setinfo *s, uint64_t v, struct err *e)
{
	if (v > 100000)
		return err_set(e, "layers", "%llu is no layer", (unsigned long long)v);
	/* one slot is kept for the last layer */
	if (s->nlayers == STATES_SLOTS - 1)
		return err_set(e, "layers", "more than %d layers", STATES_SLOTS - 1);
	if (s->nlayers > 0 && (int)v <= s->layer[s->nlayers - 1])
		return err_set(e, "layers",
		    "layers must ascend: servers deliver them so, whatever the order they were "
		    "asked in");
	s->layer[s->nlayers++] = (int)v;
	return 0;
}

int setinfo_read_layers(struct setinfo *s, struct span text, struct err *e)
{
	size_t start = 0;

	s->nlayers = 0;
	for (size_t i = 0; i <= text.n; i++) {
		uint64_t v;

		if (i < text.n && text.p[i] != ',')
			continue;
		if (num_u64(text.p + start, i - start, &v) < 0)
			return err_set(e, "layers",
			    "%.*s: expected numbers of layers with commas between",
			    (int)(text.n < 100 ? text.n : 100), text.p);
		if (add_layer(s, v, e) < 0)
			return -1;
		start = i + 1;
	}
	return 0;
}

int setinfo_embedding(const struct setinfo *s)
{
	return s->convention == LAYERS_IN ? 0 : STATES_NONE;
}

/* ---- writing ---- */

static json_t *layer_array(const struct setinfo *s)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < s->nlayers; i++)
		json_array_append_new(a, json_integer(s->layer[i]));
	return a;
}

static void set(json_t *o, const char *name, json_t *v)
{
	json_object_set_new(o, name, v);
}

static json_t *make(const struct setinfo *s)
{
	json_t *o = json_object(), *server = json_object(), *options = json_object();

	set(o, "program", json_string("e3-extract"));
	set(o, "version", json_string(E3_VERSION));
	set(o, "layout", json_string(layout_word(s->layout)));
	set(o, "layers", layer_array(s));
	set(o, "layer_ids",
	    s->convention < 0 ? json_null() : json_string(conventions[s->convention]));
	set(o, "last", json_boolean(s->last));
	set(o, "norm", s->norm < 0 ? json_null() : json_string(norms[s->norm]));
	set(o, "hidden_size", json_integer((json_int_t)s->hidden));
	set(o, "dtype", json_string(dtypes[s->dtype].name));
	set(o, "model", json_string(s->model));
	set(server, "backend", json_string(s->backend));
	set(server, "version", json_string(s->server_version));
	if (s->weight_version[0])
		set(server, "weight_version", json_string(s->weight_version));
	set(o, "server", server);
	set(options, "apply_norm", json_boolean(s->applied));
	set(o, "options", options);
	set(o, "complete", json_boolean(s->complete));
	set(o, "records", json_integer((json_int_t)s->records));
	set(o, "tokens", json_integer((json_int_t)s->tokens));
	set(o, "bytes", json_integer((json_int_t)s->bytes));
	return o;
}

static void path_of(struct buf *b, const char *out_dir)
{
	buf_addf(b, "%s/manifest.json", out_dir);
	buf_cstr(b);
}

int setinfo_check(const char *out_dir, struct err *e)
{
	struct buf path = {0};
	int rc;

	path_of(&path, out_dir);
	rc = out_check_own(path.data, e);
	buf_free(&path);
	return rc;
}

int setinfo_save(const struct setinfo *s, const char *out_dir, struct err *e)
{
	struct buf path = {0}, text = {0};
	json_t *o = make(s);
	int rc;

	doc_write(&text, o);
	buf_addc(&text, '\n');
	path_of(&path, out_dir);
	rc = out_put_own(path.data, &text, e);
	json_decref(o);
	buf_free(&path);
	buf_free(&text);
	return rc;
}

void setinfo_remove(const char *out_dir)
{
	struct buf path = {0};

	path_of(&path, out_dir);
	unlink(path.data);
	buf_free(&path);
}

/* ---- reading ---- */

static int word_of(const json_t *v, const char *const *words, int n)
{
	for (int i = 0; i < n && json_is_string(v); i++)
		if (strcmp(json_string_value(v), words[i]) == 0)
			return i;
	return -1;
}

static void copy_text(char *to, size_t size, const json_t *v)
{
	size_t n = json_is_string(v) ? json_string_length(v) : 0;

	if (n >= size)
		n = size - 1;
	memcpy(to, n > 0 ? json_string_value(v) : "", n);
	to[n] = '\0';
}

static uint64_t number(const json_t *o, const char *name)
{
	json_int_t v = json_integer_value(json_object_get(o, name));

	return v > 0 ? (uint64_t)v : 0;
}

static int read_set(struct setinfo *s, const json_t *o, struct err *e)
{
	const json_t *layout = json_object_get(o, "layout"), *layers = json_object_get(o, "layers"),
		     *v;
	const json_t *server = json_object_get(o, "server");
	const char *dtype = json_string_value(json_object_get(o, "dtype"));
	int word = json_is_string(layout) ? layout_of_word(json_string_value(layout)) : -1, d = 0;
	size_t i;

	while (d < DT_COUNT && !(dtype && strcmp(dtypes[d].name, dtype) == 0))
		d++;
	if (word < 0 || !json_is_array(layers) || d == DT_COUNT)
		return err_set(e, "manifest", "no manifest of a set of hidden states");
	s->layout = (enum layout)word;
	s->dtype = (enum dtype)d;
	json_array_foreach(layers, i,
	    v) if (!json_is_integer(v) ||
		   add_layer(s, (uint64_t)json_integer_value(v), e) < 0) return err_set(e,
	    "manifest", "layers: expected numbers that ascend");
	s->convention = (enum convention)word_of(json_object_get(o, "layer_ids"), conventions, 2);
	s->norm = (enum norm)word_of(json_object_get(o, "norm"), norms, 2);
	s->last = json_is_true(json_object_get(o, "last"));
	s->hidden = number(o, "hidden_size");
	copy_text(s->model, sizeof(s->model), json_object_get(o, "model"));
	copy_text(s->backend, sizeof(s->backend), json_object_get(server, "backend"));
	copy_text(s->server_version, sizeof(s->server_version), json_object_get(server, "version"));
	copy_text(s->weight_version, sizeof(s->weight_version),
	    json_object_get(server, "weight_version"));
	s->applied = json_is_true(json_object_get(json_object_get(o, "options"), "apply_norm"));
	s->complete = json_is_true(json_object_get(o, "complete"));
	s->records = number(o, "records");
	s->tokens = number(o, "tokens");
	s->bytes = number(o, "bytes");
	return 0;
}

int setinfo_load(struct setinfo *s, const char *out_dir, struct err *e)
{
	struct buf path = {0};
	json_t *o;
	int rc = -1;

	*s = (struct setinfo){0};
	path_of(&path, out_dir);
	o = doc_load(path.data, e);
	if (o && (rc = read_set(s, o, e)) < 0)
		err_prefix(e, "%s: ", path.data);
	json_decref(o);
	buf_free(&path);
	return rc;
}

static int same_layers(const struct setinfo *old, const struct setinfo *now, struct err *e)
{
	struct buf a = {0}, b = {0};
	int same;

	setinfo_layers(&a, old);
	setinfo_layers(&b, now);
	same = (now->nlayers == 0 || strcmp(buf_cstr(&a), buf_cstr(&b)) == 0) &&
	       (now->convention == LAYERS_UNSAID || old->convention == now->convention);
	if (!same)
		err_set(e, "manifest", "the set has layers %s (%s), this run %s (%s)", buf_cstr(&a),
		    old->convention < 0 ? "unsaid" : conventions[old->convention], buf_cstr(&b),
		    now->convention < 0 ? "unsaid" : conventions[now->convention]);
	buf_free(&a);
	buf_free(&b);
	return same ? 0 : -1;
}

static const char *last_of(const struct setinfo *s)
{
	return !s->last ? "left out" : s->norm < 0 ? "of unknown norm" : norms[s->norm];
}

int setinfo_same(const struct setinfo *old, const struct setinfo *now, struct err *e)
{
	if (old->layout != now->layout)
		return err_set(e, "manifest", "the set has layout %s, this run %s",
		    layout_word(old->layout), layout_word(now->layout));
	if (same_layers(old, now, e) < 0)
		return -1;
	if (old->last != now->last || (now->norm != NORM_UNSAID && old->norm != now->norm))
		return err_set(e, "manifest", "the set has its last state %s, this run %s",
		    last_of(old), last_of(now));
	if (now->hidden > 0 && old->hidden != now->hidden)
		return err_set(e, "manifest", "the set is of hidden size %llu, this run of %llu",
		    (unsigned long long)old->hidden, (unsigned long long)now->hidden);
	if (now->dtype < DT_COUNT && old->dtype != now->dtype)
		return err_set(e, "manifest", "the set holds %s, this run would write %s",
		    dtypes[old->dtype].name, dtypes[now->dtype].name);
	if (old->model[0] && now->model[0] && strcmp(old->model, now->model) != 0)
		return err_set(e, "manifest", "the set is of model %s, this run of %s", old->model,
		    now->model);
	if (old->weight_version[0] && now->weight_version[0] &&
	    strcmp(old->weight_version, now->weight_version) != 0)
		return err_set(e, "manifest", "the set is of weights %s, this run of %s",
		    old->weight_version, now->weight_version);
	return 0;
}
