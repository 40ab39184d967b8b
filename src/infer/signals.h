/* signals.h - signals as a descriptor, and the clock of the run */
#ifndef E3_INFER_SIGNALS_H
#define E3_INFER_SIGNALS_H

#include <stdint.h>

struct err;

/* Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR1 and makes them readable. Before any thread starts. */
int signals_open(struct err *e);
/* The next signal that came, or 0. Does not block. */
int signals_next(int fd);
void signals_close(int fd);

uint64_t clock_ms(void); /* monotonic */

#endif
