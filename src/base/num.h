/* num.h - numbers as text
 *
 * All of it in the C locale, which no program leaves. The whole text must be the number. */
#ifndef E3_NUM_H
#define E3_NUM_H

#include <stddef.h>
#include <stdint.h>

int num_u64(const char *p, size_t n, uint64_t *out);  /* decimal digits; -1 on anything else */
int num_i64(const char *p, size_t n, int64_t *out);   /* with a sign */
int num_size(const char *p, size_t n, uint64_t *out); /* digits and K, M, G or T: powers of 1024 */
int num_double(const char *p, size_t n, double *out); /* as strtod; finite or infinite */

/* Python's repr(float): the shortest digits that read back as x, 1.0, 1e-07, 1e+16, inf, nan.
 * Returns the length; out is terminated. */
size_t num_repr(double x, char out[32]);

/* Bytes as a person reads them: "57,344 bytes" is "56.0 KiB". */
size_t num_human(uint64_t bytes, char out[32]);

#endif
