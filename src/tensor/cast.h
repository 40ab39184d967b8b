/* cast.h - states in another float type
 *
 * Rounded once, to nearest, ties to even, as torch and numpy do; to f32 exactly. Values that were
 * finite and would become infinite (above 65,504 in f16, or within rounding of the largest bf16)
 * are an error, class "overflow", that says how many there are and where the first: a file with
 * Inf is of no use to anybody. */
#ifndef E3_CAST_H
#define E3_CAST_H

#include "tensor/states.h"

struct err;

/* Makes s point into new memory, which the caller frees, or returns NULL. */
char *states_cast(struct states *s, enum dtype to, struct err *e);

#endif
