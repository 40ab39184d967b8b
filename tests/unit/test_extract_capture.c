/* What a dump says of itself, and what can't be told from it. */

#include "base/err.h"
#include "extract/capture.h"
#include "tmp.h"
#include "unit.h"

/* Three tokens, two layers of two values, and the last. */
#define IDS	"\"input_ids\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[0,24]}"
#define AUX	",\"aux_hidden_states\":{\"dtype\":\"BF16\",\"shape\":[3,4],\"data_offsets\":[24,48]}"
#define LAST	",\"last_hidden_states\":{\"dtype\":\"BF16\",\"shape\":[3,2],\"data_offsets\":[48,60]}"
#define SAID(s) ",\"__metadata__\":{" s "}"

static const int32_t ids[] = {5, 6, 7};

static int capture(const char *header, const struct capture_want *want, struct err *e)
{
	struct buf b = {0};
	struct capture c;
	size_t n = strlen(header), data = strstr(header, "last_h") ? 60 : 48;
	int rc;

	buf_addc(&b, (char)(n & 0xff));
	buf_addc(&b, (char)(n >> 8));
	buf_add(&b, "\0\0\0\0\0\0", 6);
	buf_add(&b, header, n);
	for (int i = 0; i < 3; i++) {
		int64_t id = ids[i];

		buf_add(&b, (const char *)&id, sizeof(id));
	}
	memset(buf_room(&b, data - 24), 1, data - 24);
	b.len += data - 24;
	tmp_write(tmp_path("a.safetensors"), b.data, b.len);
	buf_free(&b);
	rc = capture_dump(&c, tmp_path("a.safetensors"), want, e);
	if (rc == 0) {
		assert_int_equal(c.states.nslots, want->last ? 3 : 2);
		capture_close(&c);
	}
	return rc;
}

static const struct {
	const char *header;
	int last;
	uint64_t hidden;
	const char *error; /* its end; NULL: taken */
} dumps[] = {
    {"{" IDS AUX LAST "}", 1, 0, NULL},
    {"{" IDS AUX LAST SAID("\"convention\":\"out\",\"norm\":\"after\"") "}", 1, 0, NULL},
    {"{" IDS AUX LAST SAID("\"convention\":\"in\",\"norm\":\"before\"") "}", 1, 0, NULL},
    {"{" IDS AUX LAST SAID("\"convention\":\"input\"") "}", 1, 0,
	"convention is \"input\", expected \"in\" or \"out\""},
    {"{" IDS AUX LAST SAID("\"norm\":\"After\"") "}", 1, 0,
	"norm is \"After\", expected \"before\" or \"after\""},
    {"{" IDS AUX LAST SAID("\"layers\":\"4,2\"") "}", 1, 0,
	"whatever the order they were asked in"},
    {"{" IDS AUX "}", 1, 0,
	"no last_hidden_states in the server's file: write layout seed with --no-last"},
    {"{" IDS AUX "}", 0, 0, "only --model tells how wide a layer is: give it"},
    {"{" IDS AUX "}", 0, 2, NULL},
    /* one layer of four where two were asked for */
    {"{" IDS AUX "}", 0, 4, "speculative algorithm EAGLE instead of EAGLE3"},
};

static void dump(void **state)
{
	(void)state;
	for (size_t i = 0; i < LEN(dumps); i++) {
		struct capture_want want = {.nlayers = 2,
		    .last = dumps[i].last,
		    .hidden = dumps[i].hidden,
		    .ids = ids,
		    .n = LEN(ids)};
		struct err e = {0};
		int rc = capture(dumps[i].header, &want, &e);
		size_t n = strlen(e.msg), k = dumps[i].error ? strlen(dumps[i].error) : 0;

		if ((rc == 0) != !dumps[i].error)
			fail_msg("%s: %d %s", dumps[i].header, rc, e.msg);
		if (rc < 0 && (n < k || strcmp(e.msg + n - k, dumps[i].error) != 0))
			fail_msg("%s: %s", dumps[i].header, e.msg);
	}
}

static void said(void **state)
{
	struct capture_want want = {.nlayers = 2, .last = 1, .ids = ids, .n = LEN(ids)};
	struct capture c;
	struct err e;

	(void)state;
	assert_int_equal(
	    capture(
		"{" IDS AUX LAST SAID("\"layers\":\"3,9\",\"convention\":\"out\"") "}", &want, &e),
	    0);
	assert_int_equal(capture_dump(&c, tmp_path("a.safetensors"), &want, &e), 0);
	assert_int_equal(c.said.nlayers, 2);
	assert_int_equal(c.said.layer[1], 9);
	assert_int_equal(c.said.convention, LAYERS_OUT);
	assert_int_equal(c.said.norm, NORM_UNSAID);
	capture_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(dump), cmocka_unit_test(said)};

	return cmocka_run_group_tests(tests, tmp_setup, tmp_teardown);
}
