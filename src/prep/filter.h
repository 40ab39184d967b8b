/* filter.h - rows left out on request, by the value of a column
 *
 *	COLUMN[.MEMBER...]OP VALUE	OP is one of = != >= <= > <
 *
 * "average_test_score>=0.7", "target=true", "llm_judgement.logical_correctness.score>=4". Where a
 * member of a column is asked for, the column may also be a string that holds JSON; a column or
 * member that has the whole name, dots and all, goes before. Values are compared as numbers where
 * both are numbers ("1", "1.0" and 1 are one number; nan is none), else as texts; the orders are for
 * numbers only. A row without such a value has no score: it passes != and fails all else. A value
 * that begins with one of = < > stands behind a blank: "x==1" is an error. */
#ifndef E3_PREP_FILTER_H
#define E3_PREP_FILTER_H

#include <stdatomic.h>

#include "base/buf.h"

struct err;
struct prep_row;

/* What became of a filter in the whole input; set by all workers. */
enum { FILTER_ASKED = 1, FILTER_FOUND = 2 };

struct prep_filter {
	const char *text;  /* as given: what drops are counted under */
	atomic_uchar *met; /* FILTER_ */
	struct span path;  /* column and members, with dots */
	int op;
	struct span value;
	double number;
	int is_number;
};

/* text is borrowed. Class "usage". */
int prep_filter_parse(struct prep_filter *f, const char *text, struct err *e);
/* The text of the first filter that the row fails, or NULL. Rows without a value are counted. */
const char *prep_filters_fail(struct prep_row *r);

#endif
