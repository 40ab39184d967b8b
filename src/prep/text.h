/* text.h - the texts of a row: cleaned once, copied as they were spelled, decoded where need be
 *
 * Texts stay byte for byte but for what would not be JSON in UTF-8, or no text:
 *	- bytes that are not UTF-8 become U+FFFD, one for each maximal subpart
 *	- an escape of half a surrogate pair becomes \ufffd, which has the same length
 *	- bare NaN, Infinity, -Infinity, which exporters write and JSON does not know, become null
 * Each is counted. \u0000 is a character like others.
 *
 * A struct prep_text is one text as the input spelled it (in a JSON string literal), or a piece of a
 * decoded one. The spelling is what gets written, so that escapes stay; most are never decoded,
 * which would cost as much as all the rest.
 */
#ifndef E3_PREP_TEXT_H
#define E3_PREP_TEXT_H

#include <string.h>

#include "base/buf.h"

struct arena;

struct prep_text {
	struct span lit;  /* between its quotes; p NULL: write `text` */
	struct span text; /* decoded; p NULL: not yet, or there is no text at all (null, missing) */
};

/* v is a clean JSON string; s what stands in one, or a piece of it that cuts no escape. */
struct prep_text prep_text_of(struct span v);
struct prep_text prep_text_spelled(struct span s);
/* A text without a spelling of its own: a piece of another one. */
struct prep_text prep_text_plain(struct span decoded);
/* Whether there is a text at all; whether it has a character. */
int prep_text_given(const struct prep_text *t);
int prep_text_some(const struct prep_text *t);
/* The decoded text, which points into its literal where nothing is escaped, else into a. */
struct span prep_text_decode(struct prep_text *t, struct arena *a);
/* Adds it as JSON; decoded. */
void prep_text_write(struct buf *out, const struct prep_text *t);
void prep_text_add(struct buf *out, const struct prep_text *t);

/* What stands in v, a clean JSON string, with the escapes that JSON demands, each in one form, and no
 * others: in a, where they are not so already. */
struct span prep_text_respell(struct span v, struct buf *work, struct arena *a);

/* Adds valid JSON text that may stand on several lines: then without the blanks between its tokens,
 * since a record is one line. */
void prep_add_json(struct buf *out, struct span json);

/* Half pairs in JSON text: *line is replaced by a copy in a. Returns how many. */
size_t prep_fix_surrogates(struct span *line, struct arena *a);
/* NaN, Infinity and -Infinity outside strings. Returns how many became null. */
size_t prep_fix_nan(struct span *line, struct arena *a);
/* Ill-formed UTF-8. */
size_t prep_fix_utf8(struct span *line, struct arena *a);

/* What a text holds that only looks like markup. Special tokens: <|word|>, DeepSeek's
 * <(fullwidth bar)...>, and [BOS] [EOS] [EOT] [PAD] [UNK]; the tags of OpenThoughts
 * (<|begin_of_thought|> ...) have that look too but are no model's tokens. */
struct prep_marks {
	size_t special;
	size_t think, think_end; /* <think>, </think> */
};
void prep_marks_of(struct prep_text *t, struct arena *a, struct prep_marks *m);

/* Whether a tool call is written into the text: <tool_call>, <function=, <functioncall>,
 * <|tool_call_begin|>, [TOOL_CALLS]. */
int prep_has_call(struct span decoded);

/* The first place of a C string, or NULL. */
const char *prep_find(struct span s, const char *what);

/* Whether a C string stands at p. */
static inline int prep_begins(const char *p, const char *end, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(end - p) >= n && !memcmp(p, what, n);
}

#endif
