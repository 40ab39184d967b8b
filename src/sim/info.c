#include "sim/sim.h"

#include <string.h>

#include "base/err.h"
#include "base/prog.h"
#include "base/utf8.h"
#include "bpe/bpe.h"
#include "json/ids.h"
#include "json/rec.h"

static struct buf *json(struct job *j)
{
	buf_reset(&j->reply.body);
	j->reply.status = 200;
	j->reply.type = "application/json";
	return &j->reply.body;
}

static void put_str(struct buf *b, const char *name, const char *value)
{
	buf_addf(b, "\"%s\":", name);
	buf_add_json(b, value, strlen(value));
}

/* ---- what a client asks first ---- */

static void health(struct sim *s, struct job *j)
{
	struct fault_hits f;

	fault_draw(&s->plan, ++s->count.health, &j->faults);
	fault_draw(&s->plan, 0, &f);
	if (s->draining || j->faults.on[F_HEALTH] || f.on[F_HEALTH])
		reply_error(s, j, 503, "not healthy");
	else
		json(j);
	/* other faults strike requests for generation only */
	memset(&j->faults, 0, sizeof(j->faults));
}

static void model_info(struct sim *s, struct job *j)
{
	struct buf *b = json(j);

	buf_addc(b, '{');
	put_str(b, "model_path", s->opt->model);
	buf_addc(b, ',');
	put_str(b, "tokenizer_path", s->opt->model);
	buf_addc(b, ',');
	put_str(b, "weight_version", s->opt->weight_version);
	buf_adds(b, ",\"is_generation\":true,\"preferred_sampling_params\":null}");
}

/* The layers under both names that SGLang's patches use; convention as in a dump's metadata. */
static void put_layers(struct sim *s, struct buf *b)
{
	buf_adds(b, "\"eagle_aux_hidden_state_layer_ids\":[");
	for (size_t i = 0; i < s->states.nlayers; i++)
		buf_addf(b, "%s%u", i > 0 ? "," : "", (unsigned)s->states.layer[i]);
	buf_addf(b, "],\"layer_convention\":\"in\",\"norm\":\"%s\",\"hidden_size\":%zu",
	    s->states.after_norm ? "after" : "before", s->states.hidden);
}

/* As SGLang 0.5.23 tells it with --enable-return-aux-hidden-states, which takes
 * --speculative-algorithm away once it has said what to capture. */
static void server_info(struct sim *s, struct job *j)
{
	struct buf *b = json(j);
	struct fault_hits f;

	fault_draw(&s->plan, 1, &f);
	buf_addc(b, '{');
	put_str(b, "model_path", s->opt->model);
	buf_addc(b, ',');
	put_str(b, "served_model_name", s->name.data);
	buf_addf(b,
	    ",\"version\":\"e3-sim " E3_VERSION "\",\"max_running_requests\":%llu,"
	    "\"max_total_num_tokens\":%llu,\"context_length\":%llu,"
	    "\"allow_auto_truncate\":false,\"speculative_algorithm\":%s,"
	    "\"disable_radix_cache\":true,\"chunked_prefill_size\":-1,"
	    "\"enable_return_hidden_states\":%s,\"enable_return_aux_hidden_states\":%s,"
	    "\"return_hidden_states_mode\":\"full\",",
	    (unsigned long long)(s->opt->slots > 0 ? s->opt->slots : 4096),
	    (unsigned long long)s->context * 1024, (unsigned long long)s->context,
	    f.on[F_HS_EAGLE] ? "\"EAGLE\"" : "null", f.on[F_HS_EAGLE] ? "true" : "false",
	    f.on[F_HS_EAGLE] ? "false" : "true");
	put_layers(s, b);
	buf_addc(b, '}');
}

static void models(struct sim *s, struct job *j)
{
	struct buf *b = json(j);

	buf_adds(b, "{\"object\":\"list\",\"data\":[{");
	put_str(b, "id", s->name.data);
	buf_adds(b, ",\"object\":\"model\",\"created\":0,\"owned_by\":\"e3-sim\",");
	put_str(b, "root", s->opt->model);
	buf_addf(b, ",\"parent\":null,\"max_model_len\":%llu}]}", (unsigned long long)s->context);
}

static void version(struct sim *s, struct job *j)
{
	(void)s;
	buf_adds(json(j), "{\"version\":\"e3-sim " E3_VERSION "\"}");
}

/* ---- load ---- */

