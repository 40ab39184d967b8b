/* pack.h - blocks of bytes, each compressed on its own
 *
 * A block is one zstd frame without checksum and without its size: whoever keeps blocks keeps their
 * sizes and sums. What is packed here are planes of floats (tensor/compact.h), where only the
 * frequency of bytes tells anything: entropy coding without a search for repetitions is smaller
 * than zstd's level 1 and twice as fast.
 *
 * Memory: some 1 MiB for packing, 200 KiB for unpacking. */
#ifndef E3_PACK_H
#define E3_PACK_H

#include <stddef.h>

struct err;
struct pack;

struct pack *pack_open(void);
void pack_close(struct pack *p); /* NULL is allowed */

/* Packs n bytes into at most `room`; 0 where they do not fit there. */
size_t pack_block(struct pack *p, void *to, size_t room, const void *from, size_t n);
/* Unpacks a block that holds exactly n bytes; anything else is class "format". */
int unpack_block(
    struct pack *p, void *to, size_t n, const void *from, size_t packed, struct err *e);

#endif
