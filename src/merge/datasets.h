/* datasets.h - names to small numbers, in the order of their first appearance */
#ifndef E3_MERGE_DATASETS_H
#define E3_MERGE_DATASETS_H

#include <stdint.h>

#include "base/buf.h"

#define DATASETS_MAX 65535

struct err;

struct datasets {
	char **name;
	uint16_t *sorted; /* numbers, by name */
	size_t n, cap, csorted;
};

/* The number of the name, which has no NUL, new or old; -1, class "range": there are DATASETS_MAX
 * others. */
int datasets_add(struct datasets *d, struct span name, struct err *e);
int datasets_find(const struct datasets *d, struct span name); /* -1: unknown */
void datasets_free(struct datasets *d);

#endif
