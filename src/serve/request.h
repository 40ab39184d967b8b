/* request.h - request bodies, by API
 *
 *	plan = serve_plan_open(&opt, &e);	once: what all requests of a run have in common
 *	serve_write(&body, plan, &prompt);	for each
 *	serve_plan_close(plan);
 *
 * A route is one endpoint of one dialect. Ids go out as integers wherever the API takes them; a
 * chat route sends the record's own bytes of messages, tools and chat_template_kwargs.
 * No route streams: SGLang's streams repeat everything, and vLLM's lose ids.
 */
#ifndef E3_SERVE_REQUEST_H
#define E3_SERVE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

enum serve_api { API_AUTO, API_SGLANG, API_VLLM, API_OPENAI, API_LLAMACPP };

enum serve_route {
	ROUTE_SGLANG,	     /* POST /generate: ids in, ids out */
	ROUTE_COMPLETIONS,   /* POST /v1/completions: ids in; ids out with return_token_ids */
	ROUTE_LLAMACPP,	     /* POST /completion: ids in, ids out */
	ROUTE_CHAT,	     /* POST /v1/chat/completions: the server's own template */
	ROUTE_STATES_VLLM,   /* POST /v1/completions, one token: hidden states to a file */
	ROUTE_STATES_SGLANG, /* POST /generate, one token: hidden states in the reply */
};

const char *serve_api_name(enum serve_api api);
/* The route by which this API takes ids (`ids`) or messages. */
enum serve_route serve_route_of(enum serve_api api, int ids);
const char *serve_path(enum serve_route r); /* "/generate" */
int serve_takes_ids(enum serve_route r);
/* Whether the answer to a route must hold the prompt's ids when ids were asked for. */
int serve_echoes_prompt(enum serve_api api, enum serve_route r);

/* What the user set is sent and recorded; the rest is the server's default. */
struct serve_sampling {
	uint64_t max_new_tokens;	  /* always sent: the servers' own are 16 and 128 */
	double temperature, top_p, min_p; /* NAN: not set */
	int64_t top_k;			  /* SERVE_UNSET: not set */
};
#define SERVE_UNSET INT64_MIN

struct serve_plan_opt {
	enum serve_api api;
	enum serve_route route;
	const char *model; /* the name that the server knows; NULL where it needs none */
	struct serve_sampling sampling;
	int want_ids;
	const char *extra; /* a JSON object merged into each request, or NULL */
};

struct serve_plan;

/* Refuses an extra that is no object, sets a member twice, or what is the program's own to set (the
 * prompt, the model, the number of tokens, streaming, request ids). Extra sampling parameters go
 * where the route wants them: into sampling_params for SGLang, to the top for the others. */
struct serve_plan *serve_plan_open(const struct serve_plan_opt *opt, struct err *e);
void serve_plan_close(struct serve_plan *p);
/* What was asked for, as a JSON object with SGLang's names, the same for every route. */
struct span serve_plan_sampling(const struct serve_plan *p);

struct serve_prompt {
	const int32_t *ids; /* on a route that takes ids */
	size_t n;
	struct span messages, tools, kwargs; /* JSON text; p NULL: none. On the chat route */
	const char *rid;	 /* unique among all requests, an attempt each; NULL: none */
	uint64_t max_new_tokens; /* 0: the plan's */
};

/* Appends the body. */
void serve_write(struct buf *out, const struct serve_plan *p, const struct serve_prompt *prompt);
/* The array of ids in a body that serve_write made for a route that takes ids. */
struct span serve_prompt_text(enum serve_route r, struct span body);

/* The ids that the server itself would make of messages: POST this to /tokenize of SGLang or vLLM,
 * whose reply has them in `tokens`. */
#define SERVE_RENDER_PATH "/tokenize"
void serve_write_render(struct buf *out, const char *model, struct span messages);
int serve_renders(enum serve_api api);

/* SGLang goes on generating after its client has left; POST this to /abort_request, whose
 * matching is by prefix: end each rid with a character that is in no rid elsewhere. */
#define SERVE_ABORT_PATH "/abort_request"
void serve_write_abort(struct buf *out, const char *rid);
int serve_must_abort(enum serve_api api);

#endif
