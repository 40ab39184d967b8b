#include "infer/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "infer/conv.h"
#include "serve/lax.h"

static int by_id(const void *a, const void *b)
{
	const struct turns_place *x = a, *y = b;

	return memcmp(&x->id, &y->id, sizeof(x->id));
}

static int by_id_and_place(const void *a, const void *b)
{
	const struct turns_place *x = a, *y = b;
	int c = by_id(a, b);

	return c ? c : x->at < y->at ? -1 : 1;
}

/* A line that tells of no record is passed over. */
static void take_line(
    struct turns_file *t, const struct hashset *done, struct turns_place p, const char *line)
{
	struct err ignored;

	buf_reset(&t->line);
	if (rec_parse(&t->rec, line, p.n, &ignored) < 0 ||
	    rec_str(&t->rec, "id", &t->line, &ignored) < 0)
		return;
	p.id = hash128(t->line.data, t->line.len);
	if (hashset_has(done, p.id))
		return;
	t->place = xgrow(t->place, &t->cap, t->nplaces + 1, sizeof(p));
	t->place[t->nplaces++] = p;
}

/* The last one of an id counts. */
static void sort_places(struct turns_file *t)
{
	size_t n = 0;

	if (t->nplaces)
		qsort(t->place, t->nplaces, sizeof(*t->place), by_id_and_place);
	for (size_t i = 0; i < t->nplaces; i++) {
		if (n > 0 && by_id(&t->place[n - 1], &t->place[i]) == 0)
			n--;
		t->place[n++] = t->place[i];
	}
	t->nplaces = n;
}

static int read_places(struct turns_file *t, const struct hashset *done, struct err *e)
{
	FILE *f = fopen(t->path, "r");
	struct turns_place p = {.at = 0};
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	while (f && (n = getline(&line, &cap, f)) > 0) {
		p.n = (uint64_t)n;
		take_line(t, done, p, line);
		p.at += p.n;
	}
	if (!f || !feof(f))
		rc = err_sys(e, "%s", t->path);
	free(line);
	if (f)
		fclose(f);
	sort_places(t);
	return rc;
}

int turns_open(struct turns_file *t, const char *output, const struct hashset *done, struct err *e)
{
	struct buf path = {0};

	buf_adds(&path, output);
	buf_adds(&path, ".turns");
	buf_cstr(&path);
	t->path = buf_steal(&path);
	t->fd = open(t->path,
	    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (done ? 0 : O_TRUNC), 0666);
	if (t->fd < 0)
		return err_sys(e, "%s", t->path);
	if (!done)
		return 0;
	if (read_places(t, done, e) < 0)
		return -1;
	/* what a kill tore off is ended, so that the next line is whole */
	if (lseek(t->fd, 0, SEEK_END) > 0 && write(t->fd, "\n", 1) != 1)
		return err_sys(e, "%s", t->path);
	return 0;
}

struct span turns_find(struct turns_file *t, struct span id, uint64_t key)
{
	struct turns_place want = {.id = hash128(id.p, id.n)}, *p = NULL;
	struct span none = {NULL, 0};
	struct err ignored;
	char hex[17];

	if (t->nplaces)
		p = bsearch(&want, t->place, t->nplaces, sizeof(want), by_id);
	if (!p)
		return none;
	buf_reset(&t->line);
	if (pread(t->fd, buf_room(&t->line, p->n), p->n, (off_t)p->at) != (ssize_t)p->n ||
	    rec_parse(&t->rec, t->line.data, p->n, &ignored) < 0)
		return none;
	snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)key);
	return lax_is(rec_get(&t->rec, "infer_key"), hex) ? rec_get(&t->rec, "progress") : none;
}

int turns_note(
    struct turns_file *t, struct span id, uint64_t key, const struct conv *c, struct err *e)
{
	struct buf *b = &t->line;
	size_t at = 0;

	if (t->fd < 0)
		return 0;
	buf_reset(b);
	buf_adds(b, "{\"id\":");
	buf_add_json(b, id.p, id.n);
	buf_adds(b, ",\"infer_key\":\"");
	buf_add_hex64(b, key);
	buf_adds(b, "\",\"progress\":");
	conv_progress(c, b);
	buf_adds(b, "}\n");
	while (at < b->len) {
		ssize_t n = write(t->fd, b->data + at, b->len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "%s", t->path);
		at += (size_t)n;
	}
	return 0;
}

void turns_close(struct turns_file *t, int done)
{
	if (t->fd >= 0)
		close(t->fd);
	if (t->path && done)
		unlink(t->path);
	free(t->path);
	free(t->place);
	buf_free(&t->line);
	rec_free(&t->rec);
	*t = (struct turns_file){.fd = -1};
}
