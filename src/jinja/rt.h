/* rt.h - one rendering: its memory, its output, its limits, its error
 *
 * Functions that can fail return -1 with the error set; the first error ends the rendering, so
 * nobody tests for more than that.
 */
#ifndef E3_JINJA_RT_H
#define E3_JINJA_RT_H

#include <stddef.h>
#include <stdint.h>

#include "jinja/jinja.h"
#include "jinja/value.h"

struct node;
struct memo_note;

#define ORIGIN_GENERATION 0x80000000u /* set in origins inside {% generation %} */
#define NEST		  12	      /* evaluations in one another, for each macro call */
#define VALUE_DEPTH	  1000	      /* lists in lists, for ==, repr, tojson, hash */

struct rt {
	const struct jinja *t;
	const struct jinja_env *env;
	struct jinja_out *out;
	struct err *e;
	struct jinja_limits max;
	const struct node *at; /* what is evaluated now, for messages */
	struct value *global;  /* what free names stand for, by number */
	size_t steps, used;
	size_t floor;			/* runs of the output below this one are closed */
	unsigned calls, nest, depth;	/* of macros, of evaluation, of values */
	int failed;			/* the first error stays */
	uint32_t generation;		/* ORIGIN_GENERATION or 0 */
	unsigned captures;		/* open now */
	struct memo_note *note;		/* the iteration that memo.h takes note of, or NULL */
	uint32_t iteration, iterations; /* its number; numbers given */
	uint32_t spaces;		/* namespaces made */
};

/* The variables of one macro call, or of the template. */
struct frame {
	struct frame *outer; /* of where the macro was defined */
	struct value slot[];
};

int rt_fail(struct rt *rt, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Memory until the rendering ends; small requests only, or after rt_room. */
static inline void *rt_alloc(struct rt *rt, size_t n)
{
	rt->used += n;
	return arena_alloc(&rt->out->scratch, n);
}

static inline void *rt_array(struct rt *rt, size_t n, size_t size)
{
	rt->used += n * size;
	return arena_array(&rt->out->scratch, n, size);
}

int rt_room(struct rt *rt, size_t n, size_t size); /* whether n * size more bytes are allowed */

/* Fails where steps or memory are used up. */
int rt_limits(struct rt *rt);

/* One step, and one for every 32 bytes. */
static inline int rt_step(struct rt *rt, size_t bytes)
{
	rt->steps += 1 + bytes / 32;
	return rt->steps > rt->max.steps || rt->used > rt->max.memory ? rt_limits(rt) : 0;
}

/* Into the output. */
int rt_emit(struct rt *rt, const char *p, size_t n, uint32_t origin);
/* A text with its runs, whose ends count from its start. there: it stands in the output's memory at
 * this place since the last rendering, if nothing was written over it. */
int rt_emit_runs(struct rt *rt, const char *p, const struct jinja_run *run, size_t nrun, int there);
int rt_print(struct rt *rt, const struct value *v); /* Python's str() of v */

/* What is printed between the two becomes a string. */
struct capture {
	size_t text, run, floor;
};
void rt_capture(struct rt *rt, struct capture *c);
void rt_captured(struct rt *rt, const struct capture *c, struct value *out);
void rt_drop(struct rt *rt, const struct capture *c);

#endif
