/* out.h - an output that appears whole or not at all
 *
 * A regular file is written to an unnamed file in its directory (O_TMPFILE; where the file system
 * has none, to a temporary name), and out_finish checks, syncs, puts it into place and
 * syncs the directory: a kill at any moment leaves either the old file or the new one. What it may
 * leave beside it is a file ".NAME.PID.N.tmp": where there is no O_TMPFILE, or in the instant
 * between naming and renaming when an old file is replaced. A new file gets the usual mode, a
 * replaced one keeps its own; one that may not be written is refused. An output may be one of the
 * inputs: the old bytes are read to their end.
 *
 * Standard output (NULL or "-"), devices, FIFOs and sockets are written directly. A path whose
 * last part is a symbolic link replaces the link's target.
 *
 * Compressed with zstd (level 3, with checksum) if asked for or when the path ends in ".zst"; an
 * empty output is then one empty frame.
 */
#ifndef E3_OUT_H
#define E3_OUT_H

#include <stddef.h>

struct buf;
struct err;
struct out;

struct out *out_open(const char *path, int zstd, struct err *e);
/* A file that the program names itself, in a folder for its files: what has the name is replaced,
 * be it a symbolic link, which is not followed, or a device. Never compressed. */
struct out *out_open_own(const char *path, struct err *e);
/* Whether out_open or out_open_own would find its place, for an output that is written at the end of
 * a long run; changes nothing. Devices and pipes are not opened. */
int out_check(const char *path, struct err *e);
int out_check_own(const char *path, struct err *e);
int out_write(struct out *o, const void *p, size_t n, struct err *e);
/* Hands everything to the kernel, so that a pipe's reader sees it. Does nothing on a compressed
 * output, whose bytes would then depend on the moment. */
int out_flush(struct out *o, struct err *e);
int out_finish(struct out *o, struct err *e); /* closes, checks, publishes; frees o in any case */
/* All of it in one call. */
int out_put(const char *path, int zstd, const struct buf *text, struct err *e);
int out_put_own(const char *path, const struct buf *text, struct err *e);
/* No file appears; what is written directly gets what was given so far. NULL is allowed. */
void out_abort(struct out *o);

/* For private use and part.h: whether a path asks for compression. */
int out_named_zstd(const char *path);

#endif
