/* options.h - the command line of e3-extract */
#ifndef E3_EXTRACT_OPTIONS_H
#define E3_EXTRACT_OPTIONS_H

#include "base/opt.h"
#include "io/flow.h"

enum backend { BACKEND_VLLM, BACKEND_DUMP, BACKEND_JSON };
#define BACKENDS "vllm|sglang-dump|sglang-json"

/* `in`: the number of the layer that the state enters (0 is the embedding); `out`: of the layer
 * that it leaves. in k = out k - 1. */
enum convention { LAYERS_UNSAID = -1, LAYERS_IN, LAYERS_OUT };

enum norm { NORM_UNSAID = -1, NORM_BEFORE, NORM_AFTER };

struct extract_opts {
	struct flow_opt flow;
	int backend, layer_ids, norm, layout, dtype; /* -1: not said */
	struct opt_list servers, layers, keep;
	const char *dump_dir, *server_dump_dir, *model, *out_dir, *verify, *convert, *records,
	    *redo;
	uint64_t concurrency, min_free, max_attempts;
	int no_last, apply_norm, resume, retry_rejects, sweep;
};

extern const struct opt_prog extract_prog;

/* Parses and refuses what contradicts itself. */
void options_parse(struct extract_opts *o, int argc, char **argv);
void options_free(struct extract_opts *o);

#endif
