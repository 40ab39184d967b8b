#include "jinja/lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/utf8.h"
#include "jinja/lexstr.h"
#include "jinja/text.h"

struct lexer {
	struct jinja *t;
	const char *p; /* the text */
	size_t n, at;
	int line_start; /* the last token ended with a newline */
	char open[128]; /* brackets to be closed */
	size_t nopen;
	struct tokens *out;
	struct err *e;
};

static const struct {
	char text[3];
	enum token_kind kind;
} operators[] = {
    /* longer ones first */
    {"//", T_FLOORDIV},
    {"**", T_POW},
    {"==", T_EQ},
    {"!=", T_NE},
    {"<=", T_LE},
    {">=", T_GE},
    {"+", T_ADD},
    {"-", T_SUB},
    {"*", T_MUL},
    {"/", T_DIV},
    {"%", T_MOD},
    {"~", T_TILDE},
    {"[", T_LBRACKET},
    {"]", T_RBRACKET},
    {"(", T_LPAREN},
    {")", T_RPAREN},
    {"{", T_LBRACE},
    {"}", T_RBRACE},
    {"<", T_LT},
    {">", T_GT},
    {"=", T_ASSIGN},
    {".", T_DOT},
    {":", T_COLON},
    {"|", T_PIPE},
    {",", T_COMMA},
    {";", T_SEMICOLON},
};

const char *token_name(enum token_kind kind)
{
	static const char *const names[] = {
	    [T_EOF] = "the end of the template",
	    [T_DATA] = "text",
	    [T_BLOCK_BEGIN] = "{%",
	    [T_BLOCK_END] = "%}",
	    [T_PRINT_BEGIN] = "{{",
	    [T_PRINT_END] = "}}",
	    [T_NAME] = "a name",
	    [T_STRING] = "a string",
	    [T_NUMBER] = "a number",
	};

	if (kind < sizeof(names) / sizeof(names[0]))
		return names[kind];
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i].kind == kind)
			return operators[i].text;
	return "?";
}

static int fail(struct lexer *l, size_t at, const char *msg)
{
	return jinja_error(l->t, (uint32_t)at, msg, l->e);
}

static struct token *push(struct lexer *l, enum token_kind kind, size_t at)
{
	struct tokens *o = l->out;

	o->v = xgrow(o->v, &o->cap, o->n + 1, sizeof(*o->v));
	o->v[o->n] = (struct token){.kind = kind, .at = (uint32_t)at};
	return &o->v[o->n++];
}

static int looking_at(const struct lexer *l, size_t at, const char *s)
{
	size_t n = strlen(s);

	return l->n - at >= n && memcmp(l->p + at, s, n) == 0;
}

static void skip_space(struct lexer *l)
{
	l->at += text_space_left((struct span){l->p + l->at, l->n - l->at});
}

static void add_data(struct lexer *l, size_t from, size_t to)
{
	if (to > from)
		push(l, T_DATA, from)->s = (struct span){l->p + from, to - from};
}

/* The closing delimiter at `at` ("%}" ...) with a sign before it, if there is one: the offset
 * behind it and behind the white space that it takes with it; else 0. */
static size_t closing(const struct lexer *l, size_t at, const char *end, int trims)
{
	char sign = at < l->n ? l->p[at] : '\0';
	size_t skip = sign == '-' || (sign == '+' && trims);

	if (!looking_at(l, at + skip, end))
		return 0;
	at += skip + 2;
	if (skip && sign == '-')
		return at + text_space_left((struct span){l->p + at, l->n - at});
	if (!skip && trims && at < l->n && l->p[at] == '\n')
		at++;
	return at;
}

/* Where the text before a tag ends: `-` takes all white space, lstrip that of its line. */
static size_t text_end_before(const struct lexer *l, size_t from, size_t tag, int strips)
{
	char sign = tag + 2 < l->n ? l->p[tag + 2] : '\0';
	size_t line = tag;

	if (sign == '-')
		return tag - text_space_right((struct span){l->p + from, tag - from});
	if (sign == '+' || !strips)
		return tag;
	while (line > from && l->p[line - 1] != '\n')
		line--;
	if (line == from && !l->line_start)
		return tag;
	return text_space_left((struct span){l->p + line, tag - line}) == tag - line ? line : tag;
}

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* (\d+_)*\d+ */
static size_t digits(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && (is_digit(p[i]) || (p[i] == '_' && i > 0 && i + 1 < n &&
					       is_digit(p[i - 1]) && is_digit(p[i + 1]))))
		i++;
	return i;
}

