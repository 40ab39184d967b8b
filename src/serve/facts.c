#include "serve/facts.h"

#include <string.h>

#include "base/num.h"
#include "serve/lax.h"

#define API(a)	 (1u << (a))
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void set_int(int64_t *to, struct span v)
{
	int64_t i = lax_int(v, -1);

	if (i > 0)
		*to = i;
}

static void set_text(char *to, size_t size, struct span v)
{
	if (v.p && *v.p == '"')
		lax_text(to, size, v);
}

static int object(struct span body, struct span *v)
{
	return lax_whole(body, v) == 0 && *v->p == '{' ? 0 : -1;
}

/* {"data":[{"id":..,"max_model_len":..,"owned_by":..}]} */
static int read_models(struct serve_facts *f, struct span body)
{
	static const struct {
		const char *owner;
		enum serve_api api;
	} owners[] = {{"sglang", API_SGLANG}, {"vllm", API_VLLM}, {"llamacpp", API_LLAMACPP}};
	struct span v, first = {NULL, 0}, data;
	struct lax s;

	if (object(body, &v) < 0)
		return -1;
	data = lax_get(v, "data");
	if (!data.p || *data.p != '[')
		return -1;
	lax_begin(&s, data);
	if (!lax_element(&s, &first) || *first.p != '{')
		return -1;
	set_text(f->served, sizeof(f->served), lax_get(first, "id"));
	set_text(f->model, sizeof(f->model), lax_get(first, "root"));
	set_int(&f->context, lax_get(first, "max_model_len"));
	for (size_t i = 0; i < COUNT(owners); i++)
		if (f->api == API_AUTO && lax_is(lax_get(first, "owned_by"), owners[i].owner))
			f->api = owners[i].api;
	return 0;
}

int64_t serve_room(const struct serve_facts *f)
{
	if (f->context > 0 && (f->kv_tokens <= 0 || f->context < f->kv_tokens))
		return f->context;
	return f->kv_tokens;
}

static int read_server_info(struct serve_facts *f, struct span body)
{
	struct span v;

	if (object(body, &v) < 0 || !(lax_get(v, "model_path").p || lax_get(v, "version").p))
		return -1;
	f->api = f->api == API_AUTO ? API_SGLANG : f->api;
	set_text(f->model, sizeof(f->model), lax_get(v, "model_path"));
	set_text(f->version, sizeof(f->version), lax_get(v, "version"));
	set_int(&f->context, lax_get(v, "context_length"));
	set_int(&f->slots, lax_get(v, "max_running_requests"));
	set_int(&f->kv_tokens, lax_get(v, "max_total_num_tokens"));
	f->auto_truncate = span_eq(lax_get(v, "allow_auto_truncate"), "true");
	return 0;
}

static int read_model_info(struct serve_facts *f, struct span body)
{
	struct span v;

	if (object(body, &v) < 0 || !lax_get(v, "model_path").p)
		return -1;
	f->api = f->api == API_AUTO ? API_SGLANG : f->api;
	set_text(f->model, sizeof(f->model), lax_get(v, "model_path"));
	set_text(f->weight_version, sizeof(f->weight_version), lax_get(v, "weight_version"));
	return 0;
}

/* llama.cpp */
static int read_props(struct serve_facts *f, struct span body)
{
	struct span v;

	if (object(body, &v) < 0 || !lax_get(v, "total_slots").p)
		return -1;
	f->api = f->api == API_AUTO ? API_LLAMACPP : f->api;
	set_int(&f->slots, lax_get(v, "total_slots"));
	set_text(f->model, sizeof(f->model), lax_get(v, "model_path"));
	set_text(f->version, sizeof(f->version), lax_get(v, "build_info"));
	set_int(&f->context, lax_get(lax_get(v, "default_generation_settings"), "n_ctx"));
	return 0;
}

static int read_version(struct serve_facts *f, struct span body)
{
	struct span v;

	if (object(body, &v) < 0 || !lax_get(v, "version").p)
		return -1;
	f->api = f->api == API_AUTO ? API_VLLM : f->api;
	set_text(f->version, sizeof(f->version), lax_get(v, "version"));
	return 0;
}

