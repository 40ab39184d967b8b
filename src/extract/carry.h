/* carry.h - rejects of an earlier run that stay rejects
 *
 * What a server has refused because of the record itself, it would refuse again: such a line of the
 * rejects file has "permanent":true in its reject, and as long as the input holds the same record
 * (all its bytes, but for an older reject) it is rejected again without a request. What failed for
 * another reason is tried again. Memory: some 100 bytes for each. */
#ifndef E3_EXTRACT_CARRY_H
#define E3_EXTRACT_CARRY_H

#include <stddef.h>

#include "base/hash.h"

struct err;
struct rec;

struct carried {
	struct hash128 record;
	char *class, *reason;
};

struct carry {
	struct carried *v; /* by record */
	size_t n, cap;
};

/* Of a rejects file, which may be missing. */
int carry_load(struct carry *c, const char *path, struct err *e);
const struct carried *carry_find(const struct carry *c, const struct rec *r);
void carry_free(struct carry *c);

#endif
