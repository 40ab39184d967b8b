/* Where a model folder's template and special tokens come from. */
#include "unit.h"

#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "chat/chat.h"
#include "folder.h"
#include "json/rec.h"

static const char *const names[] = {"<s>", "</s>", NULL};

struct file {
	const char *name, *text;
};

#define CONFIG(t)                                                                          \
	{                                                                                  \
		"tokenizer_config.json", "{\"bos_token\":\"<s>\",\"chat_template\":" t "}" \
	}
#define TEMPLATE(t)                      \
	{                                \
		"chat_template.jinja", t \
	}
#define EXTRA(t)                                              \
	{                                                     \
		"additional_chat_templates/tool_use.jinja", t \
	}
#define JSON(t)                                                   \
	{                                                         \
		"chat_template.json", "{\"chat_template\":" t "}" \
	}
#define LIST                                                                                \
	"[{\"name\":\"rag\",\"template\":\"R\"},{\"name\":\"default\",\"template\":\"D\"}," \
	"{\"name\":\"tool_use\",\"template\":\"T\"}]"

static const struct {
	const char *name;
	struct file files[4];
	const char *template;	   /* --template: its text */
	const char *plain, *tools; /* what is rendered without and with tools; NULL: an error ... */
	const char *msg;	   /* ... that ends so */
} rows[] = {
    {"a file", {TEMPLATE("F")}, NULL, "F", "F", NULL},
    {"the file wins", {TEMPLATE("F"), CONFIG("\"C\""), JSON("\"J\"")}, NULL, "F", "F", NULL},
    {"a string in the configuration", {CONFIG("\"C\""), JSON("\"J\"")}, NULL, "C", "C", NULL},
    {"a list", {CONFIG(LIST)}, NULL, "D", "T", NULL},
    {"a document of its own", {JSON("\"J\"")}, NULL, "J", "J", NULL},
    {"a further file", {TEMPLATE("F"), EXTRA("T")}, NULL, "F", "T", NULL},
    {"one that is given", {TEMPLATE("F"), CONFIG(LIST), EXTRA("T")}, "G", "G", "G", NULL},
    {"special tokens", {CONFIG("\"{{ bos_token }}|{{ pad_token }}|{{ tools is none }}\"")}, NULL,
	"<s>||True", "<s>||False", NULL},
    {"tokens that are objects",
	{{"tokenizer_config.json",
	     "{\"eos_token\":{\"content\":\"</s>\"},\"pad_token\":null,"
	     "\"additional_special_tokens\":[\"<s>\",{\"content\":\"</s>\"}]}"},
	    TEMPLATE("{{ eos_token }}{{ additional_special_tokens|join(',') }}")},
	NULL, "</s><s>,</s>", "</s><s>,</s>", NULL},
    {"all of them",
	{{"tokenizer_config.json",
	     "{\"mask_token\":\"m\",\"cls_token\":\"c\",\"pad_token\":\"p\",\"sep_token\":\"s\","
	     "\"unk_token\":{\"content\":\"u\"},\"eos_token\":\"e\",\"bos_token\":\"b\"}"},
	    TEMPLATE("{{ bos_token ~ eos_token ~ unk_token ~ sep_token ~ pad_token ~ cls_token ~ "
		     "mask_token }}")},
	NULL, "beuspcm", "beuspcm", NULL},
    {"none", {CONFIG("null")}, NULL, NULL, NULL, ": no chat template; --template FILE gives one"},
    {"not a string", {CONFIG("7")}, NULL, NULL, NULL, "chat_template: expected a string"},
    {"a torn configuration", {{"config.json", "{"}}, NULL, NULL, NULL, "config.json"},
    {"a program instead", {{"config.json", "{\"model_type\":\"deepseek_v4\"}"}}, NULL, NULL, NULL,
	"deepseek_v4 has no chat template but an encoder, which is not built in; "
	"--template FILE gives one"},
    {"its successor's", {{"config.json", "{\"model_type\":\"deepseek_v41\"}"}}, NULL, NULL, NULL,
	"deepseek_v41 has no chat template but an encoder, which is not built in"},
    {"one around it",
	{{"config.json",
	    "{\"model_type\":\"x\",\"text_config\":{\"model_type\":\"deepseek_v4\"}}"}},
	NULL, NULL, NULL, ": no chat template; --template FILE gives one"},
    {"one around another",
	{{"config.json",
	    "{\"model_type\":\"deepseek_v4\",\"text_config\":{\"model_type\":\"x\"}}"}},
	NULL, NULL, NULL, "deepseek_v4 has no chat template but an encoder"},
    {"broken", {TEMPLATE("{% if %}")}, NULL, NULL, NULL, ""},
    {"a torn document", {JSON("")}, NULL, NULL, NULL, ""},
};

static void make(const struct file *files)
{
	tmp_clean();
	folder_make(names, NULL);
	unlink(tmp_path("additional_chat_templates/tool_use.jinja"));
	rmdir(tmp_path("additional_chat_templates"));
	for (size_t k = 0; k < 4 && files[k].name; k++) {
		if (strchr(files[k].name, '/'))
			mkdir(tmp_path("additional_chat_templates"), 0777);
		tmp_puts(tmp_path(files[k].name), files[k].text);
	}
}

static void renders(const struct chat *c, const char *record, const char *want, const char *name)
{
	struct chat_work *w = chat_work_open(c);
	struct buf text = {0};
	struct ints ids = {0};
	struct arena a = {0};
	struct rec r = {0};
	struct chat_conv conv;
	struct err e;

	assert_int_equal(rec_parse(&r, record, strlen(record), &e), 0);
	assert_int_equal(chat_read(&conv, &r, &a, &e), 0);
	if (chat_prompt(c, w, &conv, conv.n, &ids, &text, &e) < 0)
		fail_msg("%s: %s", name, e.msg);
	assert_bytes(name, text.data, text.len, want);
	buf_free(&text);
	ints_free(&ids);
	rec_free(&r);
	arena_free(&a);
	chat_work_close(w);
}

static void finds_templates(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct chat_opt opt = {.model = tmp_dir};
		struct chat *c;
		struct err e;

		make(rows[i].files);
		if (rows[i].template) {
			tmp_puts(tmp_path("given"), rows[i].template);
			opt.template = tmp_path("given");
		}
		c = chat_open(&opt, &e);
		if (!c) {
			if (rows[i].plain)
				fail_msg("%s: %s", rows[i].name, e.msg);
			assert_non_null(strstr(e.msg, rows[i].msg));
			continue;
		}
		if (!rows[i].plain)
			fail_msg("%s: opened", rows[i].name);
		renders(c, "{\"messages\":[]}", rows[i].plain, rows[i].name);
		renders(c, "{\"messages\":[],\"tools\":[{}]}", rows[i].tools, rows[i].name);
		chat_close(c);
	}
	make((const struct file[4]){0});
}

/* The row's kwargs hide special tokens, as in transformers. */
static void kwargs_win(void **state)
{
	const struct file files[4] = {CONFIG("\"{{ bos_token }}{{ x }}\"")};
	struct chat_opt opt = {.model = tmp_dir};
	struct chat *c;
	struct err e;

	(void)state;
	make(files);
	c = chat_open(&opt, &e);
	assert_non_null(c);
	renders(c, "{\"messages\":[],\"chat_template_kwargs\":{\"bos_token\":\"B\",\"x\":1.0}}",
	    "B1.0", "kwargs");
	chat_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds_templates),
	    cmocka_unit_test(kwargs_win),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
