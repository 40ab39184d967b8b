/* records.h - counts the tokens of tokenised records */
#ifndef E3_VOCABMAP_RECORDS_H
#define E3_VOCABMAP_RECORDS_H

struct counts;
struct err;
struct flow;

/* Adds all records of the flow to c, whose vocabulary is known. count_all: a record may come without
 * a mask. */
int records_count(struct flow *f, struct counts *c, int count_all, struct err *e);

#endif
