/* zip_int.h - what zip's reader and writer share; private to tensor/
 *
 * APPNOTE.TXT 4.3.6 to 4.3.16 and 4.5.3. */
#ifndef E3_ZIP_INT_H
#define E3_ZIP_INT_H

/* The first four bytes of each kind of record. */
enum {
	ZIP_LOCAL = 0x04034b50,
	ZIP_DESCRIPTOR = 0x08074b50,
	ZIP_ENTRY = 0x02014b50,
	ZIP_END64 = 0x06064b50,
	ZIP_LOCATOR = 0x07064b50,
	ZIP_END = 0x06054b50,
};

/* Their bytes, without names, extra fields and comments. */
enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, END64_BYTES = 56, LOCATOR_BYTES = 20, END_BYTES = 22 };

#define ZIP_BIG	  0xffffffffu /* stands for a value that a Zip64 field holds */
#define ZIP_MANY  0xffff      /* the same for a number of records */
#define ZIP64_TAG 1	      /* of the extra field with such values */

#endif
