/* jinja.h - chat templates: Jinja2 as transformers sets it up
 *
 * ImmutableSandboxedEnvironment with trim_blocks and lstrip_blocks, loop controls, the generation
 * tag, Python's json.dumps as tojson, raise_exception and strftime_now, as Jinja2 3.1.6 behaves
 * on Python 3.11. The filters, tests, functions and methods are those of the const tables in
 * filters*.c, tests.c, funcs.c and methods*.c; what is outside is an error that names the
 * template's line and column. Knows nothing of chat messages: it renders a context, which is a
 * struct jval tree.
 *
 * Strings carry where they came from: every byte of the output belongs to a run with an origin,
 * 0 for template text and computed values, else the `origin` of the context string it was copied
 * from. Slices, trims, splits, joins, replacements, +, ~, %, format and changes of case keep it;
 * so does tojson for the characters of a string (its quotes and all punctuation are 0). Numbers,
 * and the repr of lists and dicts, are computed. So spans need no second rendering and no search.
 *
 * Integers beyond 64 bits are kept, compared and printed, but take no part in arithmetic: an
 * error. So is a string literal that holds half a surrogate pair.
 *
 * Life: jinja_open compiles; read-only after that and shared by threads. A rendering's memory
 * belongs to its jinja_out and is used again by the next rendering into it.
 */
#ifndef E3_JINJA_H
#define E3_JINJA_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

struct err;
struct jval;
struct jinja;

/* `name` is for messages. Class "template". */
struct jinja *jinja_open(const char *text, size_t n, const char *name, struct err *e);
void jinja_close(struct jinja *t); /* NULL is allowed */

#define JINJA_STEPS 50000000

/* What a hostile template may use: over a limit is an error, never a crash or a hang. */
struct jinja_limits {
	size_t steps;	/* evaluations, and one for every 32 bytes touched; 0: JINJA_STEPS */
	size_t output;	/* bytes printed; 0: 256 MiB */
	size_t memory;	/* bytes of values; 0: 1 GiB */
	unsigned depth; /* macro calls inside one another; 0: 200, which takes at most 1 MiB of
			 * stack. Statements and expressions nest up to 12 times as deep, values
			 * up to 1,000 */
};

struct jinja_run {
	size_t end; /* offset behind the run */
	uint32_t origin;
	uint32_t generation; /* 1 inside {% generation %}, else 0 */
};

struct jinja_out {
	struct buf text;
	struct jinja_run *runs;
	size_t nruns, cap;
	struct arena scratch; /* the interpreter's values */
	size_t steps;	      /* that the rendering took */
	/* Of the rendering before this one: */
	size_t same;		/* so many bytes at the beginning are known to be as they were */
	size_t before, written; /* its length; up to here it is written over */
	unsigned long renderings;
};

/* What the loops of earlier renderings did, for renderings that are much alike, as the prompts of
 * one conversation are: see memo.h. The text is what it is without. One template and one thread;
 * reset when strings, objects or arrays of the context change, but for the elements of the array
 * at `changing` (its .v; NULL: none). Outputs that are rendered with a memo are written by
 * nobody else in between. */
struct jinja_memo;
struct jinja_memo *jinja_memo_open(void);
void jinja_memo_reset(struct jinja_memo *m, const void *changing);
/* Iterations done from notes since the reset. */
size_t jinja_memo_hits(const struct jinja_memo *m);
void jinja_memo_close(struct jinja_memo *m); /* NULL is allowed */

#define JINJA_NO_TIME INT64_MIN /* strftime_now is an error: nothing may depend on the day */

struct jinja_env {
	const struct jval *context; /* an object: messages, tools, add_generation_prompt ...; the
				     * origins of its strings are below 2^31 */
	int64_t now; /* strftime_now's time, seconds since 1970, read as UTC; or JINJA_NO_TIME */
	struct jinja_limits limits;
	struct jinja_memo *memo; /* or NULL */
};

/* Renders into out (reset first). Class "template": raise_exception's text, an undefined
 * attribute, a refused method ..., behind "NAME:LINE:COLUMN: ". */
int jinja_render(
    const struct jinja *t, const struct jinja_env *env, struct jinja_out *out, struct err *e);
void jinja_out_free(struct jinja_out *out);

#endif
