#include <string.h>

#include "base/mem.h"
#include "prep/row.h"

/* What may follow what; rows: the last message, columns: the next. A tool's result also needs a
 * call before it. */
static const unsigned char follows[PREP_CALL + 1][PREP_CALL + 1] = {
    [PREP_USER][PREP_ASSISTANT] = 1,
    [PREP_ASSISTANT][PREP_USER] = 1,
    [PREP_ASSISTANT][PREP_TOOL] = 1,
    [PREP_TOOL][PREP_TOOL] = 1,
    [PREP_TOOL][PREP_ASSISTANT] = 1,
};

/* An answer that something follows which can't follow an answer was not the end of its turn: it is
 * not to be learnt as one. */
static void distrust(struct prep_row *r, struct prep_msg *last)
{
	if (!r->rules->native || last->role != PREP_ASSISTANT || last->untrained)
		return;
	last->untrained = 1;
	prep_count(r, PREP_CUT_ANSWER, 1);
	prep_note(r, "the answer before it gets weight 0 (cut-answer)");
}

static enum prep_turn cut(struct prep_row *r, enum prep_count why, const char *text)
{
	prep_count(r, why, 1);
	prep_note(r, "message %zu: %s; the conversation ends before it (%s)", r->conv.seen, text,
	    prep_count_name[why]);
	if (why == PREP_ORDER_CUT)
		distrust(r, &r->conv.msg[r->conv.n - 1]);
	return PREP_CUT;
}

static enum prep_turn skip(struct prep_row *r, enum prep_role role)
{
	r->count[PREP_LEAD] = 1;
	prep_note(r, "message %zu: %s before the first user message, left out (lead)", r->conv.seen,
	    prep_role_name(role));
	return PREP_SKIP;
}

static int called(const struct prep_row *r, struct prep_msg *m)
{
	return m->ncalls || prep_has_call(prep_text_decode(&m->content, r->arena));
}

enum prep_turn prep_conv_turn(struct prep_row *r, enum prep_role role)
{
	struct prep_conv *c = &r->conv;
	struct prep_msg *last = c->n ? &c->msg[c->n - 1] : NULL;

	c->seen++;
	if (role == PREP_SYSTEM && c->n == 0 && c->seen == 1)
		return PREP_TAKE;
	if (c->users == 0)
		return role == PREP_USER ? PREP_TAKE : skip(r, role);
	if (role == PREP_UNKNOWN || role == PREP_SYSTEM)
		return cut(r, PREP_ROLE_CUT,
		    role ? "system that is not the first" : "a role that is unknown or missing");
	if (role == PREP_CALL)
		role = PREP_ASSISTANT;
	if (role == PREP_ASSISTANT && last->ncalls) /* a further call of it, or else cut later */
		return PREP_TAKE;
	if (!follows[last->role][role])
		return cut(r, PREP_ORDER_CUT, "its role can't follow the one before");
	if (role == PREP_TOOL && last->role == PREP_ASSISTANT && !called(r, last))
		return cut(r, PREP_ORDER_CUT, "a tool result without a call before it");
	if (role == PREP_ASSISTANT)
		c->nwait = c->answered = 0;
	return PREP_TAKE;
}

static int same_text(struct span a, struct span b)
{
	return a.n == b.n && a.n && !memcmp(a.p, b.p, a.n);
}

/* Whether m is nothing but calls, of the same thought as those of the message before. */
static int goes_on(struct prep_row *r, struct prep_msg *m, struct prep_msg *last)
{
	return m->ncalls && !prep_text_some(&m->content) &&
	       (!prep_text_some(&m->reasoning) ||
		   same_text(prep_text_decode(&m->reasoning, r->arena),
		       prep_text_decode(&last->reasoning, r->arena)));
}

/* An answer behind an answer: one message with the calls of both, or the end. */
static int join_calls(struct prep_row *r, struct prep_msg *m)
{
	struct prep_msg *last = &r->conv.msg[r->conv.n - 1];

	if (!goes_on(r, m, last)) {
		cut(r, PREP_ORDER_CUT, "behind a call comes a result or a further call");
		return 0;
	}
	last->ncalls = r->calls.len - last->calls;
	last->untrained |= m->untrained;
	return 1;
}

#define CALLS_SEARCHED 1000 /* beyond, results are taken to be in order */

/* The first call from the i-th on and before `end` that has this id, or else this name. */
static struct prep_pending *search(
    struct prep_row *r, size_t i, size_t end, int by_id, struct span what)
{
	if (end - i > CALLS_SEARCHED)
		end = i + CALLS_SEARCHED;
	for (; i < end; i++) {
		struct prep_pending *call = &r->conv.wait[i];

		if (same_text(prep_text_decode(by_id ? &call->id : &call->name, r->arena), what) &&
		    (by_id || !call->answered))
			return call;
	}
	return NULL;
}

/* The call that a result answers: that of its id, else the next one of its name, else the next. */
static struct prep_pending *call_of(struct prep_row *r, struct prep_msg *m)
{
	struct prep_conv *c = &r->conv;
	struct prep_pending *call = NULL;

	while (c->answered < c->nwait && c->wait[c->answered].answered)
		c->answered++;
	if (prep_text_some(&m->id)) {
		struct span id = prep_text_decode(&m->id, r->arena);

		call = search(r, c->answered, c->nwait, 1, id);
		return call ? call : search(r, 0, c->answered, 1, id);
	}
	if (prep_text_some(&m->name))
		call = search(r, c->answered, c->nwait, 0, prep_text_decode(&m->name, r->arena));
	return call || c->answered == c->nwait ? call : &c->wait[c->answered];
}

/* The id and the name that a result lacks are those of its call. */
static void pair_result(struct prep_row *r, struct prep_msg *m)
{
	struct prep_pending *call = call_of(r, m);

	if (!call)
		return;
	call->answered = 1;
	m->id = call->id;
	if (!prep_text_some(&m->name))
		m->name = call->name;
}

static int no_text(struct prep_row *r, const struct prep_msg *m)
{
	if (m->role == PREP_SYSTEM) {
		skip(r, PREP_SYSTEM);
		return 1;
	}
	if (r->conv.users == 0)
		return err_set(r->e, "empty", "the first user message has no text");
	cut(r, PREP_EMPTY_CUT, "neither text nor call");
	return 0;
}

int prep_conv_put(struct prep_row *r, struct prep_msg *m)
{
	struct prep_conv *c = &r->conv;
	struct prep_msg *to;
	int empty =
	    m->role == PREP_SYSTEM ? !prep_text_given(&m->content) : !prep_text_some(&m->content);

	if (m->role == PREP_CALL)
		m->role = PREP_ASSISTANT;
	if (m->role == PREP_ASSISTANT && c->msg[c->n - 1].role == PREP_ASSISTANT)
		return join_calls(r, m);
	if (empty && !m->ncalls && m->role != PREP_TOOL)
		return no_text(r, m);
	c->msg = xgrow(c->msg, &c->cap, c->n + 1, sizeof(*c->msg));
	to = &c->msg[c->n++];
	*to = *m;
	if (to->role == PREP_TOOL)
		pair_result(r, to);
	c->users += to->role == PREP_USER;
	c->answers += to->role == PREP_ASSISTANT;
	if (r->trace)
		prep_note(r, "message %zu: %s, %zu bytes%s", c->seen, prep_role_name(to->role),
		    prep_text_decode(&to->content, r->arena).n, to->ncalls ? ", with a call" : "");
	return 1;
}
