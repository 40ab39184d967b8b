/* run.h - the loop of e3-infer */
#ifndef E3_INFER_RUN_H
#define E3_INFER_RUN_H

#include "infer/options.h"

/* From the options to the exit status; prints what went wrong. */
int infer_run(const struct options *o);

#endif
