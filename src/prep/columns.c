#include <string.h>

#include "prep/dataset.h"
#include "prep/shape.h"
#include "prep/walk.h"

static const char open_tag[] = "<think>", close_tag[] = "</think>";

static struct span behind(struct span s, const char *p)
{
	return (struct span){p, (size_t)(s.p + s.n - p)};
}

int prep_put_text(
    struct prep_row *r, enum prep_role role, struct prep_text content, struct prep_text reasoning)
{
	struct prep_msg m = {.role = role, .content = content, .reasoning = reasoning};

	switch (prep_conv_turn(r, role)) {
	case PREP_SKIP: return 1;
	case PREP_CUT: return 0;
	case PREP_TAKE: break;
	}
	prep_split_think(r, &m);
	return prep_conv_put(r, &m);
}

/* An answer may begin with the thought that it comes with: it is written once. */
static void drop_thought(struct prep_row *r, struct prep_msg *m)
{
	struct span s = prep_text_decode(&m->content, r->arena);
	struct span thought = prep_walk_trim(prep_text_decode(&m->reasoning, r->arena));
	const char *end;

	if (s.n == 0)
		return;
	end = s.p + s.n;
	if (!prep_begins(s.p, end, open_tag))
		return;
	s = prep_walk_trim(behind(s, s.p + sizeof(open_tag) - 1));
	if (s.n < thought.n || memcmp(s.p, thought.p, thought.n) != 0)
		return;
	s = prep_walk_trim(behind(s, s.p + thought.n));
	if (!prep_begins(s.p, s.p + s.n, close_tag))
		return;
	s.p += sizeof(close_tag) - 1;
	m->content = prep_text_plain((struct span){s.p, (size_t)(end - s.p)});
	prep_note(r, "message %zu: it begins with its reasoning, left out there", r->conv.seen);
}

/* An answer as captured may lack the opening tag, which was part of the prompt that it was
 * generated from. */
static void take_thought(struct prep_row *r, struct prep_msg *m)
{
	const char *from, *to;
	struct span s = prep_text_decode(&m->content, r->arena);

	from = s.p;
	to = prep_find(s, close_tag);
	if (!to)
		return;
	if (prep_find(s, open_tag) == s.p) {
		from += sizeof(open_tag) - 1;
	} else if (!prep_find((struct span){s.p, (size_t)(to - s.p)}, open_tag)) {
		prep_count(r, PREP_OPENER, 1);
		prep_note(r, "message %zu: its <think> was missing (think-opener)", r->conv.seen);
	} else {
		return;
	}
	m->reasoning = prep_text_plain((struct span){from, (size_t)(to - from)});
	m->content = prep_text_plain(behind(s, to + sizeof(close_tag) - 1));
	prep_note(r, "message %zu: %zu bytes of <think> are its reasoning", r->conv.seen,
	    m->reasoning.text.n);
}

void prep_split_think(struct prep_row *r, struct prep_msg *m)
{
	if (!r->rules->split_think || (m->role != PREP_ASSISTANT && m->role != PREP_CALL))
		return;
	if (prep_text_some(&m->reasoning))
		drop_thought(r, m);
	else
		take_thought(r, m);
	if (!prep_find(prep_text_decode(&m->content, r->arena), open_tag))
		return;
	prep_count(r, PREP_THINK_LEFT, 1);
	prep_note(r, "message %zu: a <think> stays in its text (think-left)", r->conv.seen);
}

int prep_system_column(struct prep_row *r)
{
	const char *name;
	struct span v = prep_column(&r->rec, prep_system_columns, &name);
	struct prep_text t;

	if (span_is_null(v))
		return 0;
	if (*v.p != '"')
		return err_set(r->e, "type", "%s: expected a string, not %s", name, json_kind(v));
	t = prep_text_of(v);
	if (!prep_text_some(&t))
		return 0;
	if (!r->rules->system_column) {
		prep_note(r, "column \"%s\" (system text) is left out", name);
		return 0;
	}
	return prep_put_text(r, PREP_SYSTEM, t, (struct prep_text){0});
}

int prep_tools_column(struct prep_row *r)
{
	const char *name;
	struct span v = prep_column(&r->rec, prep_tools_columns, &name);
	struct prep_conv *c = &r->conv;

	if (span_is_null(v))
		return 0;
	if (r->tools.len) {
		prep_note(r, "column \"%s\" is left out: the system message has tools", name);
		return 0;
	}
	if (c->n && c->msg[0].role == PREP_SYSTEM &&
	    prep_find(prep_text_decode(&c->msg[0].content, r->arena), "<tools>")) {
		prep_count(r, PREP_TOOLS_TEXT, 1);
		prep_note(r, "column \"%s\" is left out: the system text has the tools", name);
		return 0;
	}
	return prep_tools(r, v, name);
}

