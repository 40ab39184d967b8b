/* part.h - an output that grows for days: FILE.part, then FILE
 *
 * For e3-infer and e3-extract (DESIGN.md section 6). Whole lines are appended to FILE.part, and
 * synced at least every second (part_tick); part_finish syncs and renames to FILE. A kill at any
 * byte leaves a file whose whole lines are all true; what follows the last of them is cut on
 * resume.
 *
 * With zstd (path ends in ".zst", or asked for) each sync ends a frame, so that FILE.part decodes
 * to its last whole frame; on resume what follows it is cut.
 *
 *	p = part_open(path, zstd, resume, &e);	   -> locks FILE.part, or FILE when resuming
 *	part_replay(p, fn, ctx, &e)		   -> each whole line that is there already
 *	part_begin(p, &e)			   -> the torn end is cut, FILE becomes FILE.part
 *	part_append(p, line, n, &e) ...  part_tick(p, now, &e)
 *	part_finish(p, &e) or part_close(p, &e)	   -> FILE, or FILE.part kept for a later resume
 *
 * FILE's time is that of part_finish, also where nothing was appended: make, which started the run
 * because its input was newer, would start it again for ever.
 *
 * Before part_begin nothing that was there is changed, not even its time: a run that is refused,
 * for whatever reason, leaves it as it is, and where it is, and takes an empty FILE.part of its own
 * away again. A FILE with a torn end is refused: no run finished it.
 *
 * Refused: an existing FILE or FILE.part without resume; both of them with resume; a FILE.part that
 * is compressed where this run's would not be, or the other way round; a second run on the
 * same output (a lock held by flock: gone with the process, whatever ends it).
 *
 * After an error nothing more is written, so that a torn line stays the last one; part_close then
 * keeps what is there, and a later resume goes on from it.
 *
 * path NULL or "-" is standard output, and an existing device, FIFO or socket is like it: lines are
 * handed to the kernel as they come; neither resumable nor locked. A reader that goes away is class
 * "pipe", for prog_fail.
 *
 * Memory: 256 KiB, and in part_replay the longest line.
 */
#ifndef E3_PART_H
#define E3_PART_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct part;

/* -1 ends the replay with its error, before which FILE.part:NUMBER is put. */
typedef int part_line_fn(void *ctx, const char *line, size_t n, uint64_t number, struct err *e);

/* Asked again and again while a replay goes on, which takes minutes: -1 ends it with its error. */
typedef int part_stop_fn(void *ctx, struct err *e);

struct part *part_open(const char *path, int zstd, int resume, struct err *e);
void part_stop_by(struct part *p, part_stop_fn *fn, void *ctx);
/* Once, before the first append (which otherwise makes up for it). Lines come without their LF. */
int part_replay(struct part *p, part_line_fn *fn, void *ctx, struct err *e);
int part_begin(struct part *p, struct err *e); /* part_append and part_finish make up for it */
int part_append(struct part *p, const char *line, size_t n, struct err *e); /* adds the '\n' */
/* now_ms: a monotonic clock. Syncs when a second has passed since the oldest unsynced line was
 * seen by a tick; returns ms until the next call is due, or -1 for none; -2 on error. */
int64_t part_tick(struct part *p, uint64_t now_ms, struct err *e);
int part_sync(struct part *p, struct err *e);
/* Frees p in any case; on -1, class "system", FILE.part is kept. */
int part_finish(struct part *p, struct err *e);
int part_close(struct part *p, struct err *e); /* frees p in any case; NULL is allowed */
const char *part_path(const struct part *p);   /* FILE.part; NULL for standard output and devices */

#endif
