/* Turns to sequences: each row is a template, a record and what comes out of it, written as text
 * with the supervised part in brackets, one sequence a line, its turn before it. */
#include "unit.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "bpe/bpe.h"
#include "chat/chat.h"
#include "folder.h"
#include "json/rec.h"

static const char *const names[] = {"<|im_end|>", "<|im_start|>", "<think>", "</think>", "<s>",
    "</s>", "<|return|>", "<|end|>", "<|call|>", NULL};

/* Keeps all of history: turns extend one another. */
#define KEEP                                                                             \
	"{% for m in messages %}{{ m.role[0] }}:{{ m.content }}<|im_end|>\n{% endfor %}" \
	"{% if add_generation_prompt %}a:{% endif %}"

/* Reasoning only in the last message, as Qwen3 has it. */
#define DROP                                                                                   \
	"{% for m in messages %}{{ m.role[0] }}:"                                              \
	"{% if m.role == 'assistant' and loop.last %}<think>{{ m.reasoning_content }}</think>" \
	"{% endif %}{{ m.content }}<|im_end|>{% endfor %}"                                     \
	"{% if add_generation_prompt %}a:{% endif %}"

/* The last answer ends otherwise than one in history, and earlier analyses go when it comes, as
 * gpt-oss has it. */
#define HARMONY                                                                                  \
	"{% set ns = namespace(final=false) %}"                                                  \
	"{% for m in messages %}{% if m.role == 'assistant' and not m.tool_calls %}"             \
	"{% set ns.final = true %}{% endif %}{% endfor %}"                                       \
	"{% for m in messages %}{{ m.role[0] }}"                                                 \
	"{% if m.tool_calls %}{% if m.thinking and not ns.final %}~{{ m.thinking }}<|end|>a"     \
	"{% endif %}={{ m.tool_calls[0].function.name }}<|call|>"                                \
	"{% elif m.role == 'assistant' %}{% if m.thinking and loop.last %}~{{ m.thinking }}"     \
	"<|end|>a{% endif %}:{{ m.content }}"                                                    \
	"{% if loop.last and not add_generation_prompt %}<|return|>{% else %}<|end|>{% endif %}" \
	"{% else %}:{{ m.content }}<|end|>{% endif %}{% endfor %}"                               \
	"{% if add_generation_prompt %}a{% endif %}"

/* The end of the text behind that of the last turn, as Phi 3 has it. */
#define TWO_ENDS                                                                      \
	"{% for m in messages %}{{ m.role[0] }}:{{ m.content }}<|end|>\n{% endfor %}" \
	"{% if add_generation_prompt %}a:{% else %}</s>{% endif %}"

/* The prompt opens the block, finished answers have it closed, as DeepSeek V3.1 has it. */
#define OPENED                                                                                  \
	"{% for m in messages %}{{ m.role[0] }}:"                                               \
	"{% if m.role == 'assistant' %}</think>{% endif %}{{ m.content }}"                      \
	"{% if m.tool_calls %}={{ m.tool_calls[0].function.name }}{% endif %}"                  \
	"{% if m.role == 'assistant' %}</s>{% endif %}{% endfor %}"                             \
	"{% if add_generation_prompt %}a:{% if thinking %}<think>{% else %}</think>{% endif %}" \
	"{% endif %}"

/* Each call makes two more. */
#define ENDLESS                                                                           \
	"{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}" \
	"{{ m(100) }}"

#define TAGS                                                                     \
	"{% for m in messages %}{{ m.role[0] }}:{% if m.role == 'assistant' %}"  \
	"{% generation %}{{ m.content }}<|im_end|>{% endgeneration %}{% else %}" \
	"{{ m.content }}<|im_end|>{% endif %}{% endfor %}"                       \
	"{% if add_generation_prompt %}a:{% endif %}"

/* A turn of two parts, with white space behind it; tags around what there is of one. */
#define TWO_PARTS                                                                                \
	"{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}"                  \
	"{{ m.reasoning_content }}<|end|>{{ m.content }}<|im_end|>{{ '\n' }}{% endgeneration %}" \
	"{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}"
#define SOME_TAGS                                                                             \
	"{% for m in messages %}{% if m.role == 'assistant' and m.content %}{% generation %}" \
	"{{ m.reasoning_content }}{% endgeneration %}~{% generation %}{{ m.content }}"        \
	"{% endgeneration %}{% else %}{{ m.content }}{% endif %}<|im_end|>{% endfor %}"
