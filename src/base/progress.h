/* progress.h - one line on a terminal that says how far it is
 *
 * Drawn on stderr at most 5 times a second, only when stderr is a terminal or when forced; cleared
 * before other messages. Programs only. */
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
void progress_close(struct progress *p); /* clears; NULL is allowed */

#endif
