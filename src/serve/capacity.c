#include "serve/capacity.h"

#define MORE 0.5 /* with each answer */

void capacity_begin(struct capacity *c, size_t most)
{
	c->most = c->now = most > 0 ? (double)most : 1;
	c->refused = 0;
}

size_t capacity_now(const struct capacity *c)
{
	return (size_t)c->now;
}

void capacity_answered(struct capacity *c)
{
	c->refused = 0;
	c->now = c->now + MORE < c->most ? c->now + MORE : c->most;
}

int capacity_refused(struct capacity *c, size_t running)
{
	c->refused++;
	c->now = c->now > 2 ? c->now - 1 : 1;
	return c->refused >= CAPACITY_MANY && running == 0;
}
