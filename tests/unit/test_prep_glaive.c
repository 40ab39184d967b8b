/* Glaive's chat, which is parted as it is spelled, against the obvious: decoded, parted byte by byte,
 * and given to the reader of lists of messages. */
#include "unit.h"

#include <sys/mman.h>
#include <unistd.h>

#include "prep/dataset.h"
#include "prep/row.h"
#include "prep/walk.h"

/* What became of a row. */
struct result {
	int rc;
	const char *class;
	struct buf record;
	uint64_t count[PREP_COUNTS];
};

static void convert(const char *format, int native, struct span line, struct result *x)
{
	const struct prep_format *formats[] = {prep_format_named(format), NULL};
	struct prep_rules rules = {.name = "d",
	    .dataset = prep_dataset_named("any"),
	    .formats = formats,
	    .native = native,
	    .split_think = native,
	    .system_column = 1};
	struct prep_row r = {.rules = &rules};
	struct arena a = {0};
	struct err e = {0};
	int object;

	buf_reset(&x->record);
	x->rc = prep_row_convert(&r, line, &a, &object, &e);
	x->class = x->rc < 0 ? e.class : "";
	if (x->rc == 0)
		prep_row_write(&r, SPAN("d/1"), &x->record);
	buf_cstr(&x->record);
	memcpy(x->count, r.count, sizeof(x->count));
	prep_row_free(&r);
	arena_free(&a);
}

static void assert_same(const char *chat, const struct result *got, const struct result *want)
{
	assert_string_equal(got->class, want->class);
	if (got->record.len != want->record.len ||
	    memcmp(got->record.data, want->record.data, want->record.len) != 0)
		fail_msg("%s\ngot  %s\nwant %s", chat, got->record.data, want->record.data);
	for (int i = 0; i < PREP_COUNTS; i++)
		if (got->count[i] != want->count[i])
			fail_msg("%s: %s is %d, not %d", chat, prep_count_name[i],
			    (int)got->count[i], (int)want->count[i]);
}

/* ---- the obvious ---- */

static const char *const words[] = {"USER:", "ASSISTANT:", "FUNCTION RESPONSE:"};

static size_t word_at(const char *p, const char *end, size_t *which)
{
	for (*which = 0; *which < LEN(words); ++*which)
		if (prep_begins(p, end, words[*which]))
			return strlen(words[*which]);
	return 0;
}

/* The next word behind a blank line, or the end. */
static const char *next_word(const char *p, const char *end)
{
	size_t which;

	for (; p < end; p++) {
		const char *q = p;
		int ends = 0;

		for (; *p == '\n' && q < end && (*q == '\n' || *q == '\r'); q++)
			ends += *q == '\n';
		if (ends > 1 && word_at(q, end, &which))
			return q;
	}
	return end;
}

static void add_turn(struct buf *row, const char *from, struct span s)
{
	static const char mark[] = "<|endoftext|>";
	size_t n = sizeof(mark) - 1;

	s = prep_walk_trim(s);
	if (!strcmp(from, "gpt") && s.n >= n && !memcmp(s.p + s.n - n, mark, n))
		s = prep_walk_trim((struct span){s.p, s.n - n});
	buf_addf(row, "{\"from\":\"%s\",\"value\":", from);
	buf_add_json(row, s.p, s.n);
	buf_adds(row, "},");
}

/* The chat as a row with a list of messages. */
static void obvious(struct span chat, struct buf *row)
{
	static const char *const from[] = {"human", "gpt", "observation"};
	const char *p, *end, *next;
	size_t n, which;

	buf_reset(row);
	buf_adds(row, "{\"conversations\":[");
	chat = prep_walk_trim(chat);
	p = chat.p;
	end = p + chat.n;
	if (p < end && !word_at(p, end, &which)) {
		add_turn(row, "nobody", SPAN("?"));
		p = next_word(p, end);
	}
	while ((n = word_at(p, end, &which))) {
		next = next_word(p + n, end);
		add_turn(row, from[which], (struct span){p + n, (size_t)(next - p) - n});
		p = next;
	}
	row->len -= row->data[row->len - 1] == ',';
	buf_adds(row, "]}");
}

/* ---- hostile chats ---- */

static uint64_t seed = 1;

static size_t draw(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % n;
}

