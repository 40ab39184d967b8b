/* scope.h - which variable a name means
 *
 * Jinja2 decides this when it compiles, and a template can tell. Every for body, for condition,
 * else of a for, macro, set block, filter block, with and generation block is a scope; an if is
 * none. On entry a scope gives each of its names a first value: names that it only reads and no
 * scope around it knows are looked up in the context (LOAD_GLOBAL); a name that it sets and an
 * outer scope knows starts as the outer one's value (LOAD_ALIAS) and never gets back there; a
 * name that is set but not before it is read is unset (LOAD_UNSET), even if the context has it,
 * unless only some branch of an if sets it.
 *
 * A macro has a frame of its own and sees the variables around its definition as they are when it
 * runs. Scopes of one frame and one level share the slots of equal names.
 */
#ifndef E3_JINJA_SCOPE_H
#define E3_JINJA_SCOPE_H

#include "jinja/ast.h"

/* Gives every name its variable and every scope its loads; refuses unknown filters and tests
 * (but inside an if only when they are reached), assignments to `loop` in loops, and nesting
 * beyond SCOPE_DEPTH. */
int scope_resolve(struct jinja *t, struct err *e);

#define SCOPE_DEPTH 600
#define SCOPE_NAMES 2000 /* variables of a template or macro; a real template has some dozens */

#endif
