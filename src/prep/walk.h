/* walk.h - walking JSON text that is known to be valid
 *
 * rec_parse has checked the whole row before anything here sees it, so these walk by bytes only:
 * no grammar, no decoding, no memory. Text from inside a JSON string (a column that holds JSON, the
 * arguments of a call) goes through json_whole first.
 *
 *	struct prep_walk s;
 *	prep_walk_open(&s, list);
 *	while (prep_walk_item(&s, &value))
 *		...
 *
 * Knows JSON's layout and nothing of rows or messages. */
#ifndef E3_PREP_WALK_H
#define E3_PREP_WALK_H

#include "base/buf.h"

struct prep_walk {
	const char *p, *end;
};

/* v is an array or an object. */
void prep_walk_open(struct prep_walk *w, struct span v);
int prep_walk_item(struct prep_walk *w, struct span *val); /* 1, 0 at the end */
/* Where the next item is an object: opens it, 1. Once `in` is at its end, prep_walk_leave goes on
 * behind it. */
int prep_walk_enter(struct prep_walk *w, struct prep_walk *in);
void prep_walk_leave(struct prep_walk *w, const struct prep_walk *in);
int prep_walk_member(
    struct prep_walk *w, struct span *key, struct span *val); /* the key without quotes */

/* The value that begins at p, past its last byte; NULL where it does not end before `end`. Does not
 * trust the text: brackets and strings are matched, nothing else is looked at. */
const char *prep_walk_skip(const char *p, const char *end);

/* The value of a member of an object, the last of that name; p NULL where there is none. Keys are
 * compared as they are spelled. */
struct span prep_walk_get(struct span object, const char *name);

/* Whether p, in a string that begins at `start`, stands behind an even number of backslashes: a quote
 * there ends the string, a backslash begins an escape. */
static inline int prep_unescaped(const char *start, const char *p)
{
	const char *b = p;

	while (b > start && b[-1] == '\\')
		b--;
	return (p - b) % 2 == 0;
}

/* JSON's blanks. */
static inline int prep_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Text without the blanks (space, tab, LF, CR) around it; behind it. */
struct span prep_walk_trim(struct span s);
struct span prep_walk_trim_end(struct span s);

#endif
