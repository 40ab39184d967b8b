/* turns.h - finished turns of unfinished conversations, beside the output
 *
 * A replay of ten turns that is killed at the ninth goes on there: each finished turn but the last is
 * a line {"id","infer_key","after","message","generation"} in FILE.turns, `after` being conv's sum of
 * the answers before it: a turn counts where these are the ones that it was built on. It is not synced
 * (a lost line costs the turns from there on made again) and gone when the run is complete. A torn
 * line is passed over.
 *
 * Of what an earlier run noted only the places are held, 32 bytes each, of conversations that are
 * not done; the lines are read again when their record comes.
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

struct turn {
	struct span id; /* of its record */
	uint64_t key, after;
	struct span message, generation; /* as conv_answer takes them */
};

struct turns_file {
	int fd; /* -1: none is kept */
	char *path;
	struct turns_place *place; /* by id, in the order of the file */
	size_t nplaces, cap;
	int torn; /* it may end within a line */
	struct buf line;
	struct rec rec;
};

/* Appends to the file beside `output` and looks for what is there of ids that are not done; done
 * NULL: makes it anew. */
int turns_open(struct turns_file *t, const char *output, const struct hashset *done, struct err *e);
/* Gives c the answers that are noted of a record and go on where it stands. */
void turns_resume(struct turns_file *t, struct span id, uint64_t key, struct conv *c);
int turns_note(struct turns_file *t, const struct turn *turn, struct err *e);
/* done: the file goes. So does an empty one. */
void turns_close(struct turns_file *t, int done);

#endif
