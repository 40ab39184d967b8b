/* turns.h - finished turns of unfinished conversations, beside the output
 *
 * A replay of ten turns that is killed at the ninth goes on there: each finished turn is a line
 * {"id","infer_key","progress"} in FILE.turns, the last one of an id counts. It is not synced (a
 * lost line costs a turn made again) and gone when the run is complete. A torn line is passed over.
 */
#ifndef E3_INFER_TURNS_H
#define E3_INFER_TURNS_H

#include <stdint.h>

#include "base/buf.h"

struct conv;
struct err;

struct turns_file {
	int fd; /* -1: none is kept */
	char *path;
	struct buf line;
};

/* Appends to the file beside `output`, or makes it anew. */
int turns_open(struct turns_file *t, const char *output, int resume, struct err *e);
int turns_note(
    struct turns_file *t, struct span id, uint64_t key, const struct conv *c, struct err *e);
/* done: the file goes. */
void turns_close(struct turns_file *t, int done);

#endif
