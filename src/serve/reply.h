/* reply.h - what a server answered, read from the reply's bytes
 *
 *	struct serve_reply r = {0};
 *	if (serve_reply_read(&r, route, body, &e) < 0)	not a whole reply of this shape
 *	serve_reply_free(&r);
 *
 * HTTP 200 is not success: an abort, an error object or nothing at all come with it too. What was
 * found is told by serve_reply_check, which outcome.h turns into what to do.
 * Spans are JSON text inside the body.
 */
#ifndef E3_SERVE_REPLY_H
#define E3_SERVE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"
#include "serve/outcome.h"
#include "serve/request.h"

struct err;

enum serve_finish {
	FINISH_NONE, /* no finish reason */
	FINISH_STOP,
	FINISH_LENGTH,
	FINISH_TOOL_CALLS,
	FINISH_ABORT,
	FINISH_OTHER, /* content_filter, a new word */
};

const char *serve_finish_name(enum serve_finish f); /* "stop" ... */

struct serve_reply {
	enum serve_finish finish;
	/* JSON strings, or p NULL: absent or null */
	struct span content; /* of a chat's message; the text on other routes */
	struct span reasoning, weight_version, rid, states_path, abort_message;
	struct span tool_calls; /* a JSON array, or p NULL; an empty one counts as none */
	struct span states;	/* meta_info.hidden_states of SGLang: a JSON array */
	struct ints ids, prompt_ids;
	int has_ids, has_prompt_ids;
	/* The caller's to set before reading: the prompt's ids as they went out. */
	struct span sent;
	int echoed; /* the reply has them to the byte; prompt_ids is empty then */
	int64_t prompt_tokens, completion_tokens; /* as the server counted; -1: not said */
	int64_t matched;     /* the stop token that ended it; -1: none, or a string */
	int64_t retractions; /* how often it was pushed out of the cache, or -1 */
	int truncated;	     /* the server says that it cut the prompt */
};

/* Class "reply". An error object in place of an answer is one too: its message is e's. */
int serve_reply_read(
    struct serve_reply *r, enum serve_route route, struct span body, struct err *e);
void serve_reply_free(struct serve_reply *r);

/* What was sent, to hold the reply against. */
struct serve_sent {
	const int32_t *ids; /* NULL: messages were sent, or the reply is `echoed` */
	size_t n;
	const char *rid; /* NULL: none */
	uint64_t max_new_tokens;
	int want_ids;	     /* the answer's ids are needed */
	int want_prompt_ids; /* and the prompt's */
	int64_t room;	     /* serve_room */
	const char *weights; /* serve_facts' weight_version; NULL, "": not known */
};

/* FOUND_GOOD, or what is wrong, in words in e (class "reply"). */
enum serve_found serve_reply_check(
    const struct serve_reply *r, const struct serve_sent *sent, struct err *e);

/* The message of an error reply, in either of the shapes in use, into out (never empty where the
 * body is not). Returns whether it says that the model is still being loaded. */
int serve_error_read(struct buf *out, struct span body);

#endif
