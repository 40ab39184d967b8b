/* row.h - one raw row on its way to a conversation
 *
 * A reader (shape.h) takes the row apart and offers its messages one after the other; the
 * conversation takes those that are in order and says where it is cut.
 *
 *	struct prep_row r = {.rules = &rules};
 *	for each line {
 *		rc = prep_row_convert(&r, line, arena, &e)	0, 1 filtered, -1 with e.class
 *		prep_row_write(&r, id, out)
 *	}
 *	prep_row_free(&r);
 *
 * The order of messages. A system message stands only in front; what else comes before the first
 * user message is left out ("lead"). After user comes assistant; after assistant user, or tool
 * where it called one; after tool, tool or assistant. Answers that are nothing but calls are one with
 * the calls before them. The conversation ends before the first
 * message that breaks this ("order-cut"), has an unknown role ("role-cut") or has neither text
 * nor call ("empty-cut"; a tool's result may be empty). Nothing is taken out of the middle.
 *
 * Rejects, by class: json, type, missing, empty (no message, or a first user message without
 * text), nouser, noanswer (native only). Bytes that are not UTF-8 are mended, not rejected.
 */
#ifndef E3_PREP_ROW_H
#define E3_PREP_ROW_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/opt.h"
#include "prep/text.h"
#include "json/rec.h"

struct prep_dataset;
struct prep_format;
struct prep_filter;

/* What holds for a whole run. */
struct prep_rules {
	const char *name; /* of the dataset: the first half of ids */
	const struct prep_dataset *dataset;
	const struct prep_format *const *formats; /* to be tried, ends with NULL */
	int native;	   /* the answers are the target's own: weight 1, and a row needs one */
	int split_think;   /* <think>...</think> at the start of an answer is its reasoning */
	int system_column; /* a system text in a column of its own is kept */
	int args_object;   /* arguments of calls as objects, not as strings */
	int drop_answer;   /* what follows the last user or tool message is not written */
	struct opt_list keep;
	const struct prep_filter *filters;
	size_t nfilters;
};

enum prep_count {
	PREP_MESSAGES,
	PREP_USERS,
	PREP_SPECIAL, /* messages that hold a look-alike of a special token */
	PREP_UNBALANCED,
	PREP_THINK_LEFT,
	PREP_NO_SCORE,
	PREP_CALL_TEXT,
	PREP_CUT_ANSWER,
	PREP_TOOLS_TEXT,
	PREP_REPAIRED, /* rows with one of the following */
	PREP_UTF8,
	PREP_SURROGATE,
	PREP_NAN,
	PREP_LEAD,
	PREP_ORDER_CUT,
	PREP_ROLE_CUT,
	PREP_EMPTY_CUT,
	PREP_ARGS,
	PREP_DOUBLE,
	PREP_OPENER,
	PREP_COUNTS
};
extern const char *const prep_count_name[PREP_COUNTS]; /* as in --stats */

enum prep_role {
	PREP_UNKNOWN,
	PREP_SYSTEM,
	PREP_USER,
	PREP_ASSISTANT,
	PREP_TOOL,
	PREP_CALL, /* a turn that is nothing but a call: becomes an assistant's */
};

struct prep_msg {
	enum prep_role role;
	struct prep_text content;
	struct prep_text reasoning;
	size_t calls, ncalls;	   /* prep_calls_of: tool_calls as JSON, without the brackets */
	struct prep_text id, name; /* tool_call_id and name */
	int untrained;		   /* the row itself says weight 0 */
};

/* The calls that wait for results, in order: a result without an id takes that of the next call of its
 * name that has none yet, or of the next. */
struct prep_pending {
	struct prep_text id, name;
	int answered;
};

struct prep_conv {
	struct prep_msg *msg;
	size_t n, cap;
	size_t seen; /* messages offered */
	size_t users, answers;
	struct span unknown; /* the first role that is none, as it stands there; p NULL: none */
	struct prep_pending *wait;
	size_t nwait, wait_cap, answered; /* the first so many have their results */
	size_t ncalls;			  /* of the conversation, for ids */
};

struct prep_row {
	const struct prep_rules *rules;
	struct arena *arena;
	struct rec rec; /* the cleaned row */
	struct buf text, hash;
	struct buf calls; /* of all messages, one behind the other, each behind a comma */
	struct buf tools; /* the definitions, a JSON array; empty: none */
	const struct prep_format *format;
	struct prep_conv conv;
	uint64_t count[PREP_COUNTS];
	struct buf *trace;  /* --explain: a line a step; NULL: nobody asks */
	const char *filter; /* the filter that the row failed */
	struct err *e;
};

/* 0 converted; 1 left out by r->filter; -1 rejected with e->class. *object: the line as it came is
 * one JSON object. */
int prep_row_convert(
    struct prep_row *r, struct span line, struct arena *a, int *object, struct err *e);
/* Adds the record and a line end. */
void prep_row_write(struct prep_row *r, struct span id, struct buf *out);
/* Of the converted conversation, and of its prompt: system text, tools and first user message; of
 * both with the switches for the template.
 * Texts are hashed decoded and with their lengths. */
struct hash128 prep_row_conv_hash(struct prep_row *r);
struct hash128 prep_row_prompt_hash(struct prep_row *r);
void prep_row_free(struct prep_row *r);

static inline struct span prep_calls_of(const struct prep_row *r, const struct prep_msg *m)
{
	return (struct span){m->ncalls ? r->calls.data + m->calls : "", m->ncalls};
}

/* ---- for the readers ---- */

enum prep_turn {
	PREP_TAKE, /* read the message and put it */
	PREP_SKIP, /* before the first user message: left out */
	PREP_CUT,  /* the conversation ends before it */
};

/* Asked with the role of each message in turn, before anything else of it is read. */
enum prep_turn prep_conv_turn(struct prep_row *r, enum prep_role role);
/* 1; 0: it has neither text nor call, or is an answer that an answer can't go on with, and the
 * conversation ends before it; -1 rejected. */
int prep_conv_put(struct prep_row *r, struct prep_msg *m);

/* Adds n to a counter. */
void prep_count(struct prep_row *r, enum prep_count what, uint64_t n);
/* A line of --explain; costs nothing when nobody asks. */
void prep_note(struct prep_row *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
enum prep_role prep_role_of(struct span word);
const char *prep_role_name(enum prep_role role);

/* JSON text in a string: decoded, its half pairs mended, checked. 1 with the value in *v, in the
 * row's arena; 0 where it is no JSON. */
int prep_inner_json(struct prep_row *r, struct span decoded, struct span *v);
/* The same for a value that the text begins with: past it, or NULL. */
const char *prep_inner_part(struct prep_row *r, struct span decoded, struct span *v);

#endif