/* A chat as it may be spelled, of what matters to who looks for markers. */
static void make_chat(struct buf *b)
{
	static const char *const pieces[] = {"\\n\\n\\nUSER: ", "\\n\\nASSISTANT:",
	    "\\n\\n\\nFUNCTION RESPONSE: ", "\\n", "\\n", "\\r", "\\t", " ", "\\\\", "\\\"",
	    "\\\\n", "n", "r", "USER:", "ASSISTANT:", "U", "<tool_call>", " <|endoftext|>",
	    "<|im_end|>", "<think>", "</think>", "[EOS]", "\xc3\xa9", "text"};
	static const char *const odd[] = {"\\u000a", "\\u000A", "\\/", "\\u0055SER:", "\\u00e9",
	    "\\u005c", "\\u001f", "\\b", "\\ud83d\\ude00"};
	size_t n = draw(40), spelling = draw(3);

	buf_reset(b);
	for (size_t i = draw(70); i > 0; i--)
		buf_addc(b, 'x');
	if (draw(8))
		buf_adds(b, b->len ? "\\n\\n\\nUSER: " : "USER: ");
	for (size_t i = 0; i < n; i++)
		if (spelling == 0 && draw(6) == 0)
			buf_adds(b, odd[draw(LEN(odd))]);
		else
			buf_adds(b, pieces[draw(LEN(pieces))]);
	buf_cstr(b);
}

static void chats(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct buf chat = {0}, line = {0}, row = {0};
	struct result got = {0}, want = {0};
	struct arena a = {0};
	void *pages;
	char *end;

	(void)state;
	/* nothing behind the row can be read */
	assert_int_equal(posix_memalign(&pages, page, 3 * page), 0);
	end = (char *)pages + 2 * page;
	assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	for (int i = 0; i < 60000; i++) {
		make_chat(&chat);
		buf_reset(&line);
		buf_addf(&line, "{\"chat\":\"%s\"}", chat.data);
		obvious(json_text((struct span){line.data + 8, line.len - 9}, &a, NULL), &row);
		convert("conversations", i % 2, (struct span){row.data, row.len}, &want);
		assert_true(line.len < page);
		memcpy(end - line.len, line.data, line.len);
		convert("glaive", i % 2, (struct span){end - line.len, line.len}, &got);
		assert_same(chat.data, &got, &want);
		arena_reset(&a);
	}
	assert_int_equal(mprotect(end, page, PROT_READ | PROT_WRITE), 0);
	free(pages);
	buf_free(&chat);
	buf_free(&line);
	buf_free(&row);
	buf_free(&got.record);
	buf_free(&want.record);
	arena_free(&a);
}

/* However it is spelled, it is one chat. */
static void spellings(void **state)
{
	static const struct {
		const char *chat, *want; /* want: a part of the record */
	} t[] = {
	    {"USER: a\n\n\nASSISTANT: <functioncall> {\"name\": \"f\", \"arguments\": '{\"a\": "
	     "\"\\\\n/\"}'} <|endoftext|>\n\n\nFUNCTION RESPONSE: {\"b\": 1}\n\n\nASSISTANT: <b>",
		"\"arguments\":\"{\\\"a\\\": \\\"\\\\\\\\n/\\\"}\""},
	    {"USER: a\n\n\nASSISTANT: Two.\t <functioncall> {\"name\": \"f\"}\n<functioncall> "
	     "{\"name\": \"g\"} <|endoftext|>",
		"\"content\":\"Two.\",\"tool_calls\":"},
	    {"USER: a\n\n\nASSISTANT: <functioncall> f(\"\t\") <|endoftext|>\n\n\nUSER: \x1f\x7f",
		"\"content\":\"<functioncall> f(\\\"\\t\\\")\""},
	    {"\n\n ? \n\nUSER: a/b\\n\n\nASSISTANT: \\ \n\n", "\"content\":\"a/b\\\\n\""},
	};
	struct buf line = {0};
	struct result want = {0}, got = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		buf_reset(&line);
		buf_adds(&line, "{\"chat\":");
		buf_add_json(&line, t[i].chat, strlen(t[i].chat));
		buf_addc(&line, '}');
		convert("glaive", 0, (struct span){line.data, line.len}, &want);
		buf_reset(&line);
		buf_adds(&line, "{\"chat\":\"");
		for (const char *p = t[i].chat; *p; p++)
			buf_addf(&line, "\\u00%02x", (unsigned)*p);
		buf_adds(&line, "\"}");
		convert("glaive", 0, (struct span){line.data, line.len}, &got);
		assert_same(t[i].chat, &got, &want);
		if (!strstr(got.record.data, t[i].want))
			fail_msg("%s: %s", t[i].chat, got.record.data);
	}
	buf_free(&line);
	buf_free(&want.record);
	buf_free(&got.record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(chats),
	    cmocka_unit_test(spellings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
