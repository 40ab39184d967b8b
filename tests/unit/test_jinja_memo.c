/* Notes taken of loops change nothing but the time: each template is rendered over ever more
 * messages, with notes and without. */
#include "jinja_run.h"

#include "base/arena.h"

#define MESSAGES                                                                             \
	"{\"messages\":[{\"role\":\"user\",\"content\":\"q\"},"                              \
	"{\"role\":\"assistant\",\"content\":\"a\",\"calls\":[\"f\",\"g\"]},"                \
	"{\"role\":\"tool\",\"content\":\"t\"},{\"role\":\"assistant\",\"content\":\"b\"},"  \
	"{\"role\":\"user\",\"content\":\"r\"},{\"role\":\"assistant\",\"content\":\"c\","   \
	"\"calls\":[\"f\"]},{\"role\":\"tool\",\"content\":\"u\"},"                          \
	"{\"role\":\"assistant\",\"content\":\"d\"},{\"role\":\"user\",\"content\":\"s\"}]," \
	"\"tools\":[{\"name\":\"f\"}],\"word\":\"w\",\"on\":true}"

/* hits: iterations that are done from notes, of the 36 whose message was there before (of
 * two such loops: 72); where it can't be noted as a whole, those of the loops inside it. */
static const struct {
	const char *name, *template;
	size_t hits;
} rows[] = {
    {"the item alone", "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}", 36},
    {"loop.first", "{% for m in messages %}{{ '^' if loop.first }}{{ m.content }}{% endfor %}", 36},
    {"loop.last", "{% for m in messages %}{{ m.content }}{{ '$' if loop.last }}{% endfor %}", 28},
    {"loop.length", "{% for m in messages %}{{ loop.length }}{{ m.content }}{% endfor %}", 0},
    {"loop.revindex", "{% for m in messages %}{{ loop.revindex }}{% endfor %}", 0},
    {"loop.nextitem",
	"{% for m in messages %}{{ m.content }}{% if loop.nextitem is defined and "
	"loop.nextitem.role == 'tool' %}!{% endif %}{% endfor %}",
	28},
    {"loop.previtem",
	"{% for m in messages %}{% if loop.previtem is defined %}{{ loop.previtem.content }}"
	"{% endif %}{{ m.content }}{% endfor %}",
	36},
    {"loop.changed", "{% for m in messages %}{{ loop.changed(m.role) }}{% endfor %}", 0},
    {"loop.cycle", "{% for m in messages %}{{ loop.cycle('x', 'y') }}{% endfor %}", 0},
    {"the loop by another name",
	"{% for m in messages %}{% set l = loop %}{{ l.length }}{% endfor %}", 0},
    {"a neighbour",
	"{% for m in messages %}{% if loop.first or messages[loop.index0 - 1].role != m.role %}"
	"{{ m.role }}{% endif %}{{ m.content }}{% endfor %}",
	36},
    {"the last of all",
	"{% for m in messages %}{{ m.content }}{{ messages[-1].content }}{% endfor %}", 0},
    {"a bound that moves",
	"{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}"
	"{% set ns.last = loop.index0 %}{% endif %}{% endfor %}{% for m in messages %}"
	"{% if loop.index0 < ns.last %}old{% else %}new{% endif %}{{ m.content }}{% endfor %}",
	64},
    {"a counter",
	"{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
	"{{ ns.n }}{{ m.content }}{% endfor %}={{ ns.n }}",
	36},
    {"read again behind its change",
	"{% set ns = namespace(n=0) %}{% for m in messages %}{% if ns.n == loop.index0 %}y{% endif "
	"%}"
	"{% set ns.n = loop.index %}{% if ns.n == loop.index0 %}x{% endif %}{{ ns.n }}{% endfor %}",
	36},
    {"two names of one namespace",
	"{% set ns = namespace(n=0) %}{% set b = ns if messages|length % 2 else namespace(n=7) %}"
	"{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ b.n }}{% endfor %}",
	28},
    {"a part left out that the iteration sets",
	"{% set ns = namespace(last=0) %}{% for m in messages %}{% if m.role == 'user' %}"
	"{% set ns.last = loop.index0 %}{% endif %}{% endfor %}{% for m in messages %}"
	"{% set r = m.content %}{% if loop.index0 * ns.last and r %}{{ r }}{% endif %}"
	"{{ r if loop.index0 < ns.last }}{% if 0 < loop.index0 * ns.last < r|length * 40 %}!"
	"{% endif %}{% endfor %}",
	61},
    {"a namespace in a list",
	"{% set ns = namespace(n=0) %}{% set l = [ns] %}{% for m in messages %}"
	"{% set ns.n = ns.n + messages|length %}{{ l[0].n }}{% endfor %}",
	0},
    {"a namespace of the iteration",
	"{% for m in messages %}{% set x = namespace(k=0) %}{% for c in m.calls or [] %}"
	"{% set x.k = x.k + 1 %}{% endfor %}{{ x.k }}{% endfor %}",
	36},
    {"text in a namespace",
	"{% set ns = namespace(s='') %}{% for m in messages %}{% set ns.s = m.content %}{{ ns.s }}"
	"{% endfor %}={{ ns.s }}",
	36},
    {"text of many places",
	"{% set ns = namespace(s='') %}{% for m in messages %}{% set ns.s = ns.s + m.content %}"
	"{{ ns.s }}{% endfor %}",
	8},
    {"a macro",
	"{% macro say(m) %}[{{ m.role }}{{ word }}{{ messages|length > 4 }}]{% endmacro %}"
	"{% for m in messages %}{{ say(m) }}{% endfor %}",
	0},
    {"a macro that only prints",
	"{% macro say(m) %}[{{ m.role }}{{ word }}]{% endmacro %}"
	"{% for m in messages %}{{ say(m) }}{% endfor %}",
	36},
    {"a macro that sets",
	"{% set ns = namespace(n=0) %}{% macro up(k) %}{% set ns.n = ns.n + k %}{{ ns.n }}"
	"{% endmacro %}{% for m in messages %}{% if up(1) == '2' %}two{% endif %}{{ m.content }}"
	"{{ up(messages|length) }}{% endfor %}",
	0},
    {"a set block",
	"{% for m in messages %}{% set x %}<{{ m.content }}>{% endset %}{{ x }}{% endfor %}", 36},
    {"a loop inside",
	"{% for m in messages %}{% for c in m.calls or [] %}{{ c }}{{ loop.last }}{% endfor %}"
	"{{ m.content }}{% endfor %}",
	36},
    {"a loop inside over all",
	"{% for m in messages %}{% for c in messages %}{{ c.content }}{% endfor %}{% endfor %}",
	231},
    {"a loop inside a loop",
	"{% for k in [1, 2] %}{% for m in messages %}{{ k }}{{ m.content }}"
	"{% endfor %}{% endfor %}",
	72},
    {"a generator walked once",
	"{% set g = messages|map(attribute='content') %}{% for m in messages %}{{ g|first }}"
	"{% endfor %}",
	0},
    {"break",
	"{% for m in messages %}{{ m.content }}{% if m.role == 'tool' %}{% break %}{% endif "
	"%}x{% endfor %}",
	21},
    {"continue",
	"{% for m in messages %}{{ m.content }}{% if m.role == 'tool' %}{% continue %}"
	"{% endif %}x{% endfor %}",
	36},
    {"continue, and an else",
	"{% for m in messages %}{{ m.role }}{% continue %}{% else %}E{% endfor %}", 36},
    {"runs that begin elsewhere when the loop goes on",
	"={% for m in messages %}{{ loop.index }}{% if loop.last or m.role == 'tool' %}"
	"{{ m.content }}{% endif %}{% endfor %}",
	28},
    {"a namespace that holds the list",
	"{% set ns = namespace(l=messages) %}{% for m in messages %}{% if ns.l|length > 5 %}!"
	"{% endif %}{{ m.content }}{% endfor %}",
	31},
    {"a macro in a condition that reads more",
	"{% macro far() %}{{ messages|length > 5 }}{% endmacro %}{% for m in messages %}"
	"{% if far() == 'True' %}!{% endif %}{{ m.content }}{% endfor %}",
	0},
    {"a name of the loop's that stands for an outer list",
	"{% set l = messages[0:] %}{% for m in messages %}{% if l|length > 5 %}!{% endif %}"
	"{{ m.content }}{% set l = 'x' %}{% endfor %}",
	31},
    {"the element two behind",
	"{% for m in messages %}{% if (messages[loop.index0 + 2] or m).role == 'tool' %}!{% endif "
	"%}"
	"{{ m.content }}{% endfor %}",
	20},
    {"a loop left out now and then",
	"{{ 'x' * messages|length }}{% if messages|length % 4 %}{% for m in messages %}"
	"{{ m.content }}{% endfor %}{% endif %}",
	24},
    {"slices and backwards",
	"{% for m in messages[::-1] %}{{ m.content }}{% endfor %}{% for m in messages[1:] %}"
	"{{ m.content }}{{ loop.index }}{% endfor %}",
	64},
    {"a name of the context set in a branch",
	"{% for m in messages %}{% if m.role == 'user' %}{% set word = 'v' %}{% endif %}{{ word }}"
	"{% endfor %}",
	36},
    {"generation",
	"{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
	36},
    {"whether there are tools",
	"{% for m in messages %}{% if tools and loop.first %}T{% endif %}"
	"{{ m.content }}{% endfor %}",
	36},
    {"an error in the midst",
	"{% for m in messages %}{{ m.content }}{% if loop.index == 4 and messages|length > 5 %}"
	"{{ raise_exception('no') }}{% endif %}{% endfor %}",
	22},
};

