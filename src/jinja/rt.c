#include "jinja/rt.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "jinja/ast.h"
#include "jinja/text.h"

int rt_fail(struct rt *rt, const char *fmt, ...)
{
	char msg[sizeof(rt->e->msg)];
	va_list ap;

	if (rt->failed)
		return -1;
	rt->failed = 1;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return jinja_error(rt->t, rt->at ? rt->at->at : 0, msg, rt->e);
}

int rt_room(struct rt *rt, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || rt->used > rt->max.memory ||
	    bytes > rt->max.memory - rt->used)
		return rt_fail(
		    rt, "the template needs more than %zu bytes of memory", rt->max.memory);
	return 0;
}

int rt_limits(struct rt *rt)
{
	if (rt->steps > rt->max.steps)
		return rt_fail(rt, "the template takes more than %zu steps", rt->max.steps);
	return rt_room(rt, 0, 1);
}

static int check_room(struct rt *rt, size_t n)
{
	if (rt_step(rt, n) < 0)
		return -1;
	if (n > rt->max.output || rt->out->text.len > rt->max.output - n)
		return rt_fail(rt, "the template prints more than %zu bytes", rt->max.output);
	return 0;
}

/* Whether the last rendering's bytes are still in the output's memory behind the text so far. */
static int still_there(const struct jinja_out *o, size_t n)
{
	return o->text.len >= o->written && o->text.len <= o->before &&
	       n <= o->before - o->text.len;
}

static void add_bytes(struct jinja_out *o, const char *p, size_t n)
{
	if (o->same == o->text.len && still_there(o, n) &&
	    memcmp(o->text.data + o->text.len, p, n) == 0) {
		o->text.len += n;
		o->same += n;
		return;
	}
	buf_add(&o->text, p, n);
	if (o->text.len > o->written)
		o->written = o->text.len;
}

static void add_run(struct rt *rt, size_t end, uint32_t origin, uint32_t generation)
{
	struct jinja_out *o = rt->out;
	struct jinja_run *last = o->nruns > rt->floor ? &o->runs[o->nruns - 1] : NULL;

	if (last && last->origin == origin && last->generation == generation) {
		last->end = end;
		return;
	}
	o->runs = xgrow(o->runs, &o->cap, o->nruns + 1, sizeof(*o->runs));
	o->runs[o->nruns++] = (struct jinja_run){end, origin, generation};
}

int rt_emit(struct rt *rt, const char *p, size_t n, uint32_t origin)
{
	if (n == 0)
		return 0;
	if (check_room(rt, n) < 0)
		return -1;
	add_bytes(rt->out, p, n);
	add_run(rt, rt->out->text.len, origin & ~ORIGIN_GENERATION,
	    ((origin | rt->generation) & ORIGIN_GENERATION) != 0);
	return 0;
}

int rt_emit_runs(struct rt *rt, const char *p, const struct jinja_run *run, size_t nrun, int there)
{
	struct jinja_out *o = rt->out;
	const size_t n = nrun ? run[nrun - 1].end : 0, at = o->text.len;

	if (n == 0)
		return 0;
	if (check_room(rt, n) < 0)
		return -1;
	if (there && still_there(o, n)) {
		o->same += o->same == at ? n : 0;
		o->text.len += n;
	} else {
		add_bytes(o, p, n);
	}
	for (size_t i = 0; i < nrun; i++)
		add_run(rt, at + run[i].end, run[i].origin, run[i].generation);
	return 0;
}

int rt_print(struct rt *rt, const struct value *v)
{
	struct value s = *v;
	struct text_piece pc;

	if (v->kind == V_UNDEF)
		return 0;
	if (v->kind != V_STR && text_str(rt, v, &s) < 0)
		return -1;
	for (size_t at = 0; text_piece(&s, at, &pc); at += pc.n)
		if (rt_emit(rt, pc.p, pc.n, pc.origin) < 0)
			return -1;
	return 0;
}

void rt_capture(struct rt *rt, struct capture *c)
{
	*c = (struct capture){rt->out->text.len, rt->out->nruns, rt->floor};
	rt->floor = rt->out->nruns;
	rt->captures++;
}

void rt_drop(struct rt *rt, const struct capture *c)
{
	rt->out->text.len = c->text;
	rt->out->nruns = c->run;
	rt->floor = c->floor;
	rt->captures--;
	if (rt->out->same > c->text)
		rt->out->same = c->text;
}

static uint32_t inner_origin(const struct jinja_run *r)
{
	return r->origin | (r->generation ? ORIGIN_GENERATION : 0);
}

/* What was printed since, n bytes in nrun runs, with a store of its own. */
static void captured_text(struct rt *rt, const struct capture *c, size_t n, struct value *out)
{
	struct jinja_out *o = rt->out;
	const struct jinja_run *run = o->runs + c->run;
	size_t nrun = o->nruns - c->run;
	struct store *b = rt_alloc(rt, sizeof(*b));

	*b = (struct store){
	    .data = rt_alloc(rt, n), .len = n, .cap = n, .nrun = nrun, .caprun = nrun};
	b->run = rt_array(rt, nrun, sizeof(*b->run));
	memcpy(b->data, o->text.data + c->text, n);
	for (size_t i = 0; i < nrun; i++)
		b->run[i] = (struct text_run){run[i].end - c->text, inner_origin(&run[i])};
	value_str(out, b->data, n);
	out->u.s.b = b;
	out->origin = b->run[0].origin;
	out->flags = nrun > 1 ? STR_RUNS : 0;
}

void rt_captured(struct rt *rt, const struct capture *c, struct value *out)
{
	size_t n = rt->out->text.len - c->text;

	value_str(out, "", 0);
	if (n > 0)
		captured_text(rt, c, n, out);
	rt_drop(rt, c);
}
