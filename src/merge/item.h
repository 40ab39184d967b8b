/* item.h - a record on its way through the spool: what merging knows of it, then its line with LF
 */
#ifndef E3_MERGE_ITEM_H
#define E3_MERGE_ITEM_H

#include <stdint.h>

#include "base/buf.h"
#include "merge/index.h"

struct item {
	struct rank rank;
	uint64_t number; /* of its line, in file */
	uint32_t file, tokens, response;
	uint32_t side; /* 0: the main output; k: split k - 1 */
	uint64_t n;    /* bytes of its line, with LF */
	const char *line;
	uint16_t dataset;
	uint8_t element; /* as flow_job.element */
};

/* The items of a part's bytes, appended to v, which xgrow made. They point into the bytes. */
struct items {
	struct item *v;
	size_t n, cap;
};
void items_read(struct items *to, const struct buf *bytes);

#endif
