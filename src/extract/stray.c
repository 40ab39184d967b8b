#include "extract/stray.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* What is done with a regular file: `base` in the folder `fd`, `name` relative to the set's. */
struct visit {
	const char *dir;
	int (*file)(struct visit *v, int fd, const char *base, const char *name, struct err *e);
	enum layout layout;
	const struct hashset *files;
	uint64_t *n;
	struct buf *first;
};

/* The set's folder and those directly in it; sub is "" or the name of one. */
static int walk(struct visit *v, const char *sub, struct err *e)
{
	struct buf name = {0};
	struct dirent *ent;
	DIR *dir;
	int rc = 0;

	buf_addf(&name, "%s%s%s", v->dir, *sub ? "/" : "", sub);
	dir = opendir(buf_cstr(&name));
	if (!dir) {
		rc = err_sys(e, "%s", name.data);
		buf_free(&name);
		return rc;
	}
	while (rc == 0 && (ent = readdir(dir))) {
		struct stat st;

		if (strcmp(ent->d_name, ".") == 0 || strcmp(ent->d_name, "..") == 0 ||
		    fstatat(dirfd(dir), ent->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s%s%s", sub, *sub ? "/" : "", ent->d_name);
		if (S_ISDIR(st.st_mode) && !*sub)
			rc = walk(v, buf_cstr(&name), e);
		else if (S_ISREG(st.st_mode))
			rc = v->file(v, dirfd(dir), ent->d_name, buf_cstr(&name), e);
	}
	closedir(dir);
	buf_free(&name);
	return rc;
}

static int remove_one(struct visit *v, int fd, const char *base, const char *name, struct err *e)
{
	if (!layout_owns(v->layout, name) ||
	    (v->files && hashset_has(v->files, hash128(name, strlen(name)))))
		return 0;
	if (unlinkat(fd, base, 0) < 0 && errno != ENOENT)
		return err_sys(e, "%s/%s: cannot delete", v->dir, name);
	++*v->n;
	if (v->first->len == 0)
		buf_adds(v->first, name);
	return 0;
}

int stray_remove(const char *dir, enum layout l, const struct hashset *files, uint64_t *n,
    struct buf *first, struct err *e)
{
	struct visit v = {dir, remove_one, l, files, n, first};

	return walk(&v, "", e);
}

static int refuse_one(struct visit *v, int fd, const char *base, const char *name, struct err *e)
{
	(void)fd;
	for (int l = 0; *base != '.' && layout_is(l); l++)
		if (layout_owns((enum layout)l, name))
			return err_set(e, "exists",
			    "%s holds files such as %s, and no manifest that says what they are: "
			    "take another folder, or empty it",
			    v->dir, name);
	return 0;
}

int stray_refuse(const char *dir, struct err *e)
{
	struct visit v = {.dir = dir, .file = refuse_one};

	return walk(&v, "", e);
}
