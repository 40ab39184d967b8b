/* answer.h - a reply as a message and a generation */
#ifndef E3_INFER_ANSWER_H
#define E3_INFER_ANSWER_H

#include "base/buf.h"
#include "base/ints.h"
#include "infer/options.h"

struct err;
struct item;
struct run;
struct serve_reply;

struct answer {
	enum status status;
	struct buf message;    /* {"role":"assistant",...} */
	struct buf generation; /* what the record keeps of it (e3-record(5)), but for `message` */
};

/* -1: ids that are none of this vocabulary's. */
int answer_make(struct run *r, struct item *it, const struct serve_reply *reply, struct answer *a,
    struct err *e);
void answer_free(struct answer *a);

/* Whether ids end in a loop: one piece of at most ANSWER_PERIOD ids again and again, for at least
 * ANSWER_LOOP ids and ANSWER_TIMES times. */
#define ANSWER_PERIOD 256
#define ANSWER_LOOP   128
#define ANSWER_TIMES  8
int answer_loops(const int32_t *ids, size_t n);

#endif
