/* e3-prep - raw rows of one dataset in, conversation records out. See man/e3-prep.1. */
#include <stdio.h>

#include "base/err.h"
#include "base/prog.h"
#include "prep/dataset.h"
#include "prep/options.h"
#include "prep/run.h"

static int list(struct err *e)
{
	printf("datasets: name, mode, rows of the reference run, formats, source\n");
	for (const struct prep_dataset *d = prep_datasets; d->name; d++) {
		char rows[24] = "all";

		if (d->sample)
			snprintf(rows, sizeof(rows), "%llu", (unsigned long long)d->sample);
		printf("  %-20s %-6s %6s  ", d->name, d->native ? "native" : "prompt", rows);
		for (size_t i = 0; i < 4 && d->format[i]; i++)
			printf("%s%s", i ? "," : "", d->format[i]->name);
		printf("  %s\n", d->source);
	}
	printf("\nformats, in the order of recognition: name, column, what it holds\n");
	for (const struct prep_format *f = prep_formats; f->name; f++)
		printf("  %-14s %-14s %s\n", f->name, f->column, f->what);
	return prog_flush(e);
}

int main(int argc, char **argv)
{
	struct prep_opts o;
	struct err e = {0};
	int rc;

	prep_options(&o, argc, argv);
	rc = o.list ? list(&e) : prep_run(&o, &e);
	prep_options_free(&o);
	return rc < 0 ? prog_fail(&e) : EXIT_DONE;
}
