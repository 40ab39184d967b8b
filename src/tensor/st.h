/* st.h - safetensors files
 *
 * Layout (github.com/huggingface/safetensors, "Format"): a u64 header length, that many bytes of
 * JSON - {"NAME":{"dtype":"BF16","shape":[2,3],"data_offsets":[begin,end]},...}, offsets relative
 * to the end of the header, "__metadata__" an object of strings - padded with spaces to 8 bytes,
 * then the data without gaps.
 *
 * Reading checks more than it needs: offsets in bounds, lengths that fit dtype and shape, no
 * overlap, no gap, and nothing behind the data, so that a file cut short or still
 * being written is an error ("truncated") and never a tensor. Tensors of a dtype or with more
 * dimensions than tensor.h has, as stand beside others in a model's shards, are left out: of them
 * only the place is checked. The file is mapped; a process that
 * truncates it meanwhile kills the reader (SIGBUS), so hold the writer's lock. Of one that is opened
 * by MAP_PARTS tensors' bytes are asked for with map_need.
 */
#ifndef E3_ST_H
#define E3_ST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tensor/map.h"
#include "tensor/tensor.h"

struct save;

/* The reference reader's limit is 100 MB; in memory a header takes up to twenty times its size. Those
 * of the largest models' shards have some hundred kilobytes. */
#define ST_HEADER_MAX (16u << 20)

/* The length and the header, in the order of t; the tensors' data follow in that order. */
void st_header(struct buf *out, const struct tensor *t, size_t n);
int st_write(struct save *s, const struct tensor *t, size_t n, struct err *e);

struct st;

/* Class "truncated", "format", "system". */
struct st *st_open(const char *path, enum map_how how, struct err *e);
struct st *st_parse(const void *p, size_t n, struct err *e); /* of borrowed memory, 8-aligned */
const struct tensor *st_get(const struct st *f, const char *name); /* NULL where there is none */
size_t st_count(const struct st *f);
const struct tensor *st_at(const struct st *f, size_t i);
/* A string of "__metadata__"; p is NULL where there is none. */
struct span st_meta(const struct st *f, const char *key);
const struct filemap *st_map(const struct st *f);
void st_close(struct st *f); /* NULL is allowed */

/* The size that the file will have when it is whole, from its first bytes; 0 while n is too few
 * for the header. For readers of files that are still being written and not locked. -1: no
 * safetensors file. */
int st_expect(const void *p, size_t n, uint64_t *size, struct err *e);

#endif
