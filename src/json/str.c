#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/arena.h"
#include "base/utf8.h"
#include "json/rec.h"

static uint32_t hex4(const char *p)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++) {
		char c = p[i];

		v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return v;
}

/* p at 'u' of \uXXXX: the character, U+FFFD for half a pair; *used counts bytes behind the
 * backslash. */
static uint32_t unicode(const char *p, const char *end, size_t *used, size_t *lone)
{
	uint32_t hi = hex4(p + 1), lo;

	*used = 5;
	if (hi < 0xD800 || hi > 0xDFFF)
		return hi;
	if (hi < 0xDC00 && end - p >= 11 && p[5] == '\\' && p[6] == 'u') {
		lo = hex4(p + 7);
		if (lo >= 0xDC00 && lo <= 0xDFFF) {
			*used = 11;
			return 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00);
		}
	}
	if (lone)
		++*lone;
	return UTF8_REPLACEMENT;
}

/* What the escapes of one letter stand for. */
static const char meaning[128] = {
    ['"'] = '"',
    ['\\'] = '\\',
    ['/'] = '/',
    ['b'] = '\b',
    ['f'] = '\f',
    ['n'] = '\n',
    ['r'] = '\r',
    ['t'] = '\t',
};

/* Copies up to the next backslash and returns how many bytes, many at a time: what follows in
 * memory is still input, so the room for it is there. */
#ifdef __SSE2__
static size_t copy_plain(char *to, const char *p, const char *end)
{
	const char *start = p;

	for (; end - p >= 16; p += 16, to += 16) {
		__m128i c = _mm_loadu_si128((const __m128i *)(const void *)p);
		int stop = _mm_movemask_epi8(_mm_cmpeq_epi8(c, _mm_set1_epi8('\\')));

		_mm_storeu_si128((__m128i *)(void *)to, c);
		if (stop)
			return (size_t)(p - start) + (size_t)__builtin_ctz((unsigned)stop);
	}
	while (p < end && *p != '\\')
		*to++ = *p++;
	return (size_t)(p - start);
}
#else
static size_t copy_plain(char *to, const char *p, const char *end)
{
	const char *slash = memchr(p, '\\', (size_t)(end - p));
	size_t n = (size_t)((slash ? slash : end) - p);

	memcpy(to, p, n);
	return n;
}
#endif

/* What an escape stands for is never longer than the escape. */
void json_piece(struct buf *out, struct span s, size_t *lone)
{
	const char *p = s.p, *end = p + s.n;
	char *to = buf_room(out, s.n);

	while (p < end) {
		size_t n = copy_plain(to, p, end);

		to += n;
		p += n;
		if (p == end)
			break;
		if (*++p == 'u') {
			to += utf8_encode(unicode(p, end, &n, lone), to);
			p += n;
		} else {
			*to++ = meaning[*p++ & 127];
		}
	}
	out->len = (size_t)(to - out->data);
}

int json_str(struct buf *out, struct span v, size_t *lone)
{
	if (!v.p || v.n < 2 || *v.p != '"')
		return -1;
	json_piece(out, json_inside(v), lone);
	return 0;
}

struct span json_piece_text(struct span s, struct arena *a, size_t *lone)
{
	struct buf b;

	if (!memchr(s.p, '\\', s.n))
		return s;
	b = (struct buf){
	    .data = arena_alloc(a, s.n), .cap = s.n}; /* all that json_piece asks for */
	json_piece(&b, s, lone);
	return (struct span){b.data, b.len};
}

struct span json_text(struct span v, struct arena *a, size_t *lone)
{
	return json_piece_text(json_inside(v), a, lone);
}