/* A question and its answer. As prep_list. */
static int put_pair(struct prep_row *r, struct span pair, size_t i)
{
	struct span text[2], more;
	struct prep_walk w;
	int n = 0, rc;

	prep_walk_open(&w, pair);
	while (*pair.p == '[' && n < 2 && prep_walk_item(&w, &text[n]) && *text[n].p == '"')
		n++;
	if (n < 2 || prep_walk_item(&w, &more))
		return err_set(r->e, "type", "history[%zu]: expected a list of two strings", i);
	rc = prep_put_text(r, PREP_USER, prep_text_of(text[0]), (struct prep_text){0});
	if (rc <= 0)
		return rc;
	return prep_put_text(r, PREP_ASSISTANT, prep_text_of(text[1]), (struct prep_text){0});
}

/* The turns before the question, in a column of their own: a list of pairs. As prep_list. */
static int put_history(struct prep_row *r)
{
	struct span v = rec_get(&r->rec, "history"), pair;
	struct prep_walk w;
	int rc = 1;

	if (span_is_null(v) || span_eq(v, "\"\""))
		return 1;
	if (*v.p != '[')
		return err_set(r->e, "type", "history: expected an array, not %s", json_kind(v));
	prep_walk_open(&w, v);
	for (size_t i = 0; rc > 0 && prep_walk_item(&w, &pair); i++)
		rc = put_pair(r, pair, i);
	return rc;
}

/* Adds what belongs behind the question, each behind an LF. */
static int add_more(struct prep_row *r, struct buf *more)
{
	for (const char *const *name = r->format->more; name && *name; name++) {
		struct span v = rec_get(&r->rec, *name);

		if (span_is_null(v) || span_eq(v, "\"\""))
			continue;
		if (*v.p != '"')
			return err_set(
			    r->e, "type", "%s: expected a string, not %s", *name, json_kind(v));
		buf_addc(more, '\n');
		json_str(more, v, NULL);
		prep_note(r, "column \"%s\" is put behind the question", *name);
	}
	return 0;
}

/* The question, with what belongs before and behind it. As prep_list. */
static int put_question(struct prep_row *r)
{
	const char *column = r->format->column;
	struct span v = rec_get(&r->rec, column), text;
	struct buf *more = &r->text;
	struct prep_text t;
	char *both;
	int rc;

	if (span_is_null(v))
		return err_set(r->e, "missing", "%s: %s", column, v.p ? "null" : "missing");
	rc = put_history(r);
	if (rc <= 0)
		return rc;
	if (*v.p == '[')
		return prep_list(r, v, column);
	if (*v.p != '"')
		return err_set(r->e, "type", "%s: expected a string, not %s", column, json_kind(v));
	t = prep_text_of(v);
	buf_reset(more);
	if (add_more(r, more) < 0)
		return -1;
	if (more->len) {
		size_t skip = !prep_text_some(&t); /* behind nothing comes no LF */

		text = prep_text_decode(&t, r->arena);
		both = arena_alloc(r->arena, text.n + more->len);
		memcpy(both, text.p, text.n);
		memcpy(both + text.n, more->data + skip, more->len - skip);
		t = prep_text_plain((struct span){both, text.n + more->len - skip});
	}
	return prep_put_text(r, PREP_USER, t, (struct prep_text){0});
}

static int put_answer(struct prep_row *r)
{
	const char *name, *rname;
	struct span v = prep_column(&r->rec, r->format->answer, &name), thought = {0};
	struct prep_text content = {0}, reasoning = {0};

	if (span_is_null(v) && r->rules->native)
		return err_set(r->e, "missing", "%s: %s", name, v.p ? "null" : "missing");
	if (!v.p)
		return 1;
	if (*v.p == '[')
		return prep_list(r, v, name);
	if (*v.p != '"' && !span_is_null(v))
		return err_set(r->e, "type", "%s: expected a string, not %s", name, json_kind(v));
	if (*v.p == '"')
		content = prep_text_of(v);
	if (r->format->reasoning)
		thought = prep_column(&r->rec, r->format->reasoning, &rname);
	if (!span_is_null(thought) && *thought.p != '"')
		return err_set(
		    r->e, "type", "%s: expected a string, not %s", rname, json_kind(thought));
	if (!span_is_null(thought))
		reasoning = prep_text_of(thought);
	return prep_put_text(r, PREP_ASSISTANT, content, reasoning);
}

int prep_read_columns(struct prep_row *r)
{
	int rc;

	if (prep_system_column(r) < 0)
		return -1;
	rc = put_question(r);
	if (rc > 0)
		rc = put_answer(r);
	return rc < 0 ? -1 : prep_tools_column(r);
}

int prep_read_answers(struct prep_row *r)
{
	struct prep_msg m = {.role = PREP_ASSISTANT};
	struct span v = rec_get(&r->rec, "answers");
	int rc;

	if (!v.p)
		return prep_read_columns(r);
	if (prep_system_column(r) < 0)
		return -1;
	rc = put_question(r);
	if (rc < 0)
		return -1;
	if (rc > 0 && !span_is_null(v) && prep_conv_turn(r, m.role) == PREP_TAKE) {
		if (prep_calls(r, v, &m, "answers") < 0 || prep_conv_put(r, &m) < 0)
			return -1;
	}
	return prep_tools_column(r);
}
