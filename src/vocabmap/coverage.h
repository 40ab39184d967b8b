/* coverage.h - what share of the tokens a draft vocabulary of each size would cover
 *
 * The curve's points are a table of sizes up to the target's vocabulary, and the chosen size. */
#ifndef E3_COVERAGE_H
#define E3_COVERAGE_H

#include <stdint.h>

#include "base/buf.h"
#include "vocabmap/map.h"

/* draft_vocab, supervised tokens covered and their share, all tokens covered and their share: a
 * head line and a line a size, tabs between. */
void coverage_tsv(
    struct buf *out, const struct ranking *r, const struct counts *c, uint64_t chosen);
/* The same for people; the chosen size is marked. */
void coverage_text(
    struct buf *out, const struct ranking *r, const struct counts *c, uint64_t chosen);
/* One JSON object of the chosen size, with a line feed. */
void coverage_json(
    struct buf *out, const struct ranking *r, const struct counts *c, uint64_t chosen);

#endif
