/* unicode.h - what the split patterns and NFC need to know of a code point
 *
 * The tables are generated (unicode_gen.py) and checked in. Two versions of Unicode are at work,
 * because the reference tokenizers have two: the regular expressions of tiktoken and of Hugging
 * Face's tokenizers know 16.0, the latter's NFC knows 9.0. */
#ifndef E3_BPE_UNICODE_H
#define E3_BPE_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* Bits of uni_class. A caseless letter (Lm, Lo) or a mark is both UPPER and LOWER, as in the
 * patterns: UPPER is [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], LOWER is [\p{Ll}\p{Lm}\p{Lo}\p{M}]. */
enum {
	CP_LETTER = 1,
	CP_UPPER = 2,
	CP_LOWER = 4,
	CP_MARK = 8,
	CP_NUMBER = 16,
	CP_SPACE = 32, /* White_Space */
	CP_PUNCT = 64, /* \p{P} or \p{S} */
	CP_HAN = 128,  /* Script=Han */
};

struct uni_range {
	uint32_t first, last;
};

struct nfc_decomposition {
	uint32_t cp, to[4]; /* in full and in canonical order; 0 behind the last */
};

struct nfc_composition {
	uint32_t first, second, cp;
};

extern const char uni_version[], nfc_version[];
extern const unsigned char uni_class_page[], uni_class_block[][256];
extern const unsigned char nfc_info_page[], nfc_info_block[][256];
extern const size_t uni_words, nfc_decompositions, nfc_compositions;
extern const struct uni_range uni_word[];
extern const struct nfc_decomposition nfc_decomposition[]; /* sorted by cp; no Hangul */
extern const struct nfc_composition nfc_composition[];	   /* sorted; no Hangul */

static inline unsigned uni_class(uint32_t cp)
{
	return uni_class_block[uni_class_page[cp >> 8]][cp & 0xFF];
}

/* 0: NFC leaves the character alone whatever stands before it. 255: it may change, and its
 * combining class is 0. Else its combining class. */
static inline unsigned nfc_info(uint32_t cp)
{
	return nfc_info_block[nfc_info_page[cp >> 8]][cp & 0xFF];
}

/* \w of Rust's regex: what single_word added tokens must not touch. */
int uni_is_word(uint32_t cp);

#endif
