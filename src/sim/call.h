/* call.h - tool calls out of a Kimi answer's ids, as a server's tool parser makes them */
#ifndef E3_SIM_CALL_H
#define E3_SIM_CALL_H

#include <stddef.h>
#include <stdint.h>

struct bpe;
struct buf;

/* Adds ,"tool_calls":[...] for the ids from <|tool_calls_section_begin|> on; returns how many calls
 * there were. A section that does not parse adds nothing: 0. Arguments stay the text they are. */
size_t call_write(const struct bpe *b, const int32_t *ids, size_t n, struct buf *out);

#endif
