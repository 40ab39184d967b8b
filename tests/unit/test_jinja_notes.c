/* Notes taken of loops change nothing but the time, at random: templates of the real models, and
 * made up ones, over the prompts and the finished turns of ever more of a conversation's messages,
 * rendered by turns into two outputs as chat/turns.c does it, with notes and without. Text, runs
 * and errors are the same.
 *
 * E3_NOTES_ROUNDS conversations a template, twenty times as many made-up templates. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "jinja_run.h"

#include "base/arena.h"
#include "tmp.h"

#define ROUNDS	 "2"
#define MESSAGES 24

static unsigned long seed = 1;

static unsigned pick(unsigned n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (unsigned)(seed >> 33) % n;
}

#define ONE_OF(list) (list[pick(LEN(list))])

/* ---- conversations ---- */

static const char *const phrases[] = {"yes", "a\\nb", "1 < 2 & \\\"x\\\"", "\xc3\xa9\xe4\xbd\xa0",
    "  wide  ", "", "<think>t</think>a", "<think>\\nhm\\n</think>\\n\\nb", "</think>",
    "<tool_response>x</tool_response>", "{\\\"k\\\": 1}", "tab\\there"};

static void put_content(struct buf *b, int wild)
{
	static const char *const odd[] = {"null", "5", "[]",
	    "[{\"type\":\"text\",\"text\":\"p\"},{\"type\":\"image\"}]", "{\"t\":1}"};

	if (wild && pick(6) == 0)
		buf_addf(b, ",\"content\":%s", ONE_OF(odd));
	else if (!wild || pick(12) > 0)
		buf_addf(b, ",\"content\":\"%s%u\"", ONE_OF(phrases), pick(100));
}

static void put_calls(struct buf *b, int *calls)
{
	unsigned n = 1 + (pick(3) == 0);

	buf_adds(b, ",\"tool_calls\":[");
	for (unsigned k = 0; k < n; k++)
		buf_addf(b,
		    "%s{\"id\":\"functions.look:%d\",\"type\":\"function\",\"function\":"
		    "{\"name\":\"look\",\"arguments\":%s}}",
		    k ? "," : "", (*calls)++,
		    pick(2) ? "\"{\\\"at\\\": 1}\"" : "{\"at\":\"x\",\"n\":[1,null]}");
	buf_adds(b, "]");
}

/* The role that may follow, or any. */
static const char *next_role(const char *last, int with_calls, int wild)
{
	static const char *const any[] = {"user", "assistant", "tool", "system", "critic"};
	static const char *const first[] = {"system", "user"};

	if (!last)
		return ONE_OF(first);
	if (wild && pick(3) == 0)
		return ONE_OF(any);
	if (strcmp(last, "assistant") == 0 && with_calls)
		return "tool";
	if (strcmp(last, "assistant") == 0)
		return "user";
	if (strcmp(last, "tool") == 0 && pick(4) == 0)
		return "tool";
	return strcmp(last, "system") == 0 ? "user" : "assistant";
}

static void put_message(struct buf *b, const char *role, int with_calls, int wild, int *calls)
{
	buf_addf(b, "{\"role\":\"%s\"", role);
	put_content(b, wild);
	if (strcmp(role, "assistant") == 0 && pick(2))
		buf_addf(
		    b, ",\"%s\":\"r%u\"", pick(3) ? "reasoning_content" : "thinking", pick(50));
	if (with_calls)
		put_calls(b, calls);
	if (strcmp(role, "tool") == 0)
		buf_addf(
		    b, ",\"tool_call_id\":\"functions.look:%d\",\"name\":\"look\"", *calls - 1);
	if (wild && pick(5) == 0)
		buf_addf(b, ",\"name\":\"n%u\"", pick(3));
	buf_adds(b, "}");
}

static void conversation(struct buf *b)
{
	static const char *const tools =
	    "[{\"type\":\"function\",\"function\":{\"name\":\"look\",\"description\":\"d\","
	    "\"parameters\":{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"string\"}}}}}]";
	int wild = pick(4) == 0, with_calls = 0, calls = 0, agent = pick(3) > 0;
	unsigned n = 2 + pick(MESSAGES - 2);
	const char *role = NULL;

	buf_reset(b);
	buf_adds(b, "{\"messages\":[");
	for (unsigned i = 0; i < n; i++) {
		role = next_role(role, with_calls, wild);
		with_calls = strcmp(role, "assistant") == 0 && agent && pick(3) > 0;
		buf_adds(b, i ? "," : "");
		put_message(b, role, with_calls, wild, &calls);
	}
	buf_addf(b, "],\"tools\":%s,\"add_generation_prompt\":true,\"bos_token\":\"<s>\"",
	    pick(3) ? "null" : tools);
	buf_addf(b, ",\"eos_token\":\"</s>\",\"word\":\"w%u\"", pick(5));
	if (pick(3) == 0)
		buf_addf(b, ",\"enable_thinking\":%s,\"thinking\":%s", pick(2) ? "true" : "false",
		    pick(2) ? "true" : "false");
	buf_adds(b, "}");
}

