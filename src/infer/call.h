/* call.h - what a run sends to a server */
#ifndef E3_INFER_CALL_H
#define E3_INFER_CALL_H

#include <stdint.h>

struct call;
struct run;

/* POSTs the call's body to a path of its server, or GETs the path where the body is empty. ms: at
 * most so long; 0: no limit. The end comes with call->xfer; NULL: it could not be begun, and the run
 * ends. */
void call_send(struct run *r, struct call *c, const char *path, uint32_t ms);

#endif
