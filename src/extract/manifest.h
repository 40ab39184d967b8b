/* manifest.h - what all files of a set share: OUT_DIR/manifest.json
 *
 * Written when the first record is known, so that an interrupted set can be read, and again at the
 * end with the counts. A resumed run holds its own against it. No clock. */
#ifndef E3_EXTRACT_MANIFEST_H
#define E3_EXTRACT_MANIFEST_H

#include <stdint.h>

#include "extract/layout.h"

struct setinfo {
	enum layout layout;
	int layer[STATES_SLOTS];
	unsigned nlayers;
	enum convention convention;
	int last;
	enum norm norm;	  /* of the last state in the files; NORM_UNSAID where there is none */
	uint64_t hidden;  /* 0: not known yet */
	enum dtype dtype; /* DT_COUNT: not known yet */
	char model[256];
	char backend[32], server_version[64], weight_version[64]; /* the last: empty, not said */
	int applied;						  /* the norm, by us */
	uint64_t records, tokens, bytes;
	int complete; /* the whole input was accounted for */
};

/* "2,30,58", and its reading: class "layers" for anything but numbers that ascend. */
void setinfo_layers(struct buf *out, const struct setinfo *s);
int setinfo_read_layers(struct setinfo *s, struct span text, struct err *e);

/* The number of the layer that is the embedding's output, whose rows may all be equal; STATES_NONE
 * where layers are counted by what leaves them. */
int setinfo_embedding(const struct setinfo *s);

int setinfo_save(const struct setinfo *s, const char *out_dir, struct err *e);
int setinfo_check(const char *out_dir, struct err *e); /* whether it could be saved there */
void setinfo_remove(const char *out_dir);
/* Class "missing" where there is no manifest. */
int setinfo_load(struct setinfo *s, const char *out_dir, struct err *e);
/* Whether files of `now` may stand beside those of `old`: -1, and what differs. What a run does not
 * know before its first file (no layers, UNSAID, a hidden size of 0, DT_COUNT) is no difference. */
int setinfo_same(const struct setinfo *old, const struct setinfo *now, struct err *e);

#endif
