/* Any bytes as a row of any dataset: the first byte says which, the second how. What comes out must
 * be a record of one line whose messages are in order. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "prep/dataset.h"
#include "prep/filter.h"
#include "prep/row.h"
#include "prep/walk.h"

static void must(int ok)
{
	if (!ok)
		abort();
}

static void check_order(const struct prep_conv *c, int native)
{
	size_t i = c->msg[0].role == PREP_SYSTEM;

	must(c->n > i && c->msg[i].role == PREP_USER && prep_text_some(&c->msg[i].content));
	must(!native || c->answers > 0);
	for (i++; i < c->n; i++) {
		enum prep_role last = c->msg[i - 1].role, role = c->msg[i].role;

		must(role == PREP_USER || role == PREP_ASSISTANT || role == PREP_TOOL);
		must(role != PREP_USER || last == PREP_ASSISTANT);
		must(role != PREP_ASSISTANT || last == PREP_USER || last == PREP_TOOL);
		must(role != PREP_TOOL || last == PREP_ASSISTANT || last == PREP_TOOL);
		must(role == PREP_TOOL || prep_text_some(&c->msg[i].content) || c->msg[i].ncalls);
	}
}

static void check_record(struct prep_row *r)
{
	struct buf out = {0};
	struct rec rec = {0};
	struct err e;

	prep_row_write(r, SPAN("d/1"), &out);
	must(out.len > 0 && out.data[out.len - 1] == '\n');
	must(!memchr(out.data, '\n', out.len - 1));
	must(rec_parse(&rec, out.data, out.len, &e) == 0);
	must(rec_get(&rec, "messages").n > 2);
	prep_row_conv_hash(r);
	prep_row_prompt_hash(r);
	rec_free(&rec);
	buf_free(&out);
}

static void convert(const struct prep_rules *rules, struct span line)
{
	struct arena a = {0};
	struct buf trace = {0};
	struct prep_row r = {.rules = rules, .trace = &trace};
	struct err e = {0};
	int object = 0;
	int rc = prep_row_convert(&r, line, &a, &object, &e);

	must(rc >= 0 || (e.class && e.msg[0]));
	if (rc == 0) {
		check_order(&r.conv, rules->native);
		check_record(&r);
	}
	buf_free(&trace);
	prep_row_free(&r);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *kept[] = {"x", "id2"};
	struct prep_rules rules = {.name = "d", .keep = {.v = kept, .n = 2}};
	struct prep_filter filter;
	struct err e;
	size_t datasets = 0;
	unsigned how;

	if (n < 2)
		return 0;
	while (prep_datasets[datasets].name)
		datasets++;
	how = data[1];
	rules.dataset = &prep_datasets[data[0] % (datasets + 1)];
	rules.formats = rules.dataset->format[0] ? rules.dataset->format : prep_all_formats;
	rules.native = how & 1;
	rules.split_think = how >> 1 & 1;
	rules.system_column = how >> 2 & 1;
	rules.args_object = how >> 3 & 1;
	if (how >> 4 & 1) {
		prep_filter_parse(&filter, "x.y!=3", &e);
		rules.filters = &filter;
		rules.nfilters = 1;
	}
	convert(&rules, (struct span){(const char *)data + 2, n - 2});
	return 0;
}
