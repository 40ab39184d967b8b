/* stray.h - files in a set's folder that are named as a set's and stand in no line of its index
 *
 * A folder is known to be a set's by its manifest, which is written before the first file gets its
 * name. With it such files are what a run left that was killed between a name and its line. Without
 * it they may be anybody's - SpecForge's own dumper names files as its layout here does - and a
 * trainer would take them for samples of the new set. */
#ifndef E3_EXTRACT_STRAY_H
#define E3_EXTRACT_STRAY_H

#include "base/hash.h"
#include "extract/layout.h"

/* Deletes those of a layout, temporary ones among them, whose names are not in `files` (NULL: no
 * name is). Adds to *n; `first`, if empty, gets the name of one. */
int stray_remove(const char *dir, enum layout l, const struct hashset *files, uint64_t *n,
    struct buf *first, struct err *e);
/* Class "exists" where the folder, which has no manifest, holds files with a name of any layout.
 * Temporary ones are no hindrance. */
int stray_refuse(const char *dir, struct err *e);

#endif
