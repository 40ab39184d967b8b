/* Tokenised records as merging reads them, and the spool that they wait in. */
#include "unit.h"

#include <stdio.h>

#include "base/err.h"
#include "merge/record.h"
#include "merge/spool.h"
#include "tmp.h"

static void records(void **state)
{
	static const struct {
		const char *line;
		const char *error; /* NULL: it is a record */
		const char *id, *dataset;
		uint32_t tokens, response;
	} t[] = {
	    {"{\"id\":\"a/1\",\"dataset\":\"a\",\"input_ids\":[1,2,3],\"loss_mask\":[0,1,1]}", NULL,
		"a/1", "a", 3, 2},
	    {"{\"id\":\"x\",\"input_ids\":[],\"loss_mask\":[]}", NULL, "x", "", 0, 0},
	    {"{\"loss_mask\" : [ 0 , 1 ] ,\"input_ids\": [ 7 , 8 "
	     "],\"id\":\"\\u0061\",\"dataset\":null}",
		NULL, "a", "", 2, 1},
	    {"{\"id\":\"x\",\"input_ids\":[1,2],\"loss_mask\":[0,0],\"seq_len\":2,\"n_prompt_"
	     "tokens\":2,"
	     "\"n_response_tokens\":0}",
		NULL, "x", "", 2, 0},
	    {"{\"id\":1,\"input_ids\":[1],\"loss_mask\":[1]}", "id: expected a string", NULL, NULL,
		0, 0},
	    {"{\"input_ids\":[1],\"loss_mask\":[1]}", "id: ", NULL, NULL, 0, 0},
	    {"{\"id\":\"\",\"input_ids\":[1],\"loss_mask\":[1]}", "id: is empty", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"dataset\":3,\"input_ids\":[1],\"loss_mask\":[1]}",
		"dataset: expected a string", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"dataset\":\"a\\u0000b\",\"input_ids\":[1],\"loss_mask\":[1]}",
		"dataset: holds a NUL", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"loss_mask\":[1]}", "input_ids: missing", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1]}", "loss_mask: missing", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1.5],\"loss_mask\":[1]}",
		"input_ids[0]: expected a token id, not 1.5", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1,99999999999],\"loss_mask\":[1,1]}",
		"input_ids[1]: expected a token id", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1,[2]],\"loss_mask\":[1,1]}", "input_ids[1]", NULL, NULL,
		0, 0},
	    {"{\"id\":\"x\",\"input_ids\":\"1\",\"loss_mask\":[1]}", "input_ids: expected an array",
		NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1],\"loss_mask\":[2]}", "loss_mask[0]: expected 0 or 1",
		NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1,2],\"loss_mask\":[1,10]}",
		"loss_mask[1]: expected 0 or 1", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1],\"loss_mask\":[true]}",
		"loss_mask[0]: expected 0 or 1", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1,2],\"loss_mask\":[1]}",
		"loss_mask: has 1 elements, input_ids 2", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1],\"loss_mask\":[1],\"seq_len\":2}",
		"seq_len: is 2, the arrays say 1", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1],\"loss_mask\":[1],\"n_prompt_tokens\":1}",
		"n_prompt_tokens: is 1, the arrays say 0", NULL, NULL, 0, 0},
	    {"{\"id\":\"x\",\"input_ids\":[1],\"loss_mask\":[1],\"n_response_tokens\":\"1\"}",
		"n_response_tokens: is \"1\", the arrays say 1", NULL, NULL, 0, 0},
	    {"[1]", "expected a JSON object", NULL, NULL, 0, 0},
	    {"{\"id\":", "not JSON", NULL, NULL, 0, 0},
	};
	struct reader r = {0};
	struct arena a = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct flow_job job = {.arena = &a};
		struct record rec;
		int rc;

		job.line = (struct span){t[i].line, strlen(t[i].line)};
		rc = record_read(&r, DEDUP_NONE, &job, &rec);
		if (t[i].error) {
			if (rc == 0 || !strstr(job.err.msg, t[i].error))
				fail_msg("%s: %s", t[i].line, job.err.msg);
			assert_int_equal(job.object, i + 2 < LEN(t));
		} else if (rc < 0 || !span_eq(rec.id, t[i].id) || !span_eq(job.id, t[i].id) ||
			   !span_eq(rec.dataset, t[i].dataset) || rec.tokens != t[i].tokens ||
			   rec.response != t[i].response) {
			fail_msg("%s: %s", t[i].line, job.err.msg);
		}
		arena_reset(&a);
	}
	arena_free(&a);
	reader_free(&r);
}

