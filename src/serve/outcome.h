/* outcome.h - what counts as what: success, the record's fault, the server's, ours
 *
 * The one table of the toolkit by which an attempt's end becomes an action; what each class costs
 * and how often it is tried again is the caller's policy.
 */
#ifndef E3_SERVE_OUTCOME_H
#define E3_SERVE_OUTCOME_H

#include <stddef.h>

enum serve_class {
	CLASS_OK,
	CLASS_PERMANENT, /* the record's fault: rejected, never tried again */
	CLASS_TRANSIENT, /* tried again after a pause; costs an attempt */
	CLASS_BUSY,	 /* turned away, not begun: the server has all that it takes */
	CLASS_UNPARSED,	 /* tried again once or twice, then rejected with the raw body */
	CLASS_OUTAGE,	 /* the server's fault: it is paused, the record waits and pays nothing */
	CLASS_CONFIG,	 /* nothing will work there until somebody mends it */
	CLASS_OURS,	 /* this machine's limits: the run stops, to be resumed */
};

/* What a whole body of status 200 turned out to be. */
enum serve_found {
	FOUND_GOOD,
	FOUND_SHAPE,	/* no JSON, cut, another shape */
	FOUND_ABORT,	/* finish reason abort */
	FOUND_EMPTY,	/* no token */
	FOUND_MISMATCH, /* counts, rid, stop token or echoed prompt are not as they must be */
	FOUND_NO_IDS,	/* ids asked for and not given */
	FOUND_CUT,	/* the server shortened the prompt */
	FOUND_WEIGHTS,	/* by other weights than those that were asked */
	FOUND_FOREIGN,	/* ids that the caller's vocabulary has not */
	FOUND_LOADING,	/* an error reply that says: the model is being loaded */
};

struct serve_evidence {
	int curl;		/* CURLcode */
	int sys_errno;		/* why no socket was to be had, or 0 */
	int status;		/* HTTP */
	enum serve_found found; /* of the body */
};

struct serve_outcome {
	enum serve_class class;
	const char *name; /* a static word or two for counts and rejects: "connection lost" */
};

struct serve_outcome serve_classify(const struct serve_evidence *ev);
/* What to look at where a host that may be no model server answers so; NULL: nothing better is known
 * than the outcome's name. */
const char *serve_look(const struct serve_evidence *ev);
const char *serve_class_name(enum serve_class c);

#endif