#define STRIPPED                                                                               \
	"{% for m in messages %}{% if m.reasoning_content %}{{ m.reasoning_content.strip() }}" \
	"</think>{% endif %}{{ m.content|trim }}<|im_end|>{% endfor %}"

/* Python's repr of a list: its characters are of no message. */
#define COMPUTED "{% for m in messages %}{{ [m.content] }}<|im_end|>{% endfor %}"

/* Content behind a think block; all of its parts; the first. */
#define BEHIND_THINK \
	"{% for m in messages %}{{ m.content.split('</think>')[-1] }}<|im_end|>{% endfor %}"
#define PARTS                                                                          \
	"{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}" \
	"{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>{% endfor %}"
#define FIRST_PART                                                                     \
	"{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}" \
	"{% for p in m.content[:1] %}{{ p.text }}{% endfor %}{% endif %}<|im_end|>{% endfor %}"

#define U(c)	"{\"role\":\"user\",\"content\":\"" c "\"}"
#define A(c)	"{\"role\":\"assistant\",\"content\":\"" c "\"}"
#define R(r, c) "{\"role\":\"assistant\",\"reasoning_content\":\"" r "\",\"content\":\"" c "\"}"
#define F(c)	"{\"role\":\"assistant\",\"weight\":0,\"content\":\"" c "\"}"
#define T(c)	"{\"role\":\"tool\",\"content\":\"" c "\"}"
#define C(m, n)                                                                           \
	"{\"role\":\"assistant\"," m "\"tool_calls\":[{\"function\":{\"name\":\"" n "\"," \
	"\"arguments\":{}}}]}"
#define P                                                                          \
	"{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"x\"}," \
	"{\"type\":\"text\",\"text\":\"y\"}]}"
#define X50  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define CUT  "],\"generations\":[{\"message\":1,\"finish_reason\":\"length\"}]}"
#define M(m) "{\"messages\":[" m "]}"

