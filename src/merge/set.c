#include "merge/set.h"

#include <stdlib.h>

#include "base/mem.h"

void set_init(struct set *s, int hash)
{
	*s = (struct set){.shortest = UINT32_MAX};
	s->hash = hash ? hash64_begin(0) : NULL;
}

void set_free(struct set *s)
{
	if (s->hash)
		hash64_end(s->hash);
	free(s->dataset);
	*s = (struct set){0};
}

static void count(struct set_counts *c, uint32_t tokens, uint32_t response)
{
	c->records++;
	c->tokens += tokens;
	c->response += response;
}

static size_t bin(uint32_t tokens)
{
	size_t b = 0;

	for (; tokens; tokens >>= 1)
		b++;
	return b;
}

uint64_t set_bin_end(size_t b)
{
	return (uint64_t)1 << b;
}

void set_add(struct set *s, uint16_t dataset, uint32_t tokens, uint32_t response, struct span line)
{
	if (dataset >= s->ndatasets) {
		s->dataset = xgrow(s->dataset, &s->cap, (size_t)dataset + 1, sizeof(*s->dataset));
		while (s->ndatasets <= dataset)
			s->dataset[s->ndatasets++] = (struct set_counts){0};
	}
	count(&s->all, tokens, response);
	count(&s->dataset[dataset], tokens, response);
	if (tokens < s->shortest)
		s->shortest = tokens;
	if (tokens > s->longest)
		s->longest = tokens;
	s->bin[bin(tokens)]++;
	s->bytes += line.n;
	if (s->hash)
		hash64_add(s->hash, line.p, line.n);
}
