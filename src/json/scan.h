/* scan.h - the grammar of RFC 8259, without building anything (private to json/)
 *
 * Pointers into text that is valid UTF-8; every function returns the first byte behind what it
 * read, or NULL with class "json" and the byte offset from `start` in the message. e may be NULL,
 * where nobody asks why. */
#ifndef E3_JSON_SCAN_H
#define E3_JSON_SCAN_H

struct err;

struct scan {
	const char *start, *end;
	struct err *e;
	int *surrogate; /* set where an escape of half a pair is met; may be NULL */
};

static inline const char *scan_blanks(const struct scan *s, const char *p)
{
	while (p < s->end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* p at the opening quote. */
const char *scan_string(const struct scan *s, const char *p);
/* p at '-' or a digit. */
const char *scan_number(const struct scan *s, const char *p);
/* Any value, at most `depth` levels deep; p at its first byte. */
const char *scan_value(const struct scan *s, const char *p, unsigned depth);

/* Sets the error "not JSON at byte N: WHAT", or "... ends early" where p is the end; NULL. */
const char *scan_fail(const struct scan *s, const char *p, const char *what);

#endif
