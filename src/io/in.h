/* in.h - a byte stream that may be zstd
 *
 * Opens a file, or standard input for "-" or NULL; a FIFO without waiting for who writes it, which
 * in_read does. A stream that begins with the magic of a
 * zstd frame (RFC 8878, 28 B5 2F FD) or of a skippable frame (50..5F 2A 4D 18) is decompressed:
 * any number of frames one after the other, windows up to 2^31 (zstd --long=31). A frame that
 * ends early, or bytes behind a frame that are no frame, zeros too, are an error that tells the
 * offset, never an end of file. The one place that reads zstd.
 *
 * Errors are of class "system" or "zstd" and begin with the name. Memory: 128 KiB and a frame's
 * window. */
#ifndef E3_IN_H
#define E3_IN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct in;

struct in *in_open(const char *path, struct err *e);
/* Up to n > 0 bytes; 0 at the end, -1 on error. Blocks as read(2) does; short reads are normal. */
ssize_t in_read(struct in *in, void *to, size_t n, struct err *e);
/* Whether in_read will not block. */
int in_ready(const struct in *in);
const char *in_name(const struct in *in); /* the path, or "standard input" */
void in_close(struct in *in);		  /* NULL is allowed */

/* Asks for in_digest, before the first in_read: the bytes handed out so far and their XXH64 (what
 * `zstdcat FILE | xxh64sum` says at the end). */
void in_want_digest(struct in *in);
struct in_digest {
	uint64_t bytes, xxh64;
};
struct in_digest in_digest(const struct in *in);

/* For e3's own appended files, whose torn end is no error (part.h): after in_read failed with
 * class "torn", where in the file the last whole frame ends. 0 for a stream that is not zstd. */
uint64_t in_whole(const struct in *in);
int in_compressed(const struct in *in); /* known after the first in_read */
/* Before the first in_read: the file ends after so many bytes, whatever follows them. */
void in_limit(struct in *in, uint64_t bytes);

#endif
