/* attempt.h - one request: out, back, and what its end means */
#ifndef E3_INFER_ATTEMPT_H
#define E3_INFER_ATTEMPT_H

struct call;
struct endpoint;
struct http_done;
struct item;
struct run;

/* Sends the item's next request to the server. The item may be rejected in place of that (its
 * prompt does not render, or can't fit). */
void attempt_start(struct run *r, struct endpoint *ep, struct item *it);
void attempt_done(struct run *r, struct item *it, struct http_done *d);

/* Whose fault it was is settled: the record's (it pays an attempt) ... */
void attempt_charge(struct run *r, struct item *it);
/* ... its own for good (rejected) ... */
void attempt_refuse(struct run *r, struct item *it);
/* ... or the server's (it goes back and pays nothing). */
void attempt_pardon(struct run *r, struct item *it);
/* The server died with it in flight: pardoned, unless it was alone there, twice. */
void attempt_crashed(struct run *r, struct item *it);

/* Tells the server to forget a request (where the API has that). it: waits for it, or NULL. */
void attempt_abort(struct run *r, struct endpoint *ep, struct item *it, const char *rid);
void attempt_abort_done(struct run *r, struct call *c);
/* Breaks off all that is in flight at ep (NULL: everywhere); the items go back. crashed: as after
 * the server's death. */
void attempt_cancel_all(struct run *r, struct endpoint *ep, int crashed);

#endif
