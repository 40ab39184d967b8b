#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static void clean(char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n;) {
		size_t len = utf8_len(s + i, n - i);

		if (len == 0 || (unsigned char)s[i] < 0x20 || s[i] == 0x7f) {
			s[i] = '?';
			len = 1;
		}
		i += len;
	}
}

int err_set(struct err *e, const char *class, const char *fmt, ...)
{
	va_list ap;

	e->class = class;
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	clean(e->msg);
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int saved = errno;
	va_list ap;
	size_t n;

	e->class = "system";
	va_start(ap, fmt);
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	n = strlen(e->msg);
	snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", strerror(saved));
	clean(e->msg);
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char head[sizeof(e->msg)], tail[sizeof(e->msg)];
	va_list ap;
	size_t n;

	memcpy(tail, e->msg, sizeof(tail));
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	n = strlen(head);
	memcpy(e->msg, head, n + 1);
	snprintf(e->msg + n, sizeof(e->msg) - n, "%s", tail);
	clean(e->msg);
	return -1;
}
