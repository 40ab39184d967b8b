/* folders.h - folders of files: whose they are, and their new names that are still to be made to
 * last
 *
 * A rename lasts through a power cut when its folder has been synced, which costs a disk some
 * milliseconds however many names there are: so names are collected, and their folders synced
 * together. Memory: the folders' names since the last sync. */
#ifndef E3_EXTRACT_FOLDERS_H
#define E3_EXTRACT_FOLDERS_H

#include "base/buf.h"
#include "base/hash.h"

struct err;

struct folders {
	struct hashset seen;
	struct buf names; /* each with its NUL */
};

void folders_add(struct folders *f, const char *path); /* the folder of a file */
int folders_sync(struct folders *f, struct err *e);    /* all of them; then it is empty */
void folders_free(struct folders *f);

/* Makes the folder, sees whether a set's files can be made in it, and locks it against another run: a
 * descriptor, which holds the lock until it is closed and goes with the process. Class "locked". */
int folder_lock(const char *path, struct err *e);
/* Whether the path still leads to that folder: -1 where another, or a link to one, has come into its
 * place since. */
int folder_check(int fd, const char *path, struct err *e);

#endif
