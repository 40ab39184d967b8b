/* order.h - lines in input order, within a bounded window
 *
 * Each record read has a number, from 0 without gaps; it is told once, with its line or without
 * (rejected, dropped, resumed). Lines leave as soon as all records before have been told. The
 * caller bounds the window: it stops reading while the first untold record is too far behind.
 */
#ifndef E3_INFER_ORDER_H
#define E3_INFER_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;

struct order_slot {
	int told;
	struct buf line;
};

struct order {
	struct order_slot *slot; /* a ring */
	size_t cap;
	uint64_t first; /* the first untold */
};

typedef int order_fn(void *ctx, const char *line, size_t n, struct err *e);

/* line NULL: none. Its bytes are taken over. -1: what fn returned. */
int order_tell(
    struct order *o, uint64_t seq, struct buf *line, order_fn *fn, void *ctx, struct err *e);
void order_free(struct order *o);

#endif
