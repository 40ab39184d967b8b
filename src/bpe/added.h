/* added.h - added tokens: strings that are found in the text before it is split
 *
 * Leftmost match, longest at its place. The flags are Hugging Face's:
 *	single_word   only where no word character (\w) touches it; a match that is not is skipped
 *	lstrip        takes the white space before it too, not past the match before
 *	rstrip        takes the white space behind it
 *	normalized    is looked for in the normalised text, in a second pass over what the first
 *		      left
 *
 * Each pass is one `struct added`. */
#ifndef E3_BPE_ADDED_H
#define E3_BPE_ADDED_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	ADDED_SINGLE_WORD = 1,
	ADDED_LSTRIP = 2,
	ADDED_RSTRIP = 4,
};

#define ADDED_FIRST 4 /* up to so many first bytes memchr looks for them */

struct added_token {
	int32_t id;
	unsigned flags;
	size_t n; /* bytes of its name */
};

struct added_node {
	unsigned char byte;
	int32_t child, next; /* first child, next sibling; -1 is none */
	int32_t token;	     /* that ends here, or -1 */
};

struct added {
	struct added_token *token;
	size_t n, cap;
	struct added_node *node; /* a trie; the root's children are in first[] */
	size_t nodes, node_cap;
	int32_t first[256];
	unsigned char start[ADDED_FIRST]; /* the first bytes, if they are not more than that */
	size_t starts;
	int words;  /* some token has ADDED_SINGLE_WORD */
	int blanks; /* some token begins with white space */
};

void added_init(struct added *a);
void added_free(struct added *a);
/* A name that is there already keeps its first token; an empty one is ignored. */
void added_put(struct added *a, struct added_token t, const char *name);
/* The token with exactly this name, or NULL. */
const struct added_token *added_find(const struct added *a, const char *name, size_t n);

struct added_match {
	int32_t id;
	unsigned flags;
	size_t begin, end;	  /* what it takes of the text, white space included */
	size_t name, next;	  /* its name's place; behind it the search goes on */
	size_t reach;		  /* bytes that the search has looked at, the text's end being one;
				   * single_word looks at more */
	size_t seen[ADDED_FIRST]; /* where each first byte stands next; old if before next */
};

/* The first match at or behind m->next: m is zeroed at first, then the match before. White space is
 * taken no further back than m->end. 1 found, 0 none. */
int added_next(const struct added *a, struct span text, struct added_match *m);

#endif
