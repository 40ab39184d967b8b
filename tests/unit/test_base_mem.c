/* buf, arena, ints, err and the vectors under them. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/ints.h"
#include "base/mem.h"

static void buf_grows(void **state)
{
	struct buf b = {0};
	char *s;

	(void)state;
	buf_add(&b, NULL, 0);
	assert_null(b.data);
	assert_non_null(buf_room(&b, 0));
	buf_adds(&b, "a");
	buf_addc(&b, 'b');
	buf_addf(&b, "%d%s", 12, "cd");
	buf_addf(&b, "%s", "");
	buf_add_u64(&b, 0);
	buf_add_u64(&b, UINT64_MAX);
	buf_add_hex64(&b, 0xfedcba987654321u);
	buf_add_utf8(&b, 0x20ac);
	assert_bytes(
	    "buf", b.data, b.len, "ab12cd0184467440737095516150fedcba987654321\xe2\x82\xac");
	assert_string_equal(
	    buf_cstr(&b), "ab12cd0184467440737095516150fedcba987654321\xe2\x82\xac");
	buf_reset(&b);
	assert_int_equal(b.len, 0);
	assert_non_null(b.data);
	for (int i = 0; i < 100000; i++)
		buf_addc(&b, 'x');
	assert_int_equal(b.len, 100000);
	buf_fit(&b);
	assert_int_equal(b.cap, 100000);
	s = buf_steal(&b);
	assert_int_equal(strlen(s), 100000);
	assert_null(b.data);
	assert_true(span_eq(SPAN("abc"), "abc"));
	assert_false(span_eq(SPAN("abc"), "ab"));
	assert_false(span_eq(SPAN("abc"), "abcd"));
	free(s);
	buf_free(&b);
}

static void buf_encodes(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *json, *base64;
	} t[] = {
	    {"", 0, "\"\"", ""},
	    {"f", 1, "\"f\"", "Zg=="},
	    {"fo", 2, "\"fo\"", "Zm8="},
	    {"foo", 3, "\"foo\"", "Zm9v"},
	    {"foobar", 6, "\"foobar\"", "Zm9vYmFy"},
	    {"\0\x01\x1f\x7f/", 5, "\"\\u0000\\u0001\\u001f\x7f/\"", "AAEffy8="},
	    {"\b\t\n\f\r\"\\", 7, "\"\\b\\t\\n\\f\\r\\\"\\\\\"", "CAkKDA0iXA=="},
	    {"\xf0\x9f\x98\x80\xe2\x80\xa8", 7, "\"\xf0\x9f\x98\x80\xe2\x80\xa8\"", "8J+YgOKAqA=="},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct buf b = {0};

		buf_add_json(&b, t[i].in, t[i].n);
		assert_bytes(t[i].in, b.data, b.len, t[i].json);
		buf_reset(&b);
		buf_add_base64(&b, t[i].in, t[i].n);
		assert_bytes(t[i].in, b.data, b.len, t[i].base64);
		buf_free(&b);
	}
}

/* As code points order, which is as bytes do. */
static void spans_have_an_order(void **state)
{
	static const struct span rising[] = {{NULL, 0}, {"\0", 1}, {"a", 1}, {"a\0", 2}, {"ab", 2},
	    {"b", 1}, {"\xc3\xa9", 2}, {"\xf0\x9f\x98\x80", 4}};

	(void)state;
	for (size_t i = 0; i < LEN(rising); i++)
		for (size_t k = 0; k < LEN(rising); k++) {
			int order = span_order(rising[i], rising[k]);

			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
			assert_int_equal(span_same(rising[i], rising[k]), i == k);
		}
	assert_true(span_same(SPAN(""), (struct span){0}));
	assert_int_equal(span_order(SPAN(""), (struct span){0}), 0);
}

static void arena_aligns_and_keeps(void **state)
{
	struct arena a = {0};
	size_t settled;
	char *p, *q;

	(void)state;
	assert_int_equal(arena_size(&a), 0);
	for (size_t n = 0; n < 3000; n += 7) {
		p = arena_alloc(&a, n);
		assert_int_equal((uintptr_t)p % 16, 0);
		memset(p, 'x', n);
	}
	p = arena_strndup(&a, "hello, world", 5);
	q = arena_dup(&a, "\0b", 2);
	assert_string_equal(p, "hello");
	assert_memory_equal(q, "\0b", 2);
	memset(arena_array(&a, 1000, 1000), 1, 1000000);
	settled = arena_size(&a);
	assert_true(settled > 1000000);
	arena_reset(&a);
	assert_true(arena_size(&a) >= 1000000); /* the largest chunk stays ... */
	assert_true(arena_size(&a) < settled);	/* ... alone */
	settled = arena_size(&a);
	for (int i = 0; i < 100; i++) {
		memset(arena_alloc(&a, 900000), 2, 900000);
		arena_reset(&a);
	}
	assert_int_equal(arena_size(&a), settled);
	arena_free(&a);
	assert_int_equal(arena_size(&a), 0);
}

