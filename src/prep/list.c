#include <string.h>

#include "base/mem.h"
#include "prep/dataset.h"
#include "prep/shape.h"
#include "prep/walk.h"

/* The members of a message that are read, under all names that they have in the sets. Of several
 * names for one thing the first with a text counts: converters pad messages with nulls, or with
 * empty strings. */
enum {
	ROLE,
	FROM,
	CONTENT,
	VALUE,
	TEXT,
	SYSTEM_PROMPT,
	REASONING_CONTENT,
	REASONING,
	THINKING,
	TOOL_CALLS,
	FUNCTION_CALL,
	TOOL_CALL_ID,
	NAME,
	WEIGHT,
	TOOLS,
	MEMBERS
};

static const char *const names[MEMBERS] = {"role", "from", "content", "value", "text",
    "system_prompt", "reasoning_content", "reasoning", "thinking", "tool_calls", "function_call",
    "tool_call_id", "name", "weight", "tools"};

struct raw {
	struct span v[MEMBERS]; /* p NULL: not there, or null */
	const char *column;
	size_t index;
};

static void read_raw(struct raw *m, struct prep_walk *w)
{
	struct span key, val;

	while (prep_walk_member(w, &key, &val))
		for (int i = 0; i < MEMBERS && key.n; i++)
			if (*key.p == *names[i] && span_eq(key, names[i])) {
				m->v[i] = span_is_null(val) ? (struct span){0} : val;
				break;
			}
}

/* Of the members first to last, the first with more than an empty string, else the first with a
 * value; `last` where there is none. */
static int first_of(const struct raw *m, int first, int last)
{
	for (int i = first; i <= last; i++)
		if (m->v[i].p && !span_eq(m->v[i], "\"\""))
			return i;
	while (first < last && !m->v[first].p)
		first++;
	return first;
}

static int bad_type(struct prep_row *r, const struct raw *m, int member, const char *want)
{
	return err_set(r->e, "type", "%s[%zu].%s: expected %s, not %s", m->column, m->index,
	    names[member], want, json_kind(m->v[member]));
}

enum part { PART_TEXT, PART_REASONING, PART_CALL, PART_OTHER };

static enum part part_of_type(struct prep_row *r, struct span type)
{
	if (!type.p)
		return PART_TEXT;
	if (*type.p != '"')
		return PART_OTHER;
	type = json_text(type, r->arena, NULL);
	if (span_eq(type, "text"))
		return PART_TEXT;
	if (span_eq(type, "reasoning"))
		return PART_REASONING;
	return span_eq(type, "tool_call") ? PART_CALL : PART_OTHER;
}

/* {"type":"text","text":...}, or with "value" or "content"; a string is a text too. What kind of
 * part it is, with its text unless it is PART_OTHER. */
static enum part read_part(struct prep_row *r, struct span part, struct span *text)
{
	struct span v;

	if (*part.p == '"') {
		*text = json_text(part, r->arena, NULL);
		return PART_TEXT;
	}
	if (*part.p != '{')
		return PART_OTHER;
	v = prep_walk_get(part, "text");
	if (span_is_null(v))
		v = prep_walk_get(part, "value");
	if (span_is_null(v))
		v = prep_walk_get(part, "content");
	if (!v.p || *v.p != '"')
		return PART_OTHER;
	*text = json_text(v, r->arena, NULL);
	return part_of_type(r, prep_walk_get(part, "type"));
}

static struct prep_text joined(struct prep_row *r, const struct buf *b)
{
	return prep_text_plain((struct span){arena_dup(r->arena, b->data, b->len), b->len});
}

