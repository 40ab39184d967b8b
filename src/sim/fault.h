/* fault.h - what a server gets wrong, on demand
 *
 * One table of faults. A fault strikes requests for generation by a rate or by their number:
 *
 *	NAME=RATE[:ARG]		each request with probability RATE, drawn from (seed, number)
 *	NAME@N[-M][:ARG]	request N, or N to M; the first is 1; 0 is the start of the server
 *
 * ARG is a number whose meaning, bounds and default the table gives. Number 0 is for what lasts:
 * loading, storm and health. Which requests are struck depends on the seed and the order of arrival
 * only, so a run with one client can be repeated. */
#ifndef E3_SIM_FAULT_H
#define E3_SIM_FAULT_H

#include <stddef.h>
#include <stdint.h>

struct err;

enum fault {
	/* on the wire */
	F_REFUSED,
	F_RESET,
	F_RESET_HEADERS,
	F_RESET_BODY,
	F_HALF_BODY,
	F_HALF_CLOSE,
	F_HALF_CHUNK,
	F_TRICKLE,
	F_STALL,
	F_NO_HTTP,
	F_BIG_HEADER,
	/* a status */
	F_LOADING,
	F_STORM,
	F_HEALTH,
	F_400,
	F_401,
	F_404,
	F_408,
	F_429,
	F_500,
	F_502,
	F_503,
	F_307,
	F_STATUS,
	/* 200, and wrong */
	F_ABORT,
	F_EMPTY,
	F_GARBAGE,
	F_HTML,
	F_CUT_JSON,
	F_TRAILING,
	F_BIG_BODY,
	F_NAN,
	F_SURROGATE,
	F_NUL,
	F_BAD_UTF8,
	F_DEEP,
	F_DOUBLE_KEY,
	F_BIG_INT,
	F_WRONG_IDS,
	F_MISSING_IDS,
	F_CUT_PROMPT,
	F_WRONG_COUNT,
	F_WRONG_RID,
	F_NO_STOP,
	F_NULL_TEXT,
	F_REPEAT,
	F_LENGTH,
	F_BAD_CALL,
	F_BLANK,
	F_THINK_ONLY,
	F_SLOW,
	/* hidden states */
	F_HS_SHORT,
	F_HS_LONG,
	F_HS_NAN,
	F_HS_INF,
	F_HS_ZERO,
	F_HS_ZERO_ROW,
	F_HS_ZERO_SLOT,
	F_HS_CONSTANT,
	F_HS_TWICE,
	F_HS_SLOT_LESS,
	F_HS_SLOT_MORE,
	F_HS_IDS,
	F_HS_F16,
	F_HS_F32,
	F_HS_LATE,
	F_HS_UNLOCKED,
	F_HS_CUT,
	F_HS_MISSING,
	F_HS_OUTSIDE,
	F_HS_LINK,
	F_HS_EAGLE,
	FAULTS
};

struct fault_arg {
	const char *name; /* "ms" ... */
	uint64_t from, to;
};

struct fault_def {
	const char *name;
	uint64_t arg;			/* default */
	const struct fault_arg *arg_is; /* NULL: takes none */
	const char *what;
};

extern const struct fault_def fault_table[FAULTS];
const char *fault_name(size_t i); /* NULL behind the last */

struct fault_rule {
	enum fault kind;
	double rate;	   /* by rate, unless by number */
	uint64_t from, to; /* by number; by rate: 1, 0 */
	uint64_t arg;
};

struct fault_plan {
	struct fault_rule *v;
	size_t n, cap;
	uint64_t seed;
};

/* What strikes one request: a set of faults, each with its argument. */
struct fault_hits {
	uint8_t on[FAULTS];
	uint64_t arg[FAULTS];
};

/* One --fault. Class "usage". */
int fault_add(struct fault_plan *p, const char *text, struct err *e);
void fault_draw(const struct fault_plan *p, uint64_t number, struct fault_hits *out);
void fault_free(struct fault_plan *p);

#endif
