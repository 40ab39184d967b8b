/* buf.h - a growing byte buffer
 *
 *	struct buf b = {0};
 *	buf_addf(&b, "%d rows", n);
 *	use(b.data, b.len);
 *	buf_reset(&b);		keeps the memory for the next record
 *	buf_free(&b);
 *
 * A zeroed struct is an empty buffer. data is NULL until something was added, and is not
 * terminated; buf_cstr() terminates it. Pointers into data live until the next buf_ call. */
#ifndef E3_BUF_H
#define E3_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *data;
	size_t len, cap;
};

/* A borrowed piece of somebody's bytes. */
struct span {
	const char *p;
	size_t n;
};

#define SPAN(literal) ((struct span){(literal), sizeof(literal) - 1})

/* Equal to the C string s. */
static inline int span_eq(struct span a, const char *s)
{
	return strlen(s) == a.n && memcmp(a.p, s, a.n) == 0;
}

/* A zeroed span is as good as any that is empty. */
static inline int span_same(struct span a, struct span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* By bytes, the shorter first where one begins with the other: less than 0, 0 or more, as memcmp. */
static inline int span_order(struct span a, struct span b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n > 0 ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

char *buf_room_more(struct buf *b, size_t n); /* where there is none */

/* Room for n more bytes at the returned end. */
static inline char *buf_room(struct buf *b, size_t n)
{
	return b->data && b->cap - b->len >= n ? b->data + b->len : buf_room_more(b, n);
}

static inline void buf_add(struct buf *b, const void *p, size_t n)
{
	if (n == 0)
		return;
	memcpy(buf_room(b, n), p, n);
	b->len += n;
}

static inline void buf_addc(struct buf *b, char c)
{
	*buf_room(b, 1) = c;
	b->len++;
}

static inline void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_add_u64(struct buf *b, uint64_t v);		     /* decimal */
void buf_add_hex64(struct buf *b, uint64_t v);		     /* 16 lower-case hex digits */
void buf_add_utf8(struct buf *b, uint32_t cp);		     /* a scalar value */
void buf_add_base64(struct buf *b, const void *p, size_t n); /* RFC 4648, padded */

/* Adds a JSON string literal with its quotes. Escapes only what RFC 8259 demands: '"', '\' and
 * U+0000..U+001F (\b \t \n \f \r, else \u00XX), as Python's json.dumps with ensure_ascii off. The
 * bytes must be valid UTF-8. */
void buf_add_json(struct buf *b, const char *p, size_t n);

const char *buf_cstr(struct buf *b); /* terminates, without counting the NUL */
void buf_fit(struct buf *b);	     /* gives back the room that is not used */
void buf_reset(struct buf *b);
void buf_free(struct buf *b);
char *buf_steal(struct buf *b); /* the terminated bytes, to be freed; b is empty again */

#endif
