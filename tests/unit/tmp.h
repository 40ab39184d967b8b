/* tmp.h - files for unit tests: a folder of one's own, and whole files in one call
 *
 *	static int setup(void **state) { return tmp_setup(); }	   group setup and teardown
 *	tmp_path("a.jsonl")			valid until four calls later
 */
#ifndef E3_TESTS_TMP_H
#define E3_TESTS_TMP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

static char tmp_dir[512];

static inline const char *tmp_path(const char *name)
{
	static char path[4][1024];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", tmp_dir, name);
	return p;
}

static inline int tmp_setup(void **state)
{
	const char *base = getenv("E3_BUILD");

	(void)state;
	snprintf(tmp_dir, sizeof(tmp_dir), "%s/unit.XXXXXX", base ? base : ".");
	return mkdtemp(tmp_dir) ? 0 : -1;
}

/* Empties the folder, which holds no folders. Returns how many files there were. */
static inline int tmp_clean(void)
{
	DIR *d = opendir(tmp_dir);
	struct dirent *f;
	int n = 0;

	while (d && (f = readdir(d)))
		if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0 && ++n)
			unlink(tmp_path(f->d_name));
	if (d)
		closedir(d);
	return n;
}

static inline int tmp_teardown(void **state)
{
	(void)state;
	tmp_clean();
	return rmdir(tmp_dir);
}

static inline void tmp_write(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		abort();
}

static inline void tmp_puts(const char *path, const char *s)
{
	tmp_write(path, s, strlen(s));
}

/* The bytes of a file; data is NULL where there is none. */
static inline struct buf tmp_read(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct buf b = {0};
	size_t n;

	if (!f)
		return b;
	buf_room(&b, 1);
	while ((n = fread(buf_room(&b, 4096), 1, 4096, f)) > 0)
		b.len += n;
	fclose(f);
	return b;
}

static inline int tmp_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

#endif
