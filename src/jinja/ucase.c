#include "jinja/utable.h"

static const struct {
	const uint32_t *v;
	const size_t *n;
} props[] = {
    [U_PRINTABLE] = {utable_printable, &utable_printable_n},
    [U_CASED] = {utable_cased, &utable_cased_n},
    [U_IGNORABLE] = {utable_ignorable, &utable_ignorable_n},
    [U_LOWER_ODD] = {utable_lower_odd, &utable_lower_odd_n},
    [U_UPPER_ODD] = {utable_upper_odd, &utable_upper_odd_n},
    [U_ALPHA] = {utable_alpha, &utable_alpha_n},
    [U_NUMERIC] = {utable_numeric, &utable_numeric_n},
    [U_DIGIT] = {utable_digit, &utable_digit_n},
    [U_DECIMAL] = {utable_decimal, &utable_decimal_n},
};

int u_is(enum uprop p, uint32_t cp)
{
	size_t lo = 0, hi = *props[p].n;

	/* how many borders lie at or before cp: inside after an odd number */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (props[p].v[mid] <= cp)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo % 2 == 1;
}

/* Decimal digits stand in tens, from zero on. */
int u_decimal(uint32_t cp)
{
	for (size_t i = 0; i + 1 < utable_decimal_n; i += 2)
		if (cp >= utable_decimal[i] && cp < utable_decimal[i + 1])
			return (int)((cp - utable_decimal[i]) % 10);
	return -1;
}

static uint32_t simple(const struct ucase *v, size_t n, uint32_t cp)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (v[mid].last < cp)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == n || cp < v[lo].first || (cp - v[lo].first) % (uint32_t)v[lo].stride != 0)
		return cp;
	return (uint32_t)((int32_t)cp + v[lo].delta);
}

static size_t special(const struct uspecial *v, size_t n, uint32_t cp, uint32_t to[3])
{
	size_t lo = 0, hi = n, len = 0;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (v[mid].cp < cp)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == n || v[lo].cp != cp)
		return 0;
	for (; len < 3 && v[lo].to[len]; len++)
		to[len] = v[lo].to[len];
	return len;
}

size_t u_lower(uint32_t cp, uint32_t to[3])
{
	if (cp < 0x80) {
		to[0] = cp >= 'A' && cp <= 'Z' ? cp + 32 : cp;
		return 1;
	}
	if (cp == 0x130) { /* the only one that becomes two: i and a dot above */
		to[0] = 'i';
		to[1] = 0x307;
		return 2;
	}
	to[0] = simple(utable_tolower, utable_tolower_n, cp);
	return 1;
}

size_t u_upper(uint32_t cp, uint32_t to[3])
{
	size_t n;

	if (cp < 0x80) {
		to[0] = cp >= 'a' && cp <= 'z' ? cp - 32 : cp;
		return 1;
	}
	n = special(utable_upper_special, utable_upper_special_n, cp, to);
	if (n > 0)
		return n;
	to[0] = simple(utable_toupper, utable_toupper_n, cp);
	return 1;
}

size_t u_title(uint32_t cp, uint32_t to[3])
{
	size_t n = special(utable_title_special, utable_title_special_n, cp, to);

	return n > 0 ? n : u_upper(cp, to);
}

static int is_lowered(uint32_t cp)
{
	uint32_t to[3];

	return u_lower(cp, to) == 1 && to[0] == cp;
}

int u_is_lower(uint32_t cp)
{
	return (u_is(U_CASED, cp) && is_lowered(cp)) != u_is(U_LOWER_ODD, cp);
}

int u_is_upper(uint32_t cp)
{
	return (!is_lowered(cp)) != u_is(U_UPPER_ODD, cp);
}
