/* e3-extract's small parts: names of files, layers, the index, what a layout refuses. */

#include "base/err.h"
#include "extract/index.h"
#include "extract/layout.h"
#include "extract/manifest.h"
#include "extract/weights.h"
#include "tensor/pt.h"
#include "tensor/save.h"
#include "tensor/st.h"
#include "tmp.h"
#include "unit.h"
#include "json/rec.h"

/* ---- names ---- */

#define LONG200                                                                            \
	"12345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	"12345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	"1234567890123456789012345678901234567890"
#define LONG150                                                                            \
	"12345678901234567890123456789012345678901234567890123456789012345678901234567890" \
	"1234567890123456789012345678901234567890123456789012345678901234567890"

static const struct {
	enum layout layout;
	uint64_t i, k;
	const char *id, *want;
} names[] = {
    {LAYOUT_SEED, 0, 9, "x", "rows_0-2000/data_0.pt"},
    {LAYOUT_SEED, 1999, 9, "x", "rows_0-2000/data_1999.pt"},
    {LAYOUT_SPECFORGE, 2000, 9, "x", "rows_2000-4000/data_2000.ckpt"},
    {LAYOUT_SPECFORGE, 88087, 9, "x", "rows_88000-90000/data_88087.ckpt"},
    {LAYOUT_SPECULATORS, 5, 3, "x", "hidden_states/hs_3.safetensors"},
    /* the folders are the first byte of xxh64 of the id */
    {LAYOUT_MODELOPT, 0, 0, "a", "d2/a.pt"},
    {LAYOUT_MODELOPT, 0, 0, "B1_glaive/17#turn2", "a0/B1_glaive%2F17%23turn2.pt"},
    {LAYOUT_MODELOPT, 0, 0, ".x", "ed/%2Ex.pt"},
    {LAYOUT_MODELOPT, 0, 0, "a.b-c", "0e/a.b-c.pt"},
    {LAYOUT_MODELOPT, 0, 0, "\xc3\xa9%", "9c/%C3%A9%25.pt"},
    {LAYOUT_MODELOPT, 0, 0, LONG200, "76/" LONG200 ".pt"},
    {LAYOUT_MODELOPT, 0, 0, LONG200 "x", "e1/" LONG150 "-e1ff5ed42daac78d.pt"},
};

static void file_names(void **state)
{
	(void)state;
	for (size_t n = 0; n < LEN(names); n++) {
		struct buf b = {0};
		struct span id = {names[n].id, strlen(names[n].id)};

		layout_name(&b, names[n].layout, names[n].i, names[n].k, id);
		assert_bytes(names[n].id, b.data, b.len, names[n].want);
		assert_true(layout_owns(names[n].layout, buf_cstr(&b)));
		buf_free(&b);
	}
}

static const struct {
	enum layout layout;
	const char *name;
	int owned;
} owned[] = {
    {LAYOUT_SEED, "manifest.json", 0},
    {LAYOUT_SEED, "notes.txt", 0},
    {LAYOUT_SEED, "data_1.pt", 0},
    {LAYOUT_SEED, "rows_0-2000/data_.pt", 0},
    {LAYOUT_SEED, "rows_0-2000/data_1.ckpt", 0},
    {LAYOUT_SEED, "rows_0-2000/other.pt", 0},
    {LAYOUT_SEED, "other/data_1.pt", 0},
    {LAYOUT_SEED, ".new-12.pt", 1},
    {LAYOUT_SEED, ".new-12.ckpt", 0},
    {LAYOUT_SEED, ".new-.pt", 0},
    {LAYOUT_SEED, ".manifest.json.99.1.tmp", 1},
    {LAYOUT_SEED, "rows_0-2000/.manifest.json.99.1.tmp", 0},
    {LAYOUT_SEED, ".rejects.jsonl.99.1.tmp", 0},
    {LAYOUT_SEED, ".tmp", 0},
    {LAYOUT_SEED, "x.tmp", 0},
    {LAYOUT_SPECULATORS, "hidden_states/hs_1.safetensors", 1},
    {LAYOUT_SPECULATORS, "hidden_states/hs_1.safetensors.lock", 0},
    {LAYOUT_SPECULATORS, "data-00000.arrow", 0},
    {LAYOUT_SPECULATORS, "hs_1.safetensors", 0},
    {LAYOUT_MODELOPT, "a/x.pt", 0},
    {LAYOUT_MODELOPT, "d2t.pt", 0},
    {LAYOUT_MODELOPT, "ab/x.pt", 1},
};

