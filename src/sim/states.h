/* states.h - hidden states that a test can recompute, and the two ways a server hands them out
 *
 * The state of token `id` at `position` (from 0) in `layer`, channel `c`, as bf16 bits; all
 * arithmetic is modulo 2^32:
 *
 *	mix(x):	x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16
 *	row  =	mix(id * 0x85ebca6b + position * 0xc2b2ae35 + layer * 0x27d4eb2f + 1)
 *	x    =	mix(row + c * 0x9e3779b9)
 *	bits =	(x >> 31) << 15  |  exponent << 7  |  (x >> 21 & 0x7f)
 *	exponent = 120 + (x >> 28 & 7)			after the final norm
 *		   116 + (x >> 28 & 7) + (row & 7)	everywhere else
 *
 * so that every value is finite and not zero, rows after the norm have nearly equal size and the
 * others do not. `layer` is the number of the layer that the state enters (0: the embedding; n, the
 * number of layers: the last one's output, before the final norm); n + 1 stands for the last state
 * after the final norm.
 *
 * Two files, both safetensors:
 *
 * vLLM's connector: FILE with hidden_states [tokens, A + 1, H] and token_ids I64 [tokens], the last
 * slot before the norm; written in place while an exclusive flock on FILE.lock is held
 * (vllm-project/vllm, extract_hidden_states).
 *
 * The dump directory, a contract of this project's: DIR/RID.safetensors with input_ids I64
 * [tokens], aux_hidden_states [tokens, A * H], layers ascending, last_hidden_states [tokens, H];
 * the metadata says layers ("2,30,58"), convention ("in"), norm ("before" or "after"), rid. Written
 * under a name that begins with a dot and renamed when whole, before the reply. RID is the
 * request's id; one with a slash, a leading dot or over 200 bytes is refused. */
#ifndef E3_SIM_STATES_H
#define E3_SIM_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"

struct err;
struct fault_hits;

#define STATES_LAYERS 16

struct states_spec {
	uint32_t layer[STATES_LAYERS]; /* aux, ascending */
	size_t nlayers;
	uint32_t total; /* n, the target's layers */
	size_t hidden;
	int after_norm; /* of the last state in the dump directory and in JSON */
};

uint16_t state_bits(uint32_t id, uint32_t position, uint32_t layer, int after, uint32_t channel);

/* Writes the file of vLLM's connector; the lock is the caller's (states_lock). */
int states_write_vllm(const struct states_spec *s, const struct ints *ids,
    const struct fault_hits *f, const char *path, struct err *e);
int states_write_dump(const struct states_spec *s, const struct ints *ids,
    const struct fault_hits *f, const char *dir, const char *rid, struct err *e);
/* meta_info.hidden_states: the prompt's rows as JSON numbers, aux joined, or the last state where
 * the server has no aux layers. */
void states_json(const struct states_spec *s, const struct ints *ids, const struct fault_hits *f,
    struct buf *out);

/* Creates PATH.lock and holds it: the descriptor, or -1. Closing it lets readers go on. */
int states_lock(const char *path, struct err *e);

#endif
