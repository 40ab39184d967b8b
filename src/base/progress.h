/* progress.h - one line on stderr that says how far it is
 *
 * On a terminal it is drawn over itself, at most 5 times a second, cut to 79 columns, and cleared
 * before other messages. Elsewhere there is none unless forced; then it is a whole line every
 * 10 seconds, fit for a log. Programs and io/flow only. Not for several threads at once. */
#ifndef E3_PROGRESS_H
#define E3_PROGRESS_H

#include <stdint.h>

struct progress;

enum progress_when { PROGRESS_AUTO, PROGRESS_ON, PROGRESS_OFF };

struct progress *progress_open(enum progress_when when);
/* Whether it is time to draw; callers format the text only then. */
int progress_due(struct progress *p);
void progress_draw(struct progress *p, const char *text);
void progress_clear(struct progress *p);
double progress_seconds(const struct progress *p); /* since progress_open */
void progress_close(struct progress *p);	   /* clears; NULL is allowed */

#endif
