/* resume.h - what an earlier run left: answers, and rejects that stay rejects
 *
 * The done set is rebuilt from the output's own lines, by id and infer_key, in 16 to 43 bytes for
 * each of two fingerprints a record. Rejects of the earlier run are held as they are.
 */
#ifndef E3_INFER_RESUME_H
#define E3_INFER_RESUME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "infer/options.h"
#include "serve/facts.h"
#include "json/rec.h"

struct err;
struct flow;

struct carried {
	struct hash128 id;
	uint64_t key;
	size_t order;  /* of reading: the last one of an id counts */
	int permanent; /* the record's own fault, or dropped by a policy: not sent again */
	char *class, *reason;
	char *more;	/* the further members of its reject, as JSON text */
	char *progress; /* turns that were finished (conv_progress), or NULL */
	int settled;	/* this run came to a verdict, and has written it */
};

struct resume {
	struct hashset ids, done;    /* of the ids; of ids with their keys */
	uint64_t statuses[STATUS_N]; /* of each line's last answer */
	struct carried *carried;     /* by id */
	size_t ncarried, cap;
	struct span sampling; /* what the lines must have been made with */
	/* what they were made by; empty: none of them says it */
	char model[256], weights[sizeof(((struct serve_facts *)0)->weight_version)];
	struct rec rec;
	struct buf text, pair; /* scratch */
};

/* A line of the output (part_line_fn). Refuses one that was made with other parameters, with the
 * difference. */
int resume_line(void *resume, const char *line, size_t n, uint64_t number, struct err *e);
/* Once the servers have said what they serve: refuses another model than the lines', and other
 * weights. Empty: not told. */
int resume_check_maker(
    const struct resume *r, const char *model, const char *weights, struct err *e);
/* The rejects file of the earlier run; none is no error. */
int resume_rejects(struct resume *r, const char *path, struct err *e);
/* Of a run that ends early: hands those that it did not settle to its own rejects, which replace the
 * file. */
int resume_keep_rejects(struct resume *r, const char *path, struct flow *flow, struct err *e);

enum resume_found { RESUME_NEW, RESUME_DONE, RESUME_CHANGED };
enum resume_found resume_find(const struct resume *r, struct span id, uint64_t key);
/* Whatever its key. */
struct carried *resume_carried(const struct resume *r, struct span id);
void resume_free(struct resume *r);

/* infer_key: of the record as read and of all that shapes its answer. */
uint64_t resume_key(struct span line, struct span params);

#endif
