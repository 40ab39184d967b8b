/* clock.h - time that only goes forward */
#ifndef E3_CLOCK_H
#define E3_CLOCK_H

#include <stdint.h>

uint64_t clock_ms(void);

#endif
