#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/num.h"
#include "extract/run.h"
#include "extract/say.h"
#include "io/lines.h"

static uint64_t out_free(const struct run *r)
{
	struct statvfs v;

	return statvfs(r->o->out_dir, &v) < 0 ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}

static int resumable(const struct run *r)
{
	return r->part && part_path(r->part);
}

/* ---- forecast ---- */

static int readable_twice(const struct run *r)
{
	for (size_t i = 0; i < r->o->flow.files.n; i++) {
		struct stat st;

		if (strcmp(r->o->flow.files.v[i], "-") == 0 ||
		    stat(r->o->flow.files.v[i], &st) < 0 || !S_ISREG(st.st_mode))
			return 0;
	}
	return r->o->flow.files.n > 0;
}

static void add_line(struct run *r, struct rec *rec, const struct line *line)
{
	struct forecast *f = &r->forecast;
	struct buf id = {0};
	struct span len;
	uint64_t n;
	struct err e;

	if (line->toolong || rec_parse(rec, line->p, line->n, &e) < 0)
		return;
	len = rec_get(rec, "seq_len");
	if (len.p && num_u64(len.p, len.n, &n) == 0 && rec_str(rec, "id", &id, &e) == 0 &&
	    hash_in_shard(id.data, id.len, r->o->flow.shard.i, r->o->flow.shard.n) &&
	    !done_find(&r->done, (struct span){id.data, id.len})) {
		f->records++;
		f->tokens += n;
	}
	buf_free(&id);
}

/* A pass over the input for its lengths, which costs a second a gigabyte and may save days.
 * Whatever can't be read here will be met again where it matters. */
void forecast_read(struct run *r)
{
	struct err e;
	struct rec rec = {0};
	struct line line;
	struct lines *l;

	if (!readable_twice(r))
		return;
	l = lines_open(r->o->flow.files.v, r->o->flow.files.n, (size_t)r->o->flow.max_line, &e);
	if (!l)
		return;
	while (run_interrupted(r, &e) == 0 && lines_next(l, &line, &e) > 0)
		add_line(r, &rec, &line);
	if (r->signal)
		r->forecast = (struct forecast){0};
	rec_free(&rec);
	lines_close(l);
}

void forecast_say(struct run *r)
{
	struct forecast *f = &r->forecast;
	uint64_t bytes = plan_bytes(&r->plan, f->tokens) + 8192 * f->records, room = out_free(r);
	char a[32], b[32];

	if (f->records == 0 || f->said || r->plan.set.hidden == 0)
		return;
	f->said = 1;
	num_human(bytes, a);
	num_human(room, b);
	if (!r->o->flow.quiet)
		say("%llu %s, %llu tokens will take %s; the disk has %s free",
		    (unsigned long long)f->records, f->records == 1 ? "record" : "records",
		    (unsigned long long)f->tokens, a, b);
	if (bytes > room || room - bytes < r->o->min_free)
		say("the disk will not hold them all: the run will stop at --min-free%s",
		    resumable(r) ? ", to be resumed" : "");
}

enum { HOURS_AFTER_MS = 60000, HOURS_SHARE = 20 };

void forecast_hours(struct run *r)
{
	struct forecast *f = &r->forecast;
	uint64_t ms = clock_ms() - r->started;
	double rate = 1000.0 * (double)r->tokens / (double)(ms + 1), rest;

	if (f->hours_said || r->o->flow.quiet || r->tokens == 0 || f->tokens <= r->tokens)
		return;
	rest = (double)(f->tokens - r->tokens) / rate;
	if (ms < HOURS_AFTER_MS && (r->tokens < f->tokens / HOURS_SHARE || rest < 60))
		return;
	f->hours_said = 1;
	say("%.0f tokens/s: the rest takes %.1f hours", rate, rest / 3600);
}

/* ---- room ---- */

struct use {
	/* To be written, both on disk and by servers, which may do so after their reply: what they
	 * have written already is counted twice until it is taken. */
	uint64_t under_way;
	size_t busy;
};

static struct use in_use(const struct run *r)
{
	struct use u = {0};

	for (size_t i = 0; i < r->n; i++) {
		const struct item *it = r->item[(r->head + i) % r->cap];

		if (it->state != FLYING && it->state != AT_WORK)
			continue;
		u.under_way += it->bytes;
		u.busy++;
	}
	return u;
}

static int fits(uint64_t room, uint64_t used, uint64_t more, uint64_t keep)
{
	return room > used && room - used > more && room - used - more >= keep;
}

/* Sources of records that are safe on disk but wait for their turn: under pressure they go early.
 */
static void relieve(struct run *r)
{
	struct err e;

	for (size_t i = 0; i < r->n; i++) {
		struct item *it = r->item[(r->head + i) % r->cap];

		if (it->state == GOOD && claim_remove(r->dump, &it->claim, &e) < 0)
			say("%s", e.msg);
	}
}

/* The first record's bytes are not known yet. */
static int stop_full(const struct run *r, const char *dir, uint64_t room, uint64_t keep,
    const struct item *it, struct err *e)
{
	char a[32], b[32], c[32];

	num_human(room, a);
	num_human(it->bytes, b);
	num_human(keep, c);
	if (room < keep)
		err_set(e, "space", "%s has %s free, less than --min-free %s", dir, a, c);
	else if (room > it->bytes)
		err_set(e, "space",
		    "%s has %s free, and with the next record's %s less than --min-free %s", dir, a,
		    b, c);
	else
		err_set(e, "space", "%s has %s free and the next record takes %s", dir, a, b);
	return err_suffix(
	    e, resumable(r) ? ": make room, then go on with --resume" : ": make room");
}

int disk_room(struct run *r, const struct item *it, struct err *e)
{
	struct use u = in_use(r);
	uint64_t room = out_free(r);

	if (!fits(room, u.under_way, it->bytes, r->o->min_free))
		return u.busy > 0 ? 0 : stop_full(r, r->o->out_dir, room, r->o->min_free, it, e);
	if (!r->dump)
		return 1;
	room = dumpdir_free(r->dump);
	if (fits(room, u.under_way, it->bytes, 0))
		return 1;
	if (u.busy > 0)
		return 0;
	/* sources of what has its file, of what waits for its turn, and what nobody waits for */
	if (settle_shown(r, e) < 0)
		return -1;
	relieve(r);
	if (sweep_mine(r, e) < 0)
		return -1;
	return fits(dumpdir_free(r->dump), 0, it->bytes, 0)
		   ? 1
		   : stop_full(r, r->o->dump_dir, room, 0, it, e);
}
