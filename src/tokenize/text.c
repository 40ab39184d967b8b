/* Plain text to ids and back: --text, --whole, --count, --pieces, --decode.
 *
 * A text is a line, without its LF or CRLF, or with --whole a file as it is. Unlike records, an
 * empty line is a text too, so that lines out answer to lines in. No more of a text is read than it
 * may have. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pipe.h"
#include "base/utf8.h"
#include "bpe/bpe.h"
#include "io/in.h"
#include "io/lines.h"
#include "io/out.h"
#include "tokenize/tokenize.h"
#include "json/ids.h"
#include "json/rec.h"

#define BLOCK	 (256u << 10)
#define LINE_END 2 /* CR LF */

static const char bom[] = {'\xef', '\xbb', '\xbf'};

/* Whole lines, or one whole file. */
struct item {
	struct buf text, out;
	const char *file;
	uint64_t line; /* number of the first */
	uint64_t texts, bytes, tokens;
};

struct thread {
	struct bpe_work *bpe;
	struct ints ids;
	struct buf text;
};

struct texts {
	const struct tok_opts *opt;
	struct bpe *bpe;
	unsigned flags;
	size_t max; /* bytes of a text */
	struct out *out;
	struct thread *thread;
	uint64_t texts, bytes, tokens;
	/* the reader */
	size_t next; /* file */
	struct in *in;
	struct buf rest; /* the beginning of a line */
	uint64_t line;
	const char *file;
};

static void *item_new(void *ctx)
{
	(void)ctx;
	return xcalloc(1, sizeof(struct item));
}

static void item_free(void *ctx, void *item)
{
	struct item *it = item;

	(void)ctx;
	buf_free(&it->text);
	buf_free(&it->out);
	free(it);
}

/* ---- reading ---- */

/* 1 a file is open, 0 there are no more, -1. */
static int open_next(struct texts *t, struct err *e)
{
	const struct opt_list *files = &t->opt->flow.files;

	if (t->next >= (files->n > 0 ? files->n : 1))
		return 0;
	t->in = in_open(files->n > 0 ? files->v[t->next] : NULL, e);
	if (!t->in)
		return -1;
	t->next++;
	t->file = "standard input"; /* blocks outlive the stream and its name */
	if (files->n > 0 && strcmp(files->v[t->next - 1], "-") != 0)
		t->file = files->v[t->next - 1];
	t->line = 1;
	return 1;
}

static size_t last_line_end(const struct buf *b, size_t from)
{
	for (size_t i = b->len; i > from; i--)
		if (b->data[i - 1] == '\n')
			return i;
	return 0;
}

static int fail_at(const struct texts *t, const struct item *it, uint64_t line, struct err *e)
{
	if (t->opt->whole)
		return err_prefix(e, "%s: ", it->file);
	return err_prefix(e, "%s:%llu: ", it->file, (unsigned long long)line);
}

static int too_long(const struct texts *t, struct err *e)
{
	if (t->opt->whole)
		return err_set(e, "range", "a text of more than %zu bytes", t->max);
	return err_set(e, "long", "the line is longer than %zu bytes (--max-line)", t->max);
}

/* Reads on until the block has whole lines, or the file is over: then 0. */
static int fill(struct texts *t, struct item *it, size_t *end, struct err *e)
{
	size_t seen = 0;
	ssize_t got;

	*end = 0;
	while (*end == 0 || it->text.len < BLOCK) {
		got = in_read(t->in, buf_room(&it->text, BLOCK), BLOCK, e);
		if (got < 0)
			return -1;
		if (got == 0) {
			*end = it->text.len;
			return 0;
		}
		it->text.len += (size_t)got;
		if (it->text.len < BLOCK)
			continue;
		if (!t->opt->whole)
			*end = last_line_end(&it->text, seen);
		seen = it->text.len;
		if (*end == 0 && it->text.len > t->max + LINE_END) {
			too_long(t, e);
			return fail_at(t, it, it->line, e);
		}
	}
	return 1;
}

