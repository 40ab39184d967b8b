/* chat/impl.h - what the parts of chat/ share; nobody else includes it
 *
 *	read*.c		record -> conversation, checked
 *	folder.c	model folder -> templates and special tokens
 *	probe.c		what a template can take, found by rendering
 *	prepare.c	messages as the served template sees them
 *	tools*.c	tools as the served template sees them
 *	render.c	a context around messages, rendered
 *	deepseek*.c	the layouts of models that have a program instead of a template
 *	encode.c	rendered text -> ids, the common prefix of two prompts encoded once
 *	target.c	what the model wrote in a turn, as text
 *	lost.c		whether that text holds all that the turn holds
 *	turns.c, mask.c	turns -> sequences
 *	answer*.c	ids -> a message
 */
#ifndef E3_CHAT_IMPL_H
#define E3_CHAT_IMPL_H

#include "base/arena.h"
#include "bpe/bpe.h"
#include "chat/chat.h"
#include "jinja/jinja.h"

/* A template and what the probes found out about it. */
struct chat_tmpl {
	struct jinja *jinja;
	const struct chat_native *native; /* or NULL; jinja is NULL where there is one */
	uint64_t sum;			  /* of the template's text */
	int reads_ts;			  /* mentions tools_ts_str */
	int generation;			  /* has generation tags */
	int args_text;	  /* prints a call's arguments as they are when they are a string */
	int null_dropped; /* can't take null content beside a call */
	int takes_parts;  /* prints a list of text parts */
	int kimi_think;	  /* Kimi's turn with a think block: targets are built, not cut out */
};

struct chat {
	struct bpe *bpe;
	struct chat_tmpl plain;	     /* "default" */
	struct chat_tmpl with_tools; /* "tool_use"; jinja is NULL where there is none */
	struct arena arena;
	struct jmember *special; /* bos_token ...: context of every rendering */
	size_t nspecial;
	struct ints ends; /* ids that end a turn */
	enum chat_served served;
	int kimi;      /* the Kimi wrapper: tools sorted, TypeScript declarations */
	int role_ends; /* GLM: the next role's token ends a turn */
	int has_date;
	int64_t now; /* strftime_now */
};

/* Where added tokens stand in a rendering. */
struct marks {
	struct bpe_mark *v;
	size_t n, cap;
};

struct chat_work {
	const struct chat *c;
	struct bpe_work *bpe;
	struct arena arena;	 /* for one call */
	struct jinja_out prompt; /* the last prompt rendered */
	struct jinja_out full;	 /* a conversation through its turn */
	struct jinja_out target; /* the turn alone */
	struct jinja_out aux;
	struct jinja_memo *memo; /* for prompt and full, over the turns of one conversation */
	/* the last prompt encoded, kept from call to call */
	struct buf text;
	struct ints ids, starts; /* starts by ENC_STARTS only */
	struct marks marks;
	unsigned how;		 /* ENC_ */
	unsigned long rendering; /* whose text it is, in prompt */
	/* scratch of encode.c */
	struct ints some;
	struct marks some_marks;
	/* the record being made: turns.c */
	struct ints seq, seq_starts;
	struct buf mask;
	struct ints answer;
	struct buf scratch;
};

/* Where a message's string came from: jval.origin. Slots tell a turn's strings apart. */
enum {
	SLOT_OTHER,
	SLOT_CONTENT,
	SLOT_REASONING,
	SLOT_CALLS = 16, /* + index of the call: its name; the last is shared */
};
#define ORIGIN(message, slot)  ((uint32_t)(((uint32_t)(message) + 1) << 8 | (uint32_t)(slot)))
#define ORIGIN_MESSAGE(origin) ((size_t)((origin) >> 8) - 1)
#define ORIGIN_SLOTS	       256
#define ORIGIN_TOOLS	       1 /* of no message: ORIGIN_MESSAGE is SIZE_MAX */

/* read_message.c, read_gen.c */
const char *chat_kind(const struct jval *v);		    /* "a string": for messages */
int chat_read_message(const struct jval *m, struct err *e); /* supervised 1 or 0, -1 */
int chat_read_generations(struct chat_conv *conv, struct span text, struct arena *a, struct err *e);

/* folder.c: fills plain, with_tools and special. */
int chat_load(struct chat *c, const struct chat_opt *opt, struct err *e);

/* render.c */
/* Steps of the template for all the renderings of one conversation: each turn takes as many as its
 * prompt is long, so that they add up to the square of the conversation's length. What looks for
 * each of many things among all of them takes some too: 32 bytes, 16 runs or 4 names are one. */
