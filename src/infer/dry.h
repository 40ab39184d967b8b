/* dry.h - --dry-run: what a whole run would take, from a few records */
#ifndef E3_INFER_DRY_H
#define E3_INFER_DRY_H

struct err;
struct run;

/* Reads the rest of the input, counts it, prints the estimate, and ends the flow. */
int dry_finish(struct run *r, struct err *e);

#endif