static const struct {
	const char *name, *template, *in, *want;
	struct chat_turns_opt opt;
} rows[] = {
    {"one turn", KEEP, M(U("q") "," A("x")), "1 u:q<|im_end|>\na:[x<|im_end|>]\n", {0}},
    {"turns that extend one another share a record", KEEP,
	M(U("q") "," A("x") "," U("r") "," A("y")),
	"2 u:q<|im_end|>\na:[x<|im_end|>]\nu:r<|im_end|>\na:[y<|im_end|>]\n", {0}},
    {"no assistant", KEEP, M(U("q")), "", {0}},
    {"no messages", KEEP, M(""), "", {0}},
    {"weight 0 is context", KEEP, M(U("q") "," F("x") "," U("r") "," A("y") "," U("s")),
	"2 u:q<|im_end|>\na:x<|im_end|>\nu:r<|im_end|>\na:[y<|im_end|>]\n", {0}},
    {"weight 0 alone", KEEP, M(U("q") "," F("x")), "", {0}},
    {"no-eot", KEEP, M(U("q") "," A("x")), "1 u:q<|im_end|>\na:[x]<|im_end|>\n",
	{.mask = MASK_NO_EOT}},
    {"an answer that is only its end", KEEP, M(U("q") "," A("")),
	"1 u:q<|im_end|>\na:[<|im_end|>]\n", {0}},
    {"the same without it is nothing", KEEP, M(U("q") "," A("")), "", {.mask = MASK_NO_EOT}},
    {"last turn only", KEEP, M(U("q") "," A("x") "," U("r") "," A("y")),
	"2 u:q<|im_end|>\na:x<|im_end|>\nu:r<|im_end|>\na:[y<|im_end|>]\n", {.last_turn_only = 1}},
    {"after the first user", KEEP, M(U("q") "," A("x") "," U("r") "," A("y")),
	"2 u:q<|im_end|>\na:[x<|im_end|>\nu:r<|im_end|>\na:y<|im_end|>]\n",
	{.mask = MASK_AFTER_FIRST_USER}},
    {"after the first user, but not what is foreign", KEEP,
	M(U("q") "," F("x") "," U("r") "," A("y")),
	"2 u:q<|im_end|>\na:x<|im_end|>[\nu:r<|im_end|>\na:y<|im_end|>]\n",
	{.mask = MASK_AFTER_FIRST_USER}},
    {"all", KEEP, M(U("q") "," F("x") "," A("y")),
	"2 [u:q<|im_end|>\n]a:x<|im_end|>[\na:y<|im_end|>\n]\n", {.mask = MASK_ALL}},
    {"all, and what ends a foreign message is no known token",
	"{% for m in messages %}{{ m.role[0] }}:{{ m.content }};{% endfor %}",
	M(U("q") "," F("x") "," U("r") "," A("y")), "2 [u:q;]a:x;[u:r;a:y;]\n", {.mask = MASK_ALL}},
    {"rewritten history makes records of their own", DROP,
	M(U("q") "," R("r", "x") "," U("s") "," R("t", "y")),
	"1 u:q<|im_end|>a:[<think>r</think>x<|im_end|>]\n"
	"2 u:q<|im_end|>a:x<|im_end|>u:s<|im_end|>a:[<think>t</think>y<|im_end|>]\n",
	{0}},
    {"an empty block is the model's", DROP, M(U("q") "," A("x")),
	"1 u:q<|im_end|>a:[<think></think>x<|im_end|>]\n", {0}},
    {"the end token as served", HARMONY, M(U("q") "," R("r", "x") "," U("s") "," A("y")),
	"1 u:q<|end|>a[~r<|end|>a:x<|return|>]\n"
	"2 u:q<|end|>a:x<|end|>u:s<|end|>a[:y<|return|>]\n",
	{0}},
    {"a turn whose history changes with it is rendered alone", HARMONY,
	M(U("q") "," C("\"thinking\":\"r\",", "f") "," T("o") "," A("y")),
	"2 u:q<|end|>a[~r<|end|>a=f<|call|>]t:o<|end|>a[:y<|return|>]\n", {0}},
    {"the first of two ends is the model's", TWO_ENDS, M(U("q") "," A("x") "," U("r") "," A("y")),
	"2 u:q<|end|>\na:[x<|end|>]\nu:r<|end|>\na:[y<|end|>]\n", {0}},
    {"but not one in the answer", TWO_ENDS, M(U("q") "," A("x<|end|>")),
	"1 u:q<|end|>\na:[x<|end|><|end|>]\n", {0}},
    {"cut before two ends", TWO_ENDS, "{\"messages\":[" U("q") "," A("x") CUT,
	"1 u:q<|end|>\na:[x]\n", {0}},
    {"an opened block", OPENED,
	"{\"chat_template_kwargs\":{\"thinking\":true},\"messages\":[" U("q") "," R("r", "x") "]}",
	"1 u:qa:<think>[r</think>x</s>]\n", {0}},
    {"a closed block", OPENED, M(U("q") "," A("x")), "1 u:qa:</think>[x</s>]\n", {0}},
    {"thinking turned off leaves reasoning out", OPENED,
	"{\"chat_template_kwargs\":{\"thinking\":false},\"messages\":[" U("q") "," R("r", "x") "]}",
	"1 u:qa:</think>[x</s>]\n", {0}},
    {"an opened block and a call", OPENED,
	"{\"chat_template_kwargs\":{\"thinking\":true},\"messages\":[" U("q") "," C(
	    "\"content\":\"x\",\"reasoning_content\":\"r\",", "f") "]}",
	"unfaithful", {0}},
    {"lost reasoning", KEEP, M(U("q") "," R("r", "x")), "lost", {0}},
    {"lost call", KEEP, M(U("q") "," C("\"content\":\"x\",", "zap")), "lost", {0}},
    {"lost call, though <|im_end|> has its name in a word", KEEP,
	M(U("q") "," C("\"content\":\"x\",", "end")), "lost", {0}},
    {"lost call, though the content names it", KEEP,
	M(U("q") "," C("\"content\":\"zap it\",", "zap")), "lost", {0}},
    {"lost call, though the user names it", KEEP, M(U("zap it") "," C("\"content\":\"x\",", "zap")),
	"lost", {.mask = MASK_ALL}},
    {"lost reasoning, though the content is the same", KEEP, M(U("q") "," R("x", "x")), "lost",
	{0}},
    {"white space at edges may go, whichever Python strips", STRIPPED,
	M(U("q") "," R("\\u2028\\u201cr\\u001c", "\\u3000x\\u00a0y\\u0085")),
	"1 q<|im_end|>[\xe2\x80\x9cr</think>x\xc2\xa0y<|im_end|>]\n", {0}},
    {"it may stay too", KEEP, M(U("q") "," A("\\u00a0<think></think>\\u3000x\\u2028")),
	"1 u:q<|im_end|>\na:[\xc2\xa0<think></think>\xe3\x80\x80x\xe2\x80\xa8<|im_end|>]\n", {0}},
    {"also where think tags go", BEHIND_THINK, M(U("q") "," A(" \\u00a0<think></think>x")),
	"1 q<|im_end|>[x<|im_end|>]\n", {0}},
    {"a character that begins as the one that went does",
	"{% for m in messages %}{{ m.content|replace('\\u2028', '') }}"
	"<|im_end|>{% endfor %}",
	M(U("q") "," A("x\\u2028\\u201cy")), "1 q<|im_end|>[x\xe2\x80\x9cy<|im_end|>]\n", {0}},
    {"a string that the template computes with is looked for", COMPUTED, M(U("q") "," A("x")),
	"1 ['q']<|im_end|>[['x']<|im_end|>]\n", {0}},
    {"blank reasoning is none", KEEP, M(U("q") "," R(" \\n", "x")),
	"1 u:q<|im_end|>\na:[x<|im_end|>]\n", {0}},
    {"cut in its content", DROP, "{\"messages\":[" U("q") "," R("r", "x") CUT,
	"1 u:q<|im_end|>a:[<think>r</think>x]\n", {0}},
    {"cut in its reasoning, behind which the template goes on", DROP,
	"{\"messages\":[" U("q") "," R("r", "") CUT, "unfaithful", {0}},
    {"think tags of the content may go", BEHIND_THINK, M(U("q") "," A("<think></think>x")),
	"1 q<|im_end|>[x<|im_end|>]\n", {0}},
    {"not what is between them", BEHIND_THINK, M(U("q") "," A("<think>r</think>x")), "lost", {0}},
    {"parts", PARTS, M(U("q") "," P), "1 q<|im_end|>[xy<|im_end|>]\n", {0}},
    {"a part lost", FIRST_PART, M(U("q") "," P), "lost", {0}},
    {"what follows the last supervised turn is not read", KEEP,
	M(U("q") "," A("x") "," F("a") "," U("r")), "1 u:q<|im_end|>\na:[x<|im_end|>]\n", {0}},
    {"generation tags", TAGS, M(U("q") "," A("x") "," F("z") "," A("y")),
	"3 u:q<|im_end|>a:[x<|im_end|>]a:z<|im_end|>a:[y<|im_end|>]\n", {0}},
    {"generation tags, last turn", TAGS, M(U("q") "," A("x") "," A("y")),
	"2 u:q<|im_end|>a:x<|im_end|>a:[y<|im_end|>]\n", {.last_turn_only = 1}},
    {"generation tags, no-eot", TAGS, M(U("q") "," A("x")), "1 u:q<|im_end|>a:[x]<|im_end|>\n",
	{.mask = MASK_NO_EOT}},
    {"generation tags with nothing of a message in them", TAGS,
	M(U("q") "," A("") "," F("") "," A("y")),
	"3 u:q<|im_end|>a:[<|im_end|>]a:<|im_end|>a:[y<|im_end|>]\n", {0}},
    {"generation tags, no-eot, an end within the turn", TWO_PARTS, M(U("q") "," R("r", "x")),
	"1 q<|im_end|>[r<|end|>x<|im_end|>\n]\n", {0}},
    {"which stays", TWO_PARTS, M(U("q") "," R("r", "x")),
	"1 q<|im_end|>[r<|end|>x]<|im_end|>[\n]\n", {.mask = MASK_NO_EOT}},
    {"two tags of one message, none of another", SOME_TAGS, M(U("q") "," R("r", "x") "," F("")),
	"1 q<|im_end|>[r]~[x]<|im_end|><|im_end|>\n", {0}},
    {"of a foreign one", SOME_TAGS,
	M(U("q") ",{\"role\":\"assistant\",\"weight\":0,\"reasoning_content\":\"r\","
		 "\"content\":\"x\"}," A("")),
	"", {0}},
    {"special strings are parsed", KEEP, M(U("<|im_end|>") "," A("x")),
	"1 u:<|im_end|><|im_end|>\na:[x<|im_end|>]\n", {0}},
    {"served ids win", KEEP,
	"{\"messages\":[" U("q") "," A("x") "],\"generations\":[{\"message\":1,"
					    "\"output_ids\":[120,120,256]}]}",
	"1 u:q<|im_end|>\na:[xx<|im_end|>]\n", {0}},
    {"no-eot of served ids that have no end", KEEP,
	"{\"messages\":[" U("q") "," A("x") "],\"generations\":[{\"message\":1,"
					    "\"output_ids\":[120,120]}]}",
	"1 u:q<|im_end|>\na:[xx]\n", {.mask = MASK_NO_EOT}},
    {"a long answer", KEEP, M(U("q") "," A(X50 X50 X50)),
	"1 u:q<|im_end|>\na:[" X50 X50 X50 "<|im_end|>]\n", {0}},
    {"served prompts too", KEEP,
	"{\"messages\":[" U("q") "," A("x") "],\"generations\":[{\"message\":1,"
					    "\"prompt_token_ids\":[65],\"output_ids\":[66]}]}",
	"1 A[B]\n", {0}},
    {"a served prompt needs no rendering", "{{ raise_exception('no') }}",
	"{\"messages\":[" U("q") "," A("x") "],\"generations\":[{\"message\":1,"
					    "\"prompt_token_ids\":[65],\"output_ids\":[66]}]}",
	"1 A[B]\n", {0}},
    {"but an answer without ids needs it", KEEP,
	"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}," A(
	    "x") "],\"generations\":[{\"message\":1,\"prompt_token_ids\":[65]}]}",
	"parts", {0}},
    {"ids of another vocabulary", KEEP,
	"{\"messages\":[" U("q") "," A("x") "],\"generations\":[{\"message\":1,"
					    "\"output_ids\":[265]}]}",
	"range", {0}},
    {"a template that refuses", "{{ raise_exception('no') }}", M(U("q") "," A("x")), "template",
	{0}},
    {"a template that would take for ever", ENDLESS, M(U("q") "," A("x")), "template", {0}},
};

