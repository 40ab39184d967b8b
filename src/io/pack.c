/* ZSTD_c_literalCompressionMode is of zstd's own header, though not of its stable part. */
#define ZSTD_STATIC_LINKING_ONLY
#include "io/pack.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"

struct pack {
	ZSTD_CCtx *in; /* both made when they are first needed */
	ZSTD_DCtx *out;
};

struct pack *pack_open(void)
{
	return xcalloc(1, sizeof(struct pack));
}

void pack_close(struct pack *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->in);
	ZSTD_freeDCtx(p->out);
	free(p);
}

/* Steps of a thousand bytes for the search, and Huffman codes for what it leaves, which is all. A
 * library that does not know the last of these packs less. */
static ZSTD_CCtx *open_in(void)
{
	static const struct {
		ZSTD_cParameter name;
		int value;
	} set[] = {{ZSTD_c_compressionLevel, 1}, {ZSTD_c_strategy, ZSTD_fast}, {ZSTD_c_minMatch, 7},
	    {ZSTD_c_targetLength, 1000}, {ZSTD_c_literalCompressionMode, ZSTD_ps_enable},
	    {ZSTD_c_contentSizeFlag, 0}, {ZSTD_c_checksumFlag, 0}};
	ZSTD_CCtx *c = ZSTD_createCCtx();

	for (size_t i = 0; c && i < sizeof(set) / sizeof(set[0]); i++)
		ZSTD_CCtx_setParameter(c, set[i].name, set[i].value);
	return c;
}

size_t pack_block(struct pack *p, void *to, size_t room, const void *from, size_t n)
{
	size_t k;

	if (!p->in)
		p->in = open_in();
	if (!p->in)
		return 0;
	k = ZSTD_compress2(p->in, to, room, from, n);
	return ZSTD_isError(k) ? 0 : k;
}

int unpack_block(struct pack *p, void *to, size_t n, const void *from, size_t packed, struct err *e)
{
	size_t k;

	if (!p->out)
		p->out = ZSTD_createDCtx();
	if (!p->out)
		return err_set(e, "system", "zstd: out of memory");
	k = ZSTD_decompressDCtx(p->out, to, n, from, packed);
	if (ZSTD_isError(k))
		return err_set(e, "format", "zstd: %s", ZSTD_getErrorName(k));
	return k == n ? 0 : err_set(e, "format", "a block of %zu bytes holds %zu", n, k);
}