static size_t float_length(const char *p, size_t n)
{
	size_t i = digits(p, n), e, frac = 0;

	if (i == 0)
		return 0;
	if (i + 1 < n && p[i] == '.' && is_digit(p[i + 1])) {
		frac = 1;
		i += 1 + digits(p + i + 1, n - i - 1);
	}
	if (i < n && (p[i] == 'e' || p[i] == 'E')) {
		e = i + 1;
		if (e < n && (p[e] == '+' || p[e] == '-'))
			e++;
		if (e < n && is_digit(p[e]))
			return e + digits(p + e, n - e);
	}
	return frac ? i : 0;
}

static int radix_digit(char c, int radix)
{
	int v = is_digit(c)	       ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : 99;

	return v < radix ? v : -1;
}

/* 0b1, 0o7, 0xf with underscores before digits; 0 when p is none. */
static size_t radix_number(const char *p, size_t n, struct value *out)
{
	int radix = n < 3 || p[0] != '0'	 ? 0
		    : p[1] == 'b' || p[1] == 'B' ? 2
		    : p[1] == 'o' || p[1] == 'O' ? 8
		    : p[1] == 'x' || p[1] == 'X' ? 16
						 : 0;
	int64_t v = 0;
	size_t i = 2;

	if (!radix)
		return 0;
	for (;;) {
		size_t at = i + (i < n && p[i] == '_');
		int d = at < n ? radix_digit(p[at], radix) : -1;

		if (d < 0)
			break;
		if (__builtin_mul_overflow(v, radix, &v) || __builtin_add_overflow(v, d, &v))
			return 0;
		i = at + 1;
	}
	value_int(out, v);
	return i == 2 ? 0 : i;
}

/* [1-9](_?\d)* or 0(_?0)* */
static size_t decimal_length(const char *p, size_t n)
{
	size_t i = 1, len;

	if (p[0] != '0')
		return digits(p, n);
	for (len = digits(p, n); i < len && (p[i] == '0' || (p[i] == '_' && p[i + 1] == '0')); i++)
		;
	return i;
}

static int lex_number(struct lexer *l)
{
	const char *p = l->p + l->at;
	size_t n = l->n - l->at, len, m = 0;
	int after_dot = l->at > 0 && p[-1] == '.';
	struct token *tok = push(l, T_NUMBER, l->at);
	char *text;
	int64_t i;

	len = radix_number(p, n, &tok->value);
	if (len > 0) {
		l->at += len;
		return 0;
	}
	len = after_dot ? 0 : float_length(p, n);
	int is_float = len > 0;
	if (!is_float)
		len = decimal_length(p, n);
	text = arena_alloc(&l->t->mem, len);
	for (size_t k = 0; k < len; k++)
		if (p[k] != '_')
			text[m++] = p[k];
	l->at += len;
	if (is_float) {
		tok->value.kind = V_FLOAT;
		return num_double(text, m, &tok->value.u.d);
	}
	if (num_i64(text, m, &i) == 0) {
		value_int(&tok->value, i);
		return 0;
	}
	value_str(&tok->value, text, m);
	tok->value.kind = V_BIG;
	return 0;
}

static int is_name_byte(char c)
{
	return c == '_' || is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z') || (c & 0x80);
}

static int lex_string(struct lexer *l)
{
	char quote = l->p[l->at];
	size_t from = l->at + 1, i = from;
	struct token *tok;
	const char *wrong;

	while (i < l->n && l->p[i] != quote)
		i += l->p[i] == '\\' ? 2 : 1;
	if (i >= l->n)
		return fail(l, l->at, "the string has no end");
	tok = push(l, T_STRING, l->at);
	wrong = lex_unescape(&l->t->mem, (struct span){l->p + from, i - from}, &tok->s);
	if (wrong)
		return fail(l, l->at, wrong);
	l->at = i + 1;
	return 0;
}

/* Delimiters inside brackets are operators; so the open ones are counted. */
static int balance(struct lexer *l, char c)
{
	static const char pairs[] = "()[]{}";
	const char *which = memchr(pairs, c, 6);
	char msg[64];

	if (!which)
		return 0;
	if ((which - pairs) % 2 == 0) {
		if (l->nopen == sizeof(l->open))
			return fail(l, l->at, "brackets nested too deep");
		l->open[l->nopen++] = which[1];
		return 0;
	}
	if (l->nopen > 0 && l->open[l->nopen - 1] == c) {
		l->nopen--;
		return 0;
	}
	if (l->nopen == 0)
		snprintf(msg, sizeof(msg), "unexpected '%c'", c);
	else
		snprintf(
		    msg, sizeof(msg), "unexpected '%c', expected '%c'", c, l->open[l->nopen - 1]);
	return fail(l, l->at, msg);
}

static int lex_operator(struct lexer *l)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (!looking_at(l, l->at, operators[i].text))
			continue;
		if (balance(l, l->p[l->at]) < 0)
			return -1;
		push(l, operators[i].kind, l->at);
		l->at += strlen(operators[i].text);
		return 0;
	}
	return fail(l, l->at, "unexpected character");
}

