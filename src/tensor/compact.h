/* compact.h - hidden states packed without loss: e3-compact(5)
 *
 * A file of our own for one record: ids, mask and states. Numbers are little-endian.
 *
 *	0	8	89 45 33 48 53 0d 0a 1a: "E3HS" and ends of line, to show text transfers
 *	8	4	version, 1
 *	12	4	dtype: 1 bf16, 2 f16, 3 f32
 *	16	8	S, tokens
 *	24	8	H, hidden size
 *	32	4	K, layers: aux, ascending, then the last if flag 1 is set
 *	36	4	flags: 1 the last layer is there, 2 a mask is there,
 *			4 the last is before the final norm, 8 it is after
 *	40	4	R, rows in a block
 *	44	4	I, bytes of the id
 *	48	I	id; zeros up to a multiple of 8
 *		4*S	input_ids
 *		S	loss_mask, with flag 2; zeros up to a multiple of 8
 *		8	xxh64 (seed 0) of all that stands before
 *
 * and then blocks, layer by layer, R rows of it each, the last with what is left:
 *
 *		8	xxh64 of the block's elements
 *		4*P	stored bytes of each of the P planes (P: bytes of an element)
 *			the planes, that of the highest bytes first
 *
 * A plane is a zstd frame, or the bytes themselves where it is stored as long as it is: what does
 * not shrink by a 32nd, or shrinks to less than a 256th, is. So no file can unpack to more than 256
 * times its size, which bounds what a hostile one can ask for.
 *
 * Memory: writing, one block of some 1 MiB twice; reading, the states of the record, if they are. */
#ifndef E3_COMPACT_H
#define E3_COMPACT_H

#include <stdint.h>

#include "base/buf.h"
#include "tensor/map.h"
#include "tensor/states.h"

struct err;
struct save;

enum { COMPACT_UNSAID, COMPACT_BEFORE, COMPACT_AFTER };

struct compact {
	struct span id;
	size_t n;
	const int64_t *ids;
	const int64_t *mask; /* or NULL */
	int last;	     /* the last slot is the last layer's ... */
	int norm;	     /* ... of this state: COMPACT_ */
	struct states states;
};

/* Ids are 0 to 2^32 - 1: class "range". */
int compact_write(struct save *s, const struct compact *c, struct err *e);

/* Reading unpacks all of it and checks all sums; by MAP_PARTS only the head: states have no bytes
 * then. Class "truncated", "format", "checksum", "system". */
struct compact_file;
struct compact_file *compact_open(const char *path, enum map_how how, struct err *e);
struct compact_file *compact_parse(const void *p, size_t n, struct err *e); /* of borrowed memory */
const struct compact *compact_get(const struct compact_file *f);
const struct filemap *compact_map(const struct compact_file *f);
void compact_close(struct compact_file *f); /* NULL is allowed */

#endif
