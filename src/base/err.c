#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define ERR_SIZE sizeof(((struct err *)0)->msg)

/* U+0000..U+001F and U+007F..U+009F: what a terminal may take for a command. */
static int is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0);
}

/* Whether the bytes are the beginning of a character: at the end of a full message, its rest did
 * not fit. */
static int cut_short(const char *p, size_t n)
{
	return n < 4 && (unsigned char)p[0] >= 0xc2 && utf8_subpart(p, n) == n;
}

static void clean(char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n;) {
		uint32_t cp = 0;
		size_t len = utf8_decode(s + i, n - i, &cp);

		if (len == 0 && n == ERR_SIZE - 1 && cut_short(s + i, n - i)) {
			s[i] = '\0';
			return;
		}
		if (len == 0)
			len = 1;
		else if (!is_control(cp)) {
			i += len;
			continue;
		}
		memset(s + i, '?', len);
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

int err_write(struct err *e, const char *name)
{
	int gone = errno == EPIPE;

	err_sys(e, "%s", name);
	if (gone)
		e->class = "pipe";
	return -1;
}

int err_is_pipe(const struct err *e)
{
	return e->class && strcmp(e->class, "pipe") == 0;
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

int err_suffix(struct err *e, const char *text)
{
	size_t n = strlen(e->msg);

	if (n + strlen(text) < sizeof(e->msg))
		memcpy(e->msg + n, text, strlen(text) + 1);
	return -1;
}
