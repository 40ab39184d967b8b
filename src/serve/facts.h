/* facts.h - what a server says of itself: asked once before the first request, and now and then
 *
 * serve/ has no sockets: it lists what to ask, in order, and reads the answers. Every answer may be
 * missing; what is not known stays -1 or empty.
 */
#ifndef E3_SERVE_FACTS_H
#define E3_SERVE_FACTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "serve/request.h"

struct serve_facts {
	enum serve_api api; /* API_AUTO until something told */
	char model[256];    /* path, or the name it was loaded by */
	char served[256];   /* the name in /v1/models: what OpenAI's routes want */
	char version[64], weight_version[64];
	int64_t context;   /* tokens, prompt and answer */
	int64_t slots;	   /* requests that run at once */
	int64_t kv_tokens; /* tokens that the cache holds */
	int auto_truncate; /* it shortens prompts by itself */
};

#define SERVE_FACTS_NONE                                                     \
	{                                                                    \
		.api = API_AUTO, .context = -1, .slots = -1, .kv_tokens = -1 \
	}

/* How many tokens a request may come to, prompt and answer, by context and cache; or -1. */
int64_t serve_room(const struct serve_facts *f);

struct serve_probe {
	const char *path, *older; /* GET; the second where the first is not there; or NULL */
	unsigned apis;		  /* bits 1 << enum serve_api that have it */
	/* Reads an answer of status 200; 0, or -1 where it is none of this kind. */
	int (*read)(struct serve_facts *f, struct span body);
};

/* In the order to ask in. With API_AUTO all are asked until the API is known, then only its own. */
extern const struct serve_probe serve_probes[];
extern const size_t serve_nprobes;

/* GET this: 200 when it is alive, more or less. */
const char *serve_health_path(enum serve_api api);

/* /metrics, of SGLang, vLLM and llama.cpp: sums over ranks, the highest of the cache. */
struct serve_load {
	double running, waiting;
	double cache;	    /* 0 to 1 */
	double preemptions; /* so far: vLLM's preemptions, SGLang's retractions */
	double motion;	    /* a sum of figures that changes as long as tokens are made */
};
#define SERVE_METRICS_PATH "/metrics"
/* The number of figures found; what was not is -1. */
int serve_load_read(struct serve_load *l, struct span body);

#endif
