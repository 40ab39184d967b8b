/* path.h - the little that outputs need to know of paths */
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

/* Whether a name leads to this open file or folder, and not to another, or a new one, in its place. */
int path_leads_to(const char *path, int fd);

/* Makes a directory, and those above it, that last through a power cut; not an error where it is
 * there already. */
int path_make_dir(const char *dir, struct err *e);
/* The same for one that a program names itself, in `parent`, which is there: refused where a symbolic
 * link has its name, since what was put into it would be elsewhere. */
int path_make_own_dir(const char *dir, const char *parent, struct err *e);
/* Makes new or changed names in the directory last through a power cut. */
int path_sync_dir(const char *dir, struct err *e);

#endif
