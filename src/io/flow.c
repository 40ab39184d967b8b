#include "io/flow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/flow_int.h"
#include "io/path.h"

#define MAX_LINE_MAX ((uint64_t)1 << 40)

const struct opt flow_opts[] = {
    {"output", 'o', OPT_STR, offsetof(struct flow_opt, output), "FILE",
	"write there, whole or not at all", 0, 0},
    {"zstd", 'z', OPT_FLAG, offsetof(struct flow_opt, zstd), NULL, "compress the output", 0, 0},
    {"threads", 'j', OPT_U64, offsetof(struct flow_opt, threads), "N",
	"threads (default: the processors it may use)", 1, FLOW_THREADS_MAX},
    {"rejects", 0, OPT_STR, offsetof(struct flow_opt, rejects), "FILE",
	"put bad records there and go on", 0, 0},
    {"max-rejects", 0, OPT_U64, offsetof(struct flow_opt, max_rejects), "N",
	"fail when there are more", 0, 0},
    {"stats", 0, OPT_STR, offsetof(struct flow_opt, stats), "FILE", "write counts there, as JSON",
	0, 0},
    {"max-line", 0, OPT_SIZE, offsetof(struct flow_opt, max_line), "SIZE",
	"longest line that is read (default: 64M)", 1, MAX_LINE_MAX},
    {"quiet", 'q', OPT_FLAG, offsetof(struct flow_opt, quiet), NULL, "no summary line", 0, 0},
    {"progress", 0, OPT_FLAG, offsetof(struct flow_opt, progress), NULL,
	"show progress also when stderr is no terminal", 0, 0},
    {"no-progress", 0, OPT_FLAG, offsetof(struct flow_opt, no_progress), NULL, "show no progress",
	0, 0},
    {0},
};

/* ---- what work functions call ---- */

void flow_job_count(struct flow_job *job, const char *name, uint64_t n)
{
	size_t i = 0;

	while (i < job->ncount && strcmp(job->count[i].name, name) != 0)
		i++;
	if (i == FLOW_COUNTS)
		abort(); /* FLOW_COUNTS is a constant of the programs, no input reaches it */
	if (i == job->ncount) {
		job->count[i].name = name;
		job->count[i].n = 0;
		job->ncount++;
	}
	job->count[i].n += n;
}

int flow_reject(struct flow_job *job, const char *class, const char *fmt, ...)
{
	char msg[sizeof(job->err.msg)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	err_set(&job->err, class, "%s", msg);
	job->verdict = FLOW_REJECT;
	return 0;
}

int flow_drop(struct flow_job *job, const char *class)
{
	job->err.class = class;
	job->verdict = FLOW_DROP;
	job->ncount = 0;
	return 0;
}

void flow_reject_more(struct flow_job *job, const char *members)
{
	if (job->more.len > 0)
		buf_addc(&job->more, ',');
	buf_adds(&job->more, members);
}

/* ---- a run's beginning and end ---- */

/* Two outputs in one file would lose one of them. Standard output twice is for the user to say, in
 * what all programs have; "/dev/" is no file that is replaced. */
static int same_path(const char *a, const char *b, int standard)
{
	if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
		return standard && strcmp(a, b) == 0;
	return strncmp(a, "/dev/", 5) != 0 && path_same(a, b);
}

/* "-" is the descriptor `standard`. */
static int stat_of(const char *path, int standard, struct stat *st)
{
	return strcmp(path, "-") == 0 ? fstat(standard, st) : stat(path, st);
}

static int is_among(const struct opt_list *files, const char *path)
{
	struct stat a, b;

	if (stat_of(path, STDOUT_FILENO, &a) < 0 || !S_ISREG(a.st_mode))
		return 0;
	for (size_t i = 0; i < files->n; i++)
		if (stat_of(files->v[i], STDIN_FILENO, &b) == 0 && a.st_dev == b.st_dev &&
		    a.st_ino == b.st_ino)
			return 1;
	return 0;
}

static int has_records(const struct flow_opt *o, const char *path)
{
	const char *standard[] = {"-"};
	const struct opt_list input = {.v = standard, .n = 1};

	return is_among(o->files.n > 0 ? &o->files : &input, path);
}

static void add(struct opt_list *l, const char *path)
{
	if (path)
		opt_list_add(l, path);
}

void flow_beside(struct flow_opt *opt, const char *fmt, ...)
{
	struct buf path = {0};
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&path, fmt, ap);
	va_end(ap);
	buf_cstr(&path);
	opt_list_add(&opt->beside, buf_steal(&path));
	opt->beside.owned = 1;
}

/* An input may be -o's, whose file is replaced when all is done, by its records. Standard output is
 * written while the input is read. The rejects come also when the run fails, and without the good
 * records. */
static int may_replace(const struct flow_opt *o)
{
	return o->output && strcmp(o->output, "-") != 0 && !o->report;
}

