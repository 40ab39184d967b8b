#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "extract/run.h"
#include "extract/say.h"
#include "extract/stray.h"

/* ---- the index that is there ---- */

struct replay {
	struct run *r;
	struct rec rec;
	struct index_line line;
	uint64_t bad;	  /* files that are not there or have another size than their line says */
	struct buf first; /* its path */
};

static void check_file(struct replay *y)
{
	const struct index_line *l = &y->line;
	struct buf path = {0};
	struct stat st;

	buf_addf(&path, "%s/%s", y->r->o->out_dir, l->file.data);
	if ((stat(buf_cstr(&path), &st) < 0 || (uint64_t)st.st_size != l->bytes) && y->bad++ == 0)
		buf_add(&y->first, path.data, path.len);
	buf_free(&path);
}

/* In layout speculators line k is of hs_k, by which a trainer finds a row's states. */
static int check_number(const struct replay *y, struct err *e)
{
	const struct run *r = y->r;
	struct buf want = {0};
	int rc = 0;

	if (r->plan.set.layout != LAYOUT_SPECULATORS)
		return 0;
	layout_name(&want, LAYOUT_SPECULATORS, 0, r->lines, (struct span){0});
	if (strcmp(buf_cstr(&want), y->line.file.data) != 0)
		rc = err_set(e, "index",
		    "its file is %s, the line's number makes it %s: a line before it is gone; "
		    "--convert numbers the files anew, in an --out-dir of its own",
		    y->line.file.data, want.data);
	buf_free(&want);
	return rc;
}

static int replay_line(void *ctx, const char *p, size_t n, uint64_t number, struct err *e)
{
	struct replay *y = ctx;
	struct run *r = y->r;

	(void)number;
	if (run_interrupted(r, e) < 0 || rec_parse(&y->rec, p, n, e) < 0 ||
	    index_read(&y->line, &y->rec, e) < 0 || check_number(y, e) < 0)
		return -1;
	check_file(y);
	if (!done_add(&r->done, &y->line))
		return err_set(e, "duplicate", "id \"%.*s\" stands in the index twice",
		    y->line.id.len < 200 ? (int)y->line.id.len : 200, y->line.id.data);
	hashset_add(&r->files, hash128(y->line.file.data, y->line.file.len));
	r->lines++;
	r->plan.set.records++;
	r->plan.set.tokens += y->line.seq_len;
	r->plan.set.bytes += y->line.bytes;
	return 0;
}

/* Nothing goes by itself: a folder may have been moved, or its disk not be there. */
static int check_index(const struct replay *y, struct err *e)
{
	const struct run *r = y->r;

	if (r->lines > 0 && !r->resuming)
		return err_set(e, "manifest",
		    "the index has lines, but %s no manifest: was another --out-dir meant?",
		    r->o->out_dir);
	if (y->bad == 0)
		return 0;
	return err_set(e, "index",
	    "%llu of %llu files of the index are not there, or have another size than their line "
	    "says, such as %.*s: --verify lists what is damaged, and --redo LIST makes it again",
	    (unsigned long long)y->bad, (unsigned long long)r->lines, (int)y->first.len,
	    y->first.data);
}

/* ---- files without a line ---- */

static int remove_orphans(const struct run *r, struct err *e)
{
	struct buf first = {0};
	uint64_t n = 0;
	int rc = stray_remove(r->o->out_dir, r->plan.set.layout, &r->files, &n, &first, e);

	if (n == 1)
		say("%s/%s has no line in the index: removed", r->o->out_dir, buf_cstr(&first));
	if (n > 1)
		say("%llu files in %s have no line in the index, such as %s: removed",
		    (unsigned long long)n, r->o->out_dir, buf_cstr(&first));
	buf_free(&first);
	return rc;
}

/* ---- the folder ---- */

/* What is swept there would be the set's own. */
static int check_apart(const struct run *r, struct err *e)
{
	struct buf path = {0};
	int same;

	if (!r->dump)
		return 0;
	buf_addf(&path, "%s/hidden_states", r->o->out_dir); /* of layout speculators */
	same = dumpdir_is(r->dump, r->o->out_dir) || dumpdir_is(r->dump, buf_cstr(&path));
	buf_free(&path);
	return same ? err_set(e, "dump-dir",
			  "--dump-dir %s is where the set's own files are: the server needs a "
			  "folder of its own",
			  r->o->dump_dir)
		    : 0;
}

