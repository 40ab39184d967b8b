/* err.h - why something failed
 *
 * Modules return 0 or -1 (or NULL) and fill the caller's struct err; they never print and never
 * exit. A program, or io/flow for a filter, adds its name and the place and prints one line.
 *
 *	struct err e = {0};
 *	if (thing_open(path, &e) < 0)
 *		prog_die(&e);
 *
 * The message is lower case, one line, without a period: "messages[2].role: expected a string".
 * It names the thing; the caller that knows the place puts it before with err_prefix().
 */
#ifndef E3_ERR_H
#define E3_ERR_H

struct err {
	/* one static word for counts and rejects: "json", "type", "system" ... */
	const char *class;
	char msg[1000];
};

/* Both set the whole error and return -1, so that a function can `return err_set(...)`. The
 * message is cut, at a character's border, where it does not fit; control characters and bytes
 * that are not UTF-8 become '?', so that a hostile record can't write to a terminal. */
int err_set(struct err *e, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* As err_set with class "system" and ": " strerror(errno) behind the message. */
int err_sys(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As err_sys, of a write to what `name` names; class "pipe" where its reader has gone. */
int err_write(struct err *e, const char *name);
int err_is_pipe(const struct err *e);

/* Puts text before the message, keeps the class, returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts text behind the message, what is to be done about it; a message that would not fit with it
 * stays as it is. Returns -1. */
int err_suffix(struct err *e, const char *text);

#endif
