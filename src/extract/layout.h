/* layout.h - a trainer's files: their names, their members, writing and reading them
 *
 *	layout		file, for record number i of the input (or line k of the index)
 *	seed		rows_<g>-<g+2000>/data_<i>.pt		dict
 *	specforge	rows_<g>-<g+2000>/data_<i>.ckpt		dict
 *	modelopt	<dd>/<name>.pt				dict
 *	speculators	hidden_states/hs_<k>.safetensors
 *	compact		rows_<g>-<g+2000>/data_<i>.e3c		tensor/compact.h
 *
 *	seed		input_ids, loss_mask int64 [S]; hidden_states [S, A*H], layers ascending;
 *			last_hidden_states [S, H] unless it was left out
 *	specforge	input_ids, loss_mask int64 [S]; hidden_state [1, S, H], the last state,
 *			AFTER the final norm; aux_hidden_state [1, S, 3*H]
 *			(specforge/algorithms/eagle3/data.py, August 2026)
 *	modelopt	input_ids, loss_mask int64 [S]; hidden_states [S, H], the last;
 *			aux_hidden_states [S, A*H]; conversation_id; hidden_states_prenorm True
 *			where the last is BEFORE the norm
 *			(modelopt/torch/speculative/eagle/utils.py, August 2026)
 *	speculators	hidden_states [S, A+1, H], the last slot BEFORE the norm; token_ids int64
 *			[S] (speculators/train/data.py, 0.9.0); no mask: that stands in its Arrow
 *			rows
 *	compact		all that the others hold, packed without loss; no trainer's, but --convert
 *			makes any of them from it
 *
 * g is i rounded down to a multiple of 2000, as SpecForge's own dumper groups. <name> is the id
 * with every byte outside A-Za-z0-9._-, and a leading dot, as %XX; over 200 bytes: its first 150,
 * "-" and the xxh64 of the id. <dd> is the first two hex digits of that hash, so that no directory
 * grows large. */
#ifndef E3_LAYOUT_H
#define E3_LAYOUT_H

#include "extract/sample.h"
#include "tensor/map.h"

struct compact_file;
struct err;
struct pt;
struct save_sum;
struct setinfo;
struct st;

#define LAYOUTS "seed|specforge|modelopt|speculators|compact"

enum layout { LAYOUT_SEED, LAYOUT_SPECFORGE, LAYOUT_MODELOPT, LAYOUT_SPECULATORS, LAYOUT_COMPACT };

const char *layout_word(enum layout l);
int layout_of_word(const char *word); /* -1 */
int layout_is(int l);		      /* whether there is a layout of this number */
int layout_needs_mask(enum layout l); /* to be written */

/* The file's name under the out-dir. */
void layout_name(struct buf *out, enum layout l, uint64_t i, uint64_t k, struct span id);
/* Whether NAME, under the out-dir, is one that this layout gives, or a temporary one of ours. */
int layout_owns(enum layout l, const char *name);

/* What the layout can't hold, in one sentence that says what to do: class "layout". `aux` is the
 * number of aux layers, `norm` that of the states as they would be written. */
int layout_refuse(enum layout l, unsigned aux, int last, enum norm norm, struct err *e);

/* Writes a part (save.h) under a temporary name. */
int layout_write(
    const char *path, enum layout l, const struct sample *s, struct save_sum *sum, struct err *e);

/* A file of `set` opened again; the sample points into it. Shapes, dtypes and lengths are checked;
 * checksums are not. By MAP_PARTS only ids and mask may be looked at, and no more is read from the
 * disk. */
struct layout_file {
	struct pt *pt;
	struct st *st;
	struct compact_file *compact;
	struct sample s;
	int64_t *own; /* ids and mask, aligned */
};
int layout_open(struct layout_file *f, const char *path, const struct setinfo *set,
    enum map_how how, struct err *e);
struct span layout_bytes(const struct layout_file *f);
/* Whether its states are of the set's type and width, as opening does not ask: class "dtype". */
int layout_agree(const struct layout_file *f, const struct setinfo *set, struct err *e);
/* The archive's CRCs, where there are any and opening has not looked at them. */
int layout_check(const struct layout_file *f, struct err *e);
void layout_close(struct layout_file *f);

#endif