static int load_old(struct run *r, struct err *e)
{
	int rc = setinfo_load(&r->old, r->o->out_dir, e);

	if (rc == 0 && !r->o->resume)
		return err_set(
		    e, "exists", "%s holds a set already: --resume goes on with it", r->o->out_dir);
	if (rc == 0) {
		r->resuming = 1;
		return setinfo_same(&r->old, &r->plan.set, e);
	}
	if (strcmp(e->class, "missing") != 0 || stray_refuse(r->o->out_dir, e) < 0)
		return -1;
	produce_sweep(r->o->out_dir);
	return 0;
}

int resume_open(struct run *r, struct err *e)
{
	struct replay y = {.r = r};
	struct err ignored;
	int rc = -1;

	r->out_lock = folder_lock(r->o->out_dir, e);
	if (r->out_lock < 0 || check_apart(r, e) < 0 || load_old(r, e) < 0 ||
	    (r->o->redo && r->resuming && redo(r, e) < 0))
		return -1;
	r->part = part_open(r->o->flow.output, r->o->flow.zstd, r->o->resume, e);
	if (!r->part)
		return -1;
	part_stop_by(r->part, run_interrupted, r);
	rc = part_replay(r->part, r->o->resume ? replay_line : NULL, &y, e);
	if (rc == 0)
		rc = check_index(&y, e);
	if (rc < 0) {
		part_close(r->part, &ignored); /* whatever it is, it is not to be removed */
		r->part = NULL;
	} else if (r->resuming) {
		rc = remove_orphans(r, e);
	}
	rec_free(&y.rec);
	index_free(&y.line);
	buf_free(&y.first);
	return rc;
}

/* Where files are numbered by the input, another input would write over files that have their line:
 * it is refused before anything is sent. */
static int check_free(const struct run *r, const struct item *it, struct err *e)
{
	struct buf name = {0};
	int rc = 0;

	layout_name(&name, r->plan.set.layout, it->job->record, r->lines, it->job->id);
	if (hashset_has(&r->files, hash128(name.data, name.len)))
		rc = err_set(e, "changed",
		    "%s/%s is to be the file of record \"%.*s\", but stands in the index as "
		    "another's: "
		    "the input has changed since, and needs an --out-dir of its own",
		    r->o->out_dir, buf_cstr(&name), it->job->id.n < 200 ? (int)it->job->id.n : 200,
		    it->job->id.p);
	buf_free(&name);
	return rc;
}

int resume_done(struct run *r, const struct item *it, struct err *e)
{
	struct done *d = done_find(&r->done, it->job->id);
	struct layout_file f;
	struct buf path = {0};
	int same, rc = 1;

	if (!d)
		return check_free(r, it, e);
	d->met = 1;
	buf_addf(&path, "%s/%s", r->o->out_dir, d->file);
	if (layout_open(&f, buf_cstr(&path), &r->old, MAP_PARTS, e) < 0) {
		rc = -1;
	} else {
		same = f.s.n == it->ids.n;
		for (size_t i = 0; same && i < f.s.n; i++)
			same = f.s.ids[i] == it->ids.v[i] &&
			       (!f.s.mask || f.s.mask[i] == it->mask.data[i]);
		if (!same)
			rc = err_set(e, "changed",
			    "%s holds other ids or another mask than record \"%.*s\" has now: the "
			    "input has "
			    "changed since",
			    path.data, it->job->id.n < 200 ? (int)it->job->id.n : 200,
			    it->job->id.p);
		layout_close(&f);
	}
	buf_free(&path);
	return rc;
}

/* Their lines may be of records that were left out by mistake, which cost hours: they are told of,
 * not removed. */
int resume_ended(const struct run *r, struct err *e)
{
	const char *first = NULL, *path = part_path(r->part);
	int numbered = r->plan.set.layout == LAYOUT_SPECULATORS;
	uint64_t n = 0;

	for (size_t i = 0; i < r->done.cap; i++) {
		const struct done *d = &r->done.v[i];

		if (d->file && !d->met && n++ == 0)
			first = d->file;
	}
	if (n == 0)
		return 0;
	return err_set(e, "changed",
	    "%s holds the states of %llu %s not in the input%s, such as %s/%s: give the whole "
	    "input, or take their lines out of %s%s",
	    r->o->flow.output, (unsigned long long)n,
	    n == 1 ? "record that is" : "records that are",
	    r->o->flow.shard.n > 1 ? ", or of another shard" : "", r->o->out_dir, first, path,
	    numbered ? " and --convert what is left" : ": their files go then, too");
}