static void loads(struct sim *s, struct job *j)
{
	buf_addf(json(j),
	    "[{\"dp_rank\":0,\"num_reqs\":%zu,\"num_waiting_reqs\":%zu,"
	    "\"num_running_reqs\":%zu,\"num_tokens\":0}]",
	    s->running + s->waiting, s->waiting, s->running);
}

static void metric(struct buf *b, const char *name, const char *kind, unsigned long long v)
{
	buf_addf(b, "# TYPE %s %s\n%s{engine_type=\"e3-sim\"} %llu\n", name, kind, name, v);
}

static void metrics(struct sim *s, struct job *j)
{
	uint64_t now = sim_clock(), slot_ns = s->count.slot_ns + s->running * (now - s->slots_at);
	const struct {
		const char *name, *kind;
		unsigned long long v;
	} all[] = {
	    {"sglang:num_running_reqs", "gauge", s->running},
	    {"sglang:num_queue_reqs", "gauge", s->waiting},
	    {"sglang:token_usage", "gauge", 0},
	    {"sglang:max_total_num_tokens", "gauge", s->context * 1024},
	    {"sglang:prompt_tokens_total", "counter", s->count.prompt_tokens},
	    {"sglang:generation_tokens_total", "counter", s->count.tokens},
	    {"sglang:num_aborted_requests_total", "counter", s->count.aborted + s->count.gone},
	    {"sglang:num_retracted_requests_total", "counter", 0},
	    {"vllm:num_requests_running", "gauge", s->running},
	    {"vllm:num_requests_waiting", "gauge", s->waiting},
	    {"vllm:kv_cache_usage_perc", "gauge", 0},
	    {"vllm:num_preemptions_total", "counter", 0},
	    {"vllm:prompt_tokens_total", "counter", s->count.prompt_tokens},
	    {"vllm:generation_tokens_total", "counter", s->count.tokens},
	    {"e3sim:requests_total", "counter", s->count.requests},
	    {"e3sim:answered_total", "counter", s->count.done},
	    {"e3sim:clients_gone_total", "counter", s->count.gone},
	    {"e3sim:running_peak", "gauge", s->count.peak},
	    {"e3sim:slot_microseconds_total", "counter", slot_ns / 1000},
	    {"e3sim:uptime_microseconds", "counter", (now - s->opened_at) / 1000},
	};
	/* no server has both: who adds up what there is would count twice */
	const char *others = s->opt->api == SIM_VLLM ? "sglang:" : "vllm:";
	struct buf *b = json(j);

	j->reply.type = "text/plain; version=0.0.4";
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strncmp(all[i].name, others, strlen(others)) != 0)
			metric(b, all[i].name, all[i].kind, all[i].v);
}

/* ---- what changes something ---- */

static void abort_request(struct sim *s, struct job *j)
{
	struct rec r = {0};
	struct buf rid = {0};
	struct err e;

	if (rec_parse(&r, j->body.data ? j->body.data : "", j->body.len, &e) == 0) {
		struct span all = rec_get(&r, "abort_all");

		if (!span_is_null(all) && all.p[0] == 't')
			engine_abort(s, "", 0);
		/* an empty rid matched everything in older builds; current ones ignore it */
		else if (json_str(&rid, rec_get(&r, "rid"), NULL) == 0 && rid.len > 0)
			engine_abort(s, rid.data, rid.len);
	}
	rec_free(&r);
	buf_free(&rid);
	json(j); /* always 200, with nothing in it */
}

static void flush_cache(struct sim *s, struct job *j)
{
	(void)s;
	buf_adds(json(j), "Cache flushed.\n");
	j->reply.type = "text/plain";
}

/* ---- the tokenizer ---- */

static int tokens_of(
    struct sim *s, const struct rec *r, struct arena *a, struct ints *ids, struct err *e)
{
	struct span text = rec_get(r, "prompt");
	struct buf b = {0};
	int rc;

	if (!span_is_null(rec_get(r, "messages")))
		return render_prompt(s, r, a, ids, e);
	if (span_is_null(text))
		text = rec_get(r, "content");
	if (span_is_null(text) || json_str(&b, text, NULL) < 0)
		return err_set(e, "params", "prompt: expected a text");
	rc = bpe_encode(
	    s->tok, s->bpe_work, (struct bpe_text){b.data, b.len, BPE_REPLACE}, ids, NULL, e);
	buf_free(&b);
	return rc;
}

