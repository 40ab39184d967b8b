/* format.h - one value after a format specification, Python's for % and for str.format */
#ifndef E3_JINJA_FORMAT_H
#define E3_JINJA_FORMAT_H

#include "jinja/rt.h"
#include "jinja/text.h"

struct spec {
	struct span fill; /* one character */
	char align;	  /* < > ^ =, or 0: by the value */
	char sign;	  /* + - or a blank */
	int alt;	  /* # */
	char group;	  /* , or _ between groups of digits, or 0 */
	int64_t width;
	int64_t precision; /* -1: none */
	char type;	   /* s d x f ..., or 0 */
};

/* A string, cut to the precision and padded. */
int format_str(struct text *t, const struct value *s, const struct spec *f);
/* An int, bool or float. */
int format_number(struct text *t, const struct value *v, const struct spec *f);

#endif
