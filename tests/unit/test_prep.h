/* test_prep.h - rows to conversations, for the tests of prep */
#ifndef E3_TEST_PREP_H
#define E3_TEST_PREP_H

#include "unit.h"

#include "prep/dataset.h"
#include "prep/row.h"

/* A row converted by the rules; its messages as letters, s u a t, a capital where it makes a call;
 * or the class of the reject. */
static inline void convert(struct prep_rules *rules, const char *line, struct buf *got,
    uint64_t count[PREP_COUNTS], struct buf *record)
{
	static const char letters[] = "?suat";
	struct prep_row r = {.rules = rules};
	struct arena a = {0};
	struct err e = {0};
	int object, rc;

	buf_reset(got);
	rc = prep_row_convert(&r, (struct span){line, strlen(line)}, &a, &object, &e);
	if (rc < 0)
		buf_adds(got, e.class);
	for (size_t i = 0; rc == 0 && i < r.conv.n; i++) {
		const struct prep_msg *m = &r.conv.msg[i];
		char c = letters[m->role];

		buf_addc(got, m->ncalls ? (char)(c - 32) : c);
	}
	if (rc > 0)
		buf_adds(got, "filtered");
	if (rc == 0 && record)
		prep_row_write(&r, SPAN("d/1"), record);
	memcpy(count, r.count, sizeof(r.count));
	prep_row_free(&r);
	arena_free(&a);
}

static inline struct prep_rules rules_of(const char *dataset)
{
	struct prep_rules r = {.name = "d", .dataset = prep_dataset_named(dataset)};

	r.formats = r.dataset->format[0] ? r.dataset->format : prep_all_formats;
	r.native = r.dataset->native;
	r.split_think = r.native;
	r.system_column = 1;
	return r;
}

#endif
