/* spool.h - bytes sorted into parts, in bounded memory
 *
 * Appends pieces to numbered parts, and gives back each part as one piece of memory. What goes
 * beyond the memory goes to an unnamed temporary file: all parts' bytes in turn, each time memory
 * is full, in one sequential run. A part comes back in runs of memory / parts, 256 KiB or more. So
 * the disk, or the network file system, sees two sequential passes and nothing random.
 *
 * Memory: what was asked for, and at the end the largest part. */
#ifndef E3_MERGE_SPOOL_H
#define E3_MERGE_SPOOL_H

#include "base/buf.h"

struct err;
struct spool;

/* dir: for the temporary file, see temp_open(). It is made when it is needed. */
struct spool *spool_open(uint64_t memory, const char *dir);
/* Parts are made as they are named. */
int spool_add(struct spool *s, size_t part, const struct span *pieces, size_t n, struct err *e);
size_t spool_parts(const struct spool *s);
/* All of the part's bytes, in the order in which they were added; the part is empty afterwards. */
int spool_take(struct spool *s, size_t part, struct buf *into, struct err *e);
void spool_close(struct spool *s); /* NULL is allowed */

#endif
