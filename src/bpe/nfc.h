/* nfc.h - Unicode normalisation form C as Hugging Face's tokenizers do it (Unicode 9.0)
 *
 * Which version it is was found by comparing all marks with tokenizers 0.22: characters that
 * came later have no combining class there. tests/oracle/bpe.py compares them again.
 *
 * Text is mostly normal already; nfc_apply finds the few places that may not be, and tells how
 * offsets moved. */
#ifndef E3_BPE_NFC_H
#define E3_BPE_NFC_H

#include <stddef.h>

#include "base/buf.h"

struct moves;

/* Offset of the first byte that may not be in NFC, or n. The text must be valid UTF-8. */
size_t nfc_quick(const char *p, size_t n);

/* Appends the normal form of p[0..n) to out. `moves` (may be NULL) is emptied, and then gets where
 * the text added came from; its offsets count from where out ended before. */
void nfc_apply(struct buf *out, struct moves *moves, const char *p, size_t n);

#endif
