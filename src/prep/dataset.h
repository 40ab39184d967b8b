/* dataset.h - what is known of public datasets and of the formats that rows come in
 *
 * A format says which columns hold what; a dataset names the formats that its rows have, what mode
 * and how many rows the reference run takes of it, and which columns are worth keeping as meta.
 * Both are const tables: a further set is a further line.
 *
 * Sources: the cards and first rows of the sets (2024 to 2026); where a set has had several
 * formats, all of them are listed. */
#ifndef E3_PREP_DATASET_H
#define E3_PREP_DATASET_H

#include <stdint.h>

#include "base/buf.h"

struct rec;

enum prep_shape {
	PREP_LIST,    /* a list of messages */
	PREP_COLUMNS, /* a question and an answer in columns of their own */
	PREP_FLAT,    /* glaive's flat text */
	PREP_ANSWERS, /* a question and, in "answers", the calls that answer it; without: columns */
};

struct prep_format {
	const char *name;
	const char *counter; /* of its rows, in --stats */
	const char *what;    /* for --list */
	enum prep_shape shape;
	const char *column;	 /* that with the messages, or with the question */
	const char *const *more; /* each is put behind the question after an LF; NULL or ends so */
	const char *const *reasoning; /* the first that is there counts; NULL or ends with NULL */
	const char *const *answer;
};

/* In the order of recognition; ends with name NULL. */
extern const struct prep_format prep_formats[];
extern const struct prep_format *const prep_all_formats[]; /* the same; ends with NULL */
extern const char *const prep_system_columns[], *const prep_tools_columns[]; /* end with NULL */

enum prep_meta_type { PREP_META_STR, PREP_META_NUM, PREP_META_BOOL };

struct prep_meta {
	const char *column;
	enum prep_meta_type type;
};

struct prep_dataset {
	const char *name;
	const char *source;		     /* where it comes from */
	const struct prep_format *format[4]; /* to be tried in this order; none: all */
	uint64_t sample;		     /* rows of the reference run; 0: all */
	int native;			     /* the target family wrote the answers */
	int keep_think;		  /* inline <think> of native answers stays where it is */
	int drop_system;	  /* the system column is no part of the prompt */
	struct prep_meta meta[6]; /* ends with column NULL */
};

/* Ends with name NULL, which stands for any other. */
extern const struct prep_dataset prep_datasets[];

const struct prep_format *prep_format_named(const char *name);
const struct prep_dataset *prep_dataset_named(const char *name); /* never NULL */

/* The first of `formats` whose column the row has with a value, else the first whose column it has,
 * else the only one there is, else NULL. */
const struct prep_format *prep_format_of(
    const struct rec *row, const struct prep_format *const *formats);

/* The first of `names` that the row has with a value, else the first that it has at all. p NULL:
 * none; *name is then the first. */
struct span prep_column(const struct rec *row, const char *const *names, const char **name);

#endif
