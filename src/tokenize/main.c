/* e3-tokenize - conversation records to ids and loss masks, as the target's server sees them */
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/prog.h"
#include "tokenize/tokenize.h"

#define AT(member) offsetof(struct tok_opts, member)

static const struct opt options[] = {
    {"model", 0, OPT_STR, AT(model), "DIR", "the target's folder: tokenizer and template", 0, 0},
    {"template", 0, OPT_STR, AT(template), "FILE", "chat template instead of the folder's", 0, 0},
    {"date", 0, OPT_STR, AT(date), "YYYY-MM-DD", "the day that a template may ask for", 0, 0},
    {"served-by", 0, OPT_ENUM, AT(served_by), CHAT_SERVED_BY,
	"whose way of preparing messages (hf)", 0, 0},
    {"mask", 0, OPT_ENUM, AT(mask), "served|no-eot|after-first-user|all",
	"what is supervised (served)", 0, 0},
    {"last-turn-only", 0, OPT_FLAG, AT(last_turn_only), NULL, "supervise only the last answer", 0,
	0},
    {"extend-left", 0, OPT_FLAG, AT(extend_left), NULL,
	"supervise also the token before each answer", 0, 0},
    {"max-len", 0, OPT_U64, AT(max_len), "N", "longest sequence, in tokens", 1, 0},
    {"on-long", 0, OPT_ENUM, AT(on_long), "drop|truncate", "what becomes of longer ones (drop)", 0,
	0},
    {"check-drift", 0, OPT_FLAG, AT(check_drift), NULL,
	"count served ids that encoding would make different, by dataset", 0, 0},
    {"no-special-in-content", 0, OPT_FLAG, AT(no_special_in_content), NULL,
	"special strings inside messages and tools are text", 0, 0},
    {"invalid-utf8", 0, OPT_ENUM, AT(bad_utf8), "error|replace",
	"what becomes of bytes that are no UTF-8 (error)", 0, 0},
    {"hf-compat", 0, OPT_FLAG, AT(hf_compat), NULL, "cut long text as Kimi's wrapper does", 0, 0},
    {"no-cache", 0, OPT_FLAG, AT(no_cache), NULL, "compile the tokenizer anew, and keep nothing", 0,
	0},
    {"keep", 0, OPT_COMMA, AT(keep), "NAME,...", "members of the input to carry over", 0, 0},
    {"show", 0, OPT_FLAG, AT(show), NULL, "print sequences for a person to read", 0, 0},
    {"text", 0, OPT_FLAG, AT(text), NULL, "plain text: lines in, lines of ids out", 0, 0},
    {"whole", 0, OPT_FLAG, AT(whole), NULL, "plain text: a file is one text", 0, 0},
    {"count", 0, OPT_FLAG, AT(count), NULL, "plain text: totals only", 0, 0},
    {"pieces", 0, OPT_FLAG, AT(pieces), NULL, "plain text: tokens' strings instead of ids", 0, 0},
    {"decode", 0, OPT_FLAG, AT(decode), NULL, "plain text: lines of ids in, text out", 0, 0},
    {0},
};

static const struct opt_prog prog = {
    .name = "e3-tokenize",
    .what = "conversations to token ids and loss masks, as the target's server sees them",
    .operands = "[FILE...]",
    .own = options,
    .common = flow_opts,
    .common_at = AT(flow),
    .operands_at = AT(flow.files),
};

/* The members that a tokenised record has anyway. */
static const char *const own_members[] = {
    "id", "dataset", "input_ids", "loss_mask", "seq_len", "n_prompt_tokens", "n_response_tokens"};

static int is_plain(const struct tok_opts *o)
{
	return o->text || o->whole || o->count || o->pieces || o->decode;
}

static void check_plain(const struct tok_opts *o)
{
	const struct {
		int given;
		const char *option;
	} records_only[] = {
	    {o->show, "--show"},
	    {o->flow.rejects != NULL, "--rejects"},
	    {o->flow.stats != NULL, "--stats"},
	    {o->flow.progress, "--progress"},
	    {o->keep.n > 0, "--keep"},
	    {o->max_len > 0, "--max-len"},
	    {o->mask != MASK_SERVED, "--mask"},
	    {o->last_turn_only, "--last-turn-only"},
	    {o->extend_left, "--extend-left"},
	    {o->check_drift, "--check-drift"},
	    {o->template != NULL, "--template"},
	    {o->date != NULL, "--date"},
	    {o->served_by != SERVED_HF, "--served-by"},
	};

	for (size_t i = 0; i < sizeof(records_only) / sizeof(records_only[0]); i++)
		if (records_only[i].given)
			opt_misuse(
			    &prog, "%s is for records, not for plain text", records_only[i].option);
}

