#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int num_u64(const char *p, size_t n, uint64_t *out)
{
	uint64_t v = 0;

	if (n == 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(p[i] - '0'), &v))
			return -1;
	}
	*out = v;
	return 0;
}

int num_i64(const char *p, size_t n, int64_t *out)
{
	int neg = n > 0 && p[0] == '-';
	uint64_t v;

	if (n > 0 && (p[0] == '-' || p[0] == '+')) {
		p++;
		n--;
	}
	if (num_u64(p, n, &v) < 0 || v > (uint64_t)INT64_MAX + (uint64_t)neg)
		return -1;
	*out = neg ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int num_size(const char *p, size_t n, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit = n > 0 ? memchr(units, p[n - 1], sizeof(units) - 1) : NULL;
	uint64_t v;

	if (num_u64(p, unit ? n - 1 : n, &v) < 0)
		return -1;
	if (unit) {
		unsigned shift = 10 * (unsigned)(unit - units + 1);

		if (v > UINT64_MAX >> shift)
			return -1;
		v <<= shift;
	}
	*out = v;
	return 0;
}

int num_double(const char *p, size_t n, double *out)
{
	char small[64], *s = small, *end;
	int ok;

	/* strtod also takes blanks, hex floats and names: only digits and "+-.eE" may pass */
	for (size_t i = 0; i < n; i++)
		if (!memchr("0123456789+-.eE", p[i], 15))
			return -1;
	if (n == 0)
		return -1;
	if (n >= sizeof(small))
		s = xmalloc(n + 1);
	memcpy(s, p, n);
	s[n] = '\0';
	*out = strtod(s, &end);
	ok = end == s + n;
	if (s != small)
		free(s);
	return ok ? 0 : -1;
}

/* The next larger decimal of as many digits. Of nothing but nines it makes zeros: what comes behind
 * them has fewer digits. */
static void next_decimal(char *s)
{
	char *p = strchr(s, 'e');

	while (p-- > s) {
		if (*p == '9')
			*p = '0';
		else if (*p != '.') {
			++*p;
			return;
		}
	}
}

/* Whether it reads back as x. Where x is a power of two, what does so reaches twice as far up as
 * down: the nearest decimal may lie below it and the next one above do. */
static int reads_back(char *s, double x, int power)
{
	if (strtod(s, NULL) == x)
		return 1;
	if (!power)
		return 0;
	next_decimal(s);
	return strtod(s, NULL) == x;
}

/* Digits d1d2d3... and exponent of the shortest form, by trying 1 to 17 digits. */
static int shortest(double x, char digits[20], int *exp10)
{
	char s[40];
	int n = 0, power = frexp(x, &(int){0}) == 0.5;

	for (int prec = 0; prec < 17; prec++) {
		snprintf(s, sizeof(s), "%.*e", prec, x);
		if (reads_back(s, x, power))
			break;
	}
	for (const char *p = s; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	*exp10 = atoi(strchr(s, 'e') + 1);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

static size_t plain(const char *digits, int n, int exp10, char *out)
{
	char *p = out;
	int i = 0;

	if (exp10 < 0) {
		*p++ = '0';
		*p++ = '.';
		for (int k = -1; k > exp10; k--)
			*p++ = '0';
		while (i < n)
			*p++ = digits[i++];
	} else {
		for (; i <= exp10; i++)
			*p++ = i < n ? digits[i] : '0';
		*p++ = '.';
		if (i >= n)
			*p++ = '0';
		while (i < n)
			*p++ = digits[i++];
	}
	*p = '\0';
	return (size_t)(p - out);
}

size_t num_repr(double x, char out[32])
{
	char digits[20], *p = out;
	int n, exp10;

	if (isnan(x))
		return (size_t)snprintf(out, 32, "nan");
	if (signbit(x)) {
		*p++ = '-';
		x = -x;
	}
	if (isinf(x))
		return (size_t)(p - out) + (size_t)snprintf(p, 31, "inf");
	n = shortest(x, digits, &exp10);
	if (exp10 >= -4 && exp10 < 16)
		return (size_t)(p - out) + plain(digits, n, exp10, p);
	*p++ = digits[0];
	if (n > 1) {
		*p++ = '.';
		memcpy(p, digits + 1, (size_t)n - 1);
		p += n - 1;
	}
	return (size_t)(p - out) +
	       (size_t)snprintf(p, 8, "e%c%02d", exp10 < 0 ? '-' : '+', abs(exp10));
}

size_t num_human(uint64_t bytes, char out[32])
{
	static const char *const unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double x = (double)bytes;
	size_t u = 0;

	while (x >= 1024 && u + 1 < sizeof(unit) / sizeof(unit[0])) {
		x /= 1024;
		u++;
	}
	return (size_t)snprintf(out, 32, u ? "%.1f %s" : "%.0f %s", x, unit[u]);
}
