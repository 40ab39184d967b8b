/* Compiled tables on disk: used when they are sound, made anew when not, done without when they
 * can't be. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "bpe/model.h"
#include "unit.h"

static char dir[] = "/tmp/e3-store-XXXXXX";

static void path_of(char path[200], const char *name)
{
	snprintf(path, 200, "%s/%s", dir, name);
}

static void write_text(const char *name, const char *p, size_t n)
{
	char path[200];
	FILE *f;

	path_of(path, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

/* Bytes, and all pairs of a byte with one of 64: enough to be worth a file. */
static int make_folder(void **state)
{
	static const char config[] = "{\"auto_map\":{\"AutoTokenizer\":\"tokenization_kimi.X\"}}";
	struct buf b = {0};

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 256; i++) {
		buf_add_base64(&b, &(char){(char)i}, 1);
		buf_addf(&b, " %d\n", i);
	}
	for (int i = 0; i < 256 * 64; i++) {
		char pair[2] = {(char)(i / 64), (char)(64 + i % 64)};

		buf_add_base64(&b, pair, 2);
		buf_addf(&b, " %d\n", 256 + i);
	}
	write_text("tiktoken.model", b.data, b.len);
	write_text("tokenizer_config.json", config, sizeof(config) - 1);
	buf_free(&b);
	return setenv("XDG_CACHE_HOME", dir, 1);
}

/* The one file of the cache; 0: there is none. */
static int cache_file(char path[200])
{
	char folder[200];
	struct dirent *d;
	DIR *at;
	int n = 0;

	path_of(folder, "e3");
	at = opendir(folder);
	while (at && (d = readdir(at)))
		if (d->d_name[0] != '.') {
			assert_true(strlen(d->d_name) < 60);
			snprintf(path, 200, "%.100s/%.80s", folder, d->d_name);
			n++;
		}
	if (at)
		closedir(at);
	assert_true(n <= 1); /* no temporary file stays */
	return n;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"tiktoken.model", "tokenizer_config.json"};
	char path[200];

	(void)state;
	if (cache_file(path))
		unlink(path);
	path_of(path, "e3");
	rmdir(path);
	for (size_t i = 0; i < LEN(names); i++) {
		path_of(path, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

/* Opens, and encodes; whether the tables came from the disk. */
static int from_disk(int cached)
{
	static const char text[] = "Hello<|reserved_token_16700|> @@ ~~";
	static const int32_t want[] = {1 + 255 + (72 * 64) + (101 - 64), 0};
	struct err e = {0};
	struct bpe *b = cached ? bpe_open(dir, &e) : bpe_open_uncached(dir, &e);
	struct bpe_work *w;
	struct ints ids = {0};
	struct buf back = {0};
	int mapped;

	assert_non_null(b);
	w = bpe_work_open(b);
	assert_int_equal(
	    bpe_encode(b, w, (struct bpe_text){text, sizeof(text) - 1, 0}, &ids, NULL, &e), 0);
	assert_int_equal(ids.v[0], want[0]);
	assert_int_equal(ids.v[3], 16700);
	assert_int_equal(bpe_decode(b, ids.v, ids.n, &back, &e), 0);
	assert_bytes("decoded", back.data, back.len, text);
	mapped = b->map != NULL;
	bpe_work_close(w);
	bpe_close(b);
	ints_free(&ids);
	buf_free(&back);
	return mapped;
}

static void keeps_what_it_compiled(void **state)
{
	char path[200];

	(void)state;
	assert_false(from_disk(0));
	assert_int_equal(cache_file(path), 0);
	assert_false(from_disk(1));
	assert_int_equal(cache_file(path), 1);
	assert_true(from_disk(1));
	assert_false(from_disk(0));
}

static void makes_damaged_files_anew(void **state)
{
	static const int places[] = {0, 8, 12, 16, 40, 200, 300, 5000, 100000};
	char path[200];
	struct stat st;

	(void)state;
	from_disk(1);
	assert_int_equal(cache_file(path), 1);
	assert_int_equal(stat(path, &st), 0);
	for (size_t i = 0; i < LEN(places) + 3; i++) {
		if (i < LEN(places)) {
			int fd = open(path, O_RDWR);
			char c;

			assert_true(fd >= 0 && pread(fd, &c, 1, places[i]) == 1);
			c = (char)(c ^ 0x10);
			assert_int_equal(pwrite(fd, &c, 1, places[i]), 1);
			close(fd);
		} else {
			off_t size = i == LEN(places)	    ? 0
				     : i == LEN(places) + 1 ? 100
							    : st.st_size - 1;

			assert_int_equal(truncate(path, size), 0);
		}
		assert_false(from_disk(1));
		assert_true(from_disk(1));
	}
}

static void does_without_a_folder(void **state)
{
	(void)state;
	assert_int_equal(setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1), 0);
	assert_false(from_disk(1));
	assert_false(from_disk(1));
	assert_int_equal(setenv("XDG_CACHE_HOME", dir, 1), 0);
}

static void processes_may_race(void **state)
{
	char path[200];
	int status;

	(void)state;
	assert_int_equal(cache_file(path), 1);
	unlink(path);
	for (int i = 0; i < 6; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0) {
			from_disk(1);
			_exit(from_disk(1) ? 0 : 1);
		}
	}
	for (int i = 0; i < 6; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(cache_file(path), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(keeps_what_it_compiled),
	    cmocka_unit_test(makes_damaged_files_anew),
	    cmocka_unit_test(does_without_a_folder),
	    cmocka_unit_test(processes_may_race),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
