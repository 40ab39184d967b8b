/* in.h - a byte stream that may be zstd
 *
 * Opens a file, or standard input for "-" or NULL. A stream that begins with the magic of a
 * zstd frame (RFC 8878, 28 B5 2F FD) or of a skippable frame is decompressed: any number of
 * frames one after the other, windows up to 2^31 (--long=31). A frame that ends early, or bytes behind a frame that are no
 * frame, are an error, never an end of file. The one place that reads zstd. */
#ifndef E3_IN_H
#define E3_IN_H

#include <stddef.h>
#include <sys/types.h>

struct err;
struct in;

struct in *in_open(const char *path, struct err *e);
/* Up to n > 0 bytes; 0 at the end, -1 on error. Blocks as read(2) does; short reads are normal. */
ssize_t in_read(struct in *in, void *to, size_t n, struct err *e);
const char *in_name(const struct in *in); /* the path, or "standard input" */
void in_close(struct in *in);		  /* NULL is allowed */

#endif
