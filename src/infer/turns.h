/* turns.h - finished turns of unfinished conversations, beside the output
 *
 * A replay of ten turns that is killed at the ninth goes on there: each finished turn is a line
 * {"id","infer_key","progress"} in FILE.turns, the last one of an id counts. It is not synced (a
 * lost line costs a turn made again) and gone when the run is complete. A torn line is passed over.
 *
 * Of what an earlier run noted only the places are held, 32 bytes each, of conversations that are
 * not done; the line is read again when its record comes.
 */
#ifndef E3_INFER_TURNS_H
#define E3_INFER_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "json/rec.h"

struct conv;
struct err;

struct turns_place {
	struct hash128 id;
	uint64_t at, n; /* bytes of the line, with its end */
};

struct turns_file {
	int fd; /* -1: none is kept */
	char *path;
	struct turns_place *place; /* by id */
	size_t nplaces, cap;
	struct buf line;
	struct rec rec;
};

/* Appends to the file beside `output` and looks for what is there of ids that are not done; done
 * NULL: makes it anew. */
int turns_open(struct turns_file *t, const char *output, const struct hashset *done, struct err *e);
/* The progress that is noted of a record, until the next call; p NULL: none. */
struct span turns_find(struct turns_file *t, struct span id, uint64_t key);
int turns_note(
    struct turns_file *t, struct span id, uint64_t key, const struct conv *c, struct err *e);
/* done: the file goes. */
void turns_close(struct turns_file *t, int done);

#endif
