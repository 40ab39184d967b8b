/* run.h - a run of e3-prep: rows in, records or --explain's steps out */
#ifndef E3_PREP_RUN_H
#define E3_PREP_RUN_H

struct err;
struct prep_opts;

int prep_run(struct prep_opts *o, struct err *e);

#endif
