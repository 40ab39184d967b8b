/* options.h - the command line of e3-prep, and the rules that it makes */
#ifndef E3_PREP_OPTIONS_H
#define E3_PREP_OPTIONS_H

#include <stdint.h>

#include "base/opt.h"
#include "io/flow.h"
#include "prep/filter.h"
#include "prep/row.h"

enum { DEDUP_EXACT, DEDUP_PROMPT, DEDUP_NONE };

struct prep_opts {
	struct flow_opt flow;
	const char *dataset, *format;
	int mode, dedup, answers, think, system, arguments, strict, list;
	uint64_t sample, seed, explain;
	struct opt_list filters, keep;

	struct prep_rules rules; /* from these and, where they say nothing, from the dataset */
	const struct prep_format *one_format[2];
	struct prep_filter *filter; /* of `filters` */
	atomic_uchar *met;	    /* of each */
};

/* Ends the program where the command line is misused. With --list there are no rules. */
void prep_options(struct prep_opts *o, int argc, char **argv);
void prep_options_free(struct prep_opts *o);

#endif
