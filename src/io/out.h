/* out.h - an output that appears whole or not at all
 *
 * A regular file is written to an unnamed file in its directory (O_TMPFILE; where the file system
 * has none, to a temporary name), and out_finish checks, syncs, and renames it into place and
 * syncs the directory: a kill at any moment leaves either the old file or the new one, and
 * (but for the file systems without O_TMPFILE) nothing else. Standard output (NULL or "-"), devices, FIFOs and sockets are
 * written directly. A path whose last part is a symbolic link replaces the link's target.
 *
 * Compressed with zstd (level 3, with checksum) if asked for or when the path ends in ".zst".
 */
#ifndef E3_OUT_H
#define E3_OUT_H

#include <stddef.h>

struct err;
struct out;

struct out *out_open(const char *path, int zstd, struct err *e);
int out_write(struct out *o, const void *p, size_t n, struct err *e);
int out_flush(struct out *o, struct err *e);  /* hands everything to the kernel; a pipe's reader sees it */
int out_finish(struct out *o, struct err *e); /* closes, checks, publishes; frees o in any case */
void out_abort(struct out *o);		      /* nothing appears; NULL is allowed */

#endif