/* Which pairs are the same by ids and by prompt. */
static void contents(void **state)
{
	static const struct {
		const char *a, *b;
		int same_ids, same_prompt;
	} t[] = {
	    {"[1,2,3],\"loss_mask\":[0,0,1]", "[ 1,2 , 3],\"loss_mask\":[0,0,1]", 1, 1},
	    {"[1,2,3],\"loss_mask\":[0,0,1]", "[1,2,3],\"loss_mask\":[0,1,1]", 1, 0},
	    {"[1,2,3],\"loss_mask\":[0,0,1]", "[1,2,4],\"loss_mask\":[0,0,1]", 0, 1},
	    {"[1,2,3],\"loss_mask\":[0,0,1]", "[1,2,4,5],\"loss_mask\":[0,0,1,0]", 0, 1},
	    {"[1,2,3,4],\"loss_mask\":[0,0,0,1]", "[1,2,5,4],\"loss_mask\":[0,0,0,1]", 0, 0},
	    {"[1,2],\"loss_mask\":[0,0]", "[1,2,3],\"loss_mask\":[0,0,1]", 0, 1},
	    {"[1],\"loss_mask\":[1]", "[2],\"loss_mask\":[1]", 0, 1},
	    {"[],\"loss_mask\":[]", "[2],\"loss_mask\":[1]", 0, 1},
	    {"[12],\"loss_mask\":[0]", "[1,2],\"loss_mask\":[0,0]", 0, 0},
	    {"[ 1,-0 ],\"loss_mask\":[0,1]", "[1,0],\"loss_mask\":[0,1]", 1, 1},
	};
	struct reader r = {0};
	struct arena a = {0};

	(void)state;
	for (size_t i = 0; i < LEN(t) * 2; i++) {
		enum dedup dedup = i % 2 ? DEDUP_PROMPT : DEDUP_IDS;
		const char *half[2] = {t[i / 2].a, t[i / 2].b};
		struct hash128 h[2];

		for (int k = 0; k < 2; k++) {
			struct flow_job job = {.arena = &a};
			struct record rec;
			char line[200];

			job.line.p = line;
			job.line.n = (size_t)snprintf(
			    line, sizeof(line), "{\"id\":\"%d\",\"input_ids\":%s}", k, half[k]);
			assert_int_equal(record_read(&r, dedup, &job, &rec), 0);
			h[k] = rec.content;
		}
		if ((h[0].hi == h[1].hi && h[0].lo == h[1].lo) !=
		    (i % 2 ? t[i / 2].same_prompt : t[i / 2].same_ids))
			fail_msg("row %zu by %s", i / 2, i % 2 ? "prompt" : "ids");
	}
	arena_free(&a);
	reader_free(&r);
}

/* What goes in comes out, part by part, whether it was in memory or on disk. */
static void spooling(void **state)
{
	static const uint64_t memory[] = {3000, 100000, 100000000};

	(void)state;
	for (size_t i = 0; i < LEN(memory); i++) {
		struct spool *s = spool_open(memory[i], tmp_dir);
		struct buf want[7] = {{0}}, got = {0};
		struct err e = {0};

		for (int k = 0; k < 3000; k++) {
			size_t part = (size_t)(k * 7919 % 1000 % 7);
			char a[32], b[300];
			struct span pieces[2] = {{a, (size_t)snprintf(a, sizeof(a), "%d:", k)},
			    {b, (size_t)snprintf(b, sizeof(b), "%0*d\n", k % 250, k)}};

			if (part == 3)
				continue;
			buf_add(&want[part], pieces[0].p, pieces[0].n);
			buf_add(&want[part], pieces[1].p, pieces[1].n);
			assert_int_equal(spool_add(s, part, pieces, 2, &e), 0);
		}
		assert_int_equal(spool_parts(s), 7);
		assert_int_equal(tmp_clean(), 0); /* what is on disk has no name */
		for (size_t part = 0; part < 7; part++) {
			assert_int_equal(spool_take(s, part, &got, &e), 0);
			assert_int_equal(got.len, want[part].len);
			if (got.len > 0)
				assert_memory_equal(got.data, want[part].data, got.len);
			assert_int_equal(spool_take(s, part, &got, &e), 0);
			assert_int_equal(got.len, 0);
			buf_free(&want[part]);
		}
		buf_free(&got);
		spool_close(s);
	}
	spool_close(NULL);
}

static void no_folder_for_the_spool(void **state)
{
	struct spool *s = spool_open(3, tmp_path("none"));
	struct span piece = SPAN("abcdef");
	struct err e = {0};

	(void)state;
	assert_int_equal(spool_add(s, 0, &piece, 1, &e), -1);
	assert_non_null(strstr(e.msg, "a temporary file in "));
	assert_non_null(strstr(e.msg, "(--tmp-dir names another folder): No such file"));
	spool_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(records),
	    cmocka_unit_test(contents),
	    cmocka_unit_test(spooling),
	    cmocka_unit_test(no_folder_for_the_spool),
	};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
