/* Any bytes as glaive's two texts, parted at the first NUL: markers, definitions, calls that are
 * not quite JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "prep/dataset.h"
#include "prep/row.h"

static void must(int ok)
{
	if (!ok)
		abort();
}

static void add_text(struct buf *b, const char *name, const char *p, size_t n)
{
	struct buf clean = {0};

	utf8_repair(&clean, p, n);
	buf_adds(b, name);
	buf_add_json(b, clean.data ? clean.data : "", clean.len);
	buf_free(&clean);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct prep_dataset *d = prep_dataset_named("B1_glaive");
	struct prep_rules rules = {
	    .name = "d", .dataset = d, .formats = d->format, .system_column = 1};
	struct prep_row r = {.rules = &rules};
	const char *p = (const char *)data, *nul = n ? memchr(p, '\0', n) : NULL;
	size_t first = nul ? (size_t)(nul - p) : 0;
	struct buf line = {0}, out = {0};
	struct rec rec = {0};
	struct arena a = {0};
	struct err e = {0};
	int object;

	add_text(&line, "{\"system\":", p, first);
	add_text(&line, ",\"chat\":", p + first, n - first);
	buf_addc(&line, '}');
	if (prep_row_convert(&r, (struct span){line.data, line.len}, &a, &object, &e) == 0) {
		prep_row_write(&r, SPAN("d/1"), &out);
		must(!memchr(out.data, '\n', out.len - 1));
		must(rec_parse(&rec, out.data, out.len, &e) == 0);
	}
	must(object);
	rec_free(&rec);
	buf_free(&line);
	buf_free(&out);
	prep_row_free(&r);
	arena_free(&a);
	return 0;
}
