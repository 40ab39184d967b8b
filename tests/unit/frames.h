/* frames.h - zstd frames by hand, after RFC 8878 */
#ifndef E3_FRAMES_H
#define E3_FRAMES_H

#define FRAME_AB                               \
	"\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00" \
	"ab" /* one raw block, content size 2 */
#define FRAME_SHORT                            \
	"\x28\xb5\x2f\xfd\x20\x04\x10\x00\x00" \
	"ab"                                   \
	"\x01\x00\x00" /* content size 4, of which the last block is empty */
#define FRAME_EMPTY "\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00"
#define FRAME_28    "\x28\xb5\x2f\xfd\x00\x90\x1b\x00\x00x" /* window 2^28, 3 times x by RLE */
#define SKIPPABLE   "\x53\x2a\x4d\x18\x03\x00\x00\x00\xff\xff\xff"

#endif
