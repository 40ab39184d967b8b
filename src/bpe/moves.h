/* moves.h - where the bytes of a changed text came from
 *
 * A text is rewritten from left to right (repair of ill-formed UTF-8, NFC): stretches are kept or
 * replaced. Entries rise in both texts. */
#ifndef E3_BPE_MOVES_H
#define E3_BPE_MOVES_H

#include <stddef.h>

/* The new text from `to` on, up to the next entry, is the old one from `from` on, byte for byte if
 * `same`; else all of it stands for what begins at `from`. */
struct move {
	size_t to, from;
	int same;
};

struct moves {
	struct move *v;
	size_t n, cap;
};

void moves_add(struct moves *m, struct move x); /* m may be NULL */
void moves_free(struct moves *m);

/* Where the byte at `to` came from. *hint is 0 at first and makes rising calls cheap. m->n > 0. */
size_t moves_origin(const struct moves *m, size_t to, size_t *hint);

#endif