static void check(const struct tok_opts *o)
{
	if (!o->model)
		opt_misuse(&prog, "--model DIR is needed");
	if (is_plain(o))
		check_plain(o);
	if (o->on_long == LONG_TRUNCATE && !o->max_len)
		opt_misuse(&prog, "--on-long truncate needs --max-len N");
	if (o->pieces && (o->decode || o->count))
		opt_misuse(&prog, "--pieces does not go with --decode or --count");
	if (o->check_drift && o->mask == MASK_ALL)
		opt_misuse(&prog, "--check-drift does not go with --mask all, which takes no "
				  "served ids");
	if (o->last_turn_only && (o->mask == MASK_ALL || o->mask == MASK_AFTER_FIRST_USER))
		opt_misuse(&prog, "--last-turn-only goes with --mask served or no-eot");
	for (size_t k = 0; k < o->keep.n; k++)
		for (size_t i = 0; i < sizeof(own_members) / sizeof(own_members[0]); i++)
			if (strcmp(o->keep.v[k], own_members[i]) == 0)
				opt_misuse(&prog, "--keep %s: tokenised records have it anyway",
				    o->keep.v[k]);
}

/* A template whose turns are nowhere supervised is the wrong one, not an empty result. */
static int check_supervised(struct flow *f, struct err *e)
{
	struct flow_totals n = flow_totals(f);
	struct buf counts = {0};

	if (n.in == 0 || n.out > 0)
		return 0;
	flow_summary_text(&counts, f);
	err_set(e, "unsupervised", "nothing to train on in the whole input: %s%s",
	    buf_cstr(&counts),
	    flow_dropped(f, "unsupervised") > 0
		? "; prompts, which are unsupervised, want e3-infer first"
		: "");
	buf_free(&counts);
	return -1;
}

static void say_drift(const struct drift *d)
{
	struct err line;

	for (size_t k = 0; drift_line(d, k, &line); k++)
		prog_warn("%s", line.msg);
}

static int records(struct tok_opts *o, struct err *e)
{
	static const struct flow_ops ops = {
	    tok_thread_open, tok_thread_close, tok_work, tok_commit};
	const struct chat_opt chat = {
	    o->model, o->template, o->date, (enum chat_served)o->served_by, o->no_cache};
	struct tok tok = {.opt = o};
	struct flow *f = NULL;
	int rc = -1;

	o->flow.unique_ids = !o->show;
	tok.colour = o->show && !o->flow.output && isatty(STDOUT_FILENO);
	tok.drift = o->check_drift ? drift_open() : NULL;
	tok.chat = chat_open(&chat, e);
	if (tok.chat)
		f = flow_open("e3-tokenize", &o->flow, e);
	if (f && flow_run(f, &ops, &tok, e) == 0 && check_supervised(f, e) == 0) {
		if (tok.drift)
			drift_stat(tok.drift, f);
		rc = flow_finish(f, e);
		f = rc == 0 ? NULL : f;
	}
	if (rc == 0 && tok.drift && !o->flow.quiet)
		say_drift(tok.drift);
	if (rc < 0)
		flow_abort(f);
	drift_close(tok.drift);
	chat_close(tok.chat);
	return rc;
}

int main(int argc, char **argv)
{
	struct tok_opts o = {.flow = FLOW_OPT_DEFAULT};
	struct err e = {0};
	int rc;

	opt_parse(&prog, argc, argv, &o);
	check(&o);
	o.flow.report = o.show || is_plain(&o);
	if (o.template)
		opt_list_add(&o.flow.inputs, o.template);
	rc = is_plain(&o) ? tok_text(&o, &e) : records(&o, &e);
	opt_list_free(&o.flow.files);
	opt_list_free(&o.flow.inputs);
	opt_list_free(&o.keep);
	return rc < 0 ? prog_fail(&e) : EXIT_DONE;
}