/* ---- templates made up ---- */

static const char *const values[] = {"m.content", "m.role", "loop.index", "loop.index0",
    "loop.first", "loop.last", "loop.length", "loop.revindex0", "(loop.previtem or m).role",
    "(loop.nextitem or m).role", "ns.a", "ns.b", "messages|length", "lm|length",
    "(messages[loop.index0 + 1] or m).role", "messages[loop.index0 - 1].role", "messages[-1].role",
    "messages[0].content", "(lm[loop.index0] or m).role", "lm[loop.index0 - 1].content", "x", "y",
    "word", "say(m)", "count(1)", "add_generation_prompt", "tools|tojson", "(m.content ~ ns.a)",
    "m.tool_calls|length", "messages[loop.index]", "messages[-2:]|length", "2", "'user'",
    "(ns.a * 2 + loop.index)", "m|tojson", "messages", "lm", "m.get('name')", "other.k",
    "[ns, m]|length", "(messages[loop.index0 + 2] or m).role", "(lm[loop.index + 1] or m).role",
    "ns.c|length", "(loop.nextitem or m).content", "far()", "z|length", "loop.cycle(1, 2)",
    "(messages|last).role", "undefined_name"};

static void value(struct buf *b)
{
	buf_adds(b, ONE_OF(values));
}

static void condition(struct buf *b, int depth)
{
	static const char *const tests[] = {" == ", " != ", " in [1, 'user', 'tool'] or 1 == ",
	    " is defined and 'user' == ", " is string or 2 == "};
	static const char *const certain[] = {"loop.index0 > ns.a", "loop.last", "not loop.first",
	    "m.role == 'user'", "m.role == 'assistant'", "ns.a", "ns.b < loop.index",
	    "messages|length > 4", "loop.index0 == messages|length - 2"};

	if (depth > 0 && pick(3) == 0) {
		buf_adds(b, pick(4) ? "(" : "not (");
		condition(b, depth - 1);
		buf_adds(b, pick(2) ? " and " : " or ");
		condition(b, depth - 1);
		buf_adds(b, ")");
	} else if (pick(2)) {
		buf_adds(b, ONE_OF(certain));
	} else {
		value(b);
		buf_adds(b, ONE_OF(tests));
		value(b);
	}
}

static void body(struct buf *b, int depth);

static void put_if(struct buf *b, int depth)
{
	buf_adds(b, "{% if ");
	condition(b, 2);
	buf_adds(b, " %}");
	body(b, depth - 1);
	if (pick(2)) {
		buf_adds(b, "{% else %}");
		body(b, depth - 1);
	}
	buf_adds(b, "{% endif %}");
}

static void put_loop(struct buf *b, int depth, const char *over)
{
	buf_addf(b, "{%% for m in %s %%}", over);
	body(b, depth - 1);
	buf_adds(b, pick(4) ? "{% endfor %}" : "{% else %}nothing{% endfor %}");
}

static void put_set(struct buf *b)
{
	static const char *const counts[] = {"loop.index0", "ns.a + 1", "ns.b + 1", "loop.last",
	    "messages|length", "0", "m.role", "m.content"};

	if (pick(3) > 0)
		buf_addf(b, "{%% set ns.%s = %s %%}", pick(2) ? "a" : "b", ONE_OF(counts));
	else {
		buf_addf(b, "{%% set %s = ", pick(2) ? "x" : "y");
		value(b);
		buf_adds(b, " %}");
	}
}

