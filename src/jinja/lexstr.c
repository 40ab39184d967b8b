#include "jinja/lexstr.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

struct literal {
	struct span s;
	size_t i;
	char *out;
	size_t n;
};

static void put(struct literal *l, uint32_t cp)
{
	l->n += utf8_encode(cp, l->out + l->n);
}

/* `want` hexadecimal digits. */
static const char *hex(struct literal *l, size_t want)
{
	uint32_t cp = 0;

	for (size_t k = 0; k < want; k++, l->i++) {
		char c = l->i < l->s.n ? l->s.p[l->i] : '\0';
		uint32_t v = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
			     : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
			     : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
						    : 16;

		if (v == 16)
			return "the string has a hexadecimal escape that is too short";
		cp = cp * 16 + v;
	}
	if (cp > 0x10ffff)
		return "the string has an escape beyond Unicode";
	if (cp >= 0xd800 && cp < 0xe000)
		return "the string has an escape for half a surrogate pair";
	put(l, cp);
	return NULL;
}

static void octal(struct literal *l)
{
	uint32_t v = 0;

	for (int k = 0; k < 3 && l->i < l->s.n && l->s.p[l->i] >= '0' && l->s.p[l->i] <= '7'; k++)
		v = v * 8 + (uint32_t)(l->s.p[l->i++] - '0');
	put(l, v);
}

/* A backslash before a character that was written as an escape: both parts become letters. */
static void visible(struct literal *l)
{
	uint32_t cp = 0;
	size_t len = utf8_decode(l->s.p + l->i, l->s.n - l->i, &cp);
	const char *fmt = cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x";
	char esc[16];
	int n = snprintf(esc, sizeof(esc), fmt, (unsigned)cp);

	memcpy(l->out + l->n, esc, (size_t)n);
	l->n += (size_t)n;
	l->i += len ? len : 1;
}

/* Behind a backslash. */
static const char *escape(struct literal *l)
{
	static const char simple[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
	char c = l->s.p[l->i];

	if (c == '\n') {
		l->i++;
		return NULL;
	}
	for (size_t k = 0; k + 1 < sizeof(simple); k += 2) {
		if (simple[k] == c) {
			l->i++;
			l->out[l->n++] = simple[k + 1];
			return NULL;
		}
	}
	if (c >= '0' && c <= '7') {
		octal(l);
		return NULL;
	}
	if (c == 'x' || c == 'u' || c == 'U') {
		l->i++;
		return hex(l, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	}
	if (c == 'N')
		return "the string has an escape by character name, which is not supported";
	if (c & 0x80)
		visible(l);
	else
		l->out[l->n++] = '\\';
	return NULL;
}

const char *lex_unescape(struct arena *a, struct span s, struct span *out)
{
	/* the longest growth is "\" and 2 bytes to 6, or "\" and 4 bytes to 10 */
	struct literal l = {.s = s, .out = arena_alloc(a, s.n * 2 + 16)};

	while (l.i < s.n) {
		const char *wrong;

		if (s.p[l.i] != '\\' || l.i + 1 >= s.n) {
			l.out[l.n++] = s.p[l.i++];
			continue;
		}
		l.i++;
		wrong = escape(&l);
		if (wrong)
			return wrong;
	}
	*out = (struct span){l.out, l.n};
	return NULL;
}
