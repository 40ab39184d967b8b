#include "vocabmap/include.h"

#include <string.h>

#include "base/err.h"
#include "base/ints.h"
#include "base/num.h"
#include "io/lines.h"

int include_read(struct ints *ids, const char *path, uint64_t vocab, struct err *e)
{
	struct lines *l = lines_open(&path, 1, 0, e);
	struct line line;
	int rc;

	if (!l)
		return -1;
	while ((rc = lines_next(l, &line, e)) > 0) {
		const char *hash = memchr(line.p, '#', line.n);
		size_t n = hash ? (size_t)(hash - line.p) : line.n, i = 0;
		uint64_t id;

		while (n > 0 && (line.p[n - 1] == ' ' || line.p[n - 1] == '\t'))
			n--;
		while (i < n && (line.p[i] == ' ' || line.p[i] == '\t'))
			i++;
		if (i == n && !line.toolong)
			continue;
		if (line.toolong || num_u64(line.p + i, n - i, &id) < 0 || id >= vocab) {
			rc = err_set(e, "range", "%s:%llu: expected a token id below %llu", path,
			    (unsigned long long)line.number, (unsigned long long)vocab);
			break;
		}
		ints_push(ids, (int32_t)id);
	}
	lines_close(l);
	return rc;
}