static void assert_same(const char *name, const struct jinja_out *a, const struct jinja_out *b)
{
	struct buf text = {0};

	buf_add(&text, a->text.data, a->text.len);
	assert_bytes(name, b->text.data, b->text.len, buf_cstr(&text));
	assert_int_equal(a->nruns, b->nruns);
	for (size_t i = 0; i < a->nruns; i++) {
		assert_int_equal(a->runs[i].end, b->runs[i].end);
		assert_int_equal(a->runs[i].origin, b->runs[i].origin);
		assert_int_equal(a->runs[i].generation, b->runs[i].generation);
	}
	buf_free(&text);
}

/* How many iterations were done from notes, if each rendering has `step` more messages. */
static size_t render_all(const char *name, const struct jinja *t, struct jval *context, size_t step)
{
	struct jval *messages = (struct jval *)val_get(context, "messages");
	struct jinja_env env = {.context = context, .now = JINJA_NO_TIME};
	struct jinja_out plain = {0}, noted = {0};
	struct jinja_memo *memo = jinja_memo_open();
	const size_t all = messages->u.arr.n;
	size_t hits;

	jinja_memo_reset(memo, messages->u.arr.v);
	for (size_t n = 1; n <= all; n += step) {
		struct err e = {0}, f = {0};
		int rc;

		messages->u.arr.n = n;
		env.memo = NULL;
		rc = jinja_render(t, &env, &plain, &e);
		env.memo = memo;
		assert_int_equal(jinja_render(t, &env, &noted, &f), rc);
		assert_string_equal(e.msg, f.msg);
		if (rc == 0)
			assert_same(name, &plain, &noted);
	}
	hits = jinja_memo_hits(memo);
	messages->u.arr.n = all;
	jinja_memo_close(memo);
	jinja_out_free(&plain);
	jinja_out_free(&noted);
	return hits;
}

static void notes_change_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct arena a = {0};
		struct jval context;
		struct err e = {0};
		uint32_t origin = 1;
		size_t hits;
		struct jinja *t =
		    jinja_open(rows[i].template, strlen(rows[i].template), "test", &e);

		if (!t || val_parse(&context, (struct span){MESSAGES, strlen(MESSAGES)}, 1, &a,
			      NULL, &e) < 0)
			fail_msg("%s: %s", rows[i].name, e.msg);
		number_strings(&context, &origin);
		render_all(rows[i].name, t, &context, 3);
		hits = render_all(rows[i].name, t, &context, 1);
		if (hits != rows[i].hits)
			fail_msg("%s: %zu from notes, not %zu", rows[i].name, hits, rows[i].hits);
		jinja_close(t);
		arena_free(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(notes_change_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
