/* A model folder's chat templates and special tokens.
 *
 * Templates, first found first: --template; chat_template.jinja with
 * additional_chat_templates/tool_use.jinja; chat_template of tokenizer_config.json, a string or a
 * list of {name, template} of which "default" and "tool_use" count; chat_template of
 * chat_template.json. The folder's own file decides, never a rendering built into the program:
 * versions of one model differ. Only where there is none does the model's name decide. */
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "chat/impl.h"
#include "json/config.h"
#include "json/doc.h"

#define TEMPLATE_MAX (4u << 20)

/* Models whose messages are laid out by a program instead of a template, by config.json's
 * model_type: the one at the top, since a model around one of these has a layout of its own. */
static const struct {
	const char *type;
	const struct chat_native *native; /* NULL: not built in */
} natives[] = {
    {"deepseek_v32", &chat_deepseek_v32},
    {"deepseek_v4", NULL},
    {"deepseek_v41", NULL},
};

static const char *path_in(struct buf *b, const struct chat_opt *opt, const char *name)
{
	buf_reset(b);
	buf_addf(b, "%s/%s", opt->model, name);
	return buf_cstr(b);
}

/* {% generation %} with any of the white-space marks. */
static int has_generation(struct span text)
{
	for (size_t at = 0; (at = chat_find(text, "{%", at)) != SIZE_MAX;) {
		at += 2;
		while (at < text.n && strchr("-+ \t\r\n", text.p[at]))
			at++;
		if (text.n - at > 10 && memcmp(text.p + at, "generation", 10) == 0 &&
		    strchr("-+ \t\r\n%", text.p[at + 10]))
			return 1;
	}
	return 0;
}

static int compile(struct chat_tmpl *t, struct span text, const char *name, struct err *e)
{
	t->jinja = jinja_open(text.p, text.n, name, e);
	if (!t->jinja)
		return -1;
	t->sum = hash64(text.p, text.n, 0);
	t->reads_ts = chat_find(text, "tools_ts_str", 0) != SIZE_MAX;
	t->generation = has_generation(text);
	return 0;
}

/* 1 loaded, 0 no such file. */
static int from_file(struct chat_tmpl *t, const char *path, struct err *e)
{
	struct buf text = {0};
	int rc = doc_slurp(&text, path, TEMPLATE_MAX, e);

	if (rc < 0 && strcmp(e->class, "missing") == 0)
		rc = 0;
	else if (rc == 0)
		rc = compile(t, (struct span){text.data ? text.data : "", text.len}, path, e) < 0
			 ? -1
			 : 1;
	buf_free(&text);
	return rc;
}

static int from_string(struct chat_tmpl *t, const json_t *s, const char *path, struct err *e)
{
	if (!json_is_string(s))
		return err_set(e, "type", "%s: chat_template: expected a string", path);
	return compile(t, (struct span){json_string_value(s), json_string_length(s)}, path, e);
}

static int from_list(struct chat *c, const json_t *list, const char *path, struct err *e)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		const char *name = json_string_value(json_object_get(item, "name"));
		struct chat_tmpl *t = NULL;

		if (name && strcmp(name, "default") == 0)
			t = &c->plain;
		else if (name && strcmp(name, "tool_use") == 0)
			t = &c->with_tools;
		if (t && !t->jinja &&
		    from_string(t, json_object_get(item, "template"), path, e) < 0)
			return -1;
	}
	return 0;
}

static int from_config(struct chat *c, const json_t *doc, const char *path, struct err *e)
{
	const json_t *t = json_object_get(doc, "chat_template");

	if (!t || json_is_null(t) || c->plain.jinja)
		return 0;
	if (json_is_array(t))
		return from_list(c, t, path, e);
	return from_string(&c->plain, t, path, e);
}

/* A token is its string, or an object that has it as content. */
static const json_t *token_string(const json_t *v)
{
	return json_is_object(v) ? json_object_get(v, "content") : v;
}