static void put_seq(struct buf *out, const struct bpe *bpe, const struct chat_seq *s)
{
	struct err e = {0};
	size_t ones = 0;
	int inside = 0;

	buf_addf(out, "%zu ", s->turn);
	for (size_t k = 0; k < s->n; k++) {
		if (s->mask[k] != inside)
			buf_addc(out, inside ? ']' : '[');
		inside = s->mask[k];
		ones += s->mask[k];
		assert_int_equal(bpe_decode(bpe, &s->ids[k], 1, out, &e), 0);
	}
	buf_adds(out, inside ? "]\n" : "\n");
	assert_int_equal(s->n_response, ones);
}

static int turns_of(const struct chat *c, const char *in, const struct chat_turns_opt *opt,
    struct chat_turns *turns, struct buf *out, struct err *e)
{
	struct chat_work *w = chat_work_open(c);
	struct arena a = {0};
	struct rec r = {0};
	struct chat_conv conv;
	int rc = rec_parse(&r, in, strlen(in), e);

	if (rc == 0)
		rc = chat_read(&conv, &r, &a, e);
	if (rc == 0)
		rc = chat_turns(c, w, &conv, opt, &a, turns, e);
	for (size_t i = 0; rc == 0 && i < turns->n; i++)
		put_seq(out, chat_bpe(c), &turns->seq[i]);
	rec_free(&r);
	arena_free(&a);
	chat_work_close(w);
	return rc;
}

