/* say.h - what the program tells people while it works: lines on standard error, and only there */
#ifndef E3_EXTRACT_SAY_H
#define E3_EXTRACT_SAY_H

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
