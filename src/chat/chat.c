/* Opening a model folder for chats, and a thread's memory. */
#include "chat/chat.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/num.h"
#include "chat/impl.h"

/* Tokens that end a turn, whatever the folder's configuration names as its end. */
static const char *const end_names[] = {
    "<|im_end|>",		   /* Kimi, Qwen */
    "<|end_of_msg|>",		   /* Kimi K3 */
    "<｜end▁of▁sentence｜>",	   /* DeepSeek */
    "<|eot_id|>",		   /* Llama 3 */
    "<|eom_id|>", "<|return|>",	   /* gpt-oss */
    "<|end|>", "<|call|>", "[e~[", /* MiniMax */
    "<|role_end|>",		   /* Ling */
};

static void add_end(struct chat *c, int32_t id)
{
	if (id >= 0 && !chat_is_end(c, id))
		ints_push(&c->ends, id);
}

static int32_t special(const struct chat *c, const char *name)
{
	return bpe_special(c->bpe, name, strlen(name));
}

static void find_ends(struct chat *c)
{
	const struct ints *eos = bpe_eos(c->bpe);

	for (size_t i = 0; i < eos->n; i++)
		add_end(c, eos->v[i]);
	for (size_t i = 0; i < sizeof(end_names) / sizeof(end_names[0]); i++)
		add_end(c, special(c, end_names[i]));
	c->role_ends = special(c, "[gMASK]") >= 0 && special(c, "<|user|>") >= 0 &&
		       special(c, "<|observation|>") >= 0;
	if (c->role_ends) {
		add_end(c, special(c, "<|user|>"));
		add_end(c, special(c, "<|observation|>"));
	}
}

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar; years are counted from
 * March, so that the leap day is a year's last. */
static int64_t days(int64_t y, int64_t m, int64_t d)
{
	int64_t era, of_era, of_year;

	y -= m <= 2;
	era = y / 400;
	of_era = y - era * 400;
	of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int parse_date(struct chat *c, const char *s, struct err *e)
{
	static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	uint64_t y, m, d, most;

	if (!s)
		return 0;
	if (strlen(s) != 10 || s[4] != '-' || s[7] != '-' || num_u64(s, 4, &y) < 0 ||
	    num_u64(s + 5, 2, &m) < 0 || num_u64(s + 8, 2, &d) < 0 || y < 1 || m < 1 || m > 12)
		return err_set(e, "usage", "date %s: expected YYYY-MM-DD", s);
	most =
	    (uint64_t)month_days[m - 1] + (m == 2 && y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));
	if (d < 1 || d > most)
		return err_set(e, "usage", "date %s: there is no such day", s);
	c->has_date = 1;
	c->now = days((int64_t)y, (int64_t)m, (int64_t)d) * 86400;
	return 0;
}

struct chat *chat_open(const struct chat_opt *opt, struct err *e)
{
	struct chat *c = xcalloc(1, sizeof(*c));

	c->served = opt->served_by;
	if (parse_date(c, opt->date, e) < 0)
		goto fail;
	c->bpe = (opt->no_cache ? bpe_open_uncached : bpe_open)(opt->model, e);
	if (!c->bpe || chat_load(c, opt, e) < 0)
		goto fail;
	c->kimi = strcmp(bpe_family(c->bpe), "kimi") == 0;
	find_ends(c);
	chat_probe(c, &c->plain);
	if (c->with_tools.jinja)
		chat_probe(c, &c->with_tools);
	return c;
fail:
	chat_close(c);
	return NULL;
}

void chat_close(struct chat *c)
{
	if (!c)
		return;
	jinja_close(c->plain.jinja);
	jinja_close(c->with_tools.jinja);
	bpe_close(c->bpe);
	ints_free(&c->ends);
	arena_free(&c->arena);
	free(c);
}

const struct bpe *chat_bpe(const struct chat *c)
{
	return c->bpe;
}

uint64_t chat_template_sum(const struct chat *c)
{
	return hash64(&c->plain.sum, sizeof(c->plain.sum), c->with_tools.sum);
}

int chat_is_end(const struct chat *c, int32_t id)
{
	for (size_t i = 0; i < c->ends.n; i++)
		if (c->ends.v[i] == id)
			return 1;
	return 0;
}

struct chat_work *chat_work_open(const struct chat *c)
{
	struct chat_work *w = xcalloc(1, sizeof(*w));

	w->c = c;
	w->bpe = bpe_work_open(c->bpe);
	w->memo = jinja_memo_open();
	return w;
}

void chat_work_close(struct chat_work *w)
{
	if (!w)
		return;
	bpe_work_close(w->bpe);
	arena_free(&w->arena);
	jinja_out_free(&w->prompt);
	jinja_out_free(&w->full);
	jinja_out_free(&w->target);
	jinja_out_free(&w->aux);
	jinja_memo_close(w->memo);
	buf_free(&w->text);
	buf_free(&w->mask);
	buf_free(&w->scratch);
	ints_free(&w->ids);
	ints_free(&w->starts);
	ints_free(&w->some);
	free(w->marks.v);
	free(w->some_marks.v);
	ints_free(&w->seq);
	ints_free(&w->seq_starts);
	ints_free(&w->answer);
	free(w);
}
