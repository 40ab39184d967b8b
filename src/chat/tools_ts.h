/* chat/tools_ts.h - a tool's JSON schema as TypeScript: what checking and printing share
 *
 * Kimi K2.5 and later see their tools as TypeScript declarations. The rules are those of
 * Moonshot's tool_declaration_ts.py: what its dictionaries and exceptions do is done here too, so
 * that a schema it refuses is refused, and the whole list then printed as JSON by the template.
 *
 * A schema is checked first (ts_check: registers $defs, resolves $ref), then printed. */
#ifndef E3_CHAT_TOOLS_TS_H
#define E3_CHAT_TOOLS_TS_H

#include "base/buf.h"
#include "json/val.h"

struct arena;
struct chat_steps;

struct ts_def {
	struct span name;
	const struct jval *schema;
};

/* One function's registry. */
struct ts {
	struct arena *a;
	struct ts_def *defs;
	size_t ndefs, cap;
	int self; /* "#" was used */
	struct chat_steps *steps;
};

enum ts_kind {
	TS_BAD,
	TS_ANY,
	TS_NULL,
	TS_REF,
	TS_ANYOF,
	TS_ENUM,
	TS_UNION,
	TS_OBJECT,
	TS_ARRAY,
	TS_SCALAR
};

enum ts_kind ts_kind(const struct jval *schema);
int ts_truthy(const struct jval *v); /* Python's; NULL is false */
int ts_check(struct ts *t, const struct jval *schema);
int ts_check_object(struct ts *t, const struct jval *schema); /* whatever its type says */
const char *ts_union_name(const struct jval *type); /* of a list of types; NULL: unknown */

/* Appends; -1 where Python would raise. indent counts spaces. */
int ts_print(struct buf *out, const struct jval *schema, unsigned indent, struct arena *a);
int ts_print_object(struct buf *out, const struct jval *schema, unsigned indent, struct arena *a);
/* The properties in the order of their keys, for the interface of "#". */
int ts_print_self(struct buf *out, const struct jval *schema, struct arena *a);
/* The lines of a description, which must be a string if it is true. */
int ts_print_description(struct buf *out, const struct jval *owner, unsigned indent);

#endif
