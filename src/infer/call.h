/* call.h - what a run sends to a server */
#ifndef E3_INFER_CALL_H
#define E3_INFER_CALL_H

#include <stdint.h>

struct call;
struct err;
struct http_done;
struct run;

/* POSTs the call's body to a path of its server, or GETs the path where the body is empty. ms: at
 * most so long; 0: no limit. The end comes with call->xfer; NULL: it could not be begun, and the run
 * ends. */
void call_send(struct run *r, struct call *c, const char *path, uint32_t ms);

/* What came in place of an answer, in words: "HTTP 404: Not Found". Returns whether it says that the
 * model is being loaded. */
int call_tell(const struct http_done *d, const char *class, struct err *e);

#endif