const struct serve_probe serve_probes[] = {
    {"/v1/models", NULL, API(API_SGLANG) | API(API_VLLM) | API(API_OPENAI) | API(API_LLAMACPP),
	read_models},
    {"/server_info", "/get_server_info", API(API_SGLANG), read_server_info},
    {"/model_info", "/get_model_info", API(API_SGLANG), read_model_info},
    {"/props", NULL, API(API_LLAMACPP), read_props},
    {"/version", NULL, API(API_VLLM), read_version},
};
const size_t serve_nprobes = COUNT(serve_probes);

const char *serve_health_path(enum serve_api api)
{
	return api == API_OPENAI ? "/v1/models" : "/health";
}

static const struct metric {
	const char *name;
	size_t at;
	int max; /* the highest of the ranks, not their sum */
} metrics[] = {
    {"sglang:num_running_reqs", offsetof(struct serve_load, running), 0},
    {"vllm:num_requests_running", offsetof(struct serve_load, running), 0},
    {"llamacpp:requests_processing", offsetof(struct serve_load, running), 0},
    {"sglang:num_queue_reqs", offsetof(struct serve_load, waiting), 0},
    {"vllm:num_requests_waiting", offsetof(struct serve_load, waiting), 0},
    {"llamacpp:requests_deferred", offsetof(struct serve_load, waiting), 0},
    {"sglang:token_usage", offsetof(struct serve_load, cache), 1},
    {"vllm:kv_cache_usage_perc", offsetof(struct serve_load, cache), 1},
    {"vllm:gpu_cache_usage_perc", offsetof(struct serve_load, cache), 1},
    {"llamacpp:kv_cache_usage_ratio", offsetof(struct serve_load, cache), 1},
    {"sglang:num_retracted_requests_total", offsetof(struct serve_load, preemptions), 0},
    {"vllm:num_preemptions_total", offsetof(struct serve_load, preemptions), 0},
    /* SGLang and llama.cpp count an answer's tokens when it ends: the cache, the gaps between parts
     * and the calls of the decoder move before that */
    {"sglang:num_used_tokens", offsetof(struct serve_load, motion), 0},
    {"sglang:inter_token_latency_seconds_count", offsetof(struct serve_load, motion), 0},
    {"sglang:generation_tokens_total", offsetof(struct serve_load, motion), 0},
    {"vllm:generation_tokens_total", offsetof(struct serve_load, motion), 0},
    {"llamacpp:n_decode_total", offsetof(struct serve_load, motion), 0},
};

/* NAME{LABELS} VALUE [TIME]: the text format of Prometheus. A label's value may hold any byte but
 * a newline, quoted; the value of the sample follows the last brace. */
static int read_sample(struct serve_load *l, const char *p, size_t n)
{
	size_t name = 0, at, end;
	double x, *to;

	while (name < n && p[name] != '{' && p[name] != ' ')
		name++;
	at = name;
	if (at < n && p[at] == '{')
		for (size_t i = n; i > at; i--)
			if (p[i - 1] == '}') {
				at = i;
				break;
			}
	while (at < n && p[at] == ' ')
		at++;
	for (end = at; end < n && p[end] != ' ' && p[end] != '\r'; end++)
		;
	for (size_t i = 0; i < COUNT(metrics); i++) {
		if (!span_eq((struct span){p, name}, metrics[i].name))
			continue;
		if (num_double(p + at, end - at, &x) < 0 || !(x >= 0 && x < 1e300))
			return 0;
		to = (double *)(void *)((char *)l + metrics[i].at);
		*to = *to < 0 ? x : !metrics[i].max ? *to + x : x > *to ? x : *to;
		return 1;
	}
	return 0;
}

int serve_load_read(struct serve_load *l, struct span body)
{
	const char *p = body.p, *end = p ? p + body.n : p;
	int found = 0;

	*l = (struct serve_load){-1, -1, -1, -1, -1};
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);

		if (n && *p != '#')
			found += read_sample(l, p, n);
		p += n + 1;
	}
	return found;
}
