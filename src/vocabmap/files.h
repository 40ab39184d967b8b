/* files.h - the vocabulary map as each trainer wants it (which file holds what: files.c) */
#ifndef E3_FILES_H
#define E3_FILES_H

#include "vocabmap/map.h"

struct flow_opt;

#define LAYOUTS "seed|specforge|modelopt|speculators"

enum layout { LAYOUT_SEED, LAYOUT_SPECFORGE, LAYOUT_MODELOPT, LAYOUT_SPECULATORS };

/* Writes a layout's files into dir, which is made. Nothing appears before all of them are complete;
 * then an old d2t goes, and the new one comes last, so that no moment shows a d2t beside another
 * map's t2d. An error takes back what had appeared. */
int files_write(const char *dir, enum layout layout, const struct map *m, const struct counts *c,
    int count_all, struct err *e);

/* Their names, for flow_check. */
void files_beside(struct flow_opt *o, const char *dir, enum layout layout, uint64_t draft);

/* Whether they could be made there, for before the records are read. Makes nothing. */
int files_check(const char *dir, enum layout layout, uint64_t draft, struct err *e);

#endif
