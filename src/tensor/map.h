/* map.h - a regular file as memory
 *
 * Read only. It must be a regular file: a FIFO or a device put there by somebody else is an error,
 * not a wait. */
#ifndef E3_MAP_H
#define E3_MAP_H

#include <stddef.h>

struct err;

struct map {
	const char *p;
	size_t n;
	int owned; /* to be unmapped */
};

int map_open(struct map *m, const char *path, struct err *e);
void map_close(struct map *m);
/* For a file that is not what it should be: puts its name before e and closes it. */
void map_refuse(struct map *m, const char *path, struct err *e);

#endif
