#include "sim/fault.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/num.h"

/* A server that waits for years, sends or writes more than the machine holds, or answers with what
 * is no status shows nothing. */
static const struct fault_arg ms = {"ms", 0, 1000000000}, s = {"s", 0, 1000000000},
			      times = {"times", 0, 1000000}, rows = {"rows", 0, 1000000},
			      levels = {"levels", 0, 100000000}, bytes = {"bytes", 0, 1u << 30},
			      status = {"status", 200, 599};

const struct fault_def fault_table[FAULTS] = {
    [F_REFUSED] = {"refused", 1000, &ms,
	"dies: resets all requests at hand, refuses new ones for a while"},
    [F_RESET] = {"reset", 0, NULL, "resets the connection instead of an answer"},
    [F_RESET_HEADERS] = {"reset-headers", 0, NULL, "resets after the headers"},
    [F_RESET_BODY] = {"reset-body", 0, NULL, "resets after half of the body"},
    [F_HALF_BODY] = {"half-body", 0, NULL,
	"closes after half of the body that Content-Length gives"},
    [F_HALF_CLOSE] = {"half-close", 0, NULL, "half a body without a length, closed in good order"},
    [F_HALF_CHUNK] = {"half-chunk", 0, NULL, "a chunked body, closed half way"},
    [F_TRICKLE] = {"trickle", 10, &ms, "one byte of the body at a time"},
    [F_STALL] = {"stall", 0, NULL, "never answers; the slot stays taken while the client waits"},
    [F_NO_HTTP] = {"no-http", 0, NULL, "an answer that is no HTTP"},
    [F_BIG_HEADER] = {"big-header", 0, NULL, "a header line of 300,000 bytes"},
    [F_LOADING] = {"loading", 2000, &ms, "503 \"Loading model\" from every endpoint for a while"},
    [F_STORM] = {"storm", 2000, &ms, "500 to every request for a while"},
    [F_HEALTH] = {"health", 0, NULL, "503 from the health endpoints (by rate, or always with @0)"},
    [F_400] = {"400", 0, NULL, "400, the input is too long"},
    [F_401] = {"401", 0, NULL, "401"},
    [F_404] = {"404", 0, NULL, "404, no such model"},
    [F_408] = {"408", 0, NULL, "408"},
    [F_429] = {"429", 1, &s, "429 with Retry-After"},
    [F_500] = {"500", 0, NULL, "500"},
    [F_502] = {"502", 0, NULL, "502 with a page of HTML, as a proxy sends it"},
    [F_503] = {"503", 0, NULL, "503, the request queue is full"},
    [F_307] = {"307", 0, NULL, "a redirect"},
    [F_STATUS] = {"status", 500, &status, "any other status, with an error as its body"},
    [F_ABORT] = {"abort", 0, NULL, "200 whose finish reason is abort"},
    [F_EMPTY] = {"empty", 0, NULL, "200 without a token"},
    [F_GARBAGE] = {"garbage", 0, NULL, "200 with bytes that are no JSON"},
    [F_HTML] = {"html", 0, NULL, "200 with a page of HTML"},
    [F_CUT_JSON] = {"cut-json", 0, NULL, "200 with half of the JSON, the length right"},
    [F_TRAILING] = {"trailing", 0, NULL, "200 with something behind the JSON"},
    [F_BIG_BODY] = {"big-body", 5u << 20, &bytes, "200 with a long member that nobody needs"},
    [F_NAN] = {"nan", 0, NULL, "200 with a NaN in a member that nobody needs"},
    [F_SURROGATE] = {"surrogate", 0, NULL, "200 with a lone surrogate escape, likewise"},
    [F_NUL] = {"nul", 0, NULL, "200 with \\u0000, likewise"},
    [F_BAD_UTF8] = {"bad-utf8", 0, NULL, "200 with bytes that are no UTF-8, likewise"},
    [F_DEEP] = {"deep", 100000, &levels, "200 with deep nesting, likewise"},
    [F_DOUBLE_KEY] = {"double-key", 0, NULL, "200 with repeated keys, likewise"},
    [F_BIG_INT] = {"big-int", 0, NULL, "200 with an integer of 40 digits, likewise"},
    [F_WRONG_IDS] = {"wrong-ids", 0, NULL, "200 that echoes other prompt ids"},
    [F_MISSING_IDS] = {"missing-ids", 0, NULL, "200 without any token ids"},
    [F_CUT_PROMPT] = {"cut-prompt", 0, NULL, "200 after cutting the prompt to its first half"},
    [F_WRONG_COUNT] = {"wrong-count", 0, NULL, "200 whose completion_tokens is one too many"},
    [F_WRONG_RID] = {"wrong-rid", 0, NULL, "200 with the request id of another request"},
    [F_NO_STOP] = {"no-stop", 0, NULL, "200, stopped, but without the stop id"},
    [F_NULL_TEXT] = {"null-text", 0, NULL, "200 whose text or content is null"},
    [F_REPEAT] = {"repeat", 0, NULL, "an answer that repeats itself up to the limit"},
    [F_LENGTH] = {"length", 0, NULL, "an answer cut by the limit"},
    [F_BAD_CALL] = {"bad-call", 0, NULL, "a tool call whose arguments do not parse"},
    [F_BLANK] = {"blank", 0, NULL, "an answer of the stop id alone, without reasoning or text"},
    [F_THINK_ONLY] = {"think-only", 0, NULL, "an answer that stops inside its reasoning"},
    [F_SLOW] = {"slow", 10, &times, "an answer that takes longer"},
    [F_HS_SHORT] = {"hs-short", 16, &rows, "states: fewer rows than ids, as a prefix cache leaves"},
    [F_HS_LONG] = {"hs-long", 1, &rows, "states: more rows than ids"},
    [F_HS_NAN] = {"hs-nan", 0, NULL, "states: one NaN in the last row"},
    [F_HS_INF] = {"hs-inf", 0, NULL, "states: one infinity in the first layer"},
    [F_HS_ZERO] = {"hs-zero", 0, NULL, "states: all zero"},
    [F_HS_ZERO_ROW] = {"hs-zero-row", 0, NULL, "states: one row of zeros"},
    [F_HS_ZERO_SLOT] = {"hs-zero-slot", 0, NULL, "states: one layer of zeros"},
    [F_HS_CONSTANT] = {"hs-constant", 0, NULL, "states: all rows the same"},
    [F_HS_TWICE] = {"hs-twice", 0, NULL, "states: the second layer is the first again"},
    [F_HS_SLOT_LESS] = {"hs-slot-less", 0, NULL, "states: one layer too few"},
    [F_HS_SLOT_MORE] = {"hs-slot-more", 0, NULL, "states: one layer too many"},
    [F_HS_IDS] = {"hs-ids", 0, NULL, "states: the file holds other ids"},
    [F_HS_F16] = {"hs-f16", 0, NULL, "states: F16 instead of BF16"},
    [F_HS_F32] = {"hs-f32", 0, NULL, "states: F32 instead of BF16"},
    [F_HS_LATE] = {"hs-late", 300, &ms,
	"states: written that long after the reply, under the lock"},
    [F_HS_UNLOCKED] = {"hs-unlocked", 0, NULL,
	"states: written without a lock, as before vLLM 0.22 or with locking off"},
    [F_HS_CUT] = {"hs-cut", 0, NULL, "states: the file ends half way"},
    [F_HS_MISSING] = {"hs-missing", 0, NULL, "states: no file, as after a failed write"},
    [F_HS_OUTSIDE] = {"hs-outside", 0, NULL, "states: a path outside the dump directory"},
    [F_HS_LINK] = {"hs-link", 0, NULL, "states: the file is a symbolic link"},
    [F_HS_EAGLE] = {"hs-eagle", 0, NULL,
	"states: started with EAGLE, not EAGLE3: the last layer only"},
};

