#include <string.h>

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

/* p at 'u' of \uXXXX: adds the character; returns the bytes used behind the backslash. */
static size_t add_unicode(struct buf *out, const char *p, const char *end, size_t *lone)
{
	uint32_t hi = hex4(p + 1), lo;

	if (hi < 0xD800 || hi > 0xDFFF) {
		buf_add_utf8(out, hi);
		return 5;
	}
	if (hi < 0xDC00 && end - p >= 11 && p[5] == '\\' && p[6] == 'u') {
		lo = hex4(p + 7);
		if (lo >= 0xDC00 && lo <= 0xDFFF) {
			buf_add_utf8(out, 0x10000 + ((hi - 0xD800) << 10) + (lo - 0xDC00));
			return 11;
		}
	}
	buf_add_utf8(out, UTF8_REPLACEMENT);
	if (lone)
		++*lone;
	return 5;
}

int json_str(struct buf *out, struct span v, size_t *lone)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *p = v.p, *end;

	if (!p || v.n < 2 || *p != '"')
		return -1;
	end = p + v.n - 1;
	p++;
	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p));

		buf_add(out, p, (size_t)((slash ? slash : end) - p));
		if (!slash)
			break;
		p = slash + 1;
		if (*p == 'u') {
			p += add_unicode(out, p, end, lone);
		} else {
			buf_addc(out, to[strchr(from, *p) - from]);
			p++;
		}
	}
	return 0;
}
