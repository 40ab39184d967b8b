/* sample.h - one record with its hidden states, as every layout holds it */
#ifndef E3_SAMPLE_H
#define E3_SAMPLE_H

#include <stdint.h>

#include "base/buf.h"
#include "extract/options.h"
#include "tensor/states.h"

struct sample {
	struct span id;
	const int64_t *ids;  /* n */
	const int64_t *mask; /* n, or NULL where there is none */
	size_t n;
	struct states states; /* `aux` layers ascending, then the last where `last` */
	unsigned aux;
	int last;
	enum norm norm; /* of the last */
};

#endif
