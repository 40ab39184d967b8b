/* sink.h - bytes to a descriptor, perhaps compressed: what out.c and part.c write through
 *
 * Private to io/. The one place that writes zstd: level 3, with checksum. The bytes written depend
 * only on the bytes given and on where sink_end_frame was called, not on how they were cut into
 * calls. The descriptor is borrowed. Errors are of class "system" or "zstd", or "pipe": the reader
 * has gone (where SIGPIPE is ignored, else it has ended the program). After a failed write all that
 * follows fails: what is written has a hole. */
#ifndef E3_SINK_H
#define E3_SINK_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct sink;

struct sink *sink_open(int fd, const char *name, int zstd, struct err *e);
int sink_write(struct sink *s, const void *p, size_t n, struct err *e);
/* Hands everything to the kernel. Compressed, only whole blocks go: see sink_end_frame. */
int sink_flush(struct sink *s, struct err *e);
/* As sink_flush; compressed, ends the frame (an empty one, where nothing was written since the
 * last), so that what was written can be decoded. */
int sink_end_frame(struct sink *s, struct err *e);
void sink_close(struct sink *s); /* what was not flushed is lost; NULL is allowed */

#endif
