/* record.h - what merging has to know of a tokenised record
 *
 * Its members (DESIGN.md section 3): `id`, and `input_ids` with a `loss_mask` of the same length;
 * `dataset` may be missing; `seq_len`, `n_prompt_tokens` and `n_response_tokens`, where they are
 * there, have to be true. The arrays are counted, and read only where their content matters. */
#ifndef E3_MERGE_RECORD_H
#define E3_MERGE_RECORD_H

#include "base/hash.h"
#include "base/ints.h"
#include "io/flow.h"
#include "merge/plan.h"
#include "json/rec.h"

/* One a thread; zeroed before the first use. */
struct reader {
	struct rec rec;
	struct buf text;
	struct ints ids;
	struct buf mask;
};

struct record {
	struct span id, dataset; /* in the job's arena */
	uint32_t tokens, response;
	struct hash128 content; /* DEDUP_IDS: of the ids; DEDUP_PROMPT: of those before the first
				 * supervised one; else zero */
};

/* 0; -1 with job->err, and job->object when it is a JSON object at all. Sets job->id. */
int record_read(struct reader *r, enum dedup dedup, struct flow_job *job, struct record *out);
void reader_free(struct reader *r);
/* For flow_ops: a thread's reader. */
void *reader_open(void *ctx, struct err *e);
void reader_close(void *ctx, void *reader);

/* The conversation's id: the record's without "#turnK" at its end. */
struct span record_conversation(struct span id);

#endif
