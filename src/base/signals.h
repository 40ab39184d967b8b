/* signals.h - signals as a descriptor, for loops that wait for descriptors */
#ifndef E3_SIGNALS_H
#define E3_SIGNALS_H

struct err;

/* Blocks SIGINT, SIGTERM and SIGHUP, and `more` unless it is 0, and makes them readable: returns a
 * descriptor, to be closed, or -1. Before any thread starts. */
int signals_open(int more, struct err *e);
/* The next signal that came, or 0. Does not block. */
int signals_next(int fd);

#endif