/* What a resumed run may delete, and what it must never touch. */
static void ownership(void **state)
{
	(void)state;
	for (size_t n = 0; n < LEN(owned); n++)
		if (layout_owns(owned[n].layout, owned[n].name) != owned[n].owned)
			fail_msg("%s %s", layout_word(owned[n].layout), owned[n].name);
}

/* ---- what a layout can't hold ---- */

static void refusals(void **state)
{
	static const struct {
		enum layout layout;
		unsigned aux;
		int last;
		enum norm norm;
		int good;
	} rows[] = {
	    {LAYOUT_SEED, 3, 0, NORM_UNSAID, 1},
	    {LAYOUT_SEED, 5, 1, NORM_BEFORE, 1},
	    {LAYOUT_SEED, 5, 1, NORM_UNSAID, 1},
	    {LAYOUT_MODELOPT, 4, 1, NORM_BEFORE, 1},
	    {LAYOUT_MODELOPT, 4, 1, NORM_AFTER, 1},
	    {LAYOUT_MODELOPT, 4, 0, NORM_AFTER, 0},
	    {LAYOUT_SPECFORGE, 3, 1, NORM_AFTER, 1},
	    {LAYOUT_SPECFORGE, 3, 1, NORM_BEFORE, 0},
	    {LAYOUT_SPECFORGE, 4, 1, NORM_AFTER, 0},
	    {LAYOUT_SPECFORGE, 3, 0, NORM_AFTER, 0},
	    {LAYOUT_SPECFORGE, 3, 1, NORM_UNSAID, 0},
	    {LAYOUT_SPECULATORS, 3, 1, NORM_BEFORE, 1},
	    {LAYOUT_SPECULATORS, 3, 1, NORM_AFTER, 0},
	    {LAYOUT_SPECULATORS, 3, 1, NORM_UNSAID, 0},
	};

	(void)state;
	for (size_t i = 0; i < LEN(rows); i++) {
		struct err e;

		assert_int_equal(
		    layout_refuse(rows[i].layout, rows[i].aux, rows[i].last, rows[i].norm, &e),
		    rows[i].good ? 0 : -1);
	}
}

/* ---- layers ---- */