static struct jval arena_string(struct chat *c, const json_t *s)
{
	size_t n = json_string_length(s);
	const char *p = arena_dup(&c->arena, json_string_value(s), n + 1);

	return (struct jval){.kind = J_STR, .u.s = {p, n}};
}

static void more_tokens(struct chat *c, const json_t *list)
{
	struct jval v = {.kind = J_ARR};

	v.u.arr.v = arena_array(&c->arena, json_array_size(list) + 1, sizeof(v));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *s = token_string(json_array_get(list, i));

		if (json_is_string(s))
			v.u.arr.v[v.u.arr.n++] = arena_string(c, s);
	}
	if (v.u.arr.n > 0)
		c->special[c->nspecial++] = (struct jmember){SPAN("additional_special_tokens"), v};
}

/* The tokens that transformers puts into every template's context. */
static void special_tokens(struct chat *c, const json_t *doc)
{
	size_t n = 0;

	while (bpe_specials[n])
		n++;
	c->special = arena_array(&c->arena, n + 1, sizeof(*c->special));
	for (size_t i = 0; i < n; i++) {
		const char *name = bpe_specials[i];
		struct span s = bpe_named(c->bpe, name);

		if (s.p)
			c->special[c->nspecial++] =
			    (struct jmember){{name, strlen(name)}, {.kind = J_STR, .u.s = s}};
	}
	more_tokens(c, json_object_get(doc, "additional_special_tokens"));
}

/* An absent document is NULL with *rc 0. */
static json_t *optional(const char *path, int *rc, struct err *e)
{
	json_t *doc = doc_load(path, e);

	*rc = doc || strcmp(e->class, "missing") == 0 ? 0 : -1;
	return doc;
}

/* A folder without a template: is its model's layout built in? */
static int from_name(struct chat *c, const struct chat_opt *opt, struct err *e)
{
	struct config config;
	const size_t n = sizeof(natives) / sizeof(natives[0]);
	size_t k = 0;

	if (config_load(&config, opt->model, e) < 0 && strcmp(e->class, "missing") != 0)
		return -1;
	while (k < n && strcmp(config.whole_type, natives[k].type) != 0)
		k++;
	if (k == n)
		return err_set(
		    e, "template", "%s: no chat template; --template FILE gives one", opt->model);
	c->plain.native = natives[k].native;
	if (c->plain.native)
		return 0;
	return err_set(e, "template",
	    "%s: %s has no chat template but an encoder, which is not built in; "
	    "--template FILE gives one",
	    opt->model, config.whole_type);
}

static int from_folder(struct chat *c, const struct chat_opt *opt, struct buf *path, struct err *e)
{
	json_t *doc;
	int rc;

	if (!opt->template &&
	    (from_file(&c->plain, path_in(path, opt, "chat_template.jinja"), e) < 0 ||
		from_file(&c->with_tools,
		    path_in(path, opt, "additional_chat_templates/tool_use.jinja"), e) < 0))
		return -1;
	doc = optional(path_in(path, opt, "tokenizer_config.json"), &rc, e);
	if (doc) {
		special_tokens(c, doc);
		rc = from_config(c, doc, path->data, e);
		json_decref(doc);
	}
	if (rc < 0 || c->plain.jinja)
		return rc;
	doc = optional(path_in(path, opt, "chat_template.json"), &rc, e);
	if (doc) {
		rc = from_config(c, doc, path->data, e);
		json_decref(doc);
	}
	return rc;
}

int chat_load(struct chat *c, const struct chat_opt *opt, struct err *e)
{
	struct buf path = {0};
	int rc = 0;

	if (opt->template) {
		rc = from_file(&c->plain, opt->template, e);
		if (rc == 0)
			rc = err_set(e, "missing", "%s: no such file", opt->template);
	}
	if (rc >= 0)
		rc = from_folder(c, opt, &path, e);
	if (rc >= 0 && !c->plain.jinja)
		rc = from_name(c, opt, e);
	buf_free(&path);
	return rc < 0 ? -1 : 0;
}
