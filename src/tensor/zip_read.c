#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tensor/crc32.h"
#include "tensor/le.h"
#include "tensor/map.h"
#include "tensor/zip.h"
#include "tensor/zip_int.h"

/* The end record: the last place that holds its signature and a comment of the right length. */
static int find_end(const char **end, const struct filemap *m, struct err *e)
{
	const char *p = m->p;
	size_t n = m->n, stop = n > END_BYTES + 0xffff ? n - END_BYTES - 0xffff : 0;

	if (map_need(m, p + stop, n - stop, e) < 0)
		return -1;
	for (size_t i = n < END_BYTES ? 0 : n - END_BYTES + 1; i-- > stop;) {
		*end = p + i;
		if (le_get(*end, 4) == ZIP_END && i + END_BYTES + le_get(*end + 20, 2) == n)
			return 0;
	}
	return err_set(e, "truncated", "no zip archive, or one without its end");
}

struct place {
	uint64_t count, size, at; /* of the directory */
};

static int find_zip64(struct place *d, const struct filemap *m, const char *end, struct err *e)
{
	const char *p;
	uint64_t at;

	if (end - m->p < LOCATOR_BYTES)
		return err_set(e, "format", "no Zip64 locator");
	p = end - LOCATOR_BYTES;
	if (map_need(m, p, LOCATOR_BYTES, e) < 0)
		return -1;
	if (le_get(p, 4) != ZIP_LOCATOR)
		return err_set(e, "format", "no Zip64 locator");
	at = le_get(p + 8, 8);
	if (m->n < END64_BYTES || at > m->n - END64_BYTES)
		return err_set(e, "format", "no Zip64 end record");
	p = m->p + at;
	if (map_need(m, p, END64_BYTES, e) < 0)
		return -1;
	if (le_get(p, 4) != ZIP_END64)
		return err_set(e, "format", "no Zip64 end record");
	*d = (struct place){le_get(p + 32, 8), le_get(p + 40, 8), le_get(p + 48, 8)};
	return 0;
}

static int find_directory(struct place *d, const struct filemap *m, struct err *e)
{
	const char *end = NULL;
	size_t n = m->n;

	if (find_end(&end, m, e) < 0)
		return -1;
	*d = (struct place){le_get(end + 10, 2), le_get(end + 12, 4), le_get(end + 16, 4)};
	if ((d->count == ZIP_MANY || d->size == ZIP_BIG || d->at == ZIP_BIG) &&
	    find_zip64(d, m, end, e) < 0)
		return -1;
	if (d->at > n || d->size > n - d->at || d->count > d->size / ENTRY_BYTES)
		return err_set(e, "format", "the zip directory reaches over the end of the file");
	return map_need(m, m->p + d->at, d->size, e);
}

struct header {
	uint64_t size, csize, at;
};

/* Zip64 values of a directory entry stand in this order, each only where its field is all ones. */
static int read_zip64(struct header *h, const char *x, size_t n)
{
	uint64_t *want[3] = {&h->size, &h->csize, &h->at};

	while (n >= 4) {
		uint64_t tag = le_get(x, 2), len = le_get(x + 2, 2);
		const char *v = x + 4;

		if (len > n - 4)
			return -1;
		x += 4 + len;
		n -= 4 + len;
		if (tag != ZIP64_TAG)
			continue;
		for (int i = 0; i < 3; i++) {
			if (*want[i] != ZIP_BIG)
				continue;
			if (x - v < 8)
				return -1;
			*want[i] = le_get(v, 8);
			v += 8;
		}
	}
	return 0;
}

static int find_data(
    struct zip_entry *z, const struct header *h, const struct filemap *m, struct err *e)
{
	uint64_t left = h->at < m->n ? m->n - h->at : 0, head = LOCAL_BYTES + z->name.n;
	const char *local = m->p + h->at;
	uint64_t name, start;

