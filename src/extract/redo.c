#include "base/err.h"
#include "extract/run.h"
#include "extract/say.h"
#include "extract/verify.h"
#include "io/lines.h"
#include "io/out.h"

/* A line that leaves the index before it is gone on with is a record that was never done: its file
 * is removed as one without a line, and made again. Only files that are not good go, so that a list
 * given twice, or too long a one, costs a look at each of them and no more. */
struct redo {
	struct run *r;
	struct verify_set set;
	struct hashset listed; /* ids */
	struct rec rec;
	struct index_line line;
	struct buf kept;
	uint64_t gone, behind;
};

static int list_line(struct redo *y, const struct line *l, struct err *e)
{
	if (l->toolong)
		return err_set(e, "long", "line too long");
	if (rec_parse(&y->rec, l->p, l->n, e) < 0 || index_read(&y->line, &y->rec, e) < 0)
		return -1;
	hashset_add(&y->listed, hash128(y->line.id.data, y->line.id.len));
	return 0;
}

static int load_list(struct redo *y, const char *path, struct err *e)
{
	struct lines *l = lines_open(&path, 1, 0, e);
	struct line line;
	int rc = l ? 1 : -1;

	while (rc > 0) {
		rc = lines_next(l, &line, e);
		if (rc > 0 && list_line(y, &line, e) < 0)
			rc = err_prefix(e, "%s:%llu: ", path, (unsigned long long)line.number);
	}
	if (l)
		lines_close(l);
	return rc;
}

static int index_one(void *ctx, const char *p, size_t n, uint64_t number, struct err *e)
{
	struct redo *y = ctx;
	struct err why;

	(void)number;
	if (run_interrupted(y->r, e) < 0 || rec_parse(&y->rec, p, n, e) < 0 ||
	    index_read(&y->line, &y->rec, e) < 0)
		return -1;
	if (y->gone > 0 && y->set.set.layout == LAYOUT_SPECULATORS) {
		y->behind++; /* its number is that of its line, which would be another */
	} else if (hashset_has(&y->listed, hash128(y->line.id.data, y->line.id.len)) &&
		   verify_file(&y->set, &y->line, &why) < 0) {
		y->gone++;
	} else {
		buf_add(&y->kept, p, n);
		buf_addc(&y->kept, '\n');
	}
	return 0;
}

/* FILE becomes FILE.part before it lacks a line: nobody takes it for finished. */
static int rewrite(struct part *part, const struct buf *kept, int zstd, struct err *e)
{
	if (part_begin(part, e) < 0)
		return -1;
	return out_put(part_path(part), zstd, kept, e);
}

static void tell(const struct redo *y, const char *list)
{
	if (y->behind > 0)
		say("%s: %llu of %zu files are not good and are made again, with the %llu behind "
		    "them in the index, by whose lines speculators' files are numbered",
		    list, (unsigned long long)y->gone, y->listed.n, (unsigned long long)y->behind);
	else
		say("%s: %llu of %zu files are not good and are made again", list,
		    (unsigned long long)y->gone, y->listed.n);
}

int redo(struct run *r, struct err *e)
{
	const struct extract_opts *o = r->o;
	int zstd = o->flow.zstd || out_named_zstd(o->flow.output), rc = -1;
	struct redo y = {.r = r, .set = {.dir = o->out_dir, .set = r->old}};
	struct part *part = part_open(o->flow.output, o->flow.zstd, 1, e);
	struct err ignored;

	if (part)
		part_stop_by(part, run_interrupted, r);
	if (part && load_list(&y, o->redo, e) == 0 && part_replay(part, index_one, &y, e) == 0)
		rc = y.gone > 0 ? rewrite(part, &y.kept, zstd, e) : 0;
	if (rc == 0)
		tell(&y, o->redo);
	part_close(part, &ignored);
	hashset_free(&y.listed);
	rec_free(&y.rec);
	index_free(&y.line);
	buf_free(&y.kept);
	return rc;
}