static void statement(struct buf *b, int depth)
{
	static const char *const inner[] = {"m.tool_calls or []", "messages", "lm[loop.index:]",
	    "messages[loop.index0:]", "[m]", "[m, m]"};
	static const char *const rest[] = {"{% break %}", "{% continue %}", "{{ say(m) }}",
	    "{{ count(loop.index) }}", "{% set x %}{{ m.content }}|{{ m.role }}{% endset %}{{ x }}",
	    "{% generation %}{{ m.content }}{% endgeneration %}", "{% set z = 'ab' %}",
	    "{% set other = namespace(k=loop.index0) %}", "{{ raise_exception('no') }}",
	    "{% with y = m.role %}{{ y }}{{ ns.a }}{% endwith %}",
	    "{% filter upper %}{{ m.role }}{{ x }}{% endfilter %}"};
	unsigned what = pick(10);

	if (what < 3 && depth > 0)
		put_if(b, depth);
	else if (what < 4 && depth > 0)
		put_loop(b, depth, ONE_OF(inner));
	else if (what < 6)
		put_set(b);
	else if (what < 9) {
		buf_adds(b, "{{ ");
		value(b);
		buf_adds(b, " }}");
	} else if (pick(3) > 0) {
		buf_adds(b, "{{ m.content }}");
	} else {
		buf_adds(b, ONE_OF(rest));
	}
}

static void body(struct buf *b, int depth)
{
	unsigned n = 1 + pick(3);

	while (n-- > 0)
		statement(b, depth);
}

static void template(struct buf *b)
{
	static const char *const overs[] = {"messages", "messages", "messages", "lm", "lm",
	    "messages[::-1]", "messages[:ns.a + 1]", "messages[ns.a:]", "messages if m.content"};
	unsigned loops = 1 + pick(3);

	buf_reset(b);
	buf_addf(b, "{%% set ns = namespace(a=0, b=0, c=%s) %%}", pick(6) ? "''" : "messages");
	buf_adds(b, "{% set other = namespace(k=0) %}"
		    "{% macro say(m) %}<{{ m.role }}{{ word }}{{ ns.b }}>{% endmacro %}"
		    "{% macro count(k) %}{% set ns.b = ns.b + k %}{{ ns.b }}{% endmacro %}"
		    "{% macro far() %}{{ messages|length > 5 }}{% endmacro %}"
		    "{% set lm = messages[1:] if messages[0].role == 'system' else messages %}"
		    "{% set z = lm %}");
	if (pick(2))
		buf_adds(b, "{% set x = messages[0].content %}");
	if (pick(3) == 0)
		buf_adds(b, "{% set y = messages|length %}");
	while (loops-- > 0) {
		int now_and_then = pick(5) == 0;

		buf_adds(b, now_and_then ? "{% if messages|length % 4 %}" : "");
		put_loop(b, 3, ONE_OF(overs));
		buf_adds(b, now_and_then ? "{% endif %}" : "");
	}
	buf_adds(b, "={{ ns.a }}{{ ns.b }}{% if add_generation_prompt %}>{% endif %}");
}

/* ---- both renderings ---- */

struct both {
	const struct jinja *t;
	const char *name, *conversation;
	struct jval context;
	struct jval *messages, *prompt;
	struct jinja_memo *memo;
	struct jinja_out plain, noted[2];
	size_t conversations, renderings, failed, hits;
};

static int same_runs(const struct jinja_out *a, const struct jinja_out *b)
{
	if (a->nruns != b->nruns)
		return 0;
	for (size_t i = 0; i < a->nruns; i++)
		if (a->runs[i].end != b->runs[i].end || a->runs[i].origin != b->runs[i].origin ||
		    a->runs[i].generation != b->runs[i].generation)
			return 0;
	return 1;
}

/* The first n messages into output `which`. */
static void check(struct both *r, size_t n, int which)
{
	struct jinja_env env = {.context = &r->context, .now = 1767323045};
	struct jinja_out *noted = &r->noted[which];
	struct err e = {0}, f = {0};
	int rc;

	r->messages->u.arr.n = n;
	r->prompt->kind = which == 0 ? J_TRUE : J_FALSE;
	rc = jinja_render(r->t, &env, &r->plain, &e);
	env.memo = r->memo;
	r->renderings++;
	r->failed += rc < 0;
	if (jinja_render(r->t, &env, noted, &f) != rc || strcmp(e.msg, f.msg) != 0)
		fail_msg("%s\n%s\n%zu messages: '%s' and with notes '%s'", r->name, r->conversation,
		    n, e.msg, f.msg);
	if (rc == 0 && (r->plain.text.len != noted->text.len ||
			   memcmp(r->plain.text.data, noted->text.data, noted->text.len) != 0))
		fail_msg("%s\n%s\n%zu messages into %d:\n%s\nwith notes:\n%s", r->name,
		    r->conversation, n, which, buf_cstr(&r->plain.text), buf_cstr(&noted->text));
	if (rc == 0 && !same_runs(&r->plain, noted))
		fail_msg("%s\n%s\n%zu messages: runs differ", r->name, r->conversation, n);
}

