/* convert.h - --convert DIR: index records in, the same set in another layout out
 *
 * No server and no torch. Masks come from --records where the layout that is read holds none.
 * Numbers in file names count the index records that are read. */
#ifndef E3_CONVERT_H
#define E3_CONVERT_H

struct extract_opts;

int convert_run(const struct extract_opts *o); /* the exit status */

#endif
