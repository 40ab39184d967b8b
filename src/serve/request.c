#include "serve/request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "serve/lax.h"
#include "json/ids.h"
#include "json/rec.h"

struct serve_plan {
	struct serve_plan_opt opt;
	char *model;
	struct buf sampling; /* what was asked for, as an object */
	struct buf inner; /* sampling members but for the token limit, as the route spells them */
	struct buf fixed; /* further members of every request */
};

static const char *const api_names[] = {"auto", "sglang", "vllm", "openai", "llamacpp"};

static const struct {
	const char *path;
	const char *prompt;   /* member for ids, or NULL */
	const char *limit;    /* member for the most tokens to make */
	const char *rid;      /* member for the request's id; NULL: by API */
	int nested;	      /* sampling stands in sampling_params */
	const char *always;   /* further members */
	const char *want_ids; /* members that ask for ids */
} routes[] = {
    [ROUTE_SGLANG] = {"/generate", "input_ids", "max_new_tokens", "rid", 1, NULL,
	"\"return_prompt_token_ids\":true"},
    [ROUTE_COMPLETIONS] = {"/v1/completions", "prompt", "max_tokens", NULL, 0, NULL,
	"\"return_token_ids\":true"},
    [ROUTE_LLAMACPP] = {"/completion", "prompt", "n_predict", NULL, 0, NULL,
	"\"return_tokens\":true"},
    [ROUTE_CHAT] = {"/v1/chat/completions", NULL, "max_tokens", NULL, 0, NULL,
	"\"return_token_ids\":true"},
    [ROUTE_STATES_VLLM] = {"/v1/completions", "prompt", "max_tokens", NULL, 0, NULL,
	"\"return_token_ids\":true"},
    [ROUTE_STATES_SGLANG] = {"/generate", "input_ids", "max_new_tokens", "rid", 1,
	"\"return_hidden_states\":true", "\"return_prompt_token_ids\":true"},
};

/* Members that only the program sets, on any route. */
static const char *const reserved[] = {"model", "messages", "prompt", "input_ids", "input_embeds",
    "text", "tools", "chat_template_kwargs", "rid", "request_id", "stream", "stream_options", "n",
    "best_of", "return_token_ids", "return_tokens", "return_prompt_token_ids", "max_tokens",
    "max_completion_tokens", "max_new_tokens", "n_predict"};

/* What SGLang reads inside sampling_params, and would silently ignore outside. */
static const char *const sglang_sampling[] = {"temperature", "top_p", "top_k", "min_p", "stop",
    "stop_token_ids", "stop_regex", "frequency_penalty", "presence_penalty", "repetition_penalty",
    "min_new_tokens", "ignore_eos", "skip_special_tokens", "spaces_between_special_tokens",
    "no_stop_trim", "logit_bias", "sampling_seed", "json_schema", "regex", "ebnf", "structural_tag",
    "custom_params"};

static int listed(struct span key, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (span_eq(key, list[i]))
			return 1;
	return 0;
}

#define LISTED(key, list) listed((key), (list), sizeof(list) / sizeof(*(list)))

const char *serve_api_name(enum serve_api api)
{
	return api_names[api];
}

enum serve_route serve_route_of(enum serve_api api, int ids)
{
	if (!ids)
		return ROUTE_CHAT;
	switch (api) {
	case API_SGLANG: return ROUTE_SGLANG;
	case API_LLAMACPP: return ROUTE_LLAMACPP;
	default: return ROUTE_COMPLETIONS;
	}
}

const char *serve_path(enum serve_route r)
{
	return routes[r].path;
}

int serve_takes_ids(enum serve_route r)
{
	return routes[r].prompt != NULL;
}

int serve_echoes_prompt(enum serve_api api, enum serve_route r)
{
	return r != ROUTE_LLAMACPP && api != API_LLAMACPP;
}

static const char *rid_member(const struct serve_plan_opt *o)
{
	if (routes[o->route].rid)
		return routes[o->route].rid;
	if (o->api == API_SGLANG)
		return "rid";
	return o->api == API_VLLM ? "request_id" : NULL;
}