static void tokenize(struct sim *s, struct job *j)
{
	struct rec r = {0};
	struct arena a = {0};
	struct ints ids = {0};
	struct err e;
	struct buf *b;

	if (rec_parse(&r, j->body.data ? j->body.data : "", j->body.len, &e) < 0 ||
	    tokens_of(s, &r, &a, &ids, &e) < 0) {
		reply_error(s, j, 400, e.msg);
	} else {
		b = json(j);
		buf_addf(b, "{\"count\":%zu,\"max_model_len\":%llu,\"tokens\":", ids.n,
		    (unsigned long long)s->context);
		ids_write(b, ids.v, ids.n);
		buf_addc(b, '}');
	}
	rec_free(&r);
	arena_free(&a);
	ints_free(&ids);
}

static void detokenize(struct sim *s, struct job *j)
{
	struct rec r = {0};
	struct ints ids = {0};
	struct buf text = {0}, whole = {0}, *b;
	struct err e;

	if (rec_parse(&r, j->body.data ? j->body.data : "", j->body.len, &e) < 0 ||
	    ids_read(&ids, rec_get(&r, "tokens"), "tokens", &e) < 0 ||
	    bpe_decode(s->tok, ids.v, ids.n, &text, &e) < 0) {
		reply_error(s, j, 400, e.msg);
	} else {
		utf8_repair(&whole, text.data ? text.data : "", text.len);
		b = json(j);
		buf_adds(b, "{\"prompt\":"); /* vLLM's name for it */
		buf_add_json(b, whole.data ? whole.data : "", whole.len);
		buf_adds(b, ",\"text\":"); /* SGLang's */
		buf_add_json(b, whole.data ? whole.data : "", whole.len);
		buf_addc(b, '}');
	}
	rec_free(&r);
	ints_free(&ids);
	buf_free(&text);
	buf_free(&whole);
}

/* ---- the table ---- */

#define ON(api) (1u << (api))
#define SGLANG	(ON(SIM_ALL) | ON(SIM_SGLANG))
#define VLLM	(ON(SIM_ALL) | ON(SIM_VLLM))
#define EVERY	(SGLANG | VLLM | ON(SIM_OPENAI))

static const struct {
	const char *method, *path;
	unsigned apis;
	void (*reply)(struct sim *s, struct job *j);
} endpoints[] = {
    {"GET", "/health", SGLANG | VLLM, health},
    {"GET", "/health_generate", SGLANG, health},
    {"GET", "/model_info", SGLANG, model_info},
    {"GET", "/get_model_info", SGLANG, model_info},
    {"GET", "/server_info", SGLANG, server_info},
    {"GET", "/get_server_info", SGLANG, server_info},
    {"GET", "/v1/loads", SGLANG, loads},
    {"GET", "/get_load", SGLANG, loads},
    {"GET", "/v1/models", EVERY, models},
    {"GET", "/version", VLLM, version},
    {"GET", "/metrics", SGLANG | VLLM, metrics},
    {"POST", "/abort_request", SGLANG, abort_request},
    {"POST", "/flush_cache", SGLANG, flush_cache},
    {"GET", "/flush_cache", SGLANG, flush_cache},
    {"POST", "/tokenize", SGLANG | VLLM, tokenize},
    {"POST", "/v1/tokenize", SGLANG, tokenize},
    {"POST", "/detokenize", SGLANG | VLLM, detokenize},
    {"POST", "/v1/detokenize", SGLANG, detokenize},
};

int info_reply(struct sim *s, struct job *j, const char *method, const char *path)
{
	int known = 0;

	for (size_t i = 0; i < sizeof(endpoints) / sizeof(*endpoints); i++) {
		if (strcmp(endpoints[i].path, path) != 0 ||
		    !(endpoints[i].apis & ON((unsigned)s->opt->api)))
			continue;
		known = 1;
		if (strcmp(endpoints[i].method, method) != 0)
			continue;
		if (s->now < s->loading_until)
			reply_error(s, j, 503, "Loading model");
		else
			endpoints[i].reply(s, j);
		return 1;
	}
	if (known)
		reply_error(s, j, 405, "Method Not Allowed");
	return known;
}

int info_ask(const struct sim *s, const char *path, enum ask *ask)
{
	static const struct {
		const char *path;
		unsigned apis;
		enum ask ask;
	} asks[] = {
	    {"/generate", SGLANG, ASK_SGLANG},
	    {"/v1/completions", EVERY, ASK_COMPLETION},
	    {"/v1/chat/completions", EVERY, ASK_CHAT},
	};

	for (size_t i = 0; i < sizeof(asks) / sizeof(*asks); i++)
		if (strcmp(asks[i].path, path) == 0 && (asks[i].apis & ON((unsigned)s->opt->api))) {
			*ask = asks[i].ask;
			return 1;
		}
	return 0;
}
