/* conv.h - one conversation on its way through e3-infer: what is asked next, what was answered
 *
 *	conv_open(&c, &rec, turns, &e)		-> where the first answer belongs
 *	while (!c.done) {
 *		conv_record(&c, &rec, &b)	the record up to here, to be rendered or sent
 *		...
 *		conv_answer(&c, message, generation)
 *	}
 *	conv_output(&c, &rec, key, &out)
 *
 * --turns last: what follows the last user or tool message is dropped and generated.
 * --turns all: a replay. System, user and tool messages keep their place, every assistant message
 * is generated anew. In a tool loop the calls of the new answer get the recorded results: the calls
 * are paired by name with those of the record's own message, each result under the new call's id.
 * Where they can't be paired (a call that the record has no result for, no call where the record
 * has one) the conversation ends with what is done, and so it does where the caller says so
 * (conv_cut); the last generation says why (`ended`: call_without_result, no_call,
 * prompt_too_long). A generation says how many of its calls got the result of other arguments
 * (`other_arguments`).
 *
 * Messages keep their bytes; conv knows no server and no template.
 */
#ifndef E3_INFER_CONV_H
#define E3_INFER_CONV_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;
struct rec;

enum turns { TURNS_LAST, TURNS_ALL };

enum role { ROLE_OTHER, ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL };

struct conv_msg {
	struct span json; /* in the record's line */
	enum role role;
};

struct conv {
	enum turns turns;
	struct conv_msg *msg; /* of the record */
	size_t n, cap, next;  /* next: the first that is not yet dealt with */
	struct span asked;    /* the messages so far: first some of the record's, as it has them, */
	struct buf list;      /* then others, between commas */
	size_t count;	      /* of all: the index of the answer to come */
	struct buf gens;      /* generations so far, between commas */
	size_t answers;
	uint64_t sum; /* of their messages: what the next one is built on */
	size_t
	    dropped_bytes; /* of the answers that are made anew: a hint of the new ones' length */
	int done;
	int other_arguments; /* results taken though the new call's arguments are others */
	const char *ended;   /* static: why a replay ended early, or NULL */
};

/* Class "type", or "turns" where the messages leave nothing to generate. */
int conv_open(struct conv *c, const struct rec *r, enum turns turns, struct err *e);
void conv_free(struct conv *c);

/* {"messages":[...],"tools":...,"chat_template_kwargs":...} for the next answer. */
void conv_record(const struct conv *c, const struct rec *r, struct buf *out);
/* JSON text of the messages so far, "[...]". */
void conv_messages(const struct conv *c, struct buf *out);

/* Takes the answer: a message and its generation, an object to which conv adds its own members.
 * last: nothing may be built on it. The same answers to the same record make the same conversation. */
void conv_answer(struct conv *c, struct span message, struct span generation, int last);

/* Behind an answer: the replay ends with it, for a reason that is static text. */
void conv_cut(struct conv *c, const char *why);

/* Goes on where an earlier run stood: what conv_progress wrote. 0, or -1 when it does not fit, or is
 * no further than c is. */
void conv_progress(const struct conv *c, struct buf *out);
int conv_resume(struct conv *c, struct span progress);

/* The record with its messages, generations and infer_key. No newline. */
void conv_output(const struct conv *c, const struct rec *r, uint64_t key, struct buf *out);

#endif