static void add_comma(struct buf *b)
{
	if (b->len && b->data[b->len - 1] != '{')
		buf_addc(b, ',');
}

static void add_name(struct buf *b, struct span key)
{
	add_comma(b);
	buf_addc(b, '"');
	buf_add(b, key.p, key.n);
	buf_adds(b, "\":");
}

static void add_member(struct buf *b, struct span key, struct span val)
{
	add_name(b, key);
	buf_add(b, val.p, val.n);
}

static void add_number(struct buf *b, const char *key, double x)
{
	char text[32];
	size_t n;

	if (isnan(x))
		return;
	n = num_repr(x, text);
	add_member(b, (struct span){key, strlen(key)}, (struct span){text, n});
}

static void add_options(struct buf *b, const struct serve_sampling *s)
{
	add_number(b, "temperature", s->temperature);
	add_number(b, "top_p", s->top_p);
	add_number(b, "min_p", s->min_p);
	if (s->top_k != SERVE_UNSET) {
		add_comma(b);
		buf_addf(b, "\"top_k\":%lld", (long long)s->top_k);
	}
}

static int is_given(const struct serve_plan *p, struct span key)
{
	struct lax in = {p->sampling.data + 1, p->sampling.data + p->sampling.len};
	struct span given, val;

	while (lax_member(&in, &given, &val))
		if (given.n == key.n && memcmp(given.p, key.p, key.n) == 0)
			return 1;
	return 0;
}

static int check_extra(const struct serve_plan *p, struct span key, struct err *e)
{
	/* or it could be any of them */
	if (memchr(key.p, '\\', key.n))
		return err_set(e, "config", "--extra: %.*s: write the name without an escape",
		    (int)key.n, key.p);
	if (LISTED(key, reserved))
		return err_set(
		    e, "config", "--extra: %.*s is not for --extra to set", (int)key.n, key.p);
	if (is_given(p, key))
		return err_set(e, "config", "--extra: %.*s is given twice, here or by an option",
		    (int)key.n, key.p);
	return 0;
}

/* SGLang's object of parameters, which stand at the top of a request on the other routes. */
static int add_inner(struct serve_plan *p, struct span object, struct err *e)
{
	struct span key, val;
	struct lax in;

	if (*object.p != '{')
		return err_set(e, "config", "--extra: sampling_params: expected an object");
	lax_begin(&in, object);
	while (lax_member(&in, &key, &val)) {
		if (check_extra(p, key, e) < 0)
			return -1;
		add_member(&p->inner, key, val);
		add_member(&p->sampling, key, val);
	}
	return 0;
}

/* Each member of the user's extra, to where the route wants it. */
static int add_extra(struct serve_plan *p, const char *extra, struct err *e)
{
	int nested = routes[p->opt.route].nested, rc = 0;
	struct rec r = {0};

	if (rec_parse(&r, extra, strlen(extra), e) < 0)
		rc = err_prefix(e, "--extra: ");
	for (size_t i = 0; rc == 0 && i < r.n; i++) {
		struct span key = r.m[i].key, val = r.m[i].val;

		if (span_eq(key, "sampling_params")) {
			rc = add_inner(p, val, e);
		} else if ((rc = check_extra(p, key, e)) == 0) {
			add_member(nested && LISTED(key, sglang_sampling) ? &p->inner : &p->fixed,
			    key, val);
			add_member(&p->sampling, key, val);
		}
	}
	rec_free(&r);
	return rc;
}

/* The members that ask for ids. llama.cpp's chat ignores return_token_ids; there only the log
 * probabilities carry ids, and none unless at least one alternative is asked for. */
static const char *ids_members(const struct serve_plan_opt *o)
{
	if (!o->want_ids)
		return NULL;
	if (o->route == ROUTE_CHAT && o->api == API_LLAMACPP)
		return "\"logprobs\":true,\"top_logprobs\":1";
	return routes[o->route].want_ids;
}