const char *fault_name(size_t i)
{
	return i < FAULTS ? fault_table[i].name : NULL;
}

static int find(const char *text, size_t n)
{
	for (int i = 0; i < FAULTS; i++)
		if (strlen(fault_table[i].name) == n && memcmp(fault_table[i].name, text, n) == 0)
			return i;
	return -1;
}

static int parse_when(struct fault_rule *r, char how, const char *p, size_t n)
{
	const char *dash = memchr(p, '-', n);
	size_t first = dash ? (size_t)(dash - p) : n;

	if (how == '=') {
		r->from = 1;
		r->to = 0;
		return num_double(p, n, &r->rate) < 0 || !(r->rate >= 0 && r->rate <= 1) ? -1 : 0;
	}
	if (num_u64(p, first, &r->from) < 0)
		return -1;
	r->to = r->from;
	if (dash && (num_u64(dash + 1, n - first - 1, &r->to) < 0 || r->to < r->from))
		return -1;
	return 0;
}

/* What begins with the server: no request has the number 0. */
static int lasts(enum fault kind)
{
	return kind == F_LOADING || kind == F_STORM || kind == F_HEALTH;
}

static int parse_arg(struct fault_rule *r, const char *p, size_t n)
{
	const struct fault_arg *is = fault_table[r->kind].arg_is;

	return !is || num_u64(p, n, &r->arg) < 0 || r->arg < is->from || r->arg > is->to ? -1 : 0;
}

