#include "merge/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "json/ids.h"

static int read_text(struct reader *r, const char *name, struct flow_job *job, struct span *out)
{
	buf_reset(&r->text);
	if (rec_str(&r->rec, name, &r->text, &job->err) < 0)
		return -1;
	*out = (struct span){arena_dup(job->arena, r->text.data, r->text.len), r->text.len};
	return 0;
}

static int read_names(struct reader *r, struct flow_job *job, struct record *out)
{
	if (read_text(r, "id", job, &out->id) < 0)
		return -1;
	if (out->id.n == 0)
		return err_set(&job->err, "range", "id: is empty");
	job->id = out->id;
	out->dataset = (struct span){"", 0};
	if (span_is_null(rec_get(&r->rec, "dataset")))
		return 0;
	if (read_text(r, "dataset", job, &out->dataset) < 0)
		return -1;
	/* neither an option nor a manifest can name it */
	if (memchr(out->dataset.p, '\0', out->dataset.n))
		return err_set(&job->err, "range", "dataset: holds a NUL");
	return 0;
}

/* A count that the record states must be the one that its arrays have. */
static int check_count(const struct rec *rec, const char *name, size_t have, struct err *e)
{
	struct span v = rec_get(rec, name);
	uint64_t said;

	if (span_is_null(v) || (num_u64(v.p, v.n, &said) == 0 && said == have))
		return 0;
	return err_set(e, "length", "%s: is %.*s, the arrays say %zu", name,
	    v.n < 40 ? (int)v.n : 40, v.p, have);
}

static int count(const struct rec *rec, struct record *out, struct err *e)
{
	size_t ids, zeros, ones;

	if (ids_count(rec_get(rec, "input_ids"), "input_ids", &ids, e) < 0 ||
	    mask_count(rec_get(rec, "loss_mask"), "loss_mask", &zeros, &ones, e) < 0)
		return -1;
	if (ids != zeros + ones)
		return err_set(
		    e, "length", "loss_mask: has %zu elements, input_ids %zu", zeros + ones, ids);
	if (ids > UINT32_MAX)
		return err_set(e, "range", "input_ids: has %zu elements, more than 2^32", ids);
	if (check_count(rec, "seq_len", ids, e) < 0 ||
	    check_count(rec, "n_prompt_tokens", zeros, e) < 0 ||
	    check_count(rec, "n_response_tokens", ones, e) < 0)
		return -1;
	out->tokens = (uint32_t)ids;
	out->response = (uint32_t)ones;
	return 0;
}

/* The ids as ids_write spells them, which is mostly how they stand there: no need to read them. */
static int hash_ids(struct reader *r, struct record *out, struct err *e)
{
	struct span v = rec_get(&r->rec, "input_ids");

	if (!ids_plain(v)) {
		ints_reset(&r->ids);
		buf_reset(&r->text);
		if (ids_read(&r->ids, v, "input_ids", e) < 0)
			return -1;
		ids_write(&r->text, r->ids.v, r->ids.n);
		v = (struct span){r->text.data, r->text.len};
	}
	out->content = hash128(v.p, v.n);
	return 0;
}

static int hash_prompt(struct reader *r, struct record *out, struct err *e)
{
	const char *one;
	size_t n;

	ints_reset(&r->ids);
	buf_reset(&r->mask);
	if (ids_read(&r->ids, rec_get(&r->rec, "input_ids"), "input_ids", e) < 0 ||
	    mask_read(&r->mask, rec_get(&r->rec, "loss_mask"), "loss_mask", e) < 0)
		return -1;
	one = r->ids.n > 0 ? memchr(r->mask.data, 1, r->ids.n) : NULL;
	n = one ? (size_t)(one - r->mask.data) : r->ids.n;
	out->content = hash128(r->ids.v, n * sizeof(*r->ids.v));
	return 0;
}

int record_read(struct reader *r, enum dedup dedup, struct flow_job *job, struct record *out)
{
	*out = (struct record){0};
	if (rec_parse(&r->rec, job->line.p, job->line.n, &job->err) < 0)
		return -1;
	job->object = 1;
	if (read_names(r, job, out) < 0 || count(&r->rec, out, &job->err) < 0)
		return -1;
	switch (dedup) {
	case DEDUP_IDS: return hash_ids(r, out, &job->err);
	case DEDUP_PROMPT: return hash_prompt(r, out, &job->err);
	default: return 0;
	}
}

void reader_free(struct reader *r)
{
	rec_free(&r->rec);
	buf_free(&r->text);
	ints_free(&r->ids);
	buf_free(&r->mask);
}

void *reader_open(void *ctx, struct err *e)
{
	(void)ctx, (void)e;
	return xcalloc(1, sizeof(struct reader));
}

void reader_close(void *ctx, void *reader)
{
	(void)ctx;
	reader_free(reader);
	free(reader);
}

struct span record_conversation(struct span id)
{
	static const char mark[] = "#turn";
	const size_t len = sizeof(mark) - 1;
	size_t n = id.n;

	while (n > 0 && id.p[n - 1] >= '0' && id.p[n - 1] <= '9')
		n--;
	if (n == id.n || n < len || memcmp(id.p + n - len, mark, len) != 0)
		return id;
	return (struct span){id.p, n - len};
}
