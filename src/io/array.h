/* array.h - where the elements of a JSON array end; private to io/
 *
 * The array comes in pieces of any size. What is looked at are brackets, commas and strings;
 * whether an element is JSON is its reader's business. An element whose brackets or quotes do not
 * balance takes with it what follows. */
#ifndef E3_IO_ARRAY_H
#define E3_IO_ARRAY_H

#include <stddef.h>

/* Between two pieces; zeroed at the start of an element. */
struct array {
	size_t depth;  /* brackets open, without the array's own */
	int string;    /* inside a string ... */
	int backslash; /* ... behind an odd number of backslashes */
};

/* The offset in p[0..n) of the ',' or ']' that ends the element, or n. Line ends between tokens
 * become blanks, so that an element is one line. */
size_t array_end(struct array *a, char *p, size_t n);

#endif
