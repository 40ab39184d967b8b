/* chat/answer.h - what the families' readers of answers share
 *
 * An answer's ids are decoded once; where added tokens stand is kept, so that a reader finds its
 * marks by id and not by look-alike text. A reader only splits the text: whether it split rightly
 * is decided by rendering the message again (answer.c). */
#ifndef E3_CHAT_ANSWER_H
#define E3_CHAT_ANSWER_H

#include "base/buf.h"
#include "json/val.h"

struct arena;
struct chat;
struct chat_conv;

struct answer_mark {
	size_t at;
	int32_t id;
};

struct answer_text {
	const struct chat *c;
	struct span text;   /* without the end-of-turn token */
	struct span prompt; /* the rendered prompt */
	const struct answer_mark *marks;
	size_t nmarks;
	int ended;
	int exact; /* second try: the first reading, which was free with white space, did not come
		    * back */
	const struct jval *tools; /* the conversation's, or NULL */
	struct arena *a;
};

struct answer_parts {
	struct span content;
	struct span reasoning; /* p NULL: none */
	struct jval *calls;
	size_t ncalls, cap;
};

struct answer_family {
	const char *name;
	const char *tokens[3]; /* added tokens that a vocabulary of the family has; NULL ends */
	int (*read)(const struct answer_text *t, struct answer_parts *out); /* 0, or -1: unparsed */
};

/* Offset of the next mark of that name at or after from, or SIZE_MAX. A name that is no added
 * token of the vocabulary is searched for as text. */
size_t answer_find(const struct answer_text *t, const char *name, size_t from);
/* Whether the mark stands at `at`; then *behind is its end. */
int answer_at(const struct answer_text *t, const char *name, size_t at, size_t *behind);
/* The text between two offsets. */
struct span answer_cut(const struct answer_text *t, size_t from, size_t end);
/* Adds a call; id may be empty. args: JSON text. */
void answer_call(const struct answer_text *t, struct answer_parts *out, struct span id,
    struct span name, struct span args);
struct span answer_strip(struct span s, const char *bytes); /* of any of the bytes at both ends */
/* What stands between two literals at the beginning of *s, which is left behind the second; 0: they
 * do not stand there. */
int answer_between(struct span *s, const char *before, const char *behind, struct span *out);

/* Arguments given as texts by name, for the families that write them so: a value is a string, or
 * the JSON value that prints as the same text where the tool's schema asks for no string. */
struct answer_args {
	struct jval obj;
	size_t cap;
};
void answer_arg(const struct answer_text *t, struct answer_args *args, struct span tool,
    struct span key, struct span value);
void answer_call_args(const struct answer_text *t, struct answer_parts *out, struct span name,
    const struct answer_args *args);

int answer_kimi(const struct answer_text *t, struct answer_parts *out);
int answer_qwen(const struct answer_text *t, struct answer_parts *out);
int answer_deepseek(const struct answer_text *t, struct answer_parts *out);
int answer_dsml(const struct answer_text *t, struct answer_parts *out);
int answer_gptoss(const struct answer_text *t, struct answer_parts *out);
int answer_glm(const struct answer_text *t, struct answer_parts *out);
int answer_minimax(const struct answer_text *t, struct answer_parts *out);

/* <think> ... </think> at the beginning, or its rest where the prompt opened it; returns where the
 * content begins, or SIZE_MAX where the reasoning never ends. */
size_t answer_think(const struct answer_text *t, struct answer_parts *out);

#endif
