/* chat.h - conversations to ids and masks, exactly as the target's server would see them
 *
 * Where json, jinja and bpe meet. Opens a model folder (its tokenizer, its chat template, the
 * family's own rules), and makes of a conversation record
 *	- the prompt ids of one turn: what the server is sent (chat_prompt);
 *	- training sequences: ids with a loss mask, a turn at a time (chat_turns);
 *	- a message out of the ids that a server answered with (chat_answer).
 * The turn is the unit, not the conversation: each supervised turn's prompt is rendered as it was
 * served, history dropped or kept as the template does it.
 *
 *	struct chat *c = chat_open(&opt, &e);		one, shared by all threads
 *	struct chat_work *w = chat_work_open(c);	one thread's memory
 *	for each record:
 *		rec_parse(&r, line, n, &e);
 *		chat_read(&conv, &r, &arena, &e);
 *		chat_turns(c, w, &conv, &opt, &arena, &turns, &e);
 *
 * Errors are the record's (class "missing", "type", "range", "role", "template", "arguments",
 * "parts", "lost", "unfaithful", "utf8" ...) but for chat_open's, which are the folder's.
 */
#ifndef E3_CHAT_H
#define E3_CHAT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"
#include "json/val.h"

struct arena;
struct bpe;
struct err;
struct rec;
struct chat;
struct chat_work;

/* Whose way of preparing messages and tools for the template is followed. */
enum chat_served { SERVED_HF, SERVED_SGLANG, SERVED_VLLM };
#define CHAT_SERVED_BY "hf|sglang|vllm" /* their names, as options have them */

/* What is supervised.
 *	served			what the target wrote, from behind the generation prompt through
 *				the end-of-turn token
 *	no-eot			the same without the end-of-turn token
 *	after-first-user	everything behind the prompt of the first user message
 *	all			every token of one rendering of the whole conversation
 * A message of weight 0 is never supervised, in none of them. */
enum chat_mask { MASK_SERVED, MASK_NO_EOT, MASK_AFTER_FIRST_USER, MASK_ALL };

struct chat_opt {
	const char *model;    /* folder */
	const char *template; /* file, or NULL: the folder's own */
	const char *date;     /* YYYY-MM-DD for strftime_now, or NULL: a template that asks fails */
	enum chat_served served_by;
	int no_cache; /* neither look for the compiled tokenizer nor keep it: bpe.h */
};

struct chat *chat_open(const struct chat_opt *opt, struct err *e);
void chat_close(struct chat *c); /* NULL is allowed */
const struct bpe *chat_bpe(const struct chat *c);
struct chat_work *chat_work_open(const struct chat *c);
void chat_work_close(struct chat_work *w); /* NULL is allowed */

/* Of the templates' texts: another one where they were changed. */
uint64_t chat_template_sum(const struct chat *c);

/* Whether a token ends a turn: one of generation_config.json's eos_token_id, or the family's. */
int chat_is_end(const struct chat *c, int32_t id);

/* What a server gave for one assistant message: from the record's generations. */
struct chat_gen {
	int32_t *prompt, *output; /* NULL where the record has none */
	size_t nprompt, noutput;
	int cut; /* finish_reason "length": no end-of-turn token to expect */
};

/* A conversation record, read: the messages as a tree, all in the arena or in the record's line. */
struct chat_conv {
	struct span id, dataset;    /* decoded; p is NULL where there is none */
	struct jval *messages;	    /* an array of objects, checked */
	struct jval *tools;	    /* a non-empty array, or NULL */
	struct jval *kwargs;	    /* chat_template_kwargs, an object, or NULL */
	const char *weight;	    /* a byte a message: 1 where it may be supervised, else 0 */
	const struct chat_gen *gen; /* one a message, or NULL where the record has no generations */
	size_t n;		    /* messages */
	size_t lone;		    /* surrogates replaced by U+FFFD */
};

/* Checks and reads a record; `messages` must be there, `id` and `dataset` need not. Errors name the
 * member: "messages[2].role: expected a string, not null". */
int chat_read(struct chat_conv *conv, const struct rec *r, struct arena *a, struct err *e);

/* The ids of render(messages[0..n), add_generation_prompt): what the server is sent to get message
 * n. Appended to ids. text gets the rendered text. Either may be NULL. */
int chat_prompt(const struct chat *c, struct chat_work *w, const struct chat_conv *conv, size_t n,
    struct ints *ids, struct buf *text, struct err *e);

/* One training sequence. */
struct chat_seq {
	int32_t *ids;
	uint8_t *mask;	   /* 1: a training target; aligned with ids, not shifted */
	size_t n;	   /* ids */
	size_t n_response; /* of them with mask 1 */
	size_t turn;	   /* its last supervised turn, assistant messages counted from 1 */
};

#define CHAT_STEPS 100000000

struct chat_turns_opt {
	enum chat_mask mask;
	int last_turn_only;	   /* only the last assistant message of weight 1 */
	int no_special_in_content; /* special strings inside messages and tools are text */
	int hf_compat;		   /* Kimi: the wrapper's cuts of long stretches */
	int check_drift;	   /* fill in `drift`, at the cost of encoding answers again */
	size_t steps;		   /* for one conversation, else class "long"; 0: CHAT_STEPS */
};

struct chat_turns {
	struct chat_seq *seq;
	size_t n;	     /* 0: nothing is supervised */
	size_t drift;	     /* served answers whose text encodes to other ids */
	size_t prompt_drift; /* served prompts that are not our own rendering */
	size_t specials;     /* special strings inside messages and tools */
	size_t thinking_off; /* reasoning left out because the row turns thinking off */
};

/* Everything in the arena. */
int chat_turns(const struct chat *c, struct chat_work *w, const struct chat_conv *conv,
    const struct chat_turns_opt *opt, struct arena *a, struct chat_turns *out, struct err *e);

/* What a server's ids say. Rendering the message again must give the ids' own text, else the
 * answer is unparsed and the message holds all of the text as its content. */
enum chat_status { ANSWER_OK, ANSWER_EMPTY, ANSWER_REASONING_ONLY, ANSWER_UNPARSED };

struct chat_answer {
	enum chat_status status;
	int ended; /* the last id ends the turn (else it was cut) */
	struct jval
	    message; /* role, content; reasoning_content and tool_calls where there are any */
};

/* ids: what was sampled after chat_prompt(conv, n), with or without the end-of-turn token. The
 * message's arguments are strings as the model wrote them. -1 only for what is not the answer's
 * fault: an id outside the vocabulary ("range"), a prompt that does not render. */
int chat_answer(const struct chat *c, struct chat_work *w, const struct chat_conv *conv, size_t n,
    const struct ints *ids, struct arena *a, struct chat_answer *out, struct err *e);

#endif
