/* utable.h - what Python's str methods know of Unicode (generated: utable.c,
 * utable_case.c) and how to ask
 *
 * A property is a sorted list of the code points at which it begins and ends. A simple mapping is
 * a range of code points, every stride-th of which moves by delta; the others stand alone.
 */
#ifndef E3_JINJA_UTABLE_H
#define E3_JINJA_UTABLE_H

#include <stddef.h>
#include <stdint.h>

struct ucase {
	uint32_t first, last;
	int32_t stride, delta;
};

struct uspecial {
	uint32_t cp, to[3]; /* ends with 0 */
};

extern const uint32_t utable_printable[], utable_cased[], utable_ignorable[], utable_lower_odd[],
    utable_upper_odd[], utable_alpha[], utable_numeric[], utable_digit[], utable_decimal[];
extern const size_t utable_printable_n, utable_cased_n, utable_ignorable_n, utable_lower_odd_n,
    utable_upper_odd_n, utable_alpha_n, utable_numeric_n, utable_digit_n, utable_decimal_n;
extern const struct ucase utable_tolower[], utable_toupper[];
extern const size_t utable_tolower_n, utable_toupper_n;
extern const struct uspecial utable_upper_special[], utable_title_special[];
extern const size_t utable_upper_special_n, utable_title_special_n;

enum uprop {
	U_PRINTABLE, /* str.isprintable, which repr() leaves as it is */
	U_CASED,
	U_IGNORABLE, /* skipped where a final sigma is looked for */
	U_LOWER_ODD, /* where u_is_lower or u_is_upper does not follow from the mappings */
	U_UPPER_ODD,
	U_ALPHA,
	U_NUMERIC,
	U_DIGIT,
	U_DECIMAL,
};

int u_is(enum uprop p, uint32_t cp);

int u_decimal(uint32_t cp); /* the value of a decimal digit, or -1 */
int u_is_lower(uint32_t cp);
int u_is_upper(uint32_t cp);

/* To at most three code points; returns how many. */
size_t u_lower(uint32_t cp, uint32_t to[3]);
size_t u_upper(uint32_t cp, uint32_t to[3]);
size_t u_title(uint32_t cp, uint32_t to[3]);

#endif
