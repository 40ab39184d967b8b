/* options.h - the command line of e3-infer */
#ifndef E3_INFER_OPTIONS_H
#define E3_INFER_OPTIONS_H

#include "base/opt.h"
#include "io/flow.h"
#include "serve/request.h"

/* What an answer is, beside its words. Each but ok has a policy. */
enum status {
	STATUS_OK,
	STATUS_LENGTH,
	STATUS_EMPTY,
	STATUS_REASONING_ONLY,
	STATUS_REPETITION,
	STATUS_UNPARSED,
	STATUS_N
};

/* POLICY_UNSAID: kept, where the answers are not all so. */
enum policy { POLICY_UNSAID = -1, POLICY_KEEP, POLICY_DROP, POLICY_RETRY };

struct options {
	struct flow_opt flow;
	struct opt_list servers;
	const char *servers_file;
	int api; /* enum serve_api */
	const char *model, *template, *date, *served_model;
	int served_by; /* enum chat_served */
	int no_cache;
	uint64_t concurrency;
	int adaptive;
	uint64_t max_new_tokens;
	double temperature, top_p, min_p, top_k;
	const char *extra;
	int turns; /* enum turns */
	int no_ids;
	uint64_t max_attempts;
	double backoff, patience, timeout; /* seconds */
	uint64_t window;
	int policy[STATUS_N]; /* enum policy */
	int resume, retry_rejects, ordered;
	uint64_t dry_run;
};

struct err;

extern const struct opt_prog infer_prog;
extern const char *const infer_statuses[STATUS_N];

struct serve_sampling infer_sampling(const struct options *o);

/* A plan that tells the sampling before a server is known; refuses a bad --extra. */
struct serve_plan *infer_plan(const struct options *o, struct err *e);

void infer_defaults(struct options *o);
/* What the table can't say: options that contradict one another. */
int infer_check(const struct options *o, struct err *e);

#endif
