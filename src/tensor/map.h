/* map.h - a regular file as memory
 *
 * Read only. It must be a regular file: a FIFO or a device put there by somebody else is an error,
 * not a wait.
 *
 * A page that a disk refuses to read, or a full tmpfs to hold, would end the program by a signal
 * when it is touched. So all of the file is read when it is opened, or, where little of it will be
 * looked at, each part before it is. Kernels before 5.14 can't tell of such a page. */
#ifndef E3_TENSOR_MAP_H
#define E3_TENSOR_MAP_H

#include <stddef.h>

struct err;

enum map_how {
	MAP_ALL,
	MAP_PARTS, /* nothing is touched but what map_need was asked for */
};

struct filemap {
	const char *p;
	size_t n;
	int owned; /* to be unmapped; 0 also for memory that is borrowed */
	enum map_how how;
};

int map_open(struct filemap *m, const char *path, enum map_how how, struct err *e);
/* Before p[0..n), inside the map, is touched: it is in memory now, or -1, class "truncated". */
int map_need(const struct filemap *m, const char *p, size_t n, struct err *e);
void map_close(struct filemap *m);

#endif