/* Texts are joined without anything between them. Only an assistant thinks and calls. */
static int read_parts(struct prep_row *r, struct raw *raw, int member, struct prep_msg *m)
{
	struct buf content = {0}, thought = {0};
	struct prep_walk w;
	struct span part, text;
	int rc = 0;

	prep_walk_open(&w, raw->v[member]);
	for (size_t i = 0; rc == 0 && prep_walk_item(&w, &part); i++) {
		enum part kind = read_part(r, part, &text);

		if (kind == PART_OTHER || (kind != PART_TEXT && m->role != PREP_ASSISTANT) ||
		    (kind == PART_CALL && !prep_call_text(r, text, m)))
			rc = err_set(r->e, "type", "%s[%zu].%s[%zu]: expected a part that is text",
			    raw->column, raw->index, names[member], i);
		else if (kind != PART_CALL)
			buf_add(kind == PART_TEXT ? &content : &thought, text.p, text.n);
	}
	m->content = joined(r, &content);
	if (thought.len)
		m->reasoning = joined(r, &thought);
	buf_free(&content);
	buf_free(&thought);
	return rc;
}

static int read_content(struct prep_row *r, struct raw *raw, struct prep_msg *m)
{
	int member = first_of(raw, CONTENT, SYSTEM_PROMPT);
	struct span v = raw->v[member];

	if (!v.p)
		return 0;
	if (*v.p == '[')
		return read_parts(r, raw, member, m);
	if (*v.p != '"')
		return bad_type(r, raw, member, "a string");
	m->content = prep_text_of(v);
	return 0;
}

/* A member that is a string where it is there. */
static int read_text(struct prep_row *r, struct raw *raw, int member, struct prep_text *to)
{
	struct span v = raw->v[member];

	if (!v.p)
		return 0;
	if (*v.p != '"')
		return bad_type(r, raw, member, "a string");
	*to = prep_text_of(v);
	return 0;
}

/* Where the answers are the target's, a weight that is neither 0 nor 1 can't be passed over. */
static int read_weight(struct prep_row *r, const struct raw *raw, struct prep_msg *m)
{
	struct span v = raw->v[WEIGHT];

	if (!v.p || !r->rules->native)
		return 0;
	m->untrained = span_eq(v, "0") || span_eq(v, "0.0") || span_eq(v, "false");
	if (m->untrained || span_eq(v, "1") || span_eq(v, "1.0") || span_eq(v, "true"))
		return 0;
	return err_set(r->e, "type", "%s[%zu].weight: expected 0 or 1, not %.*s", raw->column,
	    raw->index, v.n < 40 ? (int)v.n : 40, v.p);
}

/* What an answer says of itself beside its text and its calls. */
static int read_thought(struct prep_row *r, struct raw *raw, struct prep_msg *m)
{
	int thought = first_of(raw, REASONING_CONTENT, THINKING);
	struct span v = raw->v[thought];

	if (v.p && *v.p != '"' && r->rules->native)
		return bad_type(r, raw, thought, "a string");
	if (v.p && *v.p == '"' && !prep_text_some(&m->reasoning))
		m->reasoning = prep_text_of(v);
	prep_split_think(r, m);
	return read_weight(r, raw, m);
}

/* A turn that is nothing but a call, as text, behind its thinking maybe, or as an object. */
static int read_call_turn(struct prep_row *r, struct raw *raw, struct prep_msg *m)
{
	int member = first_of(raw, CONTENT, TEXT);
	struct span v = raw->v[member];

	if (v.p && *v.p == '"')
		m->content = prep_text_of(v);
	else if (v.p && *v.p != '{')
		return bad_type(r, raw, member, "a call as a string or an object");
	if (read_thought(r, raw, m) < 0)
		return -1;
	if (v.p && *v.p == '{')
		return prep_call(r, v, m) ? 0 : bad_type(r, raw, member, "a call with a name");
	if (v.p && prep_call_text(r, prep_text_decode(&m->content, r->arena), m)) {
		m->content = (struct prep_text){0};
		return 0;
	}
	m->role = PREP_ASSISTANT;
	prep_count(r, PREP_CALL_TEXT, v.p != NULL);
	return 0;
}

static int read_assistant(struct prep_row *r, struct raw *raw, struct prep_msg *m)
{
	if (read_thought(r, raw, m) < 0)
		return -1;
	if (raw->v[TOOL_CALLS].p && prep_calls(r, raw->v[TOOL_CALLS], m, names[TOOL_CALLS]) < 0)
		return err_prefix(r->e, "%s[%zu].", raw->column, raw->index);
	if (raw->v[FUNCTION_CALL].p && !m->ncalls) {
		if (*raw->v[FUNCTION_CALL].p != '{')
			return bad_type(r, raw, FUNCTION_CALL, "an object");
		if (!prep_call(r, raw->v[FUNCTION_CALL], m))
			return err_set(r->e, "type", "%s[%zu].%s: a call without a name",
			    raw->column, raw->index, names[FUNCTION_CALL]);
	}
	return 0;
}

