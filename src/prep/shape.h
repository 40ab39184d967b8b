/* shape.h - the readers: from the columns of a row to its messages
 *
 * Each offers the messages to the conversation (row.h) until it is cut, and sets its tools. 0, or
 * -1 with the error of the row. */
#ifndef E3_PREP_SHAPE_H
#define E3_PREP_SHAPE_H

#include "prep/row.h"

int prep_read_list(struct prep_row *r);
int prep_read_columns(struct prep_row *r);
int prep_read_answers(struct prep_row *r);
int prep_read_glaive(struct prep_row *r);

/* The parts that readers share. */

/* The messages in v, a list or a string that holds one; `column` is for messages. 1: it went on to
 * the end of the list; 0: cut; -1. */
int prep_list(struct prep_row *r, struct span v, const char *column);
/* A system text and tools in columns of their own. */
int prep_system_column(struct prep_row *r);
int prep_tools_column(struct prep_row *r);
/* A message of one text. As prep_list. */
int prep_put_text(
    struct prep_row *r, enum prep_role role, struct prep_text content, struct prep_text reasoning);
/* Moves the reasoning that stands in front of an answer to its place, where the rules want it; where
 * it stands there already it goes. */
void prep_split_think(struct prep_row *r, struct prep_msg *m);

/* ---- calls and tools, in their many spellings ----
 *
 * Calls become {"id":...,"type":"function","function":{"name":...,"arguments":...}}, added to the
 * message; definitions become {"type":"function","function":{...}}. */

/* tool_calls: a list, or a string that holds one; null is none. -1: something else. */
int prep_calls(struct prep_row *r, struct span v, struct prep_msg *m, const char *where);
/* One {name, arguments} or {function: {...}}. 1; 0: it has no name. */
int prep_call(struct prep_row *r, struct span object, struct prep_msg *m);
/* A call written as text: JSON, a list of JSON, or glaive's form whose arguments are JSON in single
 * quotes. 0: no call can be made of it. */
int prep_call_text(struct prep_row *r, struct span text, struct prep_msg *m);
/* What calls have added up to here, and how to take back what came later. */
struct prep_mark {
	size_t at, n, len, all, nwait, trace;
	uint64_t count[PREP_COUNTS];
};
struct prep_mark prep_mark_calls(const struct prep_row *r, const struct prep_msg *m);
void prep_undo_calls(struct prep_row *r, struct prep_msg *m, const struct prep_mark *to);
/* The definitions in v, a list, a string that holds one or several objects, or a list of strings.
 */
int prep_tools(struct prep_row *r, struct span v, const char *where);
/* One by one: adds a definition, which is valid JSON, to the row's tools, 0 where it has no name; and
 * closes their list. */
int prep_tool_add(struct prep_row *r, struct span v);
void prep_tools_close(struct prep_row *r, const char *where);

#endif