	if (left >= LOCAL_BYTES && map_need(m, local, head < left ? head : left, e) < 0)
		return -1;
	if (left < LOCAL_BYTES || le_get(local, 4) != ZIP_LOCAL)
		return err_set(
		    e, "format", "zip record %.*s: no local header", (int)z->name.n, z->name.p);
	name = le_get(local + 26, 2);
	start = LOCAL_BYTES + name + le_get(local + 28, 2);
	if (start > left || h->size > left - start)
		return err_set(e, "truncated", "zip record %.*s reaches over the end of the file",
		    (int)z->name.n, z->name.p);
	if (name != z->name.n || memcmp(local + LOCAL_BYTES, z->name.p, name) != 0)
		return err_set(e, "format", "zip record %.*s: its local header has another name",
		    (int)z->name.n, z->name.p);
	z->data = (struct span){local + start, h->size};
	return 0;
}

/* Reads the directory entry at p; returns its bytes, or 0 on error. */
static size_t read_entry(
    struct zip_entry *z, const char *p, size_t n, const struct filemap *m, struct err *e)
{
	struct header h;
	uint64_t name, extra, comment;

	if (n < ENTRY_BYTES || le_get(p, 4) != ZIP_ENTRY)
		goto damaged;
	name = le_get(p + 28, 2);
	extra = le_get(p + 30, 2);
	comment = le_get(p + 32, 2);
	if (name + extra + comment > n - ENTRY_BYTES)
		goto damaged;
	z->name = (struct span){p + ENTRY_BYTES, name};
	z->crc = (uint32_t)le_get(p + 16, 4);
	h = (struct header){le_get(p + 24, 4), le_get(p + 20, 4), le_get(p + 42, 4)};
	if (read_zip64(&h, p + ENTRY_BYTES + name, extra) < 0)
		goto damaged;
	if (le_get(p + 10, 2) != 0 || le_get(p + 8, 2) & 1 || h.size != h.csize) {
		err_set(e, "format", "zip record %.*s is compressed or encrypted", (int)name,
		    z->name.p);
		return 0;
	}
	if (find_data(z, &h, m, e) < 0)
		return 0;
	return ENTRY_BYTES + name + extra + comment;
damaged:
	err_set(e, "format", "the zip directory is damaged");
	return 0;
}

int zip_parse(struct zip *z, const struct filemap *m, struct err *e)
{
	struct place d = {0};
	uint64_t at = 0, held = 0;

	*z = (struct zip){0};
	if (find_directory(&d, m, e) < 0)
		return -1;
	if (d.count > ZIP_MOST)
		return err_set(e, "format", "a zip archive of %llu records, at most %d are read",
		    (unsigned long long)d.count, ZIP_MOST);
	z->entry = xcalloc(d.count, sizeof(*z->entry));
	for (; z->n < d.count; z->n++) {
		size_t used = read_entry(&z->entry[z->n], m->p + d.at + at, d.size - at, m, e);

		if (used > 0)
			held += z->entry[z->n].data.n;
		if (held > m->n)
			err_set(e, "format", "the zip archive's records overlap");
		if (used == 0 || held > m->n) {
			zip_close(z);
			return -1;
		}
		at += used;
	}
	return 0;
}

const struct zip_entry *zip_get(const struct zip *z, struct span name)
{
	for (size_t i = 0; i < z->n; i++)
		if (z->entry[i].name.n == name.n && memcmp(z->entry[i].name.p, name.p, name.n) == 0)
			return &z->entry[i];
	return NULL;
}

int zip_check(const struct zip *z, struct err *e)
{
	for (size_t i = 0; i < z->n; i++) {
		const struct zip_entry *r = &z->entry[i];

		if (crc32_add(0, r->data.p, r->data.n) != r->crc)
			return err_set(e, "checksum", "zip record %.*s: wrong CRC-32",
			    (int)r->name.n, r->name.p);
	}
	return 0;
}

void zip_close(struct zip *z)
{
	free(z->entry);
	*z = (struct zip){0};
}
