/* endpoint.h - a server's state, and who may be sent to it
 *
 *	ASKED --probe good--> UP --attempt ends oddly--> SUSPECT --alive--> UP
 *	  ^                    \                             \
 *	  |                     '--refused, loading--> DOWN <-'--dead
 *	  '------------- its time has come ------------/
 *
 * A full server turns requests away, and is sent fewer at once (serve/capacity.h); one that is full
 * while it has none of ours is down.
 * DOWN is an outage: what was in flight goes back and pays nothing; the server is asked again after
 * 1, 2, 4 .. 30 seconds, and comes back at half its load, 10% more a second. While others are up, a
 * server that answers nonsense, refuses everything or has become another one is down, too.
 * SUSPECT holds the attempts that ended oddly (a lost connection, an unexpected 404) until the
 * server has shown whether it lives and works: only then it is known whose fault they were.
 * A record that was in flight at 3 crashes runs alone; one that kills the server alone twice is
 * rejected ("poison").
 */
#ifndef E3_INFER_ENDPOINT_H
#define E3_INFER_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

struct endpoint;
struct err;
struct item;
struct run;

struct endpoint *endpoint_new(const char *url);
void endpoint_free(struct endpoint *ep);

/* Reads the servers file, or the options, into the run: new servers are asked, those that are gone
 * finish what they have. */
int endpoints_load(struct run *r, struct err *e);

/* What time brings: probes, ramps. Returns when it is next wanted, in ms of the run's clock. */
uint64_t endpoints_tick(struct run *r);

/* The server for the next record, or NULL where none has room. */
struct endpoint *endpoint_choose(struct run *r, const struct item *it);
double endpoint_most(const struct endpoint *ep); /* at once, now */
size_t endpoints_running(const struct run *r);
size_t endpoints_in_state(const struct run *r, int state);

/* An attempt ended in a way that may be the server's fault: into the limbo, and ask. */
void endpoint_suspect(struct run *r, struct endpoint *ep, struct item *it);

/* An attempt was answered with an error that may pass. 1: there are so many in a row that it is an
 * outage, and this one pays nothing. */
int endpoint_fails(struct run *r, struct endpoint *ep, const struct err *why);

/* It refused a request. 1: and the one before, with no good answer in between. Whose fault that is
 * can't be told any more, but by asking. */
int endpoint_refuses(struct endpoint *ep);

/* Whether the run can do without it, as others are up. */
int endpoint_has_others(const struct run *r, const struct endpoint *ep);

/* A request was turned away, not begun; and one was answered well. */
void endpoint_is_full(struct run *r, struct endpoint *ep, const struct err *why);
void endpoint_answers(struct endpoint *ep);

/* What a probe found. */
void endpoint_is_up(struct run *r, struct endpoint *ep);    /* after facts and trial */
void endpoint_is_alive(struct run *r, struct endpoint *ep); /* a suspect is */
void endpoint_is_down(struct run *r, struct endpoint *ep, const struct err *why);

const char *endpoint_state_name(const struct endpoint *ep);

#endif
