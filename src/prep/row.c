#include "prep/row.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "prep/dataset.h"
#include "prep/filter.h"
#include "prep/shape.h"
#include "prep/walk.h"

const char *const prep_count_name[PREP_COUNTS] = {
    [PREP_MESSAGES] = "messages",
    [PREP_USERS] = "user_messages",
    [PREP_SPECIAL] = "special",
    [PREP_UNBALANCED] = "think-unbalanced",
    [PREP_THINK_LEFT] = "think-left",
    [PREP_NO_SCORE] = "no-score",
    [PREP_CALL_TEXT] = "call-text",
    [PREP_CUT_ANSWER] = "cut-answer",
    [PREP_TOOLS_TEXT] = "tools-in-text",
    [PREP_REPAIRED] = "repaired",
    [PREP_UTF8] = "utf8",
    [PREP_SURROGATE] = "surrogate",
    [PREP_NAN] = "nan",
    [PREP_LEAD] = "lead",
    [PREP_ORDER_CUT] = "order-cut",
    [PREP_ROLE_CUT] = "role-cut",
    [PREP_EMPTY_CUT] = "empty-cut",
    [PREP_ARGS] = "args",
    [PREP_DOUBLE] = "double-encoded",
    [PREP_OPENER] = "think-opener",
};

static const struct {
	const char *word;
	enum prep_role role;
} words[] = {
    {"user", PREP_USER},
    {"assistant", PREP_ASSISTANT},
    {"human", PREP_USER},
    {"gpt", PREP_ASSISTANT},
    {"system", PREP_SYSTEM},
    {"tool", PREP_TOOL},
    {"ai", PREP_ASSISTANT},
    {"chatgpt", PREP_ASSISTANT},
    {"bing", PREP_ASSISTANT},
    {"bard", PREP_ASSISTANT},
    {"model", PREP_ASSISTANT},
    {"bot", PREP_ASSISTANT},
    {"developer", PREP_SYSTEM},
    {"function", PREP_TOOL},
    {"observation", PREP_TOOL},
    {"observations", PREP_TOOL},
    {"function_response", PREP_TOOL},
    {"function-response", PREP_TOOL},
    {"tool_response", PREP_TOOL},
    {"function_call", PREP_CALL},
    {"function-call", PREP_CALL},
    {"tool_call", PREP_CALL},
};

enum prep_role prep_role_of(struct span word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word.n && *word.p == *words[i].word && span_eq(word, words[i].word))
			return words[i].role;
	return PREP_UNKNOWN;
}

const char *prep_role_name(enum prep_role role)
{
	static const char *const names[] = {[PREP_UNKNOWN] = "unknown role",
	    [PREP_SYSTEM] = "system",
	    [PREP_USER] = "user",
	    [PREP_ASSISTANT] = "assistant",
	    [PREP_TOOL] = "tool",
	    [PREP_CALL] = "assistant"};

	return names[role];
}

void prep_count(struct prep_row *r, enum prep_count what, uint64_t n)
{
	r->count[what] += n;
}

void prep_note(struct prep_row *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->trace)
		return;
	buf_adds(r->trace, "  ");
	va_start(ap, fmt);
	buf_vaddf(r->trace, fmt, ap);
	va_end(ap);
	buf_addc(r->trace, '\n');
}

static void mend(struct prep_row *r, struct span *v, int surrogate)
{
	if (surrogate)
		prep_count(r, PREP_SURROGATE, prep_fix_surrogates(v, r->arena));
}

int prep_inner_json(struct prep_row *r, struct span decoded, struct span *v)
{
	int surrogate = 0;

	if (!json_whole(decoded, v, &surrogate))
		return 0;
	mend(r, v, surrogate);
	return 1;
}

const char *prep_inner_part(struct prep_row *r, struct span decoded, struct span *v)
{
	int surrogate = 0;
	const char *end = json_end(decoded, &surrogate);

	if (!end)
		return NULL;
	*v = (struct span){decoded.p, (size_t)(end - decoded.p)};
	mend(r, v, surrogate);
	return end;
}

/* Parses the line, mending what may be mended first. */
static int parse(struct prep_row *r, struct span line, int *object)
{
	const char *at = line.p;
	uint64_t n;

	*object = 1;
	while (rec_parse(&r->rec, line.p, line.n, r->e) < 0) {
		enum prep_count what = PREP_UTF8;

		*object = 0;
		n = prep_fix_utf8(&line, r->arena);
		if (!n && !strcmp(r->e->class, "json")) {
			what = PREP_NAN;
			n = prep_fix_nan(&line, r->arena);
		}
		if (!n && line.p != at && !strcmp(r->e->class, "json"))
			err_suffix(r->e, " (bytes are counted after repairs)");
		if (!n)
			return -1;
		prep_count(r, what, n);
	}
	at = line.p;
	mend(r, &line, r->rec.surrogate);
	return line.p == at ? 0 : rec_parse(&r->rec, line.p, line.n, r->e);
}

