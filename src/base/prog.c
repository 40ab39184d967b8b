#include "base/prog.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

const char *prog_name = "e3";

int prog_status(const struct err *e)
{
	return e->class && strcmp(e->class, "usage") == 0 ? EXIT_MISUSE : EXIT_FAILED;
}

_Noreturn void prog_die(const struct err *e)
{
	prog_warn("%s", e->msg);
	exit(prog_status(e));
}

void prog_warn(const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", prog_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
