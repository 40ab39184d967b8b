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
	if (t->nplaces)
		qsort(t->place, t->nplaces, sizeof(*t->place), by_id_and_place);
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
	t->torn = lseek(t->fd, 0, SEEK_END) > 0;
	return 0;
}

/* One line, where it fits to what c has. */
static void resume_turn(
    struct turns_file *t, const struct turns_place *p, uint64_t key, struct conv *c)
{
	struct span message, generation;
	struct err ignored;
	char hex[17], after[17];

	buf_reset(&t->line);
	if (pread(t->fd, buf_room(&t->line, p->n), p->n, (off_t)p->at) != (ssize_t)p->n ||
	    rec_parse(&t->rec, t->line.data, p->n, &ignored) < 0)
		return;
	snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)key);
	snprintf(after, sizeof(after), "%016llx", (unsigned long long)c->sum);
	message = rec_get(&t->rec, "message");
	generation = rec_get(&t->rec, "generation");
	if (!c->done && message.p && *message.p == '{' && generation.p && *generation.p == '{' &&
	    lax_is(rec_get(&t->rec, "infer_key"), hex) && lax_is(rec_get(&t->rec, "after"), after))
		conv_answer(c, message, generation, 0);
}

void turns_resume(struct turns_file *t, struct span id, uint64_t key, struct conv *c)
{
	struct turns_place want = {.id = hash128(id.p, id.n)}, *p = NULL, *end;

	if (t->nplaces)
		p = bsearch(&want, t->place, t->nplaces, sizeof(want), by_id);
	if (!p)
		return;
	end = t->place + t->nplaces;
	while (p > t->place && by_id(p - 1, &want) == 0)
		p--;
	for (; p < end && by_id(p, &want) == 0; p++)
		resume_turn(t, p, key, c);
}

static int write_line(struct turns_file *t, struct err *e)
{
	size_t at = 0;

	while (at < t->line.len) {
		ssize_t n = write(t->fd, t->line.data + at, t->line.len - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "%s", t->path);
		at += (size_t)n;
	}
	return 0;
}

int turns_note(struct turns_file *t, const struct turn *turn, struct err *e)
{
	struct buf *b = &t->line;

	if (t->fd < 0)
		return 0;
	buf_reset(b);
	if (t->torn)
		buf_addc(b, '\n'); /* what a kill tore off is ended */
	t->torn = 0;
	buf_adds(b, "{\"id\":");
	buf_add_json(b, turn->id.p, turn->id.n);
	buf_adds(b, ",\"infer_key\":\"");
	buf_add_hex64(b, turn->key);
	buf_adds(b, "\",\"after\":\"");
	buf_add_hex64(b, turn->after);
	buf_adds(b, "\",\"message\":");
	buf_add(b, turn->message.p, turn->message.n);
	buf_adds(b, ",\"generation\":");
	buf_add(b, turn->generation.p, turn->generation.n);
	buf_adds(b, "}\n");
	return write_line(t, e);
}

void turns_close(struct turns_file *t, int done)
{
	int empty = t->fd >= 0 && lseek(t->fd, 0, SEEK_END) == 0;

	if (t->path && (done || empty))
		unlink(t->path);
	if (t->fd >= 0)
		close(t->fd);
	free(t->path);
	free(t->place);
	buf_free(&t->line);
	rec_free(&t->rec);
	*t = (struct turns_file){.fd = -1};
}
