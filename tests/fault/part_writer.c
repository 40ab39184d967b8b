/* Writes the lines "1" to argv[2] to the part.h output argv[1], going on where it ends; a driver
 * for the fault tests, which has no options. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "io/part.h"

static int count(void *ctx, const char *line, size_t n, uint64_t number, struct err *e)
{
	char want[32];
	int len = snprintf(want, sizeof(want), "%llu", (unsigned long long)number);

	*(uint64_t *)ctx = number;
	return n == (size_t)len && atoi(line) == (int)number ? 0 : err_set(e, "json", "wrong line");
}

static int run(const char *path, uint64_t lines, struct err *e)
{
	struct part *p = part_open(path, 0, 1, e);
	uint64_t n = 0;
	char line[32];

	if (!p)
		return -1;
	if (part_replay(p, count, &n, e) < 0)
		goto fail;
	while (n < lines) {
		int len = snprintf(line, sizeof(line), "%llu", (unsigned long long)++n);

		if (part_append(p, line, (size_t)len, e) < 0 || (n % 4 == 0 && part_sync(p, e) < 0))
			goto fail;
	}
	return part_finish(p, e);
fail:
	part_close(p, &(struct err){0});
	return -1;
}

int main(int argc, char **argv)
{
	struct err e = {0};

	if (argc != 3)
		return 2;
	if (run(argv[1], (uint64_t)atoi(argv[2]), &e) < 0) {
		fprintf(stderr, "part_writer: %s\n", e.msg);
		return 1;
	}
	return 0;
}
