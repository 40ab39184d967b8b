/* tools.h - recorded tool results for new tool calls
 *
 * A call of the new answer gets the result of the first call of the record's own message with the
 * same function name and arguments, else of the first of that name that is left; a result belongs
 * to the call whose id it names, else to the call of its number. A result goes out with the new
 * call's id. */
#ifndef E3_INFER_TOOLS_H
#define E3_INFER_TOOLS_H

#include "infer/conv.h"

/* How many of the results were recorded for other arguments; or -1: a call is left without a
 * result, and nothing was appended. Appends a tool message for each call of `calls` to the
 * conversation. results: n tool messages of the record; own: the calls that they answer (p NULL:
 * unknown, then by number). */
int tools_answer(
    struct conv *c, struct span calls, struct span own, const struct conv_msg *results, size_t n);

#endif
