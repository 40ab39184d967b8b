#include "prep/dataset.h"

#include <string.h>

#include "json/rec.h"

static const char *const reasoning[] = {
    "thinking", "reasoning", "reasoning_content", "deepseek_reasoning", NULL};
static const char *const answers[] = {
    "solution", "answer", "response", "output", "completion", "deepseek_solution", NULL};

/* What a question is about. */
static const char *const context[] = {"context", NULL};
static const char *const input[] = {"input", "context", NULL};

const char *const prep_system_columns[] = {"system", "system_prompt", NULL};
const char *const prep_tools_columns[] = {"tools", "available_tools", "functions", NULL};

enum {
	MESSAGES,
	CONVERSATIONS,
	CONVERSATION,
	TRAJECTORY,
	GLAIVE,
	XLAM,
	PROBLEM,
	ALPACA,
	QUESTION,
	PROMPT,
	INPUT,
	FORMATS
};

#define F(i) (&prep_formats[i])

const struct prep_format prep_formats[FORMATS + 1] = {
    [MESSAGES] = {"messages", "format-messages", "list of {role, content}", PREP_LIST, "messages",
	0, 0, 0},
    [CONVERSATIONS] = {"conversations", "format-conversations", "list of {from, value}", PREP_LIST,
	"conversations", 0, 0, 0},
    [CONVERSATION] = {"conversation", "format-conversation", "list of {role, content}", PREP_LIST,
	"conversation", 0, 0, 0},
    [TRAJECTORY] = {"trajectory", "format-trajectory", "list of {role, text or content}", PREP_LIST,
	"trajectory", 0, 0, 0},
    [GLAIVE] = {"glaive", "format-glaive",
	"flat text with USER:, ASSISTANT:, FUNCTION RESPONSE:", PREP_FLAT, "chat", 0, 0, 0},
    [XLAM] = {"xlam", "format-xlam", "question and answer, calls of tools or a text", PREP_ANSWERS,
	"query", context, reasoning, answers},
    [PROBLEM] = {"problem", "format-problem", "question and answer", PREP_COLUMNS, "problem", 0,
	reasoning, answers},
    [ALPACA] = {"alpaca", "format-alpaca", "instruction, input if any, and answer", PREP_COLUMNS,
	"instruction", input, reasoning, answers},
    [QUESTION] = {"question", "format-question", "question and answer", PREP_COLUMNS, "question",
	context, reasoning, answers},
    [PROMPT] = {"prompt", "format-prompt", "prompt and answer, texts or lists of messages",
	PREP_COLUMNS, "prompt", 0, reasoning, answers},
    /* "reasoning" is "on" or "off" in a set of this format */
    [INPUT] = {"input", "format-input", "input and answer, texts or lists of messages",
	PREP_COLUMNS, "input", context, 0, answers},
    [FORMATS] = {0},
};

const struct prep_format *const prep_all_formats[] = {F(MESSAGES), F(CONVERSATIONS),
    F(CONVERSATION), F(TRAJECTORY), F(GLAIVE), F(XLAM), F(PROBLEM), F(ALPACA), F(QUESTION),
    F(PROMPT), F(INPUT), NULL};