static int bad_arg(const char *text, const struct fault_arg *is, struct err *e)
{
	if (!is)
		return err_set(e, "usage", "--fault %s: expected nothing behind the colon", text);
	return err_set(e, "usage",
	    "--fault %s: expected a number from %llu to %llu (%s) behind the colon", text,
	    (unsigned long long)is->from, (unsigned long long)is->to, is->name);
}

static int unknown(const char *text, size_t n, struct err *e)
{
	struct near near = {.word = {text, n}};

	return err_set(e, "usage", "--fault %.*s: no such fault (--faults lists them)%s",
	    n < 40 ? (int)n : 40, text, near_among(&near, fault_name));
}

int fault_add(struct fault_plan *p, const char *text, struct err *e)
{
	size_t name = strcspn(text, "=@");
	const char *when = text + name + 1;
	struct fault_rule r = {0};
	size_t n;
	int kind = find(text, name);

	if (kind < 0)
		return unknown(text, name, e);
	if (!text[name])
		return err_set(
		    e, "usage", "--fault %s: expected %s=RATE or %s@N", text, text, text);
	r.kind = (enum fault)kind;
	r.arg = fault_table[kind].arg;
	n = strcspn(when, ":");
	if (parse_when(&r, text[name], when, n) < 0 || (r.from == 0 && !lasts(r.kind)))
		return err_set(e, "usage", "--fault %s: expected %s", text,
		    text[name] == '=' ? "a rate from 0 to 1 behind the '='"
				      : "a request's number, or A-B, from 1 behind the '@'");
	if (when[n] && parse_arg(&r, when + n + 1, strlen(when + n + 1)) < 0)
		return bad_arg(text, fault_table[kind].arg_is, e);
	p->v = xgrow(p->v, &p->cap, p->n + 1, sizeof(*p->v));
	p->v[p->n++] = r;
	return 0;
}

static int strikes(const struct fault_plan *p, const struct fault_rule *r, uint64_t number)
{
	uint64_t key[2] = {number, (uint64_t)r->kind};

	if (r->from <= r->to)
		return number >= r->from && number <= r->to;
	/* 53 bits make a uniform number below 1 that a double holds exactly */
	return number > 0 && (double)(hash64(key, sizeof(key), p->seed) >> 11) * 0x1p-53 < r->rate;
}

void fault_draw(const struct fault_plan *p, uint64_t number, struct fault_hits *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < p->n; i++) {
		const struct fault_rule *r = &p->v[i];

		if (strikes(p, r, number)) {
			out->on[r->kind] = 1;
			out->arg[r->kind] = r->arg;
		}
	}
}

void fault_free(struct fault_plan *p)
{
	free(p->v);
	*p = (struct fault_plan){0};
}
