/* npy.h - numpy's .npy files, version 1.0
 *
 * numpy.lib.format: "\x93NUMPY", 1, 0, a u16 header length, a Python dict literal with descr,
 * fortran_order and shape, padded with spaces and a line feed so that the data, which follow, begin
 * on a multiple of 64.
 */
#ifndef E3_NPY_H
#define E3_NPY_H

#include <stddef.h>

#include "tensor/tensor.h"

struct err;
struct save;

int npy_write(
    struct save *s, const struct tensor *t, struct err *e); /* bf16 has no npy type: an error */

#endif
