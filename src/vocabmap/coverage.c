#include "vocabmap/coverage.h"

static const uint64_t sizes[] = {1000, 2000, 4000, 8000, 16000, 24000, 32000, 48000, 64000, 96000,
    128000, 160000, 200000, 256000};

struct point {
	uint64_t size;
	struct count covered;
	double supervised, total; /* shares */
};

static double share(uint64_t part, uint64_t all)
{
	return all > 0 ? (double)part / (double)all : 0;
}

static struct point point_at(const struct ranking *r, const struct counts *c, uint64_t size)
{
	struct point p = {.size = size, .covered = ranking_covered(r, c, size)};

	p.supervised = share(p.covered.supervised, c->supervised);
	p.total = share(p.covered.total, c->total);
	return p;
}

/* The next size above `last`, 0 when there is none. */
static uint64_t next_size(uint64_t last, uint64_t vocab, uint64_t chosen)
{
	uint64_t next = vocab > last ? vocab : 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] > last && sizes[i] < next)
			next = sizes[i];
	return chosen > last && chosen < next ? chosen : next;
}

void coverage_tsv(struct buf *out, const struct ranking *r, const struct counts *c, uint64_t chosen)
{
	buf_adds(out, "draft_vocab\tsupervised\tsupervised_share\ttotal\ttotal_share\n");
	for (uint64_t n = next_size(0, r->vocab, chosen); n > 0;
	     n = next_size(n, r->vocab, chosen)) {
		struct point p = point_at(r, c, n);

		buf_addf(out, "%llu\t%llu\t%.6f\t%llu\t%.6f\n", (unsigned long long)n,
		    (unsigned long long)p.covered.supervised, p.supervised,
		    (unsigned long long)p.covered.total, p.total);
	}
}

void coverage_text(
    struct buf *out, const struct ranking *r, const struct counts *c, uint64_t chosen)
{
	buf_adds(out, "  draft vocabulary   of supervised   of all tokens\n");
	for (uint64_t n = next_size(0, r->vocab, chosen); n > 0;
	     n = next_size(n, r->vocab, chosen)) {
		struct point p = point_at(r, c, n);

		buf_addf(out, "%c %16llu   %11.3f %%   %11.3f %%\n", n == chosen ? '*' : ' ',
		    (unsigned long long)n, 100 * p.supervised, 100 * p.total);
	}
}

void coverage_json(
    struct buf *out, const struct ranking *r, const struct counts *c, uint64_t chosen)
{
	struct point p = point_at(r, c, chosen);

	buf_addf(out, "{\"draft_vocab\":%llu,\"target_vocab\":%llu,\"records\":%llu,",
	    (unsigned long long)chosen, (unsigned long long)r->vocab,
	    (unsigned long long)c->records);
	buf_addf(out, "\"supervised\":%llu,\"supervised_covered\":%llu,\"supervised_share\":%.6f,",
	    (unsigned long long)c->supervised, (unsigned long long)p.covered.supervised,
	    p.supervised);
	buf_addf(out, "\"total\":%llu,\"total_covered\":%llu,\"total_share\":%.6f}\n",
	    (unsigned long long)c->total, (unsigned long long)p.covered.total, p.total);
}
