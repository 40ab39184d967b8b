#include "infer/params.h"

#include "chat/chat.h"
#include "infer/infer.h"

struct made {
	int turns, ids, rendered, served_by;
};

static struct made made_now(const struct options *o)
{
	return (struct made){o->turns, !o->no_ids, o->model != NULL, o->served_by};
}

static void write_made(struct buf *out, const struct run *r, const struct made *m)
{
	const struct options *o = r->o;

	buf_addf(out, "model=%s turns=%d ids=%d", r->model, m->turns, m->ids);
	if (m->rendered)
		buf_addf(out, " rendered served-by=%d template=%016llx date=%s", m->served_by,
		    (unsigned long long)chat_template_sum(r->chat), o->date ? o->date : "");
	buf_adds(out, " sampling=");
	buf_add(out, r->sampling.p, r->sampling.n);
}

void params_write(struct buf *out, const struct run *r)
{
	struct made now = made_now(r->o);

	write_made(out, r, &now);
}

static int fits(const struct run *r, const struct item *it, const struct made *m)
{
	struct buf b = {0};
	uint64_t key;

	write_made(&b, r, m);
	key = resume_key(it->job->line, (struct span){b.data, b.len});
	buf_free(&b);
	return resume_find(&r->resume, it->job->id, key) == RESUME_DONE;
}

static void tell(struct buf *out, const struct made *now, const struct made *then)
{
	struct span by = opt_word(CHAT_SERVED_BY, then->served_by);

	if (then->turns != now->turns)
		buf_addf(out, " --turns %s", then->turns == TURNS_ALL ? "all" : "last");
	if (then->ids != now->ids)
		buf_adds(out, then->ids ? " ids" : " --no-ids");
	if (!then->rendered && now->rendered)
		buf_adds(out, " the server's template (no --model)");
	if (then->rendered && then->served_by != now->served_by) {
		buf_adds(out, " --served-by ");
		buf_add(out, by.p, by.n);
	}
}

void params_difference(struct buf *out, const struct run *r, const struct item *it)
{
	struct made now = made_now(r->o), then;

	for (int i = 0;
	     i >> 2 == 0 || (now.rendered && opt_word(CHAT_SERVED_BY, (i >> 2) - 1).n > 0); i++) {
		then = (struct made){i & 1, i >> 1 & 1, i >> 2 > 0, i >> 2 > 0 ? (i >> 2) - 1 : 0};
		if (fits(r, it, &then)) {
			tell(out, &now, &then);
			return;
		}
	}
}
