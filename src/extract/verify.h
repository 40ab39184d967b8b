/* verify.h - --verify DIR: index records in, those whose files are not good out
 *
 * A file is good when it is there with the size and hash of its line, reads as its layout, its
 * archive's CRCs fit, it holds one row of every layer for each id, every value is finite, no row
 * zero, no slot constant or twice (states.h); and, with --records, the ids and the mask of its
 * record. What comes out is the record with {"verify":{"class":...,"reason":...}} appended; the
 * exit status is 1 then. */
#ifndef E3_VERIFY_H
#define E3_VERIFY_H

#include "extract/manifest.h"

struct err;
struct extract_opts;
struct index_line;
struct layout_file;
struct records;

int verify_run(const struct extract_opts *o); /* the exit status */

/* The same of one file. Classes as --verify tells them. */
struct verify_set {
	const char *dir;
	struct setinfo set;
	const struct records *records; /* NULL: ids and mask are held against nothing */
};
int verify_file(const struct verify_set *v, const struct index_line *l, struct err *e);
/* Whether an open file is the one that the line tells of: its size, its hash, its number of ids. */
int verify_line(const struct layout_file *f, const struct index_line *l, struct err *e);

#endif
