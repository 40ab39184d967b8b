/* Reads lines, writes what Python's json.dumps(json.loads(line), ensure_ascii=False) should: for
 * tests/oracle/values.py. A line that is refused gives "error". */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/err.h"
#include "json/val.h"

int main(void)
{
	struct arena a = {0};
	struct buf out = {0};
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		struct jval v;
		struct err e;

		buf_reset(&out);
		if (val_parse(&v, (struct span){line, (size_t)n - 1}, 1, &a, NULL, &e) < 0)
			buf_adds(&out, "error");
		else
			val_write(&out, &v, NULL);
		buf_addc(&out, '\n');
		fwrite(out.data, 1, out.len, stdout);
		arena_reset(&a);
	}
	free(line);
	buf_free(&out);
	arena_free(&a);
	return 0;
}