struct chat_steps {
	size_t all, left;
};
static inline void chat_spend(struct chat_steps *s, size_t n)
{
	s->left -= n < s->left ? n : s->left;
}
/* Class "long"; none is left. */
int chat_too_long(struct chat_steps *s, struct err *e);
#define PROBE_STEPS 1000000					 /* of one rendering of a probe */
size_t chat_find(struct span in, const char *what, size_t from); /* offset, or SIZE_MAX */
int chat_ends(struct span in, const char *with);
struct chat_ask {
	const struct jval *messages;
	size_t n;
	const struct jval *tools, *tools_ts, *kwargs; /* NULL: none */
	int prompt;				      /* add_generation_prompt */
	int thinking_off;			      /* whatever kwargs say */
	struct jinja_memo *memo;		      /* NULL: none */
	struct chat_steps *steps;
};
/* Class "long" where the steps that are left don't suffice: none is left then. */
int chat_render(const struct chat *c, const struct chat_tmpl *t, const struct chat_ask *ask,
    struct arena *a, struct jinja_out *out, struct err *e);
/* Appends text of one origin to a rendering. */
void chat_put(struct jinja_out *out, const char *p, size_t n, uint32_t origin);
/* Makes `to` the bytes [from, end) of a rendering. */
void chat_cut(struct jinja_out *to, const struct jinja_out *of, size_t from, size_t end);

/* probe.c */
void chat_probe(struct chat *c, struct chat_tmpl *t);

/* prepare.c: a conversation on its way into the template. */
struct chat_prep {
	const struct chat *c;
	const struct chat_tmpl *t;
	const struct chat_conv *conv;
	struct arena *a;
	struct jval *hist; /* messages as history sees them; the first `ready` are made */
	size_t ready;
	struct jval *tools, *tools_ts; /* NULL: none */
	struct jinja_memo *memo;       /* for renderings of hist; NULL: none */
	struct chat_steps steps;
};
int chat_prepare(struct chat_prep *p, const struct chat *c, const struct chat_conv *conv,
    struct arena *a, struct err *e);
int chat_prepare_history(struct chat_prep *p, size_t n, struct err *e); /* hist[0..n) */
/* The message of a supervised turn. */
int chat_prepare_turn(struct chat_prep *p, size_t i, struct jval *out, struct err *e);
/* The message's reasoning under any of its names; NULL where there is none. */
const struct jval *chat_reasoning(const struct jval *message);
int chat_is_role(const struct jval *message, const char *role);
/* A copy of a value whose strings all carry an origin. */
struct jval chat_tagged(struct arena *a, const struct jval *v, uint32_t origin);

/* tools.c: the tools as the served template sees them. */
int chat_prepare_tools(struct chat_prep *p, struct err *e);
/* tools_ts.c: Kimi's declarations, appended; -1 where the tools have none and the template falls
 * back to JSON (out is as before), or where no steps are left. */
int chat_tools_ts(
    struct buf *out, const struct jval *tools, struct chat_steps *steps, struct arena *a);

/* encode.c */
enum {
	ENC_NO_SPECIAL_IN_CONTENT = 1,
	ENC_HF_COMPAT = 2,
	ENC_STARTS = 4, /* of the prompt, where each id begins */
};
/* w->prompt -> w->ids, and w->starts if asked for. */
int chat_encode_prompt(struct chat_work *w, unsigned how, struct err *e);
/* Appends the ids of any rendering; starts may be NULL. */
int chat_encode(struct chat_work *w, const struct jinja_out *text, unsigned how, struct ints *ids,
    struct ints *starts, struct err *e);

/* A model whose messages are laid out by a program instead of a template. */
struct chat_native {
	/* Appends to out, which is empty. */
	int (*render)(
	    const struct chat *c, const struct chat_ask *ask, struct jinja_out *out, struct err *e);
	/* As chat_target, into w->target, which is empty; 1 where no answer is asked for. */
	int (*target)(struct chat_work *w, const struct chat_prep *p, size_t i,
	    const struct jval *turn, int cut, struct err *e);
};
extern const struct chat_native chat_deepseek_v32;

/* target.c: w->prompt holds turn i's prompt. Leaves what the model wrote in w->target; class
 * "unfaithful" where no rule gives it. `turn` is the prepared message. */
int chat_target(struct chat_work *w, struct chat_prep *p, size_t i, const struct jval *turn,
    int cut, struct err *e);
int chat_has_text(const struct jval *content); /* not blank */
/* lost.c: class "lost" where `text` does not hold all that the turn holds. */
int chat_check_lost(struct chat_prep *p, size_t i, const struct jval *turn,
    const struct jinja_out *text, size_t *thinking_off, struct err *e);

/* A rendering and its ids. */
struct chat_coded {
	const struct jinja_out *text;
	const struct ints *ids, *starts;
};

/* mask.c: one rendering of the whole conversation, for MASK_ALL and generation tags. */
int chat_whole(struct chat_work *w, struct chat_prep *p, const struct chat_turns_opt *opt,
    struct arena *a, struct chat_turns *out, struct err *e);
/* Sets mask[from..ids) to 1, but for messages of weight 0 through their end-of-turn tokens. */
void chat_mask_context(
    const struct chat_prep *p, const struct chat_coded *of, size_t from, uint8_t *mask);

#endif