static void note_repairs(struct prep_row *r)
{
	if (r->count[PREP_UTF8])
		prep_note(r, "%llu ill-formed places became U+FFFD (utf8)",
		    (unsigned long long)r->count[PREP_UTF8]);
	if (r->count[PREP_SURROGATE])
		prep_note(r, "%llu lone surrogate escapes became U+FFFD (surrogate)",
		    (unsigned long long)r->count[PREP_SURROGATE]);
	if (r->count[PREP_NAN])
		prep_note(r, "%llu NaN or Infinity became null (nan)",
		    (unsigned long long)r->count[PREP_NAN]);
}

/* A column that holds a list of objects: the rows, it may be. */
static const struct rec_member *list_of_rows(const struct prep_row *r)
{
	for (size_t i = 0; i < r->rec.n; i++)
		if (r->rec.m[i].val.n > 1 && memcmp(r->rec.m[i].val.p, "[{", 2) == 0)
			return &r->rec.m[i];
	return NULL;
}

static int no_format(struct prep_row *r)
{
	const struct rec_member *rows = list_of_rows(r);

	buf_reset(&r->text);
	for (size_t i = 0; i < r->rec.n; i++) {
		buf_adds(&r->text, i ? ", " : "");
		buf_add(&r->text, r->rec.m[i].key.p, r->rec.m[i].key.n);
	}
	if (rows)
		buf_addf(&r->text, "; a list of rows is made lines with jq -c '.%.*s[]'",
		    (int)rows->key.n, rows->key.p);
	return err_set(r->e, "missing", "none of the columns that are known; there are: %s",
	    r->text.len ? buf_cstr(&r->text) : "none");
}

static void count_message(struct prep_row *r, struct prep_msg *m)
{
	struct prep_marks marks, more;

	prep_marks_of(&m->content, r->arena, &marks);
	prep_marks_of(&m->reasoning, r->arena, &more);
	prep_count(r, PREP_MESSAGES, 1);
	prep_count(r, PREP_USERS, m->role == PREP_USER);
	prep_count(r, PREP_SPECIAL, marks.special || more.special);
	if (m->role == PREP_ASSISTANT && (marks.think != marks.think_end || marks.think > 1))
		prep_count(r, PREP_UNBALANCED, 1);
}

static int finish(struct prep_row *r)
{
	struct prep_conv *c = &r->conv;

	if (c->seen == 0)
		return err_set(r->e, "empty", "no messages");
	if (c->users == 0 && c->unknown.p)
		return err_set(r->e, "nouser", "no user message; %.*s is no role that is known",
		    c->unknown.n < 40 ? (int)c->unknown.n : 40, c->unknown.p);
	if (c->users == 0)
		return err_set(r->e, "nouser", "no user message");
	if (r->rules->native && c->answers == 0)
		return err_set(r->e, "noanswer", "no answer, and the mode is native");
	for (size_t i = 0; i < c->n; i++)
		count_message(r, &c->msg[i]);
	for (int i = PREP_REPAIRED + 1; i < PREP_COUNTS; i++)
		if (r->count[i])
			r->count[PREP_REPAIRED] = 1;
	return 0;
}

static void begin(struct prep_row *r, struct arena *a, struct err *e)
{
	struct prep_conv *c = &r->conv;

	r->arena = a;
	r->e = e;
	r->format = NULL;
	r->filter = NULL;
	memset(r->count, 0, sizeof(r->count));
	c->n = c->seen = c->users = c->answers = 0;
	c->nwait = c->answered = c->ncalls = 0;
	c->unknown = (struct span){0};
	buf_reset(&r->calls);
	buf_reset(&r->tools);
}

int prep_row_convert(
    struct prep_row *r, struct span line, struct arena *a, int *object, struct err *e)
{
	static int (*const readers[])(struct prep_row *) = {
	    [PREP_LIST] = prep_read_list,
	    [PREP_COLUMNS] = prep_read_columns,
	    [PREP_FLAT] = prep_read_glaive,
	    [PREP_ANSWERS] = prep_read_answers,
	};

	begin(r, a, e);
	if (parse(r, line, object) < 0)
		return -1;
	note_repairs(r);
	r->filter = prep_filters_fail(r);
	if (r->filter)
		return 1;
	r->format = prep_format_of(&r->rec, r->rules->formats);
	if (!r->format)
		return no_format(r);
	prep_note(r, "format %s: column \"%s\" (%s)", r->format->name, r->format->column,
	    r->format->what);
	if (readers[r->format->shape](r) < 0)
		return -1;
	return finish(r);
}

void prep_row_free(struct prep_row *r)
{
	rec_free(&r->rec);
	buf_free(&r->text);
	buf_free(&r->hash);
	buf_free(&r->calls);
	buf_free(&r->tools);
	free(r->conv.msg);
	free(r->conv.wait);
}
