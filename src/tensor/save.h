/* save.h - a file of tensors on its way to disk
 *
 * A file by out_open_own (it appears whole or not at all) that is summed while it is written: each piece
 * passes through the cache once for its hash, the CRC and the write.
 *
 *	s = save_open(path, &e);
 *	st_write(s, tensors, n, &e);			or pt_write_..., npy_write
 *	save_finish(s, &sum, &e);			or save_abort(s)
 */
#ifndef E3_SAVE_H
#define E3_SAVE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct save;
struct tensor;

struct save_sum {
	uint64_t bytes;
	uint64_t xxh64; /* of the whole file, seed 0 */
};

struct save *save_open(const char *path, struct err *e);
/* A plain file under a name of the caller's that nobody else looks at, replaced where it is there:
 * save_finish makes its bytes last, not its name, which the caller changes when it is their turn.
 */
struct save *save_open_part(const char *path, struct err *e);
int save_write(struct save *s, const void *p, size_t n, struct err *e);
int save_tensor(struct save *s, const struct tensor *t, struct err *e); /* its data */
uint64_t save_at(const struct save *s);					/* bytes written so far */
/* CRC-32 of the bytes between the two. */
void save_crc_reset(struct save *s);
uint32_t save_crc(struct save *s);
/* Syncs and publishes; frees s in any case. sum may be NULL. */
int save_finish(struct save *s, struct save_sum *sum, struct err *e);
void save_abort(struct save *s); /* nothing appears; NULL is allowed */

#endif
