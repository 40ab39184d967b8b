/* capture.h - what a server delivered for one record, by backend
 *
 *	vllm		a safetensors file: hidden_states [S, slots, H], token_ids int64 [S]
 *			(backend_vllm.c; vLLM's ExampleHiddenStatesConnector)
 *	sglang-dump	a safetensors file: input_ids, aux_hidden_states [S, A*H],
 *			last_hidden_states [S, H], and metadata (backend_dump.c; e3-extract(1))
 *	sglang-json	numbers in the reply: aux rows [S][A*H] (backend_json.c)
 *
 * A backend says what it saw; whether that is what was asked for is for plan.h and produce.h.
 */
#ifndef E3_CAPTURE_H
#define E3_CAPTURE_H

#include "base/ints.h"
#include "extract/manifest.h"

struct err;
struct st;

struct capture_want {
	unsigned nlayers; /* aux layers; 0: not known, the file says */
	int last;
	uint64_t hidden;    /* 0: not known */
	const int32_t *ids; /* what was sent */
	size_t n;
};

struct capture {
	struct states states; /* aux, then the last where it was delivered and wanted */
	unsigned aux;
	int last;
	/* what the file says of itself */
	struct setinfo said; /* nlayers 0, convention and norm UNSAID where it says nothing */
	struct st *st;
	char *own; /* rows that were parsed from JSON */
};

/* Classes: "truncated", "format" (no whole file: try again), "ids", "rows", "layers", "dtype",
 * "shape", "members". */
int capture_vllm(struct capture *c, const char *path, const struct capture_want *w, struct err *e);
int capture_dump(struct capture *c, const char *path, const struct capture_want *w, struct err *e);
int capture_json(
    struct capture *c, struct span states, const struct capture_want *w, struct err *e);
void capture_close(struct capture *c);

/* For backends: the ids in the file are those that were sent. */
struct tensor;
int capture_ids(const struct tensor *t, const struct capture_want *w, struct err *e);
/* The sentence about a server that captures the last layer only: `values` a token came. */
int capture_eagle(uint64_t values, const struct capture_want *w, uint64_t hidden, struct err *e);

#endif
