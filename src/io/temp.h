/* temp.h - a temporary file without a name
 *
 * It is gone with the process, whatever ends it. Errors name the folder, and how to choose another.
 */
#ifndef E3_TEMP_H
#define E3_TEMP_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct temp;

/* dir NULL: $TMPDIR, else the system's folder for temporary files. `hint`: a static word on how the
 * user names another: "TMPDIR" or an option. */
struct temp *temp_open(const char *dir, const char *hint, struct err *e);
/* Appends; *at is where. */
int temp_append(struct temp *t, const void *p, size_t n, uint64_t *at, struct err *e);
int temp_read(struct temp *t, void *p, size_t n, uint64_t at, struct err *e);
void temp_close(struct temp *t); /* NULL is allowed */

#endif