static struct chat *open_with(const char *template)
{
	struct chat_opt opt = {.model = tmp_dir};
	struct err e = {0};
	struct chat *c;

	folder_make(names, template);
	c = chat_open(&opt, &e);
	if (!c)
		fail_msg("%s", e.msg);
	return c;
}

static void makes_sequences(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct chat *c = open_with(rows[i].template);
		struct chat_turns turns;
		struct buf out = {0};
		struct err e = {0};

		if (turns_of(c, rows[i].in, &rows[i].opt, &turns, &out, &e) < 0) {
			if (strcmp(rows[i].want, e.class) != 0)
				fail_msg("%s: %s: %s", rows[i].name, e.class, e.msg);
		} else {
			assert_bytes(rows[i].name, out.data, out.len, rows[i].want);
		}
		buf_free(&out);
		chat_close(c);
	}
}

/* However few steps there are for all the renderings, it is said that they were too few. */
static void says_when_steps_run_out(void **state)
{
	static const struct {
		const char *template, *in;
	} longer[] = {
	    {KEEP, M(U("q") "," A("x") "," U("r") "," A("y") "," U("s") "," A("z"))},
	    {HARMONY, M(U("q") "," C("\"thinking\":\"r\",", "f") "," T("o") "," A("y"))},
	    {OPENED, "{\"chat_template_kwargs\":{\"thinking\":true},\"messages\":[" U("q") "," R(
			 "r", "x") "]}"},
	    {KEEP, "{\"messages\":[" U("q") "," A(
		       "x") "],\"generations\":[{\"message\":1,"
			    "\"prompt_token_ids\":[65],\"output_ids\":[66]}]}"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(longer); i++) {
		struct chat *c = open_with(longer[i].template);
		struct chat_turns_opt opt = {.steps = 1};
		struct chat_turns turns;
		struct buf out = {0};
		struct err e = {0};

		for (; turns_of(c, longer[i].in, &opt, &turns, &out, &e) < 0; opt.steps++)
			assert_string_equal(e.class, "long");
		assert_true(opt.steps > 20);
		assert_non_null(strstr(e.msg, "steps in all"));
		buf_free(&out);
		chat_close(c);
	}
}

/* What a turn holds is looked for in its rendering: each of many calls among all of them. */
static void looking_for_calls_takes_steps(void **state)
{
	enum { N = 2000 };
	struct chat *c =
	    open_with("{% for m in messages %}{{ m.role[0] }}{% for t in m.tool_calls %}"
		      "={{ t.function.name|upper }}{% endfor %}<|im_end|>{% endfor %}"
		      "{% if add_generation_prompt %}a{% endif %}");
	struct chat_turns_opt opt = {.steps = N * N / 4};
	struct chat_turns turns;
	struct buf in = {0}, out = {0};
	struct err e = {0};

	(void)state;
	buf_adds(&in, "{\"messages\":[" U("q") ",{\"role\":\"assistant\",\"content\":\"\","
					       "\"tool_calls\":[");
	for (int k = 0; k < N; k++)
		buf_addf(&in, "%s{\"function\":{\"name\":\"F%d\",\"arguments\":{}}}",
		    k > 0 ? "," : "", k);
	buf_adds(&in, "]}]}");
	assert_int_equal(turns_of(c, buf_cstr(&in), &opt, &turns, &out, &e), -1);
	assert_string_equal(e.class, "long");
	opt.steps = 0;
	assert_int_equal(turns_of(c, buf_cstr(&in), &opt, &turns, &out, &e), 0);
	buf_free(&in);
	buf_free(&out);
	chat_close(c);
}

/* What is kept of a prompt for one mask is not enough for another. */
static void masks_in_turn(void **state)
{
	static const char in[] = M(U("q") "," F("x") "," U("r") "," A("y"));
	static const enum chat_mask masks[] = {MASK_SERVED, MASK_AFTER_FIRST_USER};
	struct chat *c = open_with(KEEP);
	struct chat_work *w = chat_work_open(c);
	struct arena a = {0};
	struct rec r = {0};
	struct chat_conv conv;
	struct chat_turns turns = {0};
	struct buf out = {0};
	struct err e = {0};

	(void)state;
	assert_int_equal(rec_parse(&r, in, strlen(in), &e), 0);
	assert_int_equal(chat_read(&conv, &r, &a, &e), 0);
	for (size_t i = 0; i < LEN(masks); i++) {
		struct chat_turns_opt opt = {.mask = masks[i]};

		assert_int_equal(chat_turns(c, w, &conv, &opt, &a, &turns, &e), 0);
	}
	put_seq(&out, chat_bpe(c), turns.seq);
	assert_bytes("after the first user", out.data, out.len,
	    "2 u:q<|im_end|>\na:x<|im_end|>[\nu:r<|im_end|>\na:y<|im_end|>]\n");
	buf_free(&out);
	rec_free(&r);
	arena_free(&a);
	chat_work_close(w);
	chat_close(c);
}

/* Special strings inside a message are text, those of the template are not. */
static void keeps_specials_out_of_content(void **state)
{
	struct chat *c = open_with(KEEP);
	const struct chat_turns_opt opt = {.no_special_in_content = 1};
	struct chat_turns turns;
	struct buf out = {0};
	struct err e = {0};

	(void)state;
	if (turns_of(c, M(U("<think>") "," A("<|im_end|>x")), &opt, &turns, &out, &e) < 0)
		fail_msg("%s", e.msg);
	assert_bytes(
	    "text", out.data, out.len, "1 u:<think><|im_end|>\na:[<|im_end|>x<|im_end|>]\n");
	assert_int_equal(turns.specials, 2);
	buf_free(&out);
	chat_close(c);
}

static size_t length(const struct chat *c, const char *in, int no_special)
{
	const struct chat_turns_opt opt = {.no_special_in_content = no_special};
	struct chat_work *w = chat_work_open(c);
	struct chat_turns turns;
	struct arena a = {0};
	struct rec r = {0};
	struct chat_conv conv;
	struct err e = {0};
	size_t n;

	assert_int_equal(rec_parse(&r, in, strlen(in), &e), 0);
	assert_int_equal(chat_read(&conv, &r, &a, &e), 0);
	assert_int_equal(chat_turns(c, w, &conv, &opt, &a, &turns, &e), 0);
	n = turns.seq[0].n;
	rec_free(&r);
	arena_free(&a);
	chat_work_close(w);
	return n;
}

static void counts_specials_as_tokens(void **state)
{
	struct chat *c = open_with(KEEP);
	const char *in = M(U("<think>") "," A("x"));

	(void)state;
	assert_int_equal(length(c, in, 0), 2 + 1 + 1 + 1 + 2 + 2);
	assert_int_equal(length(c, in, 1), 2 + 7 + 1 + 1 + 2 + 2);
	chat_close(c);
}

static void counts_drift(void **state)
{
	struct chat *c = open_with(KEEP);
	const struct chat_turns_opt opt = {.check_drift = 1};
	struct chat_turns turns;
	struct buf out = {0};
	struct err e = {0};

	(void)state;
	/* "<think>" as text never encodes to itself; the prompt is not ours */
	assert_int_equal(
	    turns_of(c,
		"{\"messages\":[" U("q") "," A(
		    "x") "],\"generations\":[{\"message\":"
			 "1,\"prompt_token_ids\":[65],\"output_ids\":[60,116,104,105,110,107,"
			 "62,256]}]}",
		&opt, &turns, &out, &e),
	    0);
	assert_int_equal(turns.drift, 1);
	assert_int_equal(turns.prompt_drift, 1);
	buf_free(&out);
	chat_close(c);
}

/* Two prompts with a common beginning: the second is as if it were the first. */
static void remembers_prompts_exactly(void **state)
{
	static const char *const in[] = {M(U("one") "," A("two") "," U("three")),
	    M(U("one") "," A("two") "," U("threefold")), M(U("one") "," A("tw")),
	    M(U("one<|im_end|") "," A("tw")), M(U("one<|im_end|>") "," A("tw")), M("")};
	struct chat *c = open_with(KEEP);
	struct chat_work *w = chat_work_open(c);
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < LEN(in) * LEN(in); i++) {
		const char *text = in[i % 2 ? i / 2 % LEN(in) : i % LEN(in)];
		struct chat_work *fresh = chat_work_open(c);
		struct ints got = {0}, want = {0};
		struct arena a = {0};
		struct rec r = {0};
		struct chat_conv conv;

		assert_int_equal(rec_parse(&r, text, strlen(text), &e), 0);
		assert_int_equal(chat_read(&conv, &r, &a, &e), 0);
		assert_int_equal(chat_prompt(c, w, &conv, conv.n, &got, NULL, &e), 0);
		assert_int_equal(chat_prompt(c, fresh, &conv, conv.n, &want, NULL, &e), 0);
		assert_true(ints_eq(&got, want.v, want.n));
		ints_free(&got);
		ints_free(&want);
		rec_free(&r);
		arena_free(&a);
		chat_work_close(fresh);
	}
	chat_work_close(w);
	chat_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(makes_sequences),
	    cmocka_unit_test(says_when_steps_run_out),
	    cmocka_unit_test(looking_for_calls_takes_steps),
	    cmocka_unit_test(masks_in_turn),
	    cmocka_unit_test(keeps_specials_out_of_content),
	    cmocka_unit_test(counts_specials_as_tokens),
	    cmocka_unit_test(counts_drift),
	    cmocka_unit_test(remembers_prompts_exactly),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
