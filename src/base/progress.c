#include "base/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/prog.h"
#include "base/utf8.h"

#define TERMINAL_MS 200
#define LOG_MS	    10000
#define COLUMNS	    79 /* one less than the narrowest usual terminal: a full last column wraps */

struct progress {
	int on, terminal, drawn;
	uint64_t start_ms, last_ms;
};

struct progress *progress_open(enum progress_when when)
{
	struct progress *p = xcalloc(1, sizeof(*p));

	p->terminal = isatty(STDERR_FILENO);
	p->on = when == PROGRESS_ON || (when == PROGRESS_AUTO && p->terminal);
	p->start_ms = p->last_ms = clock_ms();
	return p;
}

int progress_due(struct progress *p)
{
	return p->on && clock_ms() - p->last_ms >= (p->terminal ? TERMINAL_MS : LOG_MS);
}

double progress_seconds(const struct progress *p)
{
	return (double)(clock_ms() - p->start_ms) / 1000;
}

static size_t fit(const char *text)
{
	size_t n = strlen(text), columns = strlen(prog_name) + 2, at = 0;

	while (at < n && columns++ < COLUMNS) {
		size_t len = utf8_len(text + at, n - at);

		at += len ? len : 1;
	}
	return at;
}

void progress_draw(struct progress *p, const char *text)
{
	if (!p->on)
		return;
	p->last_ms = clock_ms();
	if (p->terminal)
		fprintf(stderr, "\r%s: %.*s\033[K", prog_name, (int)fit(text), text);
	else
		fprintf(stderr, "%s: %s\n", prog_name, text);
	fflush(stderr);
	p->drawn = p->terminal;
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = 0;
}

void progress_close(struct progress *p)
{
	if (p)
		progress_clear(p);
	free(p);
}
