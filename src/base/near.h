/* near.h - which names a misspelt one may have meant
 *
 *	struct near near = {.word = word, .before = "--"};
 *	for (...)
 *		near_try(&near, name);
 *	err_set(e, "usage", "there is no option --%s%s", word, near_text(&near));
 *
 * Near is a name of which the word is the beginning or the greater part, or that has all its parts
 * between dashes, or no others; or that is one slip away, from a longer word two: a letter too many,
 * too few, another, or two in the wrong order. */
#ifndef E3_NEAR_H
#define E3_NEAR_H

#include "base/buf.h"

struct near {
	struct span word;
	const char *before; /* what the text puts before a name, or NULL */
	/* its own: */
	struct span name[2]; /* the nearest, borrowed */
	size_t slips, found;
	char text[160];
};

void near_try(struct near *n, struct span name);

/* ": did you mean --format?", or of two "...--out-dir or --output?"; "" where no name is near, or
 * more than two are. Lives as long as n. */
const char *near_text(struct near *n);

/* The same, of all the names of a list: the i-th, from 0; NULL behind the last. */
const char *near_among(struct near *n, const char *(*name)(size_t));

#endif
