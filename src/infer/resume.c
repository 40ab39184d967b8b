#include "infer/resume.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "io/flow.h"
#include "io/lines.h"
#include "serve/lax.h"

uint64_t resume_key(struct span line, struct span params)
{
	struct hash64_state *s = hash64_begin(0);

	hash64_add(s, line.p, line.n);
	hash64_add(s, "\n", 1);
	hash64_add(s, params.p, params.n);
	return hash64_end(s);
}

static struct hash128 id_and_key(struct span id, uint64_t key, struct buf *b)
{
	buf_reset(b);
	buf_add_hex64(b, key);
	buf_add(b, id.p, id.n);
	return hash128(b->data, b->len);
}

/* 16 hex digits in quotes. */
static int read_key(struct span v, uint64_t *key)
{
	*key = 0;
	if (!v.p || v.n != 18)
		return -1;
	for (size_t i = 1; i < 17; i++) {
		char c = v.p[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0)
			return -1;
		*key = *key << 4 | (uint64_t)digit;
	}
	return 0;
}

static struct span last_generation(const struct rec *r)
{
	struct span v = rec_get(r, "generations"), last = {NULL, 0};
	struct lax s;

	if (span_is_null(v))
		return last;
	lax_begin(&s, v);
	while (lax_element(&s, &v))
		last = v;
	return last;
}

/* Where both say it. `who`: "the server has". */
static int check_maker(
    const char *what, const char *made_by, const char *who, const char *other, struct err *e)
{
	if (!made_by[0] || !other[0] || strcmp(made_by, other) == 0)
		return 0;
	return err_set(e, "changed", "was made by the %s %s, %s %s: they don't go into one output",
	    what, made_by, who, other);
}

/* The member of the generation; the first one that says it holds for all. */
static int check_lines(const char *what, struct span value, char *first, size_t size, struct err *e)
{
	char text[256];

	lax_text(text, size, value);
	if (!first[0])
		memcpy(first, text, size);
	return check_maker(what, text, "the lines before by", first, e);
}

static int check_made_with(struct resume *r, struct span gen, struct err *e)
{
	struct span sampling = lax_get(gen, "sampling");

	if (!gen.p)
		return 0;
	if (sampling.p &&
	    (sampling.n != r->sampling.n || memcmp(sampling.p, r->sampling.p, sampling.n) != 0))
		return err_set(e, "changed",
		    "was made with %.*s, this run has %.*s: give the same options, or another "
		    "output",
		    (int)sampling.n, sampling.p, (int)r->sampling.n, r->sampling.p);
	if (check_lines("model", lax_get(gen, "model"), r->model, sizeof(r->model), e) < 0)
		return -1;
	return check_lines(
	    "weights", lax_get(gen, "weight_version"), r->weights, sizeof(r->weights), e);
}

static void count_status(struct resume *r, struct span gen)
{
	struct span status = lax_get(gen, "status");

	for (size_t i = 0; i < STATUS_N; i++)
		r->statuses[i] += (uint64_t)lax_is(status, infer_statuses[i]);
}

int resume_check_maker(
    const struct resume *r, const char *model, const char *weights, struct err *e)
{
	if (check_maker("model", r->model, "the server has", model, e) < 0)
		return -1;
	return check_maker("weights", r->weights, "the server has", weights, e);
}

int resume_line(void *arg, const char *line, size_t n, uint64_t number, struct err *e)
{
	struct resume *r = arg;
	struct span id, gen;
	uint64_t key;

	(void)number;
	if (rec_parse(&r->rec, line, n, e) < 0)
		return -1;
	buf_reset(&r->text);
	if (rec_str(&r->rec, "id", &r->text, e) < 0)
		return -1;
	if (read_key(rec_get(&r->rec, "infer_key"), &key) < 0)
		return err_set(e, "type", "infer_key: missing: this is no output of e3-infer");
	gen = last_generation(&r->rec);
	if (check_made_with(r, gen, e) < 0)
		return -1;
	id = (struct span){r->text.data, r->text.len};
	if (!hashset_add(&r->ids, hash128(id.p, id.n)))
		return err_set(e, "duplicate", "id: a line before has the same");
	hashset_add(&r->done, id_and_key(id, key, &r->pair));
	count_status(r, gen);
	return 0;
}

static char *text_of(struct span v)
{
	struct buf b = {0};

	if (span_is_null(v) || json_str(&b, v, NULL) < 0)
		buf_reset(&b);
	return buf_steal(&b);
}

/* The members that flow puts into every reject; what is beside them is ours. */
static char *more_of(struct span reject)
{
	static const char *const flows[] = {"program", "class", "reason", "file", "line"};
	struct span key, val;
	struct buf b = {0};
	struct lax s;

	lax_begin(&s, reject);
	while (lax_member(&s, &key, &val)) {
		int known = 0;

		for (size_t i = 0; i < sizeof(flows) / sizeof(*flows); i++)
			known |= span_eq(key, flows[i]);
		if (known)
			continue;
		buf_adds(&b, b.len ? ",\"" : "\"");
		buf_add(&b, key.p, key.n);
		buf_adds(&b, "\":");
		buf_add(&b, val.p, val.n);
	}
	return buf_steal(&b);
}

