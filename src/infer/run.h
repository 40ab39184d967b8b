/* run.h - the loop of e3-infer */
#ifndef E3_INFER_RUN_H
#define E3_INFER_RUN_H

#include "infer/options.h"

struct err;

/* A whole run. say: a line for the user, as it goes. 0 done, a signal's number where one ended it,
 * or -1. */
int infer_run(const struct options *o, void (*say)(const char *text), struct err *e);

#endif
