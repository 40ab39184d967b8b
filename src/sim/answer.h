/* answer.h - an answer that is a fixed function of (seed, prompt ids)
 *
 * Not a model: words of the vocabulary drawn at random, with the low ids, which byte-pair encoding
 * learnt first, more often. What matters of a real answer is there:
 *	- all ids are real ones of whole characters, so the text is valid UTF-8;
 *	- seven answers of eight are the ids that encoding their text would give; the eighth mixes
 *	  in any token, as sampling now and then leaves the encoder's choice;
 *	- the length is drawn; at its end stands the model's stop id, or, where the limit is lower,
 *	  nothing: the answer is cut;
 *	- where the prompt ends in an open <think>, reasoning comes first, then </think>;
 *	- where the prompt declares tools in Kimi's way, a share of the answers ends in a call.
 */
#ifndef E3_SIM_ANSWER_H
#define E3_SIM_ANSWER_H

#include <stddef.h>
#include <stdint.h>

#include "base/ints.h"

struct bpe;
struct bpe_work;
struct err;
struct vocab;

struct vocab *vocab_open(const struct bpe *b, struct err *e); /* class "vocab": no usable token */
void vocab_close(struct vocab *v);			      /* NULL is allowed */

struct answer_want {
	uint64_t seed;
	uint64_t median;   /* tokens; lengths lie between an eighth and twelve times of it */
	uint64_t max, min; /* ids at most; at least, before the stop id */
	int ignore_stop;   /* goes on to max */
	double call_rate;  /* of the answers to prompts with tools: end in a call */
	int bad_call;	   /* whose arguments do not parse */
	int repeat;	   /* one word for ever */
	int blank;	   /* neither reasoning nor text */
	int think_only;	   /* stops inside the reasoning, where there is any */
};

/* Appends the ids. 1: ends with the stop id; 0: cut by max, or ignore_stop. */
int answer_make(const struct vocab *v, const struct answer_want *want, const struct ints *prompt,
    struct ints *out);

/* Where the reasoning ends: index behind </think>, or 0 where the prompt opened none. n + 1 where
 * it was opened and never closed. */
size_t answer_think_end(const struct vocab *v, const struct ints *prompt, const struct ints *out);
int32_t answer_call_begin(const struct vocab *v); /* the id that opens the tool calls, or -1 */
int32_t answer_stop_id(const struct vocab *v);

#endif
