/* wake.h - what interrupts the loop: signals as a descriptor; and its clock */
#ifndef E3_WAKE_H
#define E3_WAKE_H

#include <stdint.h>

struct err;

/* Blocks SIGINT, SIGTERM and SIGHUP and makes them readable. Before any thread starts. */
int wake_open(struct err *e);
int wake_signal(int fd); /* the next that came, or 0 */
void wake_close(int fd);

uint64_t wake_ms(void); /* monotonic */

#endif
