/* doc.h - whole documents that are ours or the ecosystem's, through jansson
 *
 * config.json, tokenizer_config.json, manifests, servers' settings: small, strict JSON. Users'
 * records and servers' replies never come here (DESIGN.md section 5). */
#ifndef E3_DOC_H
#define E3_DOC_H

#include <jansson.h>

#include "base/buf.h"

struct err;

#define DOC_MAX (256u << 20) /* a document larger than this is refused */

/* NULL with the file's name in the message. A missing file gives class "missing". An integer beyond
 * 64 bits becomes a real, so that "model_max_length": 1000000000000000019884624838656, which
 * nearly every tokenizer_config.json has, is no error. */
json_t *doc_load(const char *path, struct err *e);
json_t *doc_parse(const char *p, size_t n, const char *name, struct err *e);
/* Writes compactly, key order kept, without a newline. */
void doc_write(struct buf *out, const json_t *j);

/* The whole of a file into b, at most max bytes. */
int doc_slurp(struct buf *b, const char *path, size_t max, struct err *e);

#endif