int flow_check(const struct flow_opt *o, struct err *e)
{
	struct opt_list all = {0};
	size_t own, named;
	int rc = 0;

	if (o->max_rejects != FLOW_NO_LIMIT && !o->rejects)
		rc = err_set(e, "usage", "--max-rejects needs --rejects FILE");
	add(&all, o->output ? o->output : "-");
	add(&all, o->rejects);
	add(&all, o->stats);
	own = all.n;
	for (size_t i = 0; i < o->outputs.n; i++)
		add(&all, o->outputs.v[i]);
	named = all.n;
	for (size_t i = 0; i < o->beside.n; i++)
		add(&all, o->beside.v[i]);
	for (size_t i = 0; rc == 0 && i < all.n; i++)
		if (((i > 0 || !may_replace(o)) && has_records(o, all.v[i])) ||
		    is_among(&o->inputs, all.v[i]))
			rc = err_set(e, "usage",
			    "%s: is an input too; it would be lost: name another file",
			    strcmp(all.v[i], "-") == 0 ? "standard output" : all.v[i]);
	for (size_t i = 1; i < all.n; i++)
		for (size_t k = 0; rc == 0 && k < i; k++)
			if (same_path(all.v[i], all.v[k], i >= own))
				rc = err_set(e, "usage", "%s: named for two outputs", all.v[i]);
	for (size_t i = o->report ? 0 : 1; rc == 0 && i < named; i++)
		rc = out_check(all.v[i], e);
	opt_list_free(&all);
	return rc;
}

static int open_all(struct flow *f, struct err *e)
{
	const struct flow_opt *o = &f->opt;

	if (flow_check(o, e) < 0)
		return -1;
	f->lines = lines_open(o->files.v, o->files.n, (size_t)o->max_line, e);
	if (!f->lines)
		return -1;
	if (o->digests)
		lines_want_digests(f->lines);
	if (o->arrays)
		lines_arrays(f->lines);
	if (!o->own_output) {
		f->out = out_open(o->output, o->zstd, e);
		if (!f->out)
			return -1;
	}
	if (o->rejects) {
		f->rejects = out_open(o->rejects, 0, e);
		if (!f->rejects)
			return -1;
	}
	return 0;
}

static enum progress_when progress_when(const struct flow_opt *o)
{
	if (o->no_progress || (o->quiet && !o->progress))
		return PROGRESS_OFF;
	return o->progress ? PROGRESS_ON : PROGRESS_AUTO;
}

struct flow *flow_open(const char *program, const struct flow_opt *opt, struct err *e)
{
	struct flow *f = xcalloc(1, sizeof(*f));

	f->program = xstrdup(program);
	f->opt = *opt;
	if (f->opt.max_line == 0)
		f->opt.max_line = LINES_MAX_DEFAULT;
	f->progress = progress_open(progress_when(opt));
	if (open_all(f, e) < 0) {
		flow_abort(f);
		return NULL;
	}
	return f;
}

const struct lines_file *flow_files(const struct flow *f, size_t *n)
{
	return lines_files(f->lines, n);
}

struct flow_totals flow_totals(const struct flow *f)
{
	return f->t;
}

static void flow_free(struct flow *f)
{
	progress_close(f->progress);
	lines_close(f->lines);
	hashset_free(&f->ids);
	tally_free(&f->rejected);
	tally_free(&f->dropped);
	tally_free(&f->counts);
	for (size_t i = 0; i < f->nextra; i++) {
		free(f->extra[i].name);
		free(f->extra[i].json);
	}
	free(f->extra);
	buf_free(&f->text);
	free(f->program);
	free(f);
}

static int check_sum(const struct flow *f, struct err *e)
{
	const struct flow_totals *t = &f->t;
	uint64_t sum = t->out + t->rejected + t->dropped + t->resumed;

	if (t->held == 0 && t->in == sum && t->in == f->read)
		return 0;
	return err_set(e, "internal",
	    "records lost: %llu read, %llu in, %llu out, %llu rejected, %llu dropped, %llu "
	    "resumed, "
	    "%llu held: this is a bug",
	    (unsigned long long)f->read, (unsigned long long)t->in, (unsigned long long)t->out,
	    (unsigned long long)t->rejected, (unsigned long long)t->dropped,
	    (unsigned long long)t->resumed, (unsigned long long)t->held);
}

/* out_finish frees whatever comes of it, so the flow may not hold it any more. */
static int publish(struct out **o, struct err *e)
{
	struct out *out = *o;

	*o = NULL;
	return out ? out_finish(out, e) : 0;
}

static int write_stats(struct flow *f, struct err *e)
{
	struct buf text = {0};
	int rc;

	if (!f->opt.stats)
		return 0;
	flow_stats_text(&text, f);
	rc = out_put(f->opt.stats, 0, &text, e);
	buf_free(&text);
	return rc;
}

int flow_finish(struct flow *f, struct err *e)
{
	struct buf line = {0};

	if (check_sum(f, e) < 0 || publish(&f->rejects, e) < 0 || write_stats(f, e) < 0 ||
	    publish(&f->out, e) < 0)
		return -1;
	progress_clear(f->progress);
	if (!f->opt.quiet) {
		flow_summary_text(&line, f);
		fprintf(stderr, "%s: %s\n", f->program, buf_cstr(&line));
		buf_free(&line);
	}
	flow_free(f);
	return 0;
}

void flow_abort(struct flow *f)
{
	struct err ignored;

	if (!f)
		return;
	out_abort(f->out);
	if (f->t.rejected > 0)
		publish(&f->rejects, &ignored);
	out_abort(f->rejects);
	flow_free(f);
}
