/* split.h - the split patterns, one walker a family
 *
 * A tokenizer first cuts its text into pieces by a regular expression; no token crosses a cut. The
 * expressions in use are few, so each is written out here as code that takes the same
 * alternatives in the same order, and is recognised by its exact spelling. The alternatives look
 * behind no piece's start, so a walker needs no more than the position.
 *
 *	struct split s;
 *	split_start(&s, rules, text, n);
 *	while (s.pos < s.n) { begin = s.pos; end = split_next(&s); }
 *
 * The text must be valid UTF-8, and is one segment: what look-ahead sees ends with it. The time is
 * linear in the text. */
#ifndef E3_BPE_SPLIT_H
#define E3_BPE_SPLIT_H

#include <stddef.h>

struct buf;
struct split;

#define SPLIT_STAGES 3 /* of the longest sequence of expressions */

enum {
	SPLIT_PLAIN_WORDS, /* words of letters behind a space, contractions apart */
	SPLIT_WORDS,	   /* the same behind any one character */
	SPLIT_CASED,	   /* the same cut before capitals, contractions with them */
	SPLIT_SECTIONS,	   /* deepseek3's */
};

struct split_rules {
	const char *name;
	/* The expressions, each applied to the pieces that the one before it left. CR and LF are
	 * spelled "\r" and "\n", however the file has them. */
	const char *pattern[SPLIT_STAGES];
	int digits; /* Digits(individual_digits) comes before the expressions */

	/* What the walkers differ in. */
	size_t (*next)(const struct split *s, size_t at); /* end of the piece at `at`; 0: none */
	size_t (*section)(const struct split *s);	  /* NULL: the text is one section */
	unsigned letters;				  /* CP_ bits of the letter runs */
	unsigned numbers;				  /* characters in a number at most */
	unsigned han;					  /* CP_HAN: Han runs are cut out first */
	int window;					  /* how window.h may do it, SPLIT_ */
	char tail; /* also eaten by a punctuation run's line ends, or '\n' */
};

struct split {
	const struct split_rules *rules;
	const char *p;
	size_t n;
	size_t pos;  /* start of the next piece */
	size_t stop; /* end of the section that pos is in, which is a text of its own */
};

void split_start(struct split *s, const struct split_rules *rules, const char *p, size_t n);
/* Moves pos to the end of the piece at pos, which it returns. Needs pos < n. */
size_t split_next(struct split *s);

/* By name, or NULL. */
const struct split_rules *split_named(const char *name);
/* By the expressions in the file's order, `n` of them; NULL: unknown. */
const struct split_rules *split_find(const char *const *pattern, size_t n, int digits);
/* The GPT-2 expression, which Hugging Face's ByteLevel stands for. */
const char *split_byte_level(void);
/* Adds "gpt2, llama3, ...": for messages. */
void split_names(struct buf *out);

#endif
