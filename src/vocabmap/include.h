/* include.h - the ids of --include
 *
 * One a line, blanks around it are no matter; # begins a comment. */
#ifndef E3_VOCABMAP_INCLUDE_H
#define E3_VOCABMAP_INCLUDE_H

#include <stdint.h>

struct err;
struct ints;

/* Adds the file's ids, each below vocab, in its order. */
int include_read(struct ints *ids, const char *path, uint64_t vocab, struct err *e);

#endif
