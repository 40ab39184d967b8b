/* repr.h - Python's repr() of a string, piece by piece
 *
 *	quote = repr_quote(s);
 *	put(quote); while (s.n > 0) put(repr_piece(&s, quote, esc)); put(quote);
 *
 * What str.isprintable refuses becomes \xXX, \uXXXX or \UXXXXXXXX (CPython's unicode_repr). */
#ifndef E3_JINJA_REPR_H
#define E3_JINJA_REPR_H

#include "base/buf.h"

#define REPR_ESCAPE 16

char repr_quote(struct span s); /* single, unless it has one and no double quote */
/* Takes the first character off s: as it is, or its escape. */
struct span repr_piece(struct span *s, char quote, char esc[REPR_ESCAPE]);

#endif
