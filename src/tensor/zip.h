/* zip.h - zip archives of stored records, as torch.save lays them out
 *
 * APPNOTE.TXT 6.3.10 (PKWARE). Method 0 only. A record's data begins on a multiple of 64 bytes, by
 * padding in a local extra field 0x4246 ("FB"), as torch's writer pads, so that it can be mapped;
 * its CRC follows in a data descriptor (flag bit 3), also as in torch's files, so that the data
 * passes once. Sizes or offsets of 4 GiB - 1 and more are Zip64. No times: the date fields are 0.
 */
#ifndef E3_ZIP_H
#define E3_ZIP_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;
struct filemap;
struct save;

/* Writing. zip_begin; for each record zip_record, exactly `size` bytes to the file, zip_record_end;
 * zip_end writes the directory. zip_free at the end in any case. */
struct zip_writer {
	struct save *file;
	struct buf dir; /* the central directory so far */
	uint64_t records;
	char name[64]; /* of the open record */
	uint64_t size, start;
};

void zip_begin(struct zip_writer *w, struct save *s);
int zip_record(struct zip_writer *w, const char *name, uint64_t size, struct err *e);
int zip_record_end(struct zip_writer *w, struct err *e);
int zip_end(struct zip_writer *w, struct err *e);
void zip_free(struct zip_writer *w);

/* Reading, of an archive in memory; records' data are not touched but by zip_check. Compressed or
 * encrypted records, records outside the file and local headers that contradict the directory are
 * errors, class "format"; so are more than ZIP_MOST records, and records that overlap, of which a
 * small file may hold any number of bytes; an archive without its end is "truncated". */
#define ZIP_MOST 1000

struct zip_entry {
	struct span name, data;
	uint32_t crc;
};

struct zip {
	struct zip_entry *entry;
	size_t n;
};

int zip_parse(struct zip *z, const struct filemap *m, struct err *e);
const struct zip_entry *zip_get(const struct zip *z, struct span name);
int zip_check(const struct zip *z, struct err *e); /* every record's CRC: class "checksum" */
void zip_close(struct zip *z);

#endif
