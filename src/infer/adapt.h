/* adapt.h - how many requests at once, and whether the server still makes tokens
 *
 * By the server's own figures (/metrics), every 5 seconds with --adaptive, else every 30:
 *
 *	fewer run than allowed to, none wait	grow by 5%, at least 1
 *	more wait than 2 and 5% of the running	shrink by what waits
 *	cache above 0.90			no growth
 *	a new preemption or retraction		to 0.8, and stay so for a minute
 *	cache size known			at most 0.9 x its tokens / mean length
 *
 * Latency is no signal: answers have 50 to 16,384 tokens. Without --adaptive only the last is
 * watched: a server with requests that makes no token for 5 minutes hangs, which is an outage.
 * One that has no figures stays at what it was given, and its health is asked for: it hangs when for
 * 5 minutes that fails and no request is answered. Either alone says nothing: health endpoints say yes
 * of a dead engine and no of a busy one. SGLang's replies tell of retractions.
 */
#ifndef E3_INFER_ADAPT_H
#define E3_INFER_ADAPT_H

#include <stdint.h>

struct endpoint;
struct http_done;
struct run;

/* Asks when it is time; returns when the next time is. */
uint64_t adapt_tick(struct run *r, struct endpoint *ep);
void adapt_done(struct run *r, struct endpoint *ep, struct http_done *d);
/* A reply said that its request was pushed out of the cache once. */
void adapt_retracted(struct run *r, struct endpoint *ep);

#endif