static void add_text(struct buf *b, const char *members)
{
	if (!members)
		return;
	add_comma(b);
	buf_adds(b, members);
}

struct serve_plan *serve_plan_open(const struct serve_plan_opt *opt, struct err *e)
{
	struct serve_plan *p = xcalloc(1, sizeof(*p));

	p->opt = *opt;
	p->model = opt->model ? xstrdup(opt->model) : NULL;
	buf_addf(&p->sampling, "{\"max_new_tokens\":%llu",
	    (unsigned long long)opt->sampling.max_new_tokens);
	add_options(&p->sampling, &opt->sampling);
	add_options(&p->inner, &opt->sampling);
	if (p->model && !routes[opt->route].nested) {
		buf_adds(&p->fixed, "\"model\":");
		buf_add_json(&p->fixed, p->model, strlen(p->model));
	}
	add_text(&p->fixed, routes[opt->route].always);
	add_text(&p->fixed, ids_members(opt));
	if (opt->extra && add_extra(p, opt->extra, e) < 0) {
		serve_plan_close(p);
		return NULL;
	}
	buf_addc(&p->sampling, '}');
	return p;
}

void serve_plan_close(struct serve_plan *p)
{
	if (!p)
		return;
	free(p->model);
	buf_free(&p->sampling);
	buf_free(&p->inner);
	buf_free(&p->fixed);
	free(p);
}

struct span serve_plan_sampling(const struct serve_plan *p)
{
	return (struct span){p->sampling.data, p->sampling.len};
}

static void add_value(struct buf *out, const char *key, struct span val)
{
	if (val.p)
		add_member(out, (struct span){key, strlen(key)}, val);
}

static void add_prompt(struct buf *out, const struct serve_plan *p, const struct serve_prompt *q)
{
	const char *member = routes[p->opt.route].prompt;

	if (member) {
		add_name(out, (struct span){member, strlen(member)});
		ids_write(out, q->ids, q->n);
		return;
	}
	add_value(out, "messages", q->messages);
	add_value(out, "tools", q->tools);
	add_value(out, "chat_template_kwargs", q->kwargs);
}

void serve_write(struct buf *out, const struct serve_plan *p, const struct serve_prompt *q)
{
	const char *rid = rid_member(&p->opt), *limit = routes[p->opt.route].limit;
	uint64_t max = q->max_new_tokens ? q->max_new_tokens : p->opt.sampling.max_new_tokens;

	buf_addc(out, '{');
	add_prompt(out, p, q);
	if (routes[p->opt.route].nested)
		buf_adds(out, ",\"sampling_params\":{");
	add_name(out, (struct span){limit, strlen(limit)});
	buf_add_u64(out, max);
	if (p->inner.len) {
		buf_addc(out, ',');
		buf_add(out, p->inner.data, p->inner.len);
	}
	if (routes[p->opt.route].nested)
		buf_addc(out, '}');
	if (p->fixed.len) {
		buf_addc(out, ',');
		buf_add(out, p->fixed.data, p->fixed.len);
	}
	if (rid && q->rid) {
		add_name(out, (struct span){rid, strlen(rid)});
		buf_add_json(out, q->rid, strlen(q->rid));
	}
	buf_addc(out, '}');
}

struct span serve_prompt_text(enum serve_route r, struct span body)
{
	return lax_get(body, routes[r].prompt);
}

void serve_write_render(struct buf *out, const char *model, struct span messages)
{
	buf_adds(out, "{\"model\":");
	buf_add_json(out, model, strlen(model));
	buf_adds(out, ",\"messages\":");
	buf_add(out, messages.p, messages.n);
	buf_addc(out, '}');
}

int serve_renders(enum serve_api api)
{
	return api == API_SGLANG || api == API_VLLM;
}

void serve_write_abort(struct buf *out, const char *rid)
{
	buf_adds(out, "{\"rid\":");
	buf_add_json(out, rid, strlen(rid));
	buf_addc(out, '}');
}

int serve_must_abort(enum serve_api api)
{
	return api == API_SGLANG;
}
