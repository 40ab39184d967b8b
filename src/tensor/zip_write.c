#include <string.h>

#include "base/err.h"
#include "tensor/save.h"
#include "tensor/zip.h"

enum {
	ALIGN = 64,
	LOCAL = 30,		  /* bytes of a local header before its name */
	FLAGS = 1 << 3 | 1 << 11, /* a data descriptor follows; the name is UTF-8 */
	PAD = 0x4246,
};

#define BIG 0xffffffffu /* stands for a value that a Zip64 field holds */

static void put(struct buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_addc(b, (char)(v >> (8 * i) & 0xff));
}

/* What local headers and directory entries share: version needed, flags, method, time, date, CRC,
 * sizes, and the lengths of name and extra. */
static void put_common(
    struct buf *b, int zip64, uint32_t crc, uint64_t size, size_t name, size_t extra)
{
	put(b, zip64 ? 45 : 20, 2);
	put(b, FLAGS, 2);
	put(b, 0, 2);
	put(b, 0, 4);
	put(b, crc, 4);
	put(b, size, 4);
	put(b, size, 4);
	put(b, name, 2);
	put(b, extra, 2);
}

void zip_begin(struct zip_writer *w, struct save *s)
{
	*w = (struct zip_writer){.file = s};
}

int zip_record(struct zip_writer *w, const char *name, uint64_t size, struct err *e)
{
	struct buf b = {0};
	size_t len = strlen(name);
	int zip64 = size >= BIG;
	size_t fixed = LOCAL + len + (zip64 ? 20 : 0) + 4, pad;
	int rc;

	if (len >= sizeof(w->name))
		return err_set(e, "format", "zip record name too long: %s", name);
	memcpy(w->name, name, len + 1);
	w->size = size;
	w->start = save_at(w->file);
	pad = (ALIGN - (w->start + fixed) % ALIGN) % ALIGN;
	put(&b, 0x04034b50, 4);
	/* sizes are zero, to be found in the descriptor; under Zip64 the field that says so is
	 * there, since it makes the descriptor's sizes eight bytes wide */
	put_common(&b, zip64, 0, zip64 ? BIG : 0, len, fixed - LOCAL - len + pad);
	buf_add(&b, name, len);
	if (zip64) {
		put(&b, 1, 2);
		put(&b, 16, 2);
		put(&b, 0, 8);
		put(&b, 0, 8);
	}
	put(&b, PAD, 2);
	put(&b, pad, 2);
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
	int big = w->size >= BIG, far = w->start >= BIG;
	size_t extra = (big ? 16u : 0) + (far ? 8u : 0);

	put(&w->dir, 0x02014b50, 4);
	put(&w->dir, 0, 2); /* made by: no system's attributes */
	put_common(&w->dir, big || far, crc, big ? BIG : w->size, len, extra > 0 ? extra + 4 : 0);
	put(&w->dir, 0, 2 + 2 + 2); /* comment, disk, attributes of the data, ... */
	put(&w->dir, 0, 4);	    /* ... of the file */
	put(&w->dir, far ? BIG : w->start, 4);
	buf_add(&w->dir, w->name, len);
	if (extra > 0) {
		put(&w->dir, 1, 2);
		put(&w->dir, extra, 2);
	}
	if (big) {
		put(&w->dir, w->size, 8);
		put(&w->dir, w->size, 8);
	}
	if (far)
		put(&w->dir, w->start, 8);
	w->records++;
}

int zip_record_end(struct zip_writer *w, struct err *e)
{
	struct buf b = {0};
	uint32_t crc = save_crc(w->file);
	int bytes = w->size >= BIG ? 8 : 4, rc;

	put(&b, 0x08074b50, 4);
	put(&b, crc, 4);
	put(&b, w->size, bytes);
	put(&b, w->size, bytes);
	rc = save_write(w->file, b.data, b.len, e);
	buf_free(&b);
	add_entry(w, crc);
	return rc;
}

int zip_end(struct zip_writer *w, struct err *e)
{
	uint64_t at = save_at(w->file), size = w->dir.len, n = w->records;

	if (at >= BIG || size >= BIG || n >= 0xffff) {
		put(&w->dir, 0x06064b50, 4);
		put(&w->dir, 44, 8); /* bytes of this record that follow */
		put(&w->dir, 45, 2);
		put(&w->dir, 45, 2);
		put(&w->dir, 0, 8); /* disks */
		put(&w->dir, n, 8);
		put(&w->dir, n, 8);
		put(&w->dir, size, 8);
		put(&w->dir, at, 8);
		put(&w->dir, 0x07064b50, 4);
		put(&w->dir, 0, 4);
		put(&w->dir, at + size, 8);
		put(&w->dir, 1, 4);
	}
	put(&w->dir, 0x06054b50, 4);
	put(&w->dir, 0, 4); /* disks */
	put(&w->dir, n < 0xffff ? n : 0xffff, 2);
	put(&w->dir, n < 0xffff ? n : 0xffff, 2);
	put(&w->dir, size < BIG ? size : BIG, 4);
	put(&w->dir, at < BIG ? at : BIG, 4);
	put(&w->dir, 0, 2); /* comment */
	return save_write(w->file, w->dir.data, w->dir.len, e);
}

void zip_free(struct zip_writer *w)
{
	buf_free(&w->dir);
}
