/* item.h - a record in the window: from the input to its verdict */
#ifndef E3_INFER_ITEM_H
#define E3_INFER_ITEM_H

struct item;
struct run;
struct err;
struct flow_held;
struct carried;

/* Takes a record from the input: it is queued, or settled at once (no JSON, found done ...). */
void item_take(struct run *r, struct flow_held *held);

/* The verdicts; each frees the item. What can't be written ends the run. */
void item_out(struct run *r, struct item *it);
/* it->why says why; permanent: a resumed run does not send it again. */
void item_reject(struct run *r, struct item *it, int permanent);

/* Frees an item whose record is left to a later run. */
void item_forget(struct run *r, struct item *it);

#endif