static void lex_name(struct lexer *l)
{
	size_t from = l->at;

	while (l->at < l->n && is_name_byte(l->p[l->at]))
		l->at++;
	push(l, T_NAME, from)->s = (struct span){l->p + from, l->at - from};
}

/* Behind "{%" or "{{" to behind its end. */
static int lex_tag(struct lexer *l, int block)
{
	const char *end = block ? "%}" : "}}";

	l->nopen = 0;
	for (;;) {
		size_t behind;
		char c;
		int rc = 0;

		behind = l->nopen ? 0 : closing(l, l->at, end, block);
		if (behind) {
			push(l, block ? T_BLOCK_END : T_PRINT_END, l->at);
			l->at = behind;
			l->line_start = l->p[behind - 1] == '\n';
			return 0;
		}
		skip_space(l);
		behind = l->nopen ? 0 : closing(l, l->at, end, block);
		if (behind)
			continue;
		if (l->at >= l->n)
			return 0; /* the parser says what is missing */
		c = l->p[l->at];
		if (is_digit(c))
			rc = lex_number(l);
		else if (is_name_byte(c))
			lex_name(l);
		else if (c == '\'' || c == '"')
			rc = lex_string(l);
		else
			rc = lex_operator(l);
		if (rc < 0)
			return -1;
	}
}

static int lex_comment(struct lexer *l, size_t tag)
{
	for (size_t i = l->at; i < l->n; i++) {
		size_t behind = closing(l, i, "#}", 1);

		if (behind) {
			l->at = behind;
			l->line_start = l->p[behind - 1] == '\n';
			return 0;
		}
	}
	/* with nothing behind it, Jinja2 takes it for one */
	return l->at == l->n ? 0 : fail(l, tag, "the comment has no end");
}

/* Whether {% WORD %} begins at `at`; the offset behind it. */
static size_t bare_tag(const struct lexer *l, size_t at, const char *word, int trims)
{
	size_t i = at + 2, behind;

	if (i < l->n && (l->p[i] == '-' || l->p[i] == '+'))
		i++;
	i += text_space_left((struct span){l->p + i, l->n - i});
	if (!looking_at(l, i, word))
		return 0;
	i += strlen(word);
	i += text_space_left((struct span){l->p + i, l->n - i});
	if (!trims && looking_at(l, i, "%}"))
		return i + 2;
	behind = closing(l, i, "%}", 1);
	return !trims && i < l->n && l->p[i] == '+' ? 0 : behind;
}

/* Behind {% raw %} to behind {% endraw %}. */
static int lex_raw(struct lexer *l, size_t tag)
{
	size_t from = l->at;

	l->line_start = l->p[from - 1] == '\n';
	for (size_t i = from; i < l->n; i++) {
		size_t behind = looking_at(l, i, "{%") ? bare_tag(l, i, "endraw", 1) : 0;

		if (!behind)
			continue;
		add_data(l, from, text_end_before(l, from, i, 1));
		l->at = behind;
		l->line_start = l->p[behind - 1] == '\n';
		return 0;
	}
	return from == l->n ? 0 : fail(l, tag, "the raw block has no end");
}

/* A tag at `tag`, whose text before is done. */
static int lex_any(struct lexer *l, size_t tag)
{
	char what = l->p[tag + 1];
	size_t behind = what == '%' ? bare_tag(l, tag, "raw", 0) : 0;

	if (behind) {
		l->at = behind;
		return lex_raw(l, tag);
	}
	l->at = tag + 2;
	if (l->at < l->n && (l->p[l->at] == '-' || l->p[l->at] == '+'))
		l->at++;
	l->line_start = 0;
	if (what == '#')
		return lex_comment(l, tag);
	push(l, what == '%' ? T_BLOCK_BEGIN : T_PRINT_BEGIN, tag);
	return lex_tag(l, what == '%');
}

int lex(struct jinja *t, struct tokens *out, struct err *e)
{
	struct lexer l = {
	    .t = t, .p = t->text.p, .n = t->text.n, .line_start = 1, .out = out, .e = e};

	while (l.at < l.n) {
		size_t from = l.at, tag = from;

		while (tag + 1 < l.n &&
		       !(l.p[tag] == '{' && strchr("{%#", l.p[tag + 1]) && l.p[tag + 1]))
			tag++;
		if (tag + 1 >= l.n) {
			add_data(&l, from, l.n);
			break;
		}
		add_data(&l, from, text_end_before(&l, from, tag, l.p[tag + 1] != '{'));
		if (lex_any(&l, tag) < 0)
			return -1;
	}
	push(&l, T_EOF, l.n);
	return 0;
}

void tokens_free(struct tokens *t)
{
	free(t->v);
	*t = (struct tokens){0};
}
