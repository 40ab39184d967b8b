#include "bpe/split.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "bpe/unicode.h"

/* A character of the text: its class bits and its length, 0 at the end of the section. */
struct seen {
	uint32_t cp;
	unsigned class;
	size_t len;
};

static inline struct seen look(const struct split *s, size_t at)
{
	const unsigned char *p = (const unsigned char *)s->p + at;
	struct seen c = {0};

	if (at >= s->stop)
		return c;
	if (p[0] < 0x80) {
		c.cp = p[0];
		c.len = 1;
	} else if (p[0] < 0xE0) {
		c.cp = (uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F);
		c.len = 2;
	} else if (p[0] < 0xF0) {
		c.cp = (uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
		c.len = 3;
	} else {
		c.cp = (uint32_t)(p[0] & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 |
		       (uint32_t)(p[2] & 0x3F) << 6 | (p[3] & 0x3F);
		c.len = 4;
	}
	c.class = uni_class(c.cp);
	return c;
}

/* End of the run of characters that have one of the bits `yes` and none of `no`. */
static size_t run(const struct split *s, size_t at, unsigned yes, unsigned no)
{
	struct seen c;

	while ((c = look(s, at)).len && (c.class & yes) && !(c.class & no))
		at += c.len;
	return at;
}

static size_t run_without(const struct split *s, size_t at, unsigned no)
{
	struct seen c;

	while ((c = look(s, at)).len && !(c.class & no))
		at += c.len;
	return at;
}

static int is_line_end(uint32_t cp)
{
	return cp == '\r' || cp == '\n';
}

static uint32_t ascii_lower(uint32_t cp)
{
	return cp >= 'A' && cp <= 'Z' ? cp + 32 : cp;
}

/* 's 't 're 've 'm 'll 'd. Case-insensitive by simple folding, for which U+017F is an s. */
static size_t contraction(const struct split *s, size_t at, int fold)
{
	static const char two[][2] = {{'r', 'e'}, {'v', 'e'}, {'l', 'l'}};
	struct seen a, b;
	uint32_t x, y;

	if (at >= s->stop || s->p[at] != '\'')
		return 0;
	a = look(s, at + 1);
	b = look(s, at + 1 + a.len);
	if (a.len == 0)
		return 0;
	x = fold ? ascii_lower(a.cp) : a.cp;
	y = fold ? ascii_lower(b.cp) : b.cp;
	if (fold && x == 0x17F)
		x = 's';
	if (x < 0x80 && x != 0 && strchr("stmd", (int)x))
		return at + 1 + a.len;
	for (size_t i = 0; i < sizeof(two) / sizeof(two[0]); i++)
		if (b.len && x == (unsigned char)two[i][0] && y == (unsigned char)two[i][1])
			return at + 1 + a.len + b.len;
	return 0;
}

/* \p{N}{1,max} */
static size_t number(const struct split *s, size_t at, unsigned max)
{
	size_t end = at;
	struct seen c;

	for (unsigned i = 0; i < max && (c = look(s, end)).len && (c.class & CP_NUMBER); i++)
		end += c.len;
	return end > at ? end : 0;
}

/* Line ends behind a punctuation run, and one more character where the family has one. */
static size_t line_ends(const struct split *s, size_t at)
{
	char tail = s->rules->tail;

	while (at < s->stop && (s->p[at] == '\r' || s->p[at] == '\n' || s->p[at] == tail))
		at++;
	return at;
}

/* ` ?[^no]+` */
static size_t other(const struct split *s, size_t at, unsigned no)
{
	size_t from = at + (at < s->stop && s->p[at] == ' ');
	size_t end = run_without(s, from, no);

	return end > from ? end : 0;
}

/* \s+(?!\S)|\s+ : a run gives its last character away to what follows, unless it has only one. */
static size_t blanks(const struct split *s, size_t at)
{
	size_t end = at, last = at;
	struct seen c;

	while ((c = look(s, end)).len && (c.class & CP_SPACE)) {
		last = end;
		end += c.len;
	}
	if (end == at)
		return 0;
	return end == s->stop || last == at ? end : last;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ : up to the run's last line end, if it has one. */
static size_t lines_and_blanks(const struct split *s, size_t at)
{
	size_t end = at, line = 0;
	struct seen c;

	while ((c = look(s, end)).len && (c.class & CP_SPACE)) {
		end += c.len;
		if (is_line_end(c.cp))
			line = end;
	}
	return line ? line : blanks(s, at);
}

/* [^\r\n no]?[letters]+ : where the first character can be both, one letter behind it decides
 * nothing, since the run is the same. */
static size_t led_word(const struct split *s, size_t at, unsigned letters, unsigned no)
{
	struct seen c = look(s, at);
	size_t end;

	if (c.len && !is_line_end(c.cp) && !(c.class & no)) {
		end = run(s, at + c.len, letters, 0);
		if (end > at + c.len)
			return end;
	}
	end = run(s, at, letters, 0);
	return end > at ? end : 0;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t next_gpt2(const struct split *s, size_t at)
{
	size_t from = at + (s->p[at] == ' ');
	size_t end = contraction(s, at, 0);

	if (end)
		return end;
	if ((end = run(s, from, CP_LETTER, 0)) > from)
		return end;
	if ((end = run(s, from, CP_NUMBER, 0)) > from)
		return end;
	if ((end = other(s, at, CP_SPACE | CP_LETTER | CP_NUMBER)))
		return end;
	return blanks(s, at);
}

/* Whether c, not a line end and not `no`, has `yes` behind it: what a word with a lead needs. */
static int leads(struct seen c, struct seen d, unsigned no, unsigned yes)
{
	return !is_line_end(c.cp) && !(c.class & no) && (d.class & yes);
}

/* What is left when c is no word, led or not: numbers, ` ?[^\s...]+[\r\n]*`, white space. */
static size_t no_word(const struct split *s, size_t at, struct seen c, unsigned letters)
{
	size_t end;

	if (c.class & CP_NUMBER)
		return number(s, at, s->rules->numbers);
	if (c.cp == ' ' || !(c.class & CP_SPACE))
		if ((end = other(s, at, CP_SPACE | CP_NUMBER | letters)))
			return line_ends(s, end);
	return lines_and_blanks(s, at);
}

/* llama3, qwen2, qwen3.5, ling2 */
static size_t next_word(const struct split *s, size_t at)
{
	unsigned letters = s->rules->letters, no = CP_LETTER | CP_NUMBER;
	struct seen c = look(s, at), d = look(s, at + c.len);
	size_t end = contraction(s, at, 1);

	if (end)
		return end;
	if ((c.class & letters) || leads(c, d, no, letters))
		return led_word(s, at, letters, no);
	return no_word(s, at, c, letters);
}

/* [UPPER]*[LOWER]+ : the greedy first run is given back up to its last caseless character, where
 * no lower-case letter follows it. */
static size_t upper_lower(const struct split *s, size_t at)
{
	unsigned han = s->rules->han;
	size_t end = at, caseless = 0, lower;
	struct seen c;

	while ((c = look(s, end)).len && (c.class & CP_UPPER) && !(c.class & han)) {
		end += c.len;
		if (c.class & CP_LOWER)
			caseless = end;
	}
	lower = run(s, end, CP_LOWER, han);
	return lower > end ? lower : caseless;
}

/* [UPPER]+[LOWER]* : tried where upper_lower failed, so that no LOWER can follow. */
static size_t upper(const struct split *s, size_t at)
{
	size_t end = run(s, at, CP_UPPER, s->rules->han);

	return end > at ? run(s, end, CP_LOWER, s->rules->han) : 0;
}

/* [^\r\n\p{L}\p{N}]? before a cased word and '(s|t|...) behind it */
static size_t cased_word(const struct split *s, size_t at)
{
	struct seen c = look(s, at);
	int lead = !is_line_end(c.cp) && !(c.class & (CP_LETTER | CP_NUMBER));
	size_t end = 0, more;

	if (lead)
		end = upper_lower(s, at + c.len);
	if (!end)
		end = upper_lower(s, at);
	if (!end && lead)
		end = upper(s, at + c.len);
	if (!end)
		end = upper(s, at);
	if (!end)
		return 0;
	more = contraction(s, end, 1);
	return more ? more : end;
}

/* [\p{Han}]+ : nearly all of it is U+4E00 to U+9FFF, E4 B8 80 to E9 BF BF in UTF-8. */
static size_t han_run(const struct split *s, size_t at)
{
	for (;;) {
		const unsigned char *p = (const unsigned char *)s->p + at;
		struct seen c;

		if (at >= s->stop)
			return at;
		if ((p[0] >= 0xE5 && p[0] <= 0xE9) || (p[0] == 0xE4 && p[1] >= 0xB8)) {
			at += 3;
			continue;
		}
		c = look(s, at);
		if (!(c.class & CP_HAN))
			return at;
		at += c.len;
	}
}

/* o200k, and kimi with Han runs apart */
static size_t next_cased(const struct split *s, size_t at)
{
	unsigned letters = CP_UPPER | CP_LOWER, han = s->rules->han;
	struct seen c = look(s, at), d;
	size_t end;

	if (c.class & han)
		return han_run(s, at);
	d = look(s, at + c.len);
	if (d.class & han)
		d.class = 0;
	if ((c.class & letters) || leads(c, d, CP_LETTER | CP_NUMBER, letters))
		if ((end = cased_word(s, at)))
			return end;
	return no_word(s, at, c, CP_LETTER);
}

/* [一-龥぀-ゟ゠-ヿ] */
static int is_cjk(uint32_t cp)
{
	return (cp >= 0x4E00 && cp <= 0x9FA5) || (cp >= 0x3040 && cp <= 0x30FF);
}

/* Numbers of up to three characters, CJK runs, and what lies between them. */
static size_t section_deepseek3(const struct split *s)
{
	size_t end = number(s, s->pos, 3);
	struct seen c;

	if (end)
		return end;
	for (end = s->pos; (c = look(s, end)).len && is_cjk(c.cp); end += c.len)
		continue;
	if (end > s->pos)
		return end;
	while ((c = look(s, end)).len && !(c.class & CP_NUMBER) && !is_cjk(c.cp))
		end += c.len;
	return end;
}

/* [!-/:-~][A-Za-z]+ : all of ASCII's punctuation */
static size_t ascii_word(const struct split *s, size_t at)
{
	struct seen c = look(s, at);
	size_t end = at + 1;

	if (c.cp >= 0x80 || !(c.class & CP_PUNCT))
		return 0;
	while (end < s->stop && ascii_lower((unsigned char)s->p[end]) >= 'a' &&
	       ascii_lower((unsigned char)s->p[end]) <= 'z')
		end++;
	return end > at + 1 ? end : 0;
}

static size_t match_deepseek3(const struct split *s, size_t at)
{
	size_t from = at + (s->p[at] == ' ');
	size_t end = ascii_word(s, at);

	if (end)
		return end;
	if ((end = led_word(s, at, CP_LETTER | CP_MARK, CP_LETTER | CP_PUNCT)))
		return end;
	if ((end = run(s, from, CP_PUNCT, 0)) > from)
		return line_ends(s, end);
	return lines_and_blanks(s, at);
}

/* The third expression leaves characters over: what stands between two matches is a piece. It also
 * sees the sections of the first two, in which it cuts a middle dot from its kana and nothing from
 * a number. */
static size_t next_deepseek3(const struct split *s, size_t at)
{
	size_t end = match_deepseek3(s, at);

	if (end)
		return end;
	for (end = at; end < s->stop && !match_deepseek3(s, end); end += look(s, end).len)
		continue;
	return end;
}

/* Each number character alone, and what lies between them. */
static size_t section_digits(const struct split *s)
{
	size_t end = number(s, s->pos, 1);

	return end ? end : run_without(s, s->pos, CP_NUMBER);
}

#define GPT2   "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define SUFFIX "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define BLANKS "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define WORD   SUFFIX "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define OTHER  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" BLANKS
#define UPPER  "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}"
#define LOWER  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
#define LEAD   "[^\\r\\n\\p{L}\\p{N}]?"
#define CASED(no) \
	LEAD UPPER no "]*" LOWER no "]+" SUFFIX "?|" LEAD UPPER no "]+" LOWER no "]*" SUFFIX "?|"

static const struct split_rules families[] = {
    {.name = "gpt2", .pattern = {GPT2}, .next = next_gpt2, .window = SPLIT_PLAIN_WORDS},
    {.name = "smollm2",
	.pattern = {GPT2},
	.digits = 1,
	.next = next_gpt2,
	.window = SPLIT_PLAIN_WORDS,
	.section = section_digits},
    {.name = "llama3",
	.pattern = {WORD "\\p{N}{1,3}" OTHER},
	.next = next_word,
	.window = SPLIT_WORDS,
	.letters = CP_LETTER,
	.numbers = 3,
	.tail = '\n'},
    {.name = "qwen2",
	.pattern = {WORD "\\p{N}" OTHER},
	.next = next_word,
	.window = SPLIT_WORDS,
	.letters = CP_LETTER,
	.numbers = 1,
	.tail = '\n'},
    {.name = "qwen3.5",
	.pattern = {SUFFIX "|" LEAD
			   "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" BLANKS},
	.next = next_word,
	.window = SPLIT_WORDS,
	.letters = CP_LETTER | CP_MARK,
	.numbers = 1,
	.tail = '\n'},
    {.name = "ling2",
	.pattern =
	    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]++"
	     "[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"},
	.next = next_word,
	.window = SPLIT_WORDS,
	.letters = CP_LETTER,
	.numbers = 1,
	.tail = '\n'},
    {.name = "o200k",
	.pattern = {CASED("") "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" BLANKS},
	.next = next_cased,
	.window = SPLIT_CASED,
	.numbers = 3,
	.tail = '/'},
    {.name = "kimi",
	.pattern = {"[\\p{Han}]+|" CASED("&&[^\\p{Han}]") "\\p{N}{1,3}" OTHER},
	.next = next_cased,
	.window = SPLIT_CASED,
	.numbers = 3,
	.han = CP_HAN,
	.tail = '\n'},
    {.name = "deepseek3",
	.pattern = {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
	    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
	    "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" BLANKS},
	.next = next_deepseek3,
	.window = SPLIT_SECTIONS,
	.section = section_deepseek3,
	.tail = '\n'},
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

void split_start(struct split *s, const struct split_rules *rules, const char *p, size_t n)
{
	*s = (struct split){rules, p, n, 0, n};
	if (rules->section)
		s->stop = 0;
}

size_t split_next(struct split *s)
{
	if (s->pos == s->stop) {
		s->stop = s->n;
		s->stop = s->rules->section(s);
	}
	s->pos = s->rules->next(s, s->pos);
	return s->pos;
}

const struct split_rules *split_named(const char *name)
{
	for (size_t i = 0; i < FAMILIES; i++)
		if (strcmp(families[i].name, name) == 0)
			return &families[i];
	return NULL;
}

/* Whether `found`, in which CR and LF may stand for themselves, is `want`, in which they are
 * escaped. */
static int same_pattern(const char *found, const char *want)
{
	while (*found && *want) {
		if (*found == '\r' || *found == '\n') {
			if (want[0] != '\\' || want[1] != (*found == '\r' ? 'r' : 'n'))
				return 0;
			want++;
		} else if (*found != *want) {
			return 0;
		}
		found++;
		want++;
	}
	return *found == *want;
}

static int same_patterns(const struct split_rules *r, const char *const *pattern, size_t n)
{
	for (size_t i = 0; i < SPLIT_STAGES; i++) {
		if ((i < n) != (r->pattern[i] != NULL))
			return 0;
		if (i < n && !same_pattern(pattern[i], r->pattern[i]))
			return 0;
	}
	return 1;
}

const struct split_rules *split_find(const char *const *pattern, size_t n, int digits)
{
	for (size_t i = 0; i < FAMILIES && n <= SPLIT_STAGES; i++)
		if (families[i].digits == digits && same_patterns(&families[i], pattern, n))
			return &families[i];
	return NULL;
}

const char *split_byte_level(void)
{
	return GPT2;
}

void split_names(struct buf *out)
{
	for (size_t i = 0; i < FAMILIES; i++)
		buf_addf(out, "%s%s", i ? ", " : "", families[i].name);
}