static void count_lines(struct texts *t, const struct buf *b)
{
	for (const char *p = b->data, *end = p + b->len;
	     p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
		t->line++;
}

/* A byte order mark at the start of a file is no text, but in a file that is one text it may be. */
static void skip_bom(const struct texts *t, struct item *it)
{
	struct buf *b = &it->text;

	if (it->line > 1 || (t->opt->whole && !t->opt->decode) || b->len < sizeof(bom) ||
	    memcmp(b->data, bom, sizeof(bom)) != 0)
		return;
	memmove(b->data, b->data + sizeof(bom), b->len - sizeof(bom));
	b->len -= sizeof(bom);
}

static int read_item(void *ctx, void *item, struct err *e)
{
	struct texts *t = ctx;
	struct item *it = item;
	size_t end;
	int rc;

	do {
		if (!t->in) {
			rc = open_next(t, e);
			if (rc <= 0)
				return rc;
		}
		buf_reset(&it->text);
		buf_add(&it->text, t->rest.data, t->rest.len);
		buf_reset(&t->rest);
		it->file = t->file;
		it->line = t->line;
		rc = fill(t, it, &end, e);
		if (rc < 0)
			return -1;
		buf_add(&t->rest, it->text.data + end, it->text.len - end);
		it->text.len = end;
		count_lines(t, &it->text);
		skip_bom(t, it);
		if (rc == 0) {
			in_close(t->in);
			t->in = NULL;
		}
	} while (it->text.len == 0 && !t->opt->whole);
	return 1;
}

/* ---- working ---- */

/* Bytes as a JSON string; what is no UTF-8, as the bytes of a part of a character are none, as
 * <0xNN>. */
static void piece(struct buf *out, struct span s)
{
	struct buf text = {0};

	for (size_t i = 0; i < s.n;) {
		size_t len = utf8_len(s.p + i, s.n - i);

		if (len == 0)
			buf_addf(&text, "<0x%02X>", (unsigned char)s.p[i++]);
		else
			buf_add(&text, s.p + i, len);
		i += len;
	}
	buf_add_json(out, text.data ? text.data : "", text.len);
	buf_free(&text);
}

static int encode(
    struct texts *t, struct thread *th, struct item *it, struct span text, struct err *e)
{
	struct bpe_text in = {text.p, text.n, t->flags};

	ints_reset(&th->ids);
	if (bpe_encode(t->bpe, th->bpe, in, &th->ids, NULL, e) < 0)
		return -1;
	it->tokens += th->ids.n;
	if (t->opt->count)
		return 0;
	if (t->opt->pieces) {
		for (size_t k = 0; k < th->ids.n; k++) {
			buf_addc(&it->out, k > 0 ? ',' : '[');
			piece(&it->out, bpe_token(t->bpe, th->ids.v[k]));
		}
		buf_adds(&it->out, th->ids.n > 0 ? "]" : "[]");
	} else {
		ids_write(&it->out, th->ids.v, th->ids.n);
	}
	buf_addc(&it->out, '\n');
	return 0;
}

static int decode(
    struct texts *t, struct thread *th, struct item *it, struct span text, struct err *e)
{
	struct span array;

	if (!json_whole(text, &array, NULL))
		return err_set(e, "json", "expected an array of integers and nothing else");
	ints_reset(&th->ids);
	if (ids_read(&th->ids, array, "ids", e) < 0)
		return -1;
	it->tokens += th->ids.n;
	buf_reset(&th->text);
	if (bpe_decode(t->bpe, th->ids.v, th->ids.n, &th->text, e) < 0)
		return err_prefix(e, "ids");
	if (t->opt->count)
		return 0;
	buf_add(&it->out, th->text.data, th->text.len);
	if (!t->opt->whole)
		buf_addc(&it->out, '\n');
	return 0;
}

static int work_item(void *ctx, size_t thread, void *item, struct err *e)
{
	struct texts *t = ctx;
	struct thread *th = &t->thread[thread];
	struct item *it = item;
	const char *p = it->text.data ? it->text.data : "", *end = p + it->text.len;
	uint64_t line = it->line;

	buf_reset(&it->out);
	it->texts = it->bytes = it->tokens = 0;
	do {
		const char *lf = t->opt->whole ? NULL : memchr(p, '\n', (size_t)(end - p));
		struct span text = {p, (size_t)((lf ? lf : end) - p)};
		int rc;

		if (lf && text.n > 0 && text.p[text.n - 1] == '\r')
			text.n--;
		it->texts++;
		it->bytes += text.n;
		if (text.n > t->max)
			rc = too_long(t, e);
		else
			rc = (t->opt->decode ? decode : encode)(t, th, it, text, e);
		if (rc < 0)
			return fail_at(t, it, line, e);
		line++;
		p = lf ? lf + 1 : end;
	} while (p < end);
	return 0;
}

static int write_item(void *ctx, void *item, struct err *e)
{
	struct texts *t = ctx;
	struct item *it = item;

	t->texts += it->texts;
	t->bytes += it->bytes;
	t->tokens += it->tokens;
	return out_write(t->out, it->out.data, it->out.len, e);
}

static int write_count(struct texts *t, struct err *e)
{
	struct buf b = {0};
	int rc;

	buf_addf(&b, "{\"texts\":%llu,\"bytes\":%llu,\"tokens\":%llu}\n",
	    (unsigned long long)t->texts, (unsigned long long)t->bytes,
	    (unsigned long long)t->tokens);
	rc = out_write(t->out, b.data, b.len, e);
	buf_free(&b);
	return rc;
}

static unsigned flags_of(const struct tok_opts *o)
{
	return (o->no_special_in_content ? BPE_NO_SPECIAL : 0) |
	       (o->bad_utf8 == UTF8_REPLACE ? BPE_REPLACE : 0) | (o->hf_compat ? BPE_HF_COMPAT : 0);
}

static size_t max_of(const struct tok_opts *o)
{
	if (o->whole)
		return BPE_TEXT_MAX;
	return o->flow.max_line > 0 ? (size_t)o->flow.max_line : LINES_MAX_DEFAULT;
}

int tok_text(const struct tok_opts *o, struct err *e)
{
	static const struct pipe_ops ops = {item_new, item_free, read_item, work_item, write_item};
	const size_t n = o->flow.threads > 0 ? o->flow.threads : pipe_processors();
	struct texts t = {.opt = o, .flags = flags_of(o), .max = max_of(o)};
	int rc = -1;

	if (flow_check(&o->flow, e) < 0 || lines_check(o->flow.files.v, o->flow.files.n, e) < 0)
		return -1;
	t.bpe = (o->no_cache ? bpe_open_uncached : bpe_open)(o->model, e);
	t.out = t.bpe ? out_open(o->flow.output, o->flow.zstd, e) : NULL;
	if (!t.out)
		goto out;
	t.thread = xcalloc(n, sizeof(*t.thread));
	for (size_t i = 0; i < n; i++)
		t.thread[i].bpe = bpe_work_open(t.bpe);
	rc = pipe_run(&ops, &t, n, e);
	if (rc == 0 && o->count)
		rc = write_count(&t, e);
	if (rc == 0) {
		rc = out_finish(t.out, e);
		t.out = NULL;
	}
out:
	for (size_t i = 0; t.thread && i < n; i++) {
		bpe_work_close(t.thread[i].bpe);
		ints_free(&t.thread[i].ids);
		buf_free(&t.thread[i].text);
	}
	free(t.thread);
	if (t.in)
		in_close(t.in);
	buf_free(&t.rest);
	out_abort(t.out);
	bpe_close(t.bpe);
	return rc;
}
