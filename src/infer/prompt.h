/* prompt.h - what an item's next request asks, and whether the server can hold it */
#ifndef E3_INFER_PROMPT_H
#define E3_INFER_PROMPT_H

#include "base/buf.h"

struct chat_conv;
struct endpoint;
struct err;
struct item;
struct run;

/* Renders the prompt's ids into r->prompt, where the route takes ids. -1: the record's fault: the
 * template refuses it, or it can't fit into the model's context. */
int prompt_make(struct run *r, struct endpoint *ep, struct item *it, struct err *e);
/* r->prompt again, from the body that was sent to a route that takes ids: while a request is in
 * flight its ids are there only. */
int prompt_sent(struct run *r, const struct item *it, struct err *e);
/* The same as JSON text in that body; p NULL where messages were sent. */
struct span prompt_text(const struct item *it);

/* The conversation up to here as chat/ reads it; it lasts until the next call. */
int prompt_conv(struct run *r, const struct item *it, struct chat_conv *conv, struct err *e);

#endif
