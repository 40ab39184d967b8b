/* eval.h - the interpreter: statements print, expressions give values */
#ifndef E3_JINJA_EVAL_H
#define E3_JINJA_EVAL_H

#include "jinja/ast.h"
#include "jinja/builtins.h"
#include "jinja/rt.h"

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE }; /* or -1 */

int exec_list(struct rt *rt, struct frame *f, const struct node *n);
int eval(struct rt *rt, struct frame *f, const struct node *n, struct value *out);
int eval_truth(struct rt *rt, struct frame *f, const struct node *n); /* 0, 1, -1 */

void scope_enter(struct rt *rt, struct frame *f, const struct scope *s);
void scope_leave(struct frame *f, const struct scope *s);
struct frame *frame_new(struct rt *rt, struct frame *outer, size_t slots);

static inline struct value *frame_slot(struct frame *f, struct var v)
{
	for (unsigned i = 0; i < v.hops; i++)
		f = f->outer;
	return &f->slot[v.slot];
}

/* Sets a target's names; `v` is unpacked for a tuple. */
int assign(struct rt *rt, struct frame *f, const struct node *target, const struct value *v);

/* Whether the condition of a loop lets an item through: 1, 0, -1. */
int eval_loop_filter(struct rt *rt, struct frame *f, const struct node *loop, struct value *item);

/* ---- calls (call.c) ---- */

/* The call n; `print`: its result is printed (a macro's at once) and not returned. */
int eval_call(struct rt *rt, struct frame *f, const struct node *n, struct value *out, int print);
int eval_filter(struct rt *rt, struct frame *f, const struct node *n, struct value *out);
int eval_test(struct rt *rt, struct frame *f, const struct node *n, struct value *out);
/* The filters of a block over its text. */
int eval_block_filter(struct rt *rt, struct frame *f, const struct node *n, struct value *text);

int call_bound(struct rt *rt, const struct callable *what, const struct value *self,
    const struct args *args, struct value *out);
int call_value(
    struct rt *rt, const struct value *callee, const struct args *args, struct value *out);

/* ---- attributes and items (attr.c) ---- */

/* 1: of is a dict that has the key; 0. */
int attr_key(struct rt *rt, const struct value *of, struct span name, struct value *out);
int attr_get(struct rt *rt, const struct value *of, struct span name, struct value *out);
int item_get(struct rt *rt, const struct value *of, const struct value *at, struct value *out);
/* of[start:stop:step]; V_NONE or V_MISSING: not given */
int slice_get(
    struct rt *rt, const struct value *of, const struct value bound[3], struct value *out);

/* ---- operators (arith.c) ---- */

int arith_binary(struct rt *rt, enum node_kind op, const struct value *a, const struct value *b,
    struct value *out);
int arith_repeat(struct rt *rt, const struct value *s, int64_t times, struct value *out);
int arith_unary(struct rt *rt, enum node_kind op, const struct value *a, struct value *out);

#endif
