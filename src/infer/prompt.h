/* prompt.h - what an item's next request asks, and whether the server can hold it */
#ifndef E3_INFER_PROMPT_H
#define E3_INFER_PROMPT_H

struct endpoint;
struct err;
struct item;
struct run;

/* Renders the prompt's ids, where the route takes ids and they are not there yet. -1: the record's
 * fault: the template refuses it, or it can't fit into the model's context. */
int prompt_make(struct run *r, struct endpoint *ep, struct item *it, struct err *e);

#endif
