#include "prep/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/near.h"
#include "base/prog.h"
#include "base/utf8.h"
#include "prep/dataset.h"

enum { UNSET = -1 };
#define SAMPLE_UNSET UINT64_MAX

static const struct opt table[] = {
    {"dataset", 0, OPT_STR, offsetof(struct prep_opts, dataset), "NAME",
	"names the dataset; a known name (--list) sets what follows", 0, 0},
    {"format", 0, OPT_STR, offsetof(struct prep_opts, format), "NAME",
	"the format of the rows (--list), or auto", 0, 0},
    {"mode", 0, OPT_ENUM, offsetof(struct prep_opts, mode), "native|prompt",
	"whether the target wrote the answers (default: prompt)", 0, 0},
    {"sample", 0, OPT_U64, offsetof(struct prep_opts, sample), "N",
	"keep N rows, chosen by a keyed hash; 0 keeps all", 0, 0},
    {"seed", 0, OPT_U64, offsetof(struct prep_opts, seed), "S",
	"the key of the sample (default: 0)", 0, 0},
    {"dedup", 0, OPT_ENUM, offsetof(struct prep_opts, dedup), "exact|prompt|none",
	"leave out equal conversations, or equal prompts (default: none)", 0, 0},
    {"filter", 0, OPT_LIST, offsetof(struct prep_opts, filters), "EXPR",
	"leave out rows for which it does not hold: COLUMN>=0.7", 0, 0},
    {"answers", 0, OPT_ENUM, offsetof(struct prep_opts, answers), "keep|drop",
	"drop: leave out what follows the last user or tool message", 0, 0},
    {"think", 0, OPT_ENUM, offsetof(struct prep_opts, think), "split|keep",
	"<think> in front of an answer becomes its reasoning", 0, 0},
    {"system", 0, OPT_ENUM, offsetof(struct prep_opts, system), "keep|drop",
	"a system text in a column of its own", 0, 0},
    {"arguments", 0, OPT_ENUM, offsetof(struct prep_opts, arguments), "string|object",
	"how the arguments of calls are written (default: string)", 0, 0},
    {"strict", 0, OPT_FLAG, offsetof(struct prep_opts, strict), NULL,
	"reject rows that need a repair", 0, 0},
    {"keep", 0, OPT_COMMA, offsetof(struct prep_opts, keep), "NAME,...",
	"carry members of the row over to the record", 0, 0},
    {"explain", 0, OPT_U64, offsetof(struct prep_opts, explain), "ROW",
	"say step by step what becomes of that row", 1, 0},
    {"list", 0, OPT_FLAG, offsetof(struct prep_opts, list), NULL,
	"print the known datasets and formats", 0, 0},
    {0},
};

static const char *dataset_name(size_t i)
{
	return prep_datasets[i].name;
}

static const char *format_name(size_t i)
{
	return i == 0 ? "auto" : prep_formats[i - 1].name;
}

static const struct opt_names names[] = {
    {"dataset", dataset_name},
    {"format", format_name},
    {0},
};

static const struct opt_prog prog = {
    .name = "e3-prep",
    .what = "raw rows of a dataset to conversation records",
    .operands = "[FILE...]",
    .own = table,
    .common = flow_opts,
    .common_at = offsetof(struct prep_opts, flow),
    .operands_at = offsetof(struct prep_opts, flow.files),
    .names = names,
};

static void check_name(const char *name)
{
	size_t n = strlen(name);

	if (strpbrk(name, "/#") || strspn(name, "\t\r\n "))
		opt_misuse(&prog,
		    "--dataset: expected a name without '/' and '#', and with no blank in front, "
		    "since ids are NAME/NUMBER, not '%s'",
		    name);
	if (utf8_valid(name, n) < n)
		opt_misuse(&prog, "--dataset: not UTF-8");
}

static void check_keep(const struct opt_list *keep)
{
	static const char *const own[] = {
	    "id", "dataset", "messages", "tools", "chat_template_kwargs", "meta"};

	for (size_t i = 0; i < keep->n; i++)
		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			if (!strcmp(keep->v[i], own[k]))
				opt_misuse(&prog, "--keep %s: the record has a member of that name",
				    own[k]);
}

static void set_formats(struct prep_opts *o)
{
	const char *name = o->format;
	const struct prep_dataset *d = o->rules.dataset;
	struct near near = {.word = {name, name ? strlen(name) : 0}};

	o->rules.formats = d->format[0] ? d->format : prep_all_formats;
	if (name && !strcmp(name, "auto")) {
		o->rules.formats = prep_all_formats;
	} else if (name) {
		o->one_format[0] = prep_format_named(name);
		if (!o->one_format[0])
			opt_misuse(&prog, "--format %s: no such format (--list)%s", name,
			    near_among(&near, format_name));
		o->rules.formats = o->one_format;
	}
}

static void set_filters(struct prep_opts *o)
{
	const struct opt_list *l = &o->filters;
	struct err e = {0};

	o->filter = xcalloc(l->n + 1, sizeof(*o->filter));
	o->met = xcalloc(l->n + 1, sizeof(*o->met));
	for (size_t i = 0; i < l->n; i++) {
		if (prep_filter_parse(&o->filter[i], l->v[i], &e) < 0)
			opt_misuse(&prog, "%s", e.msg);
		o->filter[i].met = &o->met[i];
	}
	o->rules.filters = o->filter;
	o->rules.nfilters = l->n;
}

/* From the options and, where they say nothing, from what is known of the dataset. */
static void set_rules(struct prep_opts *o)
{
	const char *name = o->dataset ? o->dataset : "data";
	const struct prep_dataset *d = prep_dataset_named(name);
	struct near near = {.word = {name, strlen(name)}};
	struct prep_rules *r = &o->rules;

	check_name(name);
	check_keep(&o->keep);
	r->name = name;
	r->dataset = d;
	r->keep = o->keep;
	r->native = o->mode == UNSET ? d->native : o->mode == 0;
	r->split_think = o->think == UNSET ? r->native && !d->keep_think : o->think == 0;
	r->system_column = o->system == UNSET ? !d->drop_system : o->system == 0;
	r->args_object = o->arguments == 1;
	r->drop_answer = o->answers == 1;
	if (o->explain && (o->flow.output || o->flow.zstd || o->flow.rejects || o->flow.stats))
		opt_misuse(&prog,
		    "--explain writes no records: -o, -z, --rejects and --stats do not "
		    "go with it");
	if (r->native && r->drop_answer)
		opt_misuse(&prog, "--answers drop: native answers are what is wanted");
	if (o->sample == SAMPLE_UNSET)
		o->sample = d->sample;
	set_formats(o);
	set_filters(o);
	if (o->dataset && !d->name && !o->format && !o->flow.quiet)
		prog_warn("dataset %s: not in --list, so it sets neither format, mode nor sample%s",
		    name, near_among(&near, dataset_name));
}

void prep_options(struct prep_opts *o, int argc, char **argv)
{
	*o = (struct prep_opts){.flow = FLOW_OPT_DEFAULT,
	    .mode = UNSET,
	    .dedup = DEDUP_NONE,
	    .think = UNSET,
	    .system = UNSET,
	    .sample = SAMPLE_UNSET};
	opt_parse(&prog, argc, argv, o);
	if (!o->list)
		set_rules(o);
}

void prep_options_free(struct prep_opts *o)
{
	free(o->filter);
	free(o->met);
	opt_list_free(&o->flow.files);
	opt_list_free(&o->filters);
	opt_list_free(&o->keep);
}
