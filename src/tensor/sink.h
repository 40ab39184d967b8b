/* sink.h - a file of tensors on its way to disk
 *
 * An io/out file (it appears whole or not at all) that is summed while it is written: each piece
 * passes through the cache once for its hash, the CRC and the write.
 *
 *	s = sink_open(path, &e);
 *	st_write(s, tensors, n, &e);			or pt_write_..., npy_write
 *	sink_finish(s, &sum, &e);			or sink_abort(s)
 */
#ifndef E3_SINK_H
#define E3_SINK_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct sink;
struct tensor;

struct sink_sum {
	uint64_t bytes;
	uint64_t xxh64; /* of the whole file, seed 0 */
};

struct sink *sink_open(const char *path, struct err *e);
int sink_write(struct sink *s, const void *p, size_t n, struct err *e);
int sink_zeros(struct sink *s, size_t n, struct err *e);
int sink_tensor(struct sink *s, const struct tensor *t, struct err *e); /* its data */
uint64_t sink_at(const struct sink *s);					/* bytes written so far */
/* CRC-32 of the bytes since the last sink_crc_reset. */
void sink_crc_reset(struct sink *s);
uint32_t sink_crc(const struct sink *s);
/* Syncs and publishes; frees s in any case. sum may be NULL. */
int sink_finish(struct sink *s, struct sink_sum *sum, struct err *e);
void sink_abort(struct sink *s); /* nothing appears; NULL is allowed */

#endif