/* Definitions that stand in the system message. */
static int read_system(struct prep_row *r, struct raw *raw)
{
	if (!raw->v[TOOLS].p || prep_tools(r, raw->v[TOOLS], names[TOOLS]) == 0)
		return 0;
	return err_prefix(r->e, "%s[%zu].", raw->column, raw->index);
}

static int read_message(struct prep_row *r, struct raw *raw, struct prep_msg *m)
{
	if (m->role == PREP_CALL)
		return read_call_turn(r, raw, m);
	if (read_content(r, raw, m) < 0)
		return -1;
	if (raw->v[NAME].p && *raw->v[NAME].p == '"')
		m->name = prep_text_of(raw->v[NAME]);
	if (m->role == PREP_SYSTEM)
		return read_system(r, raw);
	if (m->role == PREP_ASSISTANT)
		return read_assistant(r, raw, m);
	return m->role == PREP_TOOL ? read_text(r, raw, TOOL_CALL_ID, &m->id) : 0;
}

static enum prep_role role_in(struct prep_row *r, const struct raw *raw)
{
	struct span v = raw->v[first_of(raw, ROLE, FROM)];
	enum prep_role role = PREP_UNKNOWN;

	if (v.p && *v.p == '"')
		role = prep_role_of(json_text(v, r->arena, NULL));
	if (role == PREP_UNKNOWN && !r->conv.unknown.p)
		r->conv.unknown = v;
	return role;
}

/* The next message, or null for one: 1, 0 at the end, -1. */
static int next_raw(struct prep_row *r, struct raw *raw, struct prep_walk *w)
{
	struct prep_walk in;
	struct span v;

	memset(raw->v, 0, sizeof(raw->v));
	if (prep_walk_enter(w, &in)) {
		read_raw(raw, &in);
		prep_walk_leave(w, &in);
		return 1;
	}
	if (!prep_walk_item(w, &v))
		return 0;
	return *v.p == 'n' ? 1
			   : err_set(r->e, "type", "%s[%zu]: expected an object, not %s",
				 raw->column, raw->index, json_kind(v));
}

/* 1, 0 cut, -1. */
static int offer(struct prep_row *r, struct raw *raw)
{
	struct prep_msg m = {0};

	m.role = role_in(r, raw);
	switch (prep_conv_turn(r, m.role)) {
	case PREP_SKIP: return 1;
	case PREP_CUT: return 0;
	case PREP_TAKE: break;
	}
	if (read_message(r, raw, &m) < 0)
		return -1;
	return prep_conv_put(r, &m);
}

int prep_list(struct prep_row *r, struct span v, const char *column)
{
	struct raw raw = {.column = column};
	struct prep_walk w;
	int rc = 1, next = 0;

	if (*v.p == '"') {
		if (!prep_inner_json(r, json_text(v, r->arena, NULL), &v))
			return err_set(r->e, "type", "%s: a string that holds no JSON", column);
		prep_note(r, "column \"%s\" is a string that holds JSON", column);
	}
	if (*v.p != '[')
		return err_set(r->e, "type", "%s: expected an array, not %s", column, json_kind(v));
	prep_walk_open(&w, v);
	for (; rc == 1 && (next = next_raw(r, &raw, &w)) > 0; raw.index++)
		rc = offer(r, &raw);
	return next < 0 ? -1 : rc;
}

int prep_read_list(struct prep_row *r)
{
	struct span v = rec_get(&r->rec, r->format->column);

	if (span_is_null(v))
		return err_set(
		    r->e, "missing", "%s: %s", r->format->column, v.p ? "null" : "missing");
	if (prep_system_column(r) < 0)
		return -1;
	if (prep_list(r, v, r->format->column) < 0)
		return -1;
	return prep_tools_column(r);
}
