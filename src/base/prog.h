/* prog.h - the program's name, and how it ends
 *
 * The only part of base/ that prints, for programs; modules never call prog_die or prog_warn. */
#ifndef E3_PROG_H
#define E3_PROG_H

#include <stdarg.h>

struct err;

#define E3_VERSION "0.1"

extern const char *prog_name; /* set once by main; the one variable that outlives its stack */

enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_MISUSE = 2,
};

/* EXIT_MISUSE for an error of class "usage" - what was asked for can't be - else EXIT_FAILED. */
int prog_status(const struct err *e);

/* "NAME: message" on stderr; prog_status. Of an error of class "pipe", an output whose reader has
 * gone, nothing is said and the status is SIGPIPE's: a program that ignores it, for its sockets' sake
 * or since it was started so, ends as one that does not. */
int prog_fail(const struct err *e);

/* The same, and the end. */
_Noreturn void prog_die(const struct err *e);

/* Sends off what was printed on standard output: 0, or -1 where any of it is lost; class "pipe" where
 * its reader has gone. Each program that prints outside its stream of records ends with it. */
int prog_flush(struct err *e);

/* "NAME: message" on stderr, in one write: the programs of a pipeline share it. */
void prog_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void prog_vwarn(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#endif
