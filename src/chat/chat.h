/* chat.h - conversations to ids and masks, exactly as the target's server would see them
 *
 * Where json, jinja and bpe meet. Opens a model folder (its tokenizer, its chat template, the family's own rules), and
 * makes of a conversation record
 *	- the prompt ids of one turn: what the server is sent (chat_prompt);
 *	- training sequences: ids with a loss mask, a turn at a time (chat_turns).
 * The turn is the unit, not the conversation: each supervised turn's prompt is rendered as it was
 * served, history dropped or kept as the template does it.
 *
 * Life: chat_open once, shared by threads; chat_work is one thread's memory.
 */
#ifndef E3_CHAT_H
#define E3_CHAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"

struct arena;
struct bpe;
struct err;
struct jval;
struct rec;
struct chat;
struct chat_work;

enum chat_served { SERVED_HF, SERVED_SGLANG, SERVED_VLLM };
enum chat_mask { MASK_SERVED, MASK_NO_EOT, MASK_AFTER_FIRST_USER, MASK_ALL };

struct chat_opt {
	const char *model;	 /* folder */
	const char *template;	 /* file, or NULL: the folder's own */
	const char *date;	 /* YYYY-MM-DD for strftime_now, or NULL: a template that asks fails */
	enum chat_served served_by;
};

struct chat *chat_open(const struct chat_opt *opt, struct err *e);
void chat_close(struct chat *c);
const struct bpe *chat_bpe(const struct chat *c);
struct chat_work *chat_work_open(const struct chat *c);
void chat_work_close(struct chat_work *w);

/* A conversation record, read: the messages as a tree in the arena. */
struct chat_conv {
	struct span id, dataset;	/* decoded */
	struct jval *messages, *tools, *kwargs; /* tools, kwargs: NULL where none */
	struct jval *generations;	/* NULL where none */
	const char *weight;		/* a byte a message: supervised 1 or 0 (0 for all but assistants) */
	size_t n;			/* messages */
	size_t lone;			/* surrogates replaced */
};

/* Checks and reads a record. Errors name the member: "messages[2].role: expected a string". */
int chat_read(struct chat_conv *conv, const struct rec *r, struct arena *a, struct err *e);

/* The ids of render(messages[0..n), add_generation_prompt). Appends. text may be NULL. */
int chat_prompt(const struct chat *c, struct chat_work *w, const struct chat_conv *conv, size_t n,
    struct ints *ids, struct buf *text, struct err *e);

/* One training sequence. */
struct chat_seq {
	int32_t *ids;
	uint8_t *mask;
	size_t n, n_response; /* n_response: mask 1 */
	size_t turn;	      /* number of the last supervised assistant message, from 1 */
};

struct chat_turns_opt {
	enum chat_mask mask;
	int last_turn_only;
	int no_special_in_content;
};

struct chat_turns {
	struct chat_seq *seq;
	size_t n;
	size_t drift;	     /* answers whose own ids differ from a re-encoding of their text */
	size_t prompt_drift; /* served prompts that differ from our own rendering */
	size_t specials;     /* special strings inside contents */
	size_t thinking_off; /* reasoning left out because the row turns thinking off */
};

/* In the arena. Class of errors: "template", "arguments", "lost", "unfaithful", "type", "range" ... No supervised
 * turn: n is 0. */
int chat_turns(const struct chat *c, struct chat_work *w, const struct chat_conv *conv,
    const struct chat_turns_opt *opt, struct arena *a, struct chat_turns *out, struct err *e);

#endif
