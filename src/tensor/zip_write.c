#include <string.h>

#include "base/err.h"
#include "tensor/le.h"
#include "tensor/save.h"
#include "tensor/zip.h"
#include "tensor/zip_int.h"

enum {
	ALIGN = 64,
	FLAGS = 1 << 3 | 1 << 11, /* a data descriptor follows; the name is UTF-8 */
	PAD = 0x4246,
};

/* What local headers and directory entries share: version needed, flags, method, time, date, CRC,
 * sizes, and the lengths of name and extra. */
static void put_common(
    struct buf *b, int zip64, uint32_t crc, uint64_t size, size_t name, size_t extra)
{
	le_put(b, zip64 ? 45 : 20, 2);
	le_put(b, FLAGS, 2);
	le_put(b, 0, 2);
	le_put(b, 0, 4);
	le_put(b, crc, 4);
	le_put(b, size, 4);
	le_put(b, size, 4);
	le_put(b, name, 2);
	le_put(b, extra, 2);
}

void zip_begin(struct zip_writer *w, struct save *s)
{
	*w = (struct zip_writer){.file = s};
}

int zip_record(struct zip_writer *w, const char *name, uint64_t size, struct err *e)
{
	struct buf b = {0};
	size_t len = strlen(name);
	int zip64 = size >= ZIP_BIG;
	size_t fixed = LOCAL_BYTES + len + (zip64 ? 20 : 0) + 4, pad;
	int rc;

	if (len >= sizeof(w->name))
		return err_set(e, "format", "zip record name too long: %s", name);
	memcpy(w->name, name, len + 1);
	w->size = size;
	w->start = save_at(w->file);
	pad = (ALIGN - (w->start + fixed) % ALIGN) % ALIGN;
	le_put(&b, ZIP_LOCAL, 4);
	/* sizes are zero, to be found in the descriptor; under Zip64 the field that says so is
	 * there, since it makes the descriptor's sizes eight bytes wide */
	put_common(&b, zip64, 0, zip64 ? ZIP_BIG : 0, len, fixed - LOCAL_BYTES - len + pad);
	buf_add(&b, name, len);
	if (zip64) {
		le_put(&b, 1, 2);
		le_put(&b, 16, 2);
		le_put(&b, 0, 8);
		le_put(&b, 0, 8);
	}
	le_put(&b, PAD, 2);
	le_put(&b, pad, 2);
	memset(buf_room(&b, pad), 'Z', pad);
	b.len += pad;
	rc = save_write(w->file, b.data, b.len, e);
	save_crc_reset(w->file);
	buf_free(&b);
	return rc;
}

static void add_entry(struct zip_writer *w, uint32_t crc)
{
	size_t len = strlen(w->name);
	int big = w->size >= ZIP_BIG, far = w->start >= ZIP_BIG;
	size_t extra = (big ? 16u : 0) + (far ? 8u : 0);

	le_put(&w->dir, ZIP_ENTRY, 4);
	le_put(&w->dir, 0, 2); /* made by: no system's attributes */
	put_common(
	    &w->dir, big || far, crc, big ? ZIP_BIG : w->size, len, extra > 0 ? extra + 4 : 0);
	le_put(&w->dir, 0, 2 + 2 + 2); /* comment, disk, attributes of the data, ... */
	le_put(&w->dir, 0, 4);	       /* ... of the file */
	le_put(&w->dir, far ? ZIP_BIG : w->start, 4);
	buf_add(&w->dir, w->name, len);
	if (extra > 0) {
		le_put(&w->dir, 1, 2);
		le_put(&w->dir, extra, 2);
	}
	if (big) {
		le_put(&w->dir, w->size, 8);
		le_put(&w->dir, w->size, 8);
	}
	if (far)
		le_put(&w->dir, w->start, 8);
	w->records++;
}

int zip_record_end(struct zip_writer *w, struct err *e)
{
	struct buf b = {0};
	uint32_t crc = save_crc(w->file);
	int bytes = w->size >= ZIP_BIG ? 8 : 4, rc;

	le_put(&b, ZIP_DESCRIPTOR, 4);
	le_put(&b, crc, 4);
	le_put(&b, w->size, bytes);
	le_put(&b, w->size, bytes);
	rc = save_write(w->file, b.data, b.len, e);
	buf_free(&b);
	add_entry(w, crc);
	return rc;
}

int zip_end(struct zip_writer *w, struct err *e)
{
	uint64_t at = save_at(w->file), size = w->dir.len, n = w->records;

	if (at >= ZIP_BIG || size >= ZIP_BIG || n >= ZIP_MANY) {
		le_put(&w->dir, ZIP_END64, 4);
		le_put(&w->dir, 44, 8); /* bytes of this record that follow */
		le_put(&w->dir, 45, 2);
		le_put(&w->dir, 45, 2);
		le_put(&w->dir, 0, 8); /* disks */
		le_put(&w->dir, n, 8);
		le_put(&w->dir, n, 8);
		le_put(&w->dir, size, 8);
		le_put(&w->dir, at, 8);
		le_put(&w->dir, ZIP_LOCATOR, 4);
		le_put(&w->dir, 0, 4);
		le_put(&w->dir, at + size, 8);
		le_put(&w->dir, 1, 4);
	}
	le_put(&w->dir, ZIP_END, 4);
	le_put(&w->dir, 0, 4); /* disks */
	le_put(&w->dir, n < ZIP_MANY ? n : ZIP_MANY, 2);
	le_put(&w->dir, n < ZIP_MANY ? n : ZIP_MANY, 2);
	le_put(&w->dir, size < ZIP_BIG ? size : ZIP_BIG, 4);
	le_put(&w->dir, at < ZIP_BIG ? at : ZIP_BIG, 4);
	le_put(&w->dir, 0, 2); /* comment */
	return save_write(w->file, w->dir.data, w->dir.len, e);
}

void zip_free(struct zip_writer *w)
{
	buf_free(&w->dir);
}