static void ints_grow(void **state)
{
	static const int32_t want[] = {7, 1, 2, 3};
	struct ints a = {0};

	(void)state;
	ints_add(&a, NULL, 0);
	assert_true(ints_eq(&a, NULL, 0));
	ints_push(&a, 7);
	ints_add(&a, want + 1, 3);
	assert_true(ints_eq(&a, want, 4));
	assert_false(ints_eq(&a, want, 3));
	ints_reset(&a);
	for (int32_t i = 0; i < 10000; i++)
		ints_push(&a, i);
	assert_int_equal(a.n, 10000);
	assert_int_equal(a.v[9999], 9999);
	ints_free(&a);
}

/* A size that overflows ends the program with its message and status 1. */
static void ends_of_memory(void **state)
{
	static const char want[] = "e3: out of memory\n";
	struct arena a = {0};
	struct buf b = {.len = SIZE_MAX - 3};
	struct ints v = {.n = SIZE_MAX - 3};

	(void)state;
	for (int i = 0; i < 6; i++) {
		char said[64] = "";
		int fd[2], status;
		pid_t child;

		assert_int_equal(pipe(fd), 0);
		fflush(NULL);
		child = fork();
		if (child == 0) {
			dup2(fd[1], STDERR_FILENO);
			switch (i) {
			case 0: xreallocarray(NULL, SIZE_MAX / 2, 3); break;
			case 1: arena_array(&a, SIZE_MAX / 2, 3); break;
			case 2: arena_alloc(&a, SIZE_MAX - 3); break;
			case 3: buf_room(&b, 4); break;
			case 4: ints_room(&v, 4); break;
			case 5: xnomem();
			}
			_exit(77);
		}
		close(fd[1]);
		assert_int_equal(read(fd[0], said, sizeof(said) - 1), sizeof(want) - 1);
		assert_string_equal(said, want);
		close(fd[0]);
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
	}
}

static void err_is_one_clean_line(void **state)
{
	static const struct {
		const char *in, *want;
	} t[] = {
	    {"plain", "plain"},
	    {"two\nlines\r\t\x1b[31mred", "two?lines???[31mred"},
	    {"\xe4\xb8\xad ok, \xe4\xb8 not", "\xe4\xb8\xad ok, ?? not"},
	    {"c1 \xc2\x9b[0m", "c1 ??[0m"}, /* U+009B, in which some terminals see ESC [ */
	    {"\x7f\xff", "??"},
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		assert_int_equal(err_set(&e, "x", "%s", t[i].in), -1);
		assert_string_equal(e.msg, t[i].want);
		assert_string_equal(e.class, "x");
	}
}

static void err_cuts_at_a_character(void **state)
{
	struct err e;
	char s[2000];

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		memset(s, 'a', shift);
		for (size_t i = shift; i + 3 < sizeof(s); i += 3)
			memcpy(s + i, "\xe4\xb8\xad", 4);
		err_set(&e, "x", "%s", s);
		assert_int_equal(strlen(e.msg), shift + (sizeof(e.msg) - 1 - shift) / 3 * 3);
		assert_null(strchr(e.msg, '?'));
		err_prefix(&e, "b");
		assert_null(strchr(e.msg, '?'));
		assert_int_equal(e.msg[0], 'b');
	}
}

static void err_tells_errno_and_place(void **state)
{
	struct err e;

	(void)state;
	errno = ENOSPC;
	assert_int_equal(err_sys(&e, "%s", "out.jsonl"), -1);
	assert_string_equal(e.msg, "out.jsonl: No space left on device");
	assert_string_equal(e.class, "system");
	err_set(&e, "type", "id: expected a string");
	assert_int_equal(err_prefix(&e, "%s:%d: ", "a.jsonl", 7), -1);
	assert_string_equal(e.msg, "a.jsonl:7: id: expected a string");
	assert_string_equal(e.class, "type");
	assert_int_equal(err_suffix(&e, " (do it)"), -1);
	assert_string_equal(e.msg, "a.jsonl:7: id: expected a string (do it)");
	assert_string_equal(e.class, "type");
	err_set(&e, "x", "%*s", (int)sizeof(e.msg) - 4, "y");
	err_suffix(&e, "1234");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 4);
	err_suffix(&e, "123");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buf_grows),
	    cmocka_unit_test(buf_encodes),
	    cmocka_unit_test(spans_have_an_order),
	    cmocka_unit_test(arena_aligns_and_keeps),
	    cmocka_unit_test(ints_grow),
	    cmocka_unit_test(ends_of_memory),
	    cmocka_unit_test(err_is_one_clean_line),
	    cmocka_unit_test(err_cuts_at_a_character),
	    cmocka_unit_test(err_tells_errno_and_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
