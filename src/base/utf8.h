/* utf8.h - UTF-8 as The Unicode Standard, table 3-7 defines it
 *
 * No surrogates, no overlong forms, nothing above U+10FFFF. Strings carry a length; NUL is a
 * character like others.
 */
#ifndef E3_UTF8_H
#define E3_UTF8_H

#include <stddef.h>
#include <stdint.h>

struct buf;

#define UTF8_REPLACEMENT 0xFFFDu

/* Bytes of the character at p, 1 to 4, or 0 where p[0..n) does not begin with a whole one. */
size_t utf8_len(const char *p, size_t n);

/* As utf8_len, with the code point in *cp. */
size_t utf8_decode(const char *p, size_t n, uint32_t *cp);

/* Writes cp, which must be a scalar value, to out[4]; returns its length. */
size_t utf8_encode(uint32_t cp, char *out);

/* Offset of the first byte that is not part of valid UTF-8, or n. */
size_t utf8_valid(const char *p, size_t n);

/* Bytes of the maximal subpart at p, an ill-formed place: what one U+FFFD stands for (Unicode
 * chapter 3.9, "U+FFFD Substitution of Maximal Subparts"; Python's errors="replace"). */
size_t utf8_subpart(const char *p, size_t n);

/* Adds p[0..n) with one U+FFFD for each maximal subpart; returns how many there were. */
size_t utf8_repair(struct buf *out, const char *p, size_t n);

/* Code points of p[0..n), which must be valid. */
size_t utf8_count(const char *p, size_t n);

#endif
