/* path.h - the little that outputs need to know of paths; private to io/ */
#ifndef E3_PATH_H
#define E3_PATH_H

struct err;

char *path_dir(const char *path); /* its directory, "." where it names none; to be freed */

/* The path with symbolic links at its end followed, also to what is not there yet; to be freed.
 * NULL with errno. */
char *path_follow(const char *path);

/* Whether two names lead to the same one in the same directory, with links at their ends followed:
 * a file written under either would replace the other's. None of it need be there. */
int path_same(const char *a, const char *b);

/* Makes a new or changed name in the directory last through a power cut. */
int path_sync_dir(const char *dir, struct err *e);

#endif
