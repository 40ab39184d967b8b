/* manifest.h - what a merged set is made of, as a JSON document, and the check of a set against it
 *
 *	{"program":"e3-merge","version":V,
 *	 "options":{...as given...},
 *	 "inputs":[{"file":F,"records":N,"bytes":N,"xxh64":H}],
 *	 "in":N,"rejected":N,"dropped":N,
 *	 "outputs":[{"name":"train","file":F,"records":N,"tokens":N,"prompt_tokens":N,
 *	     "response_tokens":N,"bytes":N,"xxh64":H,
 *	     "lengths":{"shortest":N,"longest":N,"below":{"2048":N,...}},
 *	     "datasets":{NAME:{"records":N,"tokens":N,"prompt_tokens":N,"response_tokens":N}}}]}
 *
 * bytes and xxh64 (16 hex digits) are of the text, decompressed: `zstdcat F | xxh64sum`. "below":
 * how many records are shorter than that and not below the power of two before it. No clock, no
 * machine's name. */
#ifndef E3_MERGE_MANIFEST_H
#define E3_MERGE_MANIFEST_H

#include "merge/datasets.h"
#include "merge/plan.h"
#include "merge/set.h"

struct lines_file;
struct manifest;

struct manifest_set {
	struct span name;
	const char *file;
	const struct set *set;
};

/* What stands in a manifest: sets[0] is the main output. */
struct manifest_parts {
	const struct merge_opts *o;
	const struct lines_file *inputs;
	size_t ninputs;
	struct flow_totals totals;
	const struct datasets *datasets;
	const struct manifest_set *sets;
	size_t nsets;
};
int manifest_write(const char *path, const struct manifest_parts *parts, struct err *e);

/* Reading one, to hold sets against it. */
struct manifest *manifest_load(const char *path, struct err *e);
size_t manifest_outputs(const struct manifest *m);
const char *manifest_file(const struct manifest *m, size_t output); /* "-" where there is none */
/* Adds a line to `to` for each thing that differs; returns how many. */
size_t manifest_compare(const struct manifest *m, size_t output, const struct set *set,
    const struct datasets *datasets, struct buf *to);
void manifest_free(struct manifest *m); /* NULL is allowed */

#endif