/* A message as the turn to be learnt: another object, now and then with other text. */
static struct jval other_message(struct arena *a, const struct jval *m)
{
	struct jval v = *m;

	if (m->u.obj.n == 0)
		return v;
	v.u.obj.m = arena_dup(a, m->u.obj.m, m->u.obj.n * sizeof(*m->u.obj.m));
	for (size_t k = 0; k < v.u.obj.n && pick(2); k++)
		if (v.u.obj.m[k].val.kind == J_STR && span_eq(v.u.obj.m[k].key, "content"))
			v.u.obj.m[k].val.u.s = SPAN("learnt");
	return v;
}

static void check_conversation(struct both *r, struct arena *a)
{
	struct jval *v = r->messages->u.arr.v;
	const size_t all = r->messages->u.arr.n;

	r->conversations++;
	jinja_memo_reset(r->memo, v);
	for (size_t i = 1; i < all; i++) {
		struct jval kept = v[i];

		if (!val_is_str(val_get(&v[i], "role"), "assistant") && pick(3) > 0)
			continue; /* turns are not all learnt */
		check(r, i, 0);
		v[i] = other_message(a, &v[i]);
		if (pick(4) > 0)
			check(r, i + 1, 1);
		v[i] = kept;
	}
	r->hits += jinja_memo_hits(r->memo);
}

static void check_template(struct both *r, const char *text, size_t n, int rounds)
{
	struct err e = {0};
	struct jinja *t = jinja_open(text, n, r->name, &e);
	struct buf b = {0};

	if (!t)
		fail_msg("%s: %s", r->name, e.msg);
	r->t = t;
	for (int i = 0; i < rounds; i++) {
		struct arena a = {0};
		uint32_t origin = 1;

		conversation(&b);
		r->conversation = buf_cstr(&b);
		if (val_parse(&r->context, (struct span){b.data, b.len}, 1, &a, NULL, &e) < 0)
			fail_msg("%s: %s", r->conversation, e.msg);
		number_strings(&r->context, &origin);
		r->messages = val_get(&r->context, "messages");
		r->prompt = val_get(&r->context, "add_generation_prompt");
		check_conversation(r, &a);
		arena_free(&a);
	}
	buf_free(&b);
	jinja_close(t);
}

static int rounds(void)
{
	const char *n = getenv("E3_NOTES_ROUNDS");

	return atoi(n ? n : ROUNDS);
}

static void finish(struct both *r)
{
	print_message(
	    "%zu conversations, %zu renderings of which %zu fail: the same with notes; %zu "
	    "iterations done from them\n",
	    r->conversations, r->renderings, r->failed, r->hits);
	assert_true(r->hits > r->conversations);
	assert_true(r->failed < r->renderings);
	jinja_memo_close(r->memo);
	jinja_out_free(&r->plain);
	jinja_out_free(&r->noted[0]);
	jinja_out_free(&r->noted[1]);
}

static void check_folder(struct both *r, const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *f;
	char path[8192];

	while (d && (f = readdir(d))) {
		const char *dot = strrchr(f->d_name, '.');
		struct buf text;

		if (!dot || strcmp(dot, ".jinja") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, f->d_name);
		text = tmp_read(path);
		r->name = f->d_name;
		check_template(r, text.data, text.len, rounds());
		buf_free(&text);
	}
	if (d)
		closedir(d);
}

static void real_templates(void **state)
{
	struct both r = {.memo = jinja_memo_open()};
	const char *shared = getenv("E3_SHARED");
	struct buf demo = tmp_read("pipelines/demo/model/chat_template.jinja");
	char dir[4096];

	(void)state;
	r.name = "demo";
	check_template(&r, demo.data, demo.len, 10 * rounds());
	snprintf(dir, sizeof(dir), "%s/templates", shared ? shared : "../shared");
	check_folder(&r, dir);
	strcat(dir, "/llama.cpp");
	check_folder(&r, dir);
	buf_free(&demo);
	finish(&r);
}

static void made_up_templates(void **state)
{
	struct both r = {.memo = jinja_memo_open()};
	struct buf b = {0};

	(void)state;
	for (int i = 0; i < 20 * rounds(); i++) {
		template(&b);
		r.name = buf_cstr(&b);
		check_template(&r, b.data, b.len, 4);
	}
	buf_free(&b);
	finish(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(real_templates),
	    cmocka_unit_test(made_up_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