static void layers(void **state)
{
	static const char *const good[] = {
	    "2", "0,1", "2,30,58", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"};
	static const char *const bad[] = {"", ",", "2,", "2,2", "3,2", "x", "-1", "2.5", "2 3",
	    "100001", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"};
	struct setinfo s = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(good); i++) {
		struct buf b = {0};

		assert_int_equal(
		    setinfo_read_layers(&s, (struct span){good[i], strlen(good[i])}, &e), 0);
		setinfo_layers(&b, &s);
		assert_bytes(good[i], b.data, b.len, good[i]);
		buf_free(&b);
	}
	for (size_t i = 0; i < LEN(bad); i++)
		if (setinfo_read_layers(&s, (struct span){bad[i], strlen(bad[i])}, &e) == 0)
			fail_msg("\"%s\" was read", bad[i]);
}

/* ---- the index ---- */

static void index_lines(void **state)
{
	static const char in[] = "{\"dataset\":\"d\",\"n\":1.50,\"id\":\"old\"}";
	static const char want[] =
	    "{\"id\":\"a\\\"b\",\"file\":\"f/x.pt\",\"seq_len\":3,\"bytes\":99,"
	    "\"xxh64\":\"00000000deadbeef\",\"n\":1.50,\"dataset\":\"d\"}";
	const char *names_kept[] = {"n", "nothing", "dataset"};
	struct opt_list keep = {.v = names_kept, .n = 3, .cap = 3};
	struct index_line l = {.seq_len = 3, .bytes = 99, .xxh64 = 0xdeadbeef}, back = {0};
	struct rec from = {0}, r = {0};
	struct buf b = {0};
	struct err e;

	(void)state;
	buf_adds(&l.id, "a\"b");
	buf_adds(&l.file, "f/x.pt");
	assert_int_equal(rec_parse(&from, in, sizeof(in) - 1, &e), 0);
	index_write(&b, &l, &from, &keep);
	assert_bytes("line", b.data, b.len, want);
	assert_int_equal(rec_parse(&r, b.data, b.len, &e), 0);
	assert_int_equal(index_read(&back, &r, &e), 0);
	assert_bytes("id", back.id.data, back.id.len, "a\"b");
	assert_int_equal(back.bytes, 99);
	assert_int_equal(back.xxh64, 0xdeadbeef);
	rec_free(&from);
	rec_free(&r);
	buf_free(&b);
	index_free(&l);
	index_free(&back);
}

#define LINE(file, bytes, hash)                                                                   \
	"{\"id\":\"a\",\"file\":\"" file "\",\"seq_len\":3,\"bytes\":" bytes ",\"xxh64\":\"" hash \
	"\"}"

static void bad_index_lines(void **state)
{
	static const char *const bad[] = {LINE("/etc/passwd", "1", "0000000000000000"),
	    LINE("../x", "1", "0000000000000000"), LINE("a/../../x", "1", "0000000000000000"),
	    LINE("", "1", "0000000000000000"), LINE("x\\u0000y", "1", "0000000000000000"),
	    LINE("x", "-1", "0000000000000000"), LINE("x", "1.5", "0000000000000000"),
	    LINE("x", "1", "000000000000000"), LINE("x", "1", "000000000000000G"),
	    LINE("x", "1", "000000000000000A"), "{\"id\":\"a\"}"};
	struct index_line l = {0};
	struct rec r = {0};
	struct err e;

	(void)state;
	for (size_t i = 0; i < LEN(bad); i++) {
		assert_int_equal(rec_parse(&r, bad[i], strlen(bad[i]), &e), 0);
		if (index_read(&l, &r, &e) == 0)
			fail_msg("%s was read", bad[i]);
	}
	rec_free(&r);
	index_free(&l);
}

static void done_set(void **state)
{
	struct done_set s = {0};
	struct index_line l = {0};

	(void)state;
	assert_null(done_find(&s, SPAN("x")));
	for (int i = 0; i < 1000; i++) {
		buf_reset(&l.id);
		buf_addf(&l.id, "id/%d", i);
		buf_reset(&l.file);
		buf_addf(&l.file, "f%d", i);
		assert_int_equal(done_add(&s, &l), 1);
	}
	assert_int_equal(done_add(&s, &l), 0);
	assert_int_equal(s.n, 1000);
	assert_string_equal(done_find(&s, SPAN("id/77"))->file, "f77");
	assert_string_equal(done_find(&s, SPAN("id/999"))->file, "f999");
	assert_null(done_find(&s, SPAN("id/1000")));
	done_free(&s);
	index_free(&l);
}

/* ---- files that are read ---- */

static const int64_t three[] = {1, 0, 1}, odd[] = {1, 2, 0};
static const uint16_t halves[12] = {0x3f80, 0x4000};

static struct tensor rows_of(const char *name, size_t rows, size_t width)
{
	return (struct tensor){.name = name,
	    .dtype = DT_BF16,
	    .ndim = 2,
	    .dim = {rows, width},
	    .rows = rows,
	    .nparts = 1,
	    .part = {{(const char *)halves, 2 * width, 2 * width}}};
}

#define ROW(name, n, v)                                                                 \
	{                                                                               \
		.key = name, .kind = PT_TENSOR, .tensor = tensor_1d(name, DT_I64, n, v) \
	}
#define STATES(name, r, w)                                                    \
	{                                                                     \
		.key = name, .kind = PT_TENSOR, .tensor = rows_of(name, r, w) \
	}

static void seed_members(void **state)
{
	const struct {
		struct pt_item item[4];
		size_t n;
		int last;
		const char *want;
	} t[] = {
	    {{ROW("input_ids", 3, odd), ROW("loss_mask", 3, three), STATES("hidden_states", 3, 2)},
		3, 0, NULL},
	    {{ROW("loss_mask", 3, three)}, 1, 0, "there is no tensor input_ids"},
	    {{STATES("input_ids", 3, 2)}, 1, 0, "input_ids: expected int64 of one dimension"},
	    {{ROW("input_ids", 3, odd)}, 1, 0, "there is no tensor loss_mask"},
	    {{ROW("input_ids", 3, odd), STATES("loss_mask", 3, 1)}, 2, 0,
		"loss_mask: expected int64 of one dimension"},
	    {{ROW("input_ids", 3, odd), ROW("loss_mask", 2, three)}, 2, 0,
		"loss_mask has 2 values for 3 ids"},
	    {{ROW("input_ids", 3, odd), ROW("loss_mask", 3, odd)}, 2, 0,
		"loss_mask[1]: expected 0 or 1"},
	    {{ROW("input_ids", 3, odd), ROW("loss_mask", 3, three)}, 2, 0,
		"there is no tensor hidden_states"},
	    {{ROW("input_ids", 3, odd), ROW("loss_mask", 3, three), STATES("hidden_states", 3, 2)},
		3, 1, "there is no tensor last_hidden_states"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		const struct setinfo set = {.layout = LAYOUT_SEED, .nlayers = 1, .last = t[i].last};
		const char *path = tmp_path("x.pt");
		struct layout_file f;
		struct err e;
		struct save *s = save_open(path, &e);

		assert_int_equal(pt_write_dict(s, t[i].item, t[i].n, &e), 0);
		assert_int_equal(save_finish(s, NULL, &e), 0);
		if (layout_open(&f, path, &set, MAP_ALL, &e) == 0) {
			assert_null(t[i].want);
			assert_int_equal(f.s.n, 3);
			assert_memory_equal(f.s.ids, odd, sizeof(odd));
			assert_memory_equal(f.s.mask, three, sizeof(three));
			assert_int_equal(f.s.states.hidden, 2);
			layout_close(&f);
		} else {
			assert_non_null(t[i].want);
			assert_string_equal(e.msg + strlen(path) + 2, t[i].want);
		}
	}
}

static void other_files(void **state)
{
	const struct setinfo seed = {.layout = LAYOUT_SEED, .nlayers = 1},
			     two = {.layout = LAYOUT_COMPACT, .nlayers = 2},
			     last = {.layout = LAYOUT_COMPACT, .last = 1};
	const struct tensor bare = tensor_1d(NULL, DT_I64, 3, three);
	const struct tensor states = rows_of("hidden_states", 3, 2);
	struct sample sample = {.id = SPAN("x"),
	    .ids = odd,
	    .mask = three,
	    .n = 3,
	    .aux = 1,
	    .norm = NORM_UNSAID,
	    .states = {.rows = 3}};
	const char *path = tmp_path("x.pt");
	struct layout_file f;
	struct save_sum sum;
	struct err e;
	struct save *s = save_open(path, &e);

	(void)state;
	assert_int_equal(pt_write_tensor(s, &bare, &e), 0);
	assert_int_equal(save_finish(s, NULL, &e), 0);
	assert_int_equal(layout_open(&f, path, &seed, MAP_ALL, &e), -1);
	assert_string_equal(e.msg + strlen(path) + 2, "a tensor, expected a dict");
	path = tmp_path("x.e3c");
	assert_int_equal(states_add(&sample.states, &states, 1, &e), 0);
	assert_int_equal(layout_write(path, LAYOUT_COMPACT, &sample, &sum, &e), 0);
	assert_int_equal(layout_open(&f, path, &two, MAP_ALL, &e), -1);
	assert_string_equal(
	    e.msg + strlen(path) + 2, "it holds 1 layers, without the last, the set has 2");
	assert_int_equal(layout_open(&f, path, &last, MAP_ALL, &e), -1);
	assert_string_equal(
	    e.msg + strlen(path) + 2, "it holds 1 layers, without the last, the set has 1");
}

static void save_tensors(const char *path, const struct tensor *t)
{
	struct err e;
	struct save *s = save_open(path, &e);

	assert_int_equal(st_write(s, t, 1, &e), 0);
	assert_int_equal(save_finish(s, NULL, &e), 0);
}

#define CONFIG(type, hidden) \
	"{\"model_type\":\"" type "\",\"hidden_size\":" hidden ",\"rms_norm_eps\":1e-6}"
#define WRAPPED(type, text) "{\"model_type\":\"" type "\",\"text_config\":" text "}"
#define MAP(name, file)	    "{\"weight_map\":{\"x\":\"y\",\"" name "\":" file "}}"

/* The norm is in model.safetensors, or in shard.safetensors under a wrapped model's name. */
static void norm_weights(void **state)
{
	static const struct {
		const char *config, *index, *want; /* want NULL: the weights 1 and 2 */
	} t[] = {
	    {CONFIG("llama", "2"), NULL, NULL},
	    {CONFIG("llama", "2"), MAP("language_model.model.norm.weight", "\"shard.safetensors\""),
		NULL},
	    {CONFIG("llama", "3"), NULL, ": the final norm has 2 weights, the hidden size is 3"},
	    {CONFIG("gemma4", "2"), NULL,
		": what the final norm of gemma4 is, is not known here: --apply-norm can't make "
		"it"},
	    {WRAPPED("llava", CONFIG("qwen3_5_new", "2")), NULL,
		": what the final norm of qwen3_5_new is, is not known here: --apply-norm can't "
		"make it"},
	    {"{\"model_type\":\"llama\"}", NULL, "/config.json: no rms_norm_eps"},
	    {CONFIG("llama", "2"), MAP("z", "\"shard.safetensors\""),
		"/model.safetensors.index.json names no model.norm.weight"},
	    {CONFIG("llama", "2"), MAP("norm.weight", "5"),
		"/model.safetensors.index.json names no model.norm.weight"},
	    {CONFIG("llama", "2"), MAP("norm.weight", "\"../shard.safetensors\""),
		"/model.safetensors.index.json names no model.norm.weight"},
	    {CONFIG("llama", "2"), "{}",
		"/model.safetensors.index.json names no model.norm.weight"},
	    {CONFIG("llama", "2"), MAP("norm.weight", "\"square.safetensors\""),
		"/square.safetensors: no final norm weight model.norm.weight of one dimension"},
	};
	const struct tensor one = tensor_1d("model.norm.weight", DT_BF16, 2, halves),
			    wrapped =
				tensor_1d("language_model.model.norm.weight", DT_BF16, 2, halves),
			    square = rows_of("norm.weight", 2, 2);

	(void)state;
	tmp_clean();
	save_tensors(tmp_path("model.safetensors"), &one);
	save_tensors(tmp_path("shard.safetensors"), &wrapped);
	save_tensors(tmp_path("square.safetensors"), &square);
	for (size_t i = 0; i < LEN(t); i++) {
		const char *index = tmp_path("model.safetensors.index.json");
		struct norm_weights w;
		struct buf want = {0};
		struct err e;

		tmp_puts(tmp_path("config.json"), t[i].config);
		unlink(index);
		if (t[i].index)
			tmp_puts(index, t[i].index);
		if (weights_load(&w, tmp_dir, &e) == 0) {
			if (t[i].want)
				fail_msg("loaded, want: %s", t[i].want);
			assert_int_equal(w.n, 2);
			assert_true(w.w[0] == 1 && w.w[1] == 2 && w.eps == 1e-6);
		} else {
			if (!t[i].want)
				fail_msg("%s", e.msg);
			buf_addf(&want, "%s%s", tmp_dir, t[i].want);
			assert_string_equal(e.msg, buf_cstr(&want));
		}
		weights_free(&w);
		buf_free(&want);
	}
}

/* The norm's weights are 1 and 2: of some models they are what is added to 1. */
static void zero_centred_norms(void **state)
{
	static const struct {
		const char *config;
		float first;
	} t[] = {
	    {CONFIG("llama", "2"), 1},
	    {CONFIG("qwen3_moe", "2"), 1},
	    {CONFIG("gemma", "2"), 2},
	    {CONFIG("gemma2", "2"), 2},
	    {CONFIG("gemma3_text", "2"), 2},
	    {CONFIG("qwen3_next", "2"), 2},
	    {CONFIG("step3p5", "2"), 2},
	    {WRAPPED("step3p7", CONFIG("step3p5", "2")), 2},
	    {WRAPPED("qwen3_5", CONFIG("qwen3_5_text", "2")), 2},
	    {WRAPPED("qwen3_5_moe", CONFIG("qwen3_5_moe_text", "2")), 2},
	    {WRAPPED("gemma3", CONFIG("gemma3_text", "2")), 2},
	    {WRAPPED("minimax_m3_vl", CONFIG("minimax_m3_vl_text", "2")), 2},
	    {WRAPPED("minimax_m3_vl", "{\"hidden_size\":2,\"rms_norm_eps\":1e-6}"), 2},
	    {WRAPPED("gemma3", CONFIG("llama", "2")), 1},
	    {WRAPPED("gemma3", "{\"model_type\":\"gemma3_text\",\"hidden_size\":2}"), 2},
	    {WRAPPED("gemma3", "{\"hidden_size\":2}"), 2},
	};
	const struct tensor one = tensor_1d("model.norm.weight", DT_BF16, 2, halves);

	(void)state;
	tmp_clean();
	save_tensors(tmp_path("model.safetensors"), &one);
	for (size_t i = 0; i < LEN(t); i++) {
		struct norm_weights w;
		struct err e;

		tmp_puts(tmp_path("config.json"), t[i].config);
		if (weights_load(&w, tmp_dir, &e) < 0)
			fail_msg("%s", e.msg);
		if (w.eps != 1e-6 || w.w[0] != t[i].first || w.w[1] != t[i].first + 1)
			fail_msg("%s: %g, %g", t[i].config, (double)w.w[0], (double)w.w[1]);
		weights_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(file_names),
	    cmocka_unit_test(ownership), cmocka_unit_test(refusals), cmocka_unit_test(layers),
	    cmocka_unit_test(index_lines), cmocka_unit_test(bad_index_lines),
	    cmocka_unit_test(done_set), cmocka_unit_test(seed_members),
	    cmocka_unit_test(other_files), cmocka_unit_test(norm_weights),
	    cmocka_unit_test(zero_centred_norms)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
