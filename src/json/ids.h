/* ids.h - the codec of integer arrays: token ids and masks, which never become trees
 *
 * Reads what the JSON grammar allows: blanks anywhere, for ids "-0"; not "1.0", not "1e3", no
 * booleans. Ids are 0 to 2^31-1. Errors name the position: "input_ids[17]: expected a token id,
 * not 1.5". */
#ifndef E3_JSON_IDS_H
#define E3_JSON_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/ints.h"

struct err;

/* Appends to out. `name` is for messages. Class "missing" or "type" (no array or no ids). */
int ids_read(struct ints *out, struct span v, const char *name, struct err *e);
void ids_write(struct buf *out, const int32_t *v, size_t n); /* [1,2,3] */

/* loss_mask: every element 0 or 1, into bytes appended to out. */
int mask_read(struct buf *out, struct span v, const char *name, struct err *e);
void mask_write(struct buf *out, const uint8_t *v, size_t n);

/* As ids_read and mask_read for who needs only the numbers of elements, of zeros and of ones; v is
 * a value that rec_parse took. Where an array is written without blanks, and its ids have up to six
 * digits, this runs at the speed of memory. */
int ids_count(struct span v, const char *name, size_t *n, struct err *e);
int mask_count(struct span v, const char *name, size_t *zeros, size_t *ones, struct err *e);
/* Whether such an array holds ids and is written as ids_write does it: then equal ids are equal
 * bytes. 0 also for some with ids of seven digits or more, which have to be read. */
int ids_plain(struct span v);

#endif
