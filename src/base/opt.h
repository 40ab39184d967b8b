/* opt.h - command lines from one const table a program
 *
 *	struct prep_opts { struct flow_opt flow; const char *dataset; int mode; ... };
 *	static const struct opt table[] = {
 *		{"dataset", 0, OPT_STR, offsetof(struct prep_opts, dataset), "NAME", "the dataset"},
 *		{"mode", 0, OPT_ENUM, offsetof(struct prep_opts, mode), "native|prompt", "..."},
 *		{0},
 *	};
 *
 * Parsing, --help, the man page's check and the shell completions all read the table. Options may
 * follow files; "--" ends them; long ones take "=VALUE" or the next argument and are never
 * abbreviated nor behind one dash ("-output" is not "-o utput"); "-" is a file, "" is none. A
 * program's own option replaces the common one of its name. -h, --help, -V and --version are every
 * program's.
 *
 * Like prog.h this is a part of base/ that prints and exits, for main() only. */
#ifndef E3_OPT_H
#define E3_OPT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum opt_kind {
	OPT_END,   /* ends a table */
	OPT_FLAG,  /* int: set to 1 */
	OPT_STR,   /* const char *: borrowed from argv; not empty, as an unset variable makes it */
	OPT_LIST,  /* struct opt_list: every occurrence, none empty */
	OPT_COMMA, /* struct opt_list: the parts between commas, of every occurrence; none is empty,
		    * none comes twice */
	OPT_U64,   /* uint64_t */
	OPT_SIZE,  /* uint64_t, with K, M, G or T */
	OPT_NUM,   /* double, finite */
	OPT_ENUM,  /* int: which of the words in `arg`, which stand there as "a|b|c" */
	OPT_SHARD, /* struct opt_shard, "I/N", I from 0 */
};

struct opt_list {
	const char **v;
	size_t n, cap;
	int owned; /* the strings are the list's own: OPT_COMMA */
};

struct opt_shard {
	uint64_t i, n; /* n is 0 where none was given */
};

struct opt {
	const char *name; /* long name without "--", or NULL */
	char key;	  /* short name, or 0 */
	enum opt_kind kind;
	size_t at;	   /* offset of the member in the program's options */
	const char *arg;   /* what the value is called; NULL for flags. Completed as a file: FILE,
			    * MANIFEST; as a folder: DIR */
	const char *help;  /* a few words */
	uint64_t min, max; /* of numbers; max 0 is no limit; for OPT_NUM (uint64_t)-1 is -1 */
};

/* The names that an option's value may have, where they come from a table of the program: for the
 * completions, which have the words of an OPT_ENUM from the option itself. */
struct opt_names {
	const char *option;	     /* its long name; NULL ends the list */
	const char *(*name)(size_t); /* the i-th, from 0; NULL behind the last */
};

struct opt_prog {
	const char *name;     /* "e3-prep" */
	const char *what;     /* what it does, in one line */
	const char *operands; /* "[FILE...]", or NULL where none are taken */
	const struct opt *own;
	const struct opt *common;      /* a shared table, or NULL ... */
	size_t common_at;	       /* ... whose offsets count from here */
	size_t operands_at;	       /* struct opt_list */
	const struct opt_names *names; /* or NULL */
};

/* Fills `into`, the program's options, which hold the defaults before. Prints and exits 0 for
 * --help and --version; "NAME: what is wrong" and exit 2 for misuse. Sets prog_name. Standard files
 * that are closed are held by ones that fail. */
void opt_parse(const struct opt_prog *p, int argc, char **argv, void *into);

/* For what the table can't say: "NAME: message" and the usage line, exit 2. */
_Noreturn void opt_misuse(const struct opt_prog *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The i-th of an OPT_ENUM's words, from 0; n is 0 behind the last. */
struct span opt_word(const char *words, int i);

void opt_list_add(struct opt_list *l, const char *s);
void opt_list_free(struct opt_list *l);

#endif
