/* pool.h - threads that check and write files while the loop talks to servers
 *
 * Items go in by pool_put and come back by pool_take, in any order; pool_fd is readable while there
 * is one to take. An item is in one place at a time: the loop does not touch it in between. */
#ifndef E3_POOL_H
#define E3_POOL_H

#include <stddef.h>

struct err;
struct pool;

struct pool *pool_open(
    size_t threads, void (*work)(void *ctx, void *item), void *ctx, struct err *e);
void pool_put(struct pool *p, void *item);
void *pool_take(struct pool *p); /* NULL: none has come back */
int pool_fd(const struct pool *p);
void pool_close(struct pool *p); /* waits for what is at work; NULL is allowed */

#endif
