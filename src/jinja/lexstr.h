/* lexstr.h - the escapes of string literals */
#ifndef E3_JINJA_LEXSTR_H
#define E3_JINJA_LEXSTR_H

#include "base/arena.h"
#include "base/buf.h"

/* What stands between the quotes as Jinja2 reads it: Python's unicode-escape codec over the text
 * with all but ASCII turned into \x, \u and \U escapes. So an unknown escape keeps its backslash,
 * and a backslash before another character than ASCII makes that escape's letters visible.
 * Returns what is wrong, or NULL. */
const char *lex_unescape(struct arena *a, struct span s, struct span *out);

#endif
