#include "extract/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/prog.h"

void say(const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	prog_warn("%s", text);
}
