#include "extract/produce.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/path.h"
#include "tensor/cast.h"
#include "tensor/norm.h"

static void name_layers(const struct plan *p, struct states *s)
{
	for (unsigned i = 0; i < s->nslots; i++)
		s->slot[i].layer = i < p->set.nlayers ? p->set.layer[i] : STATES_LAST;
}

/* The last slot after the final norm, in memory of its own. */
static char *normed(const struct plan *p, struct sample *s)
{
	struct states_slot *slot = &s->states.slot[s->aux];
	struct norm_in in = {
	    s->states.dtype, slot->p, s->states.rows, s->states.hidden, slot->stride};
	size_t row = s->states.hidden * dtypes[s->states.dtype].size;
	char *own = xreallocarray(NULL, s->states.rows, row);

	norm_apply(own, &in, p->weights.w, p->weights.eps);
	slot->p = own;
	slot->stride = row;
	s->norm = NORM_AFTER;
	return own;
}

/* What the norm and the set's type made of the states, in memory of their own: looked at again,
 * since a value may have become infinite, or a row zero. */
static int transform(const struct plan *p, struct sample *s, char *own[2], struct err *e)
{
	if (p->o->apply_norm)
		own[0] = normed(p, s);
	if (s->states.dtype != p->set.dtype) {
		own[1] = states_cast(&s->states, p->set.dtype, e);
		if (!own[1])
			return -1;
	}
	return own[0] || own[1] ? states_check(&s->states, setinfo_embedding(&p->set), e) : 0;
}

static int write_new(struct product *out, const struct plan *p, const struct sample *s,
    uint64_t number, struct err *e)
{
	struct buf name = {0};
	int rc;

	layout_name(&name, p->set.layout, number, number, s->id);
	buf_addf(&out->temporary, "%s/.new-%llu%s", p->o->out_dir, (unsigned long long)number,
	    strrchr(buf_cstr(&name), '.'));
	rc = layout_write(buf_cstr(&out->temporary), p->set.layout, s, &out->sum, e);
	if (rc < 0)
		buf_free(&out->temporary);
	buf_free(&name);
	return rc;
}

int produce(
    struct product *out, const struct plan *p, struct sample *s, uint64_t number, struct err *e)
{
	char *own[2] = {NULL, NULL};
	int rc;

	*out = (struct product){0};
	name_layers(p, &s->states);
	if (states_check(&s->states, setinfo_embedding(&p->set), e) < 0)
		return -1;
	look_at(&out->look, &s->states);
	rc = transform(p, s, own, e);
	if (rc == 0)
		rc = write_new(out, p, s, number, e);
	free(own[0]);
	free(own[1]);
	return rc;
}

int produce_show(
    struct product *out, const char *out_dir, const char *name, struct folders *f, struct err *e)
{
	struct buf path = {0};
	char *slash;
	int rc;

	buf_addf(&path, "%s/%s", out_dir, name);
	slash = strrchr(buf_cstr(&path), '/');
	*slash = '\0';
	rc = path_make_own_dir(path.data, out_dir, e);
	*slash = '/';
	if (rc == 0 && rename(buf_cstr(&out->temporary), path.data) < 0)
		rc = err_sys(e, "%s", path.data);
	if (rc == 0) {
		buf_free(&out->temporary);
		folders_add(f, path.data);
	}
	buf_free(&path);
	return rc;
}

void produce_drop(struct product *out)
{
	if (out->temporary.len > 0)
		unlink(buf_cstr(&out->temporary));
	buf_free(&out->temporary);
}

void produce_sweep(const char *out_dir)
{
	DIR *dir = opendir(out_dir);
	struct dirent *ent;

	while (dir && (ent = readdir(dir)))
		if (strncmp(ent->d_name, ".new-", 5) == 0)
			unlinkat(dirfd(dir), ent->d_name, 0);
	if (dir)
		closedir(dir);
}
