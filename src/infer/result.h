/* result.h - a reply as a message and a generation */
#ifndef E3_INFER_RESULT_H
#define E3_INFER_RESULT_H

#include "base/buf.h"
#include "base/ints.h"
#include "infer/options.h"

struct err;
struct item;
struct run;
struct serve_reply;

struct result {
	enum status status;
	struct buf message;    /* {"role":"assistant",...} */
	struct buf generation; /* what the record keeps of it (e3-record(5)), but for `message` */
};

/* -1: ids that are none of this vocabulary's. */
int result_make(struct run *r, struct item *it, const struct serve_reply *reply, struct result *a,
    struct err *e);
void result_free(struct result *a);

/* Whether the reply has an id that the folder of --model has not; e says which, and asks. */
int result_foreign(const struct run *r, const struct serve_reply *reply, struct err *e);

/* Whether ids end in a loop: one piece of at most RESULT_PERIOD ids again and again, for at least
 * RESULT_LOOP ids and RESULT_TIMES times. */
#define RESULT_PERIOD 256
#define RESULT_LOOP   128
#define RESULT_TIMES  8
int result_loops(const int32_t *ids, size_t n);

#endif
