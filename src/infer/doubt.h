/* doubt.h - whether --model is the folder of the model served, as the first answers tell
 *
 * An answer whose parts can't be told is kept, and marked. When the first DOUBT_MANY that were not
 * cut are all so, the folder's tokens or its template are not the model's, and the run ends. Until one
 * is told into its parts, or as many were cut, all records wait here: of a run that ends by it none is
 * written, and a later one asks for them again. An --on-unparsed of the user's own turns all this off.
 */
#ifndef E3_INFER_DOUBT_H
#define E3_INFER_DOUBT_H

struct item;
struct run;

#define DOUBT_MANY 20

/* The verdict of a record whose answers are made and counted: it is written, rejected where a policy
 * drops it, or waits. */
void doubt_verdict(struct run *r, struct item *it);
/* After each answer and each turn: writes what waits where there is no doubt any more or nothing
 * else to wait for, or ends the run. */
void doubt_settle(struct run *r);
void doubt_write(struct run *r);
void doubt_forget(struct run *r);

#endif