/* clang-format off */
const struct prep_dataset prep_datasets[] = {
	/* the reference run */
	{"A1_deepswekimi", "SWE-Factory/DeepSWE-Agent-Kimi-K2-Trajectories-2.8K",
	    .format = {F(MESSAGES)}, .sample = 2800, .native = 1, .keep_think = 1},
	{"A2_kimik25", "crownelius/KimiK2.5-2000x",
	    .format = {F(MESSAGES), F(CONVERSATIONS), F(PROBLEM)}, .sample = 2000, .native = 1},
	{"B1_glaive", "glaiveai/glaive-function-calling-v2",
	    .format = {F(GLAIVE)}, .sample = 10000},
	{"B2_opencodeinstruct", "nvidia/OpenCodeInstruct",
	    .format = {F(INPUT)}, .sample = 14714,
	    .meta = {{"id", PREP_META_STR}, {"domain", PREP_META_STR}, {"average_test_score", PREP_META_NUM}}},
	{"B3_magicoder", "ise-uiuc/Magicoder-OSS-Instruct-75K, -Evol-Instruct-110K",
	    .format = {F(PROBLEM), F(ALPACA)}, .sample = 10000,
	    .meta = {{"lang", PREP_META_STR}, {"index", PREP_META_NUM}}},
	{"B4_mixturethoughts", "open-r1/Mixture-of-Thoughts",
	    .format = {F(MESSAGES)}, .sample = 10002,
	    .meta = {{"source", PREP_META_STR}, {"num_tokens", PREP_META_NUM}}},
	{"B5_openthoughts", "open-thoughts/OpenThoughts-114k, OpenThoughts2-1M, OpenThoughts3-1.2M",
	    .format = {F(CONVERSATIONS), F(MESSAGES), F(PROBLEM)}, .sample = 10000, .drop_system = 1,
	    .meta = {{"source", PREP_META_STR}, {"domain", PREP_META_STR}, {"difficulty", PREP_META_NUM}}},
	{"B6_ultrachat", "HuggingFaceH4/ultrachat_200k",
	    .format = {F(MESSAGES)}, .sample = 15000,
	    .meta = {{"prompt_id", PREP_META_STR}}},
	{"B7_sharegpt", "anon8231489123/ShareGPT_Vicuna_unfiltered",
	    .format = {F(CONVERSATIONS)}, .sample = 10000,
	    .meta = {{"id", PREP_META_STR}}},
	{"B8_sweagent", "nebius/SWE-agent-trajectories",
	    .format = {F(TRAJECTORY)}, .sample = 3572,
	    .meta = {{"instance_id", PREP_META_STR}, {"model_name", PREP_META_STR},
		{"target", PREP_META_BOOL}, {"exit_status", PREP_META_STR}}},
	/* neighbours */
	{"apigen-mt", "Salesforce/APIGen-MT-5k", .format = {F(CONVERSATIONS)}},
	{"glaive-toolcall", "glaive-function-calling-v2 as from/value conversations", .format = {F(CONVERSATIONS)}},
	{"gsm8k", "openai/gsm8k", .format = {F(QUESTION)}},
	{"hermes-fc", "NousResearch/hermes-function-calling-v1", .format = {F(CONVERSATIONS)},
	    .meta = {{"id", PREP_META_STR}, {"category", PREP_META_STR}}},
	{"llama-nemotron", "nvidia/Llama-Nemotron-Post-Training-Dataset", .format = {F(INPUT)},
	    .meta = {{"category", PREP_META_STR}}},
	{"lmsys-chat", "lmsys/lmsys-chat-1m", .format = {F(CONVERSATION)},
	    .meta = {{"conversation_id", PREP_META_STR}, {"model", PREP_META_STR},
		{"language", PREP_META_STR}}},
	{"magpie", "Magpie-Align sets", .format = {F(CONVERSATIONS), F(ALPACA)},
	    .meta = {{"uuid", PREP_META_STR}}},
	{"nemotron", "nvidia/Nemotron-Post-Training-Dataset v1, v2", .format = {F(MESSAGES)},
	    .meta = {{"uuid", PREP_META_STR}, {"category", PREP_META_STR},
		{"generator", PREP_META_STR}, {"reasoning", PREP_META_STR}}},
	{"openai", "OpenAI fine-tuning files", .format = {F(MESSAGES)}},
	{"openhermes", "teknium/OpenHermes-2.5", .format = {F(CONVERSATIONS)},
	    .meta = {{"id", PREP_META_STR}, {"source", PREP_META_STR}, {"category", PREP_META_STR}}},
	{"perfectblend", "mlabonne/open-perfectblend, frankleeeee/PerfectBlend-Regenerated",
	    .format = {F(CONVERSATIONS)}, .meta = {{"source", PREP_META_STR}}},
	{"swe-rebench", "nebius/SWE-rebench-openhands-trajectories", .format = {F(TRAJECTORY)},
	    .meta = {{"instance_id", PREP_META_STR}}},
	{"swe-smith", "SWE-bench/SWE-smith-trajectories, Kwai-Klear/SWE-smith-mini", .format = {F(MESSAGES)},
	    .meta = {{"instance_id", PREP_META_STR}, {"traj_id", PREP_META_STR},
		{"model", PREP_META_STR}, {"resolved", PREP_META_BOOL}}},
	{"toucan", "Agent-Ark/Toucan-1.5M", .format = {F(MESSAGES)},
	    .meta = {{"uuid", PREP_META_STR}, {"subset_name", PREP_META_STR}}},
	{"wildchat", "allenai/WildChat, WildChat-1M", .format = {F(CONVERSATION)},
	    .meta = {{"conversation_hash", PREP_META_STR}, {"model", PREP_META_STR},
		{"language", PREP_META_STR}}},
	{"xlam", "Salesforce/xlam-function-calling-60k", .format = {F(XLAM)},
	    .meta = {{"id", PREP_META_STR}}},
	{0},
};
/* clang-format on */

const struct prep_format *prep_format_named(const char *name)
{
	for (const struct prep_format *f = prep_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

const struct prep_dataset *prep_dataset_named(const char *name)
{
	const struct prep_dataset *d = prep_datasets;

	while (d->name && strcmp(d->name, name) != 0)
		d++;
	return d;
}

const struct prep_format *prep_format_of(
    const struct rec *row, const struct prep_format *const *formats)
{
	const struct prep_format *there = NULL;

	for (size_t i = 0; formats[i]; i++) {
		struct span v = rec_get(row, formats[i]->column);

		if (!span_is_null(v))
			return formats[i];
		if (v.p && !there)
			there = formats[i];
	}
	return there ? there : !formats[1] ? formats[0] : NULL;
}

/* How much a value says: nothing where it is not there, null, an empty string, more. */
static int worth(struct span v)
{
	if (!v.p)
		return 0;
	if (span_is_null(v))
		return 1;
	return span_eq(v, "\"\"") ? 2 : 3;
}

struct span prep_column(const struct rec *row, const char *const *names, const char **name)
{
	struct span there = {0};

	*name = names[0];
	for (size_t i = 0; names[i] && worth(there) < 3; i++) {
		struct span v = rec_get(row, names[i]);

		if (worth(v) > worth(there)) {
			there = v;
			*name = names[i];
		}
	}
	return there;
}
