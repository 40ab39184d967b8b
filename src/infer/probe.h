/* probe.h - asking a server what it is and whether it works
 *
 *	probe_facts	every path of serve_probes that its API has; at the first time how it renders
 *			a message, which is only told where it is another way; then a trial
 *	probe_trial	one token from a short prompt: ids, parameters and the key are all tried
 *	probe_health	any answer shows that it lives; where connections were lost, the facts follow
 * One at a time a server. The end is told to endpoint.c.
 */
#ifndef E3_INFER_PROBE_H
#define E3_INFER_PROBE_H

struct endpoint;
struct http_done;
struct run;

void probe_facts(struct run *r, struct endpoint *ep);
void probe_trial(struct run *r, struct endpoint *ep);
void probe_health(struct run *r, struct endpoint *ep);
void probe_done(struct run *r, struct endpoint *ep, struct http_done *d);

/* What is being asked now: "/v1/models". */
const char *probe_path(const struct endpoint *ep);

#endif
