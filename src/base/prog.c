#include "base/prog.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"

const char *prog_name = "e3";

int prog_status(const struct err *e)
{
	return e->class && strcmp(e->class, "usage") == 0 ? EXIT_MISUSE : EXIT_FAILED;
}

int prog_fail(const struct err *e)
{
	if (err_is_pipe(e))
		return 128 + SIGPIPE;
	prog_warn("%s", e->msg);
	return prog_status(e);
}

_Noreturn void prog_die(const struct err *e)
{
	exit(prog_fail(e));
}

int prog_flush(struct err *e)
{
	if (fflush(stdout) != 0)
		return err_write(e, "standard output");
	if (ferror(stdout)) /* and the reason is gone */
		return err_set(e, "system", "standard output: write error");
	return 0;
}

void prog_vwarn(const char *fmt, va_list ap)
{
	struct buf text = {0};

	buf_vaddf(&text, fmt, ap);
	fprintf(stderr, "%s: %s\n", prog_name, buf_cstr(&text));
	buf_free(&text);
}

void prog_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	prog_vwarn(fmt, ap);
	va_end(ap);
}
