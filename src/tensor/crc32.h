/* crc32.h - the CRC-32 of zip (polynomial 0xEDB88320, reflected)
 *
 * Carry-less multiplication where the processor has it, tables otherwise. */
#ifndef E3_CRC32_H
#define E3_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* crc is 0 for the first piece, then the last result. */
uint32_t crc32_add(uint32_t crc, const void *p, size_t n);

#endif
