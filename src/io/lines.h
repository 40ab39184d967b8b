/* lines.h - the lines of many files
 *
 *	struct lines *l = lines_open(paths, n, 0, &e);
 *	while ((rc = lines_next(l, &line, &e)) > 0)
 *		...
 *	lines_close(l);
 *
 * Only 0x0A ends a line; one 0x0D before it goes; the last line of a file needs no end; a UTF-8
 * byte order mark at the start of a file is skipped, a file in UTF-16, or gzip's, is refused (class
 * "encoding"); blank lines (empty, or only spaces, tabs and CRs) are no records but count for line
 * numbers. No files means standard input. A line's bytes are borrowed until the next call. NULs are
 * ordinary bytes.
 *
 * A line longer than the maximum is not kept: lines_next returns it once with `toolong` set, its
 * first bytes in p and n; lines_rest then hands out what follows in pieces (with a CR before the
 * end), so that a reject can hold all of it. What lines_rest was not asked for is skipped.
 *
 * With lines_arrays an input may also be one JSON array, or several one behind the other, told by
 * the first byte that is no blank: then its elements are handed out as lines, one after the other,
 * in constant memory, numbered from 1. Line ends between their tokens become blanks. Lines that stand
 * behind an array are handed out too, numbered and marked as further elements. JSON's rules
 * are for the reader of an element, and what is wrong with the array itself is put to him as one
 * that he will refuse: of a torn array what there is of the last element, or an empty one where it
 * is torn behind an element; an empty one for a comma too many.
 *
 * Memory: 256 KiB, or up to twice the longest line.
 */
#ifndef E3_LINES_H
#define E3_LINES_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct lines;

#define LINES_MAX_DEFAULT (64u << 20)

struct line {
	const char *p;
	size_t n;
	const char *file; /* as given, or "standard input"; lives as long as the lines */
	uint64_t number;  /* in its file, from 1 */
	int toolong;
	int element; /* an element of an array, and number is its place there */
};

/* That each file is there and may be read; 0 or -1. */
int lines_check(const char *const *paths, size_t n, struct err *e);

/* max 0: LINES_MAX_DEFAULT. Files are opened one after the other, when their turn comes, but
 * lines_check is done at once. */
struct lines *lines_open(const char *const *paths, size_t n, size_t max, struct err *e);
void lines_arrays(struct lines *l);				  /* before the first lines_next */
int lines_next(struct lines *l, struct line *out, struct err *e); /* 1, 0 at the end, -1 */
int lines_rest(struct lines *l, const char **p, size_t *n, struct err *e); /* 1, 0, -1 */
/* Asks for lines_files, before the first lines_next: what was read of each file so far. */
void lines_want_digests(struct lines *l);
struct lines_file {
	const char *name;      /* as in struct line */
	uint64_t records;      /* lines or elements handed out */
	uint64_t bytes, xxh64; /* of the text, decompressed (in.h) */
};
const struct lines_file *lines_files(const struct lines *l, size_t *n);
/* Whether a line is in memory, so that lines_next will not block. */
int lines_ready(struct lines *l);
/* Whether there is a whole line, or the end: lines_next will not block. Reads what is there, so that
 * a borrowed line is none any more; what fails then is told by lines_next. Two things may block it for
 * a moment: of a zstd stream the rest of a block, and of the first bytes what tells a mark. */
int lines_readable(struct lines *l);
void lines_close(struct lines *l); /* NULL is allowed */

#endif
