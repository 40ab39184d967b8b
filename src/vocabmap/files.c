#include "vocabmap/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/flow.h"
#include "io/out.h"
#include "io/path.h"
#include "tensor/npy.h"
#include "tensor/pt.h"
#include "tensor/save.h"

enum content { NONE, T2D_PT, T2D_NPY, FREQ_PT, D2T_PT, D2T_NPY, BOTH_PT };

struct file {
	enum content content;
	const char *before, *after; /* the name; with `sized` the draft vocabulary's size between */
	int sized;
};

#define FILES 3

/* In the order in which they appear: what holds d2t is last. */
static const struct file layouts[][FILES] = {
    [LAYOUT_SEED] = {{T2D_PT, "t2d", ".pt", 0}, {D2T_PT, "d2t", ".pt", 0}},
    /* model.vocab_mapping_path: one dict of both */
    [LAYOUT_SPECFORGE] = {{BOTH_PT, "vocab_mapping/vocab_mapping", ".pt", 0}},
    /* data.draft_vocab_cache: d2t alone */
    [LAYOUT_MODELOPT] = {{D2T_PT, "d2t", ".pt", 0}},
    /* the names that train finds by itself; token_freq.pt is what it would else count anew */
    [LAYOUT_SPECULATORS] = {{FREQ_PT, "token_freq", ".pt", 0}, {T2D_NPY, "t2d-", ".npy", 1},
	{D2T_NPY, "d2t-", ".npy", 1}},
};

struct writing {
	const struct map *map;
	const struct counts *counts;
	int count_all;
	struct save *save[FILES];
	struct buf path[FILES];
	size_t n;
	size_t shown; /* files that appeared */
};

static struct tensor d2t_of(const struct map *m)
{
	return tensor_1d("d2t", DT_I64, m->draft, m->d2t);
}

static struct tensor t2d_of(const struct map *m)
{
	return tensor_1d("t2d", DT_BOOL, m->target, m->t2d);
}

/* {id: count} of the ids that occur. */
static int write_freq(struct save *s, const struct writing *w, struct err *e)
{
	const struct counts *c = w->counts;
	struct pt_count *v = xreallocarray(NULL, c->vocab, sizeof(*v));
	size_t n = 0;
	int rc;

	for (uint64_t i = 0; i < c->vocab; i++) {
		uint64_t count = w->count_all ? c->id[i].total : c->id[i].supervised;

		if (count > 0)
			v[n++] = (struct pt_count){(int64_t)i, (int64_t)count};
	}
	rc = pt_write_counts(s, v, n, e);
	free(v);
	return rc;
}

static int write_content(
    struct save *s, enum content content, const struct writing *w, struct err *e)
{
	struct tensor d2t = d2t_of(w->map), t2d = t2d_of(w->map);
	struct pt_item both[] = {{.key = "d2t", .kind = PT_TENSOR, .tensor = d2t},
	    {.key = "t2d", .kind = PT_TENSOR, .tensor = t2d}};

	switch (content) {
	case T2D_PT: return pt_write_tensor(s, &t2d, e);
	case T2D_NPY: return npy_write(s, &t2d, e);
	case D2T_PT: return pt_write_tensor(s, &d2t, e);
	case D2T_NPY: return npy_write(s, &d2t, e);
	case BOTH_PT: return pt_write_dict(s, both, 2, e);
	case FREQ_PT: return write_freq(s, w, e);
	case NONE: break;
	}
	return 0;
}

static void name_file(struct buf *path, const char *dir, const struct file *f, uint64_t draft)
{
	buf_reset(path);
	buf_addf(path, "%s/%s", dir, f->before);
	if (f->sized)
		buf_add_u64(path, draft);
	buf_adds(path, f->after);
	buf_cstr(path);
}

/* The file itself, or the first folder that is to be made for it. */
static int check_place(char *path, struct err *e)
{
	struct stat st;
	char *slash;

	while ((slash = strrchr(path, '/')) && slash != path) {
		*slash = '\0';
		if (stat(path, &st) == 0 || errno != ENOENT) {
			*slash = '/';
			break;
		}
	}
	return out_check_own(path, e);
}

void files_beside(struct flow_opt *o, const char *dir, enum layout layout, uint64_t draft)
{
	struct buf path = {0};

	for (size_t i = 0; i < FILES && layouts[layout][i].content != NONE; i++) {
		name_file(&path, dir, &layouts[layout][i], draft);
		flow_beside(o, "%s", path.data);
	}
	buf_free(&path);
}

int files_check(const char *dir, enum layout layout, uint64_t draft, struct err *e)
{
	struct buf path = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < FILES && layouts[layout][i].content != NONE; i++) {
		name_file(&path, dir, &layouts[layout][i], draft);
		rc = check_place(path.data, e);
	}
	buf_free(&path);
	return rc;
}

static int prepare(struct writing *w, const char *dir, const struct file *f, struct err *e)
{
	struct buf *path = &w->path[w->n];
	char *slash;
	int rc;

	name_file(path, dir, f, w->map->draft);
	slash = strrchr(path->data, '/');
	*slash = '\0';
	rc = path_make_dir(dir, e);
	if (rc == 0 && strcmp(path->data, dir) != 0)
		rc = path_make_own_dir(path->data, dir, e);
	*slash = '/';
	if (rc < 0)
		return -1;
	w->save[w->n] = save_open(path->data, e);
	if (!w->save[w->n])
		return -1;
	return write_content(w->save[w->n++], f->content, w, e);
}

static int publish(struct writing *w, struct err *e)
{
	const char *d2t = w->path[w->n - 1].data;

	if (w->n > 1 && unlink(d2t) < 0 && errno != ENOENT)
		return err_sys(e, "%s: cannot replace", d2t);
	for (; w->shown < w->n; w->shown++) {
		struct save *s = w->save[w->shown];

		w->save[w->shown] = NULL;
		if (save_finish(s, NULL, e) < 0)
			return -1;
	}
	return 0;
}

int files_write(const char *dir, enum layout layout, const struct map *m, const struct counts *c,
    int count_all, struct err *e)
{
	struct writing w = {.map = m, .counts = c, .count_all = count_all};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < FILES && layouts[layout][i].content != NONE; i++)
		rc = prepare(&w, dir, &layouts[layout][i], e);
	if (rc == 0)
		rc = publish(&w, e);
	for (size_t i = 0; rc < 0 && i < w.shown; i++)
		unlink(w.path[i].data);
	for (size_t i = 0; i < FILES; i++) {
		save_abort(w.save[i]);
		buf_free(&w.path[i]);
	}
	return rc;
}