static void add_carried(struct resume *r, struct span reject, uint64_t key)
{
	struct span progress = lax_get(reject, "progress");
	struct carried c = {
	    .id = hash128(r->text.data, r->text.len),
	    .key = key,
	    .order = r->ncarried,
	    .permanent = span_eq(lax_get(reject, "permanent"), "true"),
	    .class = text_of(lax_get(reject, "class")),
	    .reason = text_of(lax_get(reject, "reason")),
	    .more = more_of(reject),
	    .progress = progress.p ? xstrndup(progress.p, progress.n) : NULL,
	};

	r->carried = xgrow(r->carried, &r->cap, r->ncarried + 1, sizeof(c));
	r->carried[r->ncarried++] = c;
}

static int by_id(const void *a, const void *b)
{
	const struct carried *x = a, *y = b;

	if (x->id.hi != y->id.hi)
		return x->id.hi < y->id.hi ? -1 : 1;
	return x->id.lo == y->id.lo ? 0 : x->id.lo < y->id.lo ? -1 : 1;
}

static int by_id_and_order(const void *a, const void *b)
{
	const struct carried *x = a, *y = b;
	int c = by_id(a, b);

	return c ? c : x->order < y->order ? -1 : 1;
}

/* 1: v is the reject, r->text its record's id. One that tells nothing of a record that a server had
 * is passed over: the input has it again. So is one of a record that was answered since. */
static int read_reject(struct resume *r, const struct line *line, struct span *v, uint64_t *key)
{
	struct err ignored;

	buf_reset(&r->text);
	if (line->toolong || rec_parse(&r->rec, line->p, line->n, &ignored) < 0 ||
	    rec_str(&r->rec, "id", &r->text, &ignored) < 0 ||
	    hashset_has(&r->ids, hash128(r->text.data, r->text.len)))
		return 0;
	*v = rec_get(&r->rec, "reject");
	return !span_is_null(*v) && read_key(lax_get(*v, "infer_key"), key) == 0;
}

int resume_rejects(struct resume *r, const char *path, struct err *e)
{
	struct lines *l = NULL;
	struct line line;
	struct span reject;
	uint64_t key;
	int rc = 0;

	if (access(path, F_OK) < 0)
		return 0;
	l = lines_open(&path, 1, 0, e);
	if (!l)
		return -1;
	while ((rc = lines_next(l, &line, e)) > 0)
		if (read_reject(r, &line, &reject, &key))
			add_carried(r, reject, key);
	if (r->ncarried)
		qsort(r->carried, r->ncarried, sizeof(*r->carried), by_id_and_order);
	lines_close(l);
	return rc;
}

/* What fails here, the flow's end finds too; that they are too many has been said. */
static void reject_again(
    struct flow *flow, const struct line *line, struct span reject, const struct carried *c)
{
	char *file = text_of(lax_get(reject, "file"));
	struct flow_job job = {.line = {line->p, line->n},
	    .file = file,
	    .number = (uint64_t)lax_int(lax_get(reject, "line"), 0),
	    .verdict = FLOW_REJECT,
	    .object = 1};
	struct err ignored;

	err_set(&job.err, c->class, "%s", c->reason);
	flow_reject_more(&job, c->more);
	flow_settle_held(flow, &job, &ignored);
	buf_free(&job.more);
	free(file);
}

int resume_keep_rejects(struct resume *r, const char *path, struct flow *flow, struct err *e)
{
	struct lines *l = lines_open(&path, 1, 0, e);
	struct line line;
	struct span reject;
	uint64_t key;
	int rc = l ? 1 : -1;

	while (rc > 0 && (rc = lines_next(l, &line, e)) > 0) {
		const struct carried *c = NULL;

		if (read_reject(r, &line, &reject, &key))
			c = resume_carried(r, (struct span){r->text.data, r->text.len});
		if (c && !c->settled)
			reject_again(flow, &line, reject, c);
	}
	lines_close(l);
	return rc;
}

enum resume_found resume_find(const struct resume *r, struct span id, uint64_t key)
{
	struct buf b = {0};
	enum resume_found found = RESUME_NEW;

	if (hashset_has(&r->ids, hash128(id.p, id.n)))
		found =
		    hashset_has(&r->done, id_and_key(id, key, &b)) ? RESUME_DONE : RESUME_CHANGED;
	buf_free(&b);
	return found;
}

struct carried *resume_carried(const struct resume *r, struct span id)
{
	struct carried want = {.id = hash128(id.p, id.n)}, *found;

	if (r->ncarried == 0)
		return NULL;
	found = bsearch(&want, r->carried, r->ncarried, sizeof(want), by_id);
	if (!found)
		return NULL;
	while (found + 1 < r->carried + r->ncarried && by_id(found, found + 1) == 0)
		found++;
	return found;
}

void resume_free(struct resume *r)
{
	for (size_t i = 0; i < r->ncarried; i++) {
		free(r->carried[i].class);
		free(r->carried[i].reason);
		free(r->carried[i].more);
		free(r->carried[i].progress);
	}
	free(r->carried);
	hashset_free(&r->ids);
	hashset_free(&r->done);
	rec_free(&r->rec);
	buf_free(&r->text);
	buf_free(&r->pair);
}
