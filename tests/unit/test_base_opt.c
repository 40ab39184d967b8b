/* Command lines, their misuse, help and completions; progress lines. */
#define _XOPEN_SOURCE 700 /* posix_openpt, for a terminal */
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/near.h"
#include "base/opt.h"
#include "base/prog.h"
#include "base/progress.h"

struct common {
	struct opt_list files;
	uint64_t threads;
	int quiet;
};

struct opts {
	struct common common;
	const char *output;
	struct opt_list server, keep;
	uint64_t n, size;
	double x;
	int mode, flag;
	struct opt_shard shard;
};

static const struct opt own[] = {
    {"output", 'o', OPT_STR, offsetof(struct opts, output), "FILE", "where to", 0, 0},
    {"server", 0, OPT_LIST, offsetof(struct opts, server), "URL", "a server", 0, 0},
    {"keep", 0, OPT_COMMA, offsetof(struct opts, keep), "NAME,...", "members", 0, 0},
    {"number", 'n', OPT_U64, offsetof(struct opts, n), "N", "a number", 2, 10},
    {"least", 0, OPT_U64, offsetof(struct opts, n), "N", "a number", 2, 0},
    {"any", 0, OPT_U64, offsetof(struct opts, n), "N", "a number", 0, 0},
    {"size", 0, OPT_SIZE, offsetof(struct opts, size), "SIZE", "a size", 0, 0},
    {"memory", 0, OPT_SIZE, offsetof(struct opts, size), "SIZE", "a size", 16u << 20, 0},
    {"line", 0, OPT_SIZE, offsetof(struct opts, size), "SIZE", "a size", 1500, (uint64_t)1 << 40},
    {"top-k", 0, OPT_NUM, offsetof(struct opts, x), "N", "a number", (uint64_t)-1, 9},
    {"temperature", 't', OPT_NUM, offsetof(struct opts, x), "X", "a number", 0, 0},
    {"mode", 0, OPT_ENUM, offsetof(struct opts, mode), "native|prompt|none", "how", 0, 0},
    {"flag", 'f', OPT_FLAG, offsetof(struct opts, flag), NULL, "a flag [it's one]", 0, 0},
    {"shard", 0, OPT_SHARD, offsetof(struct opts, shard), "I/N", "a part", 0, 0},
    {"set", 's', OPT_STR, offsetof(struct opts, output), "NAME", "what set", 0, 0},
    {"split", 0, OPT_STR, offsetof(struct opts, output), "NAME=X:FILE", "a share", 0, 0},
    {"out-dir", 0, OPT_STR, offsetof(struct opts, output), "DIR", "a folder", 0, 0},
    {"check", 0, OPT_STR, offsetof(struct opts, output), "MANIFEST", "against it", 0, 0},
    {"into-the-second-column", 0, OPT_STR, offsetof(struct opts, output), "FILE",
	"words that do not fit beside it, and are more than a line takes", 0, 0},
    {0},
};

static const struct opt shared[] = {
    {"threads", 'j', OPT_U64, offsetof(struct common, threads), "N", "threads", 1, 0},
    {"quiet", 'q', OPT_FLAG, offsetof(struct common, quiet), NULL, "no talk", 0, 0},
    {0},
};

static const char *set_name(size_t i)
{
	static const char *const set[] = {"red", "green-2", NULL};

	return set[i];
}

static const struct opt_names names[] = {
    {"set", set_name},
    {0},
};

static const struct opt_prog prog = {"e3-test", "tests options", "[FILE...]", own, shared,
    offsetof(struct opts, common), offsetof(struct opts, common.files), names};
static const struct opt_prog fileless = {"e3-bare", "takes no files", NULL, own, NULL, 0, 0, NULL};

static void show_list(struct buf *b, const char *name, const struct opt_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		buf_addf(b, "%s%s=%s", b->len ? " " : "", name, l->v[i]);
}

static void show(struct buf *b, const struct opts *o)
{
	show_list(b, "file", &o->common.files);
	show_list(b, "server", &o->server);
	show_list(b, "keep", &o->keep);
	if (o->output)
		buf_addf(b, " o=%s", o->output);
	if (o->n || o->size)
		buf_addf(
		    b, " n=%llu size=%llu", (unsigned long long)o->n, (unsigned long long)o->size);
	if (o->mode || o->flag || o->common.quiet)
		buf_addf(b, " mode=%d flag=%d q=%d", o->mode, o->flag, o->common.quiet);
	if (o->x != 0)
		buf_addf(b, " x=%g", o->x);
	if (o->shard.n || o->common.threads)
		buf_addf(b, " shard=%llu/%llu j=%llu", (unsigned long long)o->shard.i,
		    (unsigned long long)o->shard.n, (unsigned long long)o->common.threads);
	buf_adds(b, "\n");
}

/* Runs f in a child; its stdout and stderr go to text, its exit status is returned. */
static int in_child(struct buf *text, void (*f)(void *), void *arg)
{
	int fd[2], status;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(fd), 0);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		f(arg);
		fflush(NULL);
		_exit(0);
	}
	close(fd[1]);
	while ((n = read(fd[0], buf_room(text, 4096), 4096)) > 0)
		text->len += (size_t)n;
	close(fd[0]);
	buf_cstr(text);
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct call {
	const struct opt_prog *prog;
	const char *const *args;
};

static void parse(void *arg)
{
	const struct call *c = arg;
	struct opts o = {0};
	struct buf b = {0};
	char *argv[16] = {(char *)(uintptr_t)c->prog->name};
	int argc = 1;

	for (const char *const *a = c->args; *a; a++)
		argv[argc++] = (char *)(uintptr_t)*a;
	opt_parse(c->prog, argc, argv, &o);
	show(&b, &o);
	fputs(buf_cstr(&b), stdout);
	buf_free(&b);
	opt_list_free(&o.common.files);
	opt_list_free(&o.server);
	opt_list_free(&o.keep);
}

static void command_lines(void **state)
{
	static const struct {
		const char *const args[6];
		int status;
		const char *want; /* the whole output, or for misuse how it begins */
	} t[] = {
	    {{NULL}, 0, "\n"},
	    {{"a", "-o", "b", "c"}, 0, "file=a file=c o=b\n"},
	    {{"-ob", "-"}, 0, "file=- o=b\n"},
	    {{"--output=b", "--output", "c"}, 0, " o=c\n"},
	    {{"--output="}, 2, "e3-test: --output: expected FILE, not ''\n"},
	    {{"-o", ""}, 2, "e3-test: --output: expected FILE, not ''\n"},
	    {{"--server", ""}, 2, "e3-test: --server: expected URL, not ''\n"},
	    {{"a", ""}, 2, "e3-test: expected a file, not ''\n"},
	    {{"--", ""}, 2, "e3-test: expected a file, not ''\n"},
	    {{"-o", "--"}, 0, " o=--\n"},
	    {{"--", "-o", "--flag"}, 0, "file=-o file=--flag\n"},
	    {{"-fqn7"}, 0, " n=7 size=0 mode=0 flag=1 q=1\n"},
	    {{"-fqn10"}, 0, " n=10 size=0 mode=0 flag=1 q=1\n"},
	    {{"-fn", "7", "a"}, 0, "file=a n=7 size=0 mode=0 flag=1 q=0\n"},
	    {{"--server", "a", "--server=b=c"}, 0, "server=a server=b=c\n"},
	    {{"--keep", "a,b,c", "--keep=d,ab"}, 0, "keep=a keep=b keep=c keep=d keep=ab\n"},
	    {{"--size=64M", "--mode", "prompt"}, 0, " n=0 size=67108864 mode=1 flag=0 q=0\n"},
	    {{"--mode=none"}, 0, " mode=2 flag=0 q=0\n"},
	    {{"-t", "0.5"}, 0, " x=0.5\n"},
	    {{"-t", "-0.5"}, 2,
		"e3-test: --temperature: expected a number of 0 or more, not '-0.5'\n"},
	    {{"--top-k=-1"}, 0, " x=-1\n"},
	    {{"--top-k=9"}, 0, " x=9\n"},
	    {{"--top-k=-1.5"}, 2, "e3-test: --top-k: expected a number from -1 to 9, not '-1.5'\n"},
	    {{"--top-k=9.5"}, 2, "e3-test: --top-k: expected a number from -1 to 9, not '9.5'\n"},
	    {{"--memory=1M"}, 2,
		"e3-test: --memory: expected a size such as 64M of 16M or more, not "
		"'1M'\n"},
	    {{"--line=2T"}, 2,
		"e3-test: --line: expected a size such as 64M from 1500 to 1T, not "
		"'2T'\n"},
	    {{"--shard=3/8", "-j4"}, 0, " shard=3/8 j=4\n"},
	    {{"--version"}, 0, "e3-test " E3_VERSION "\n"},
	    {{"-V"}, 0, "e3-test " E3_VERSION "\n"},
	    {{"--version=1"}, 2, "e3-test: --version takes no value\n"},
	    {{"--outpu", "b"}, 2, "e3-test: there is no option --outpu: did you mean --output?\n"},
	    {{"--outputs=b"}, 2, "e3-test: there is no option --outputs: did you mean --output?\n"},
	    {{"--ouptut"}, 2, "e3-test: there is no option --ouptut: did you mean --output?\n"},
	    {{"--threds"}, 2, "e3-test: there is no option --threds: did you mean --threads?\n"},
	    {{"--hepl"}, 2, "e3-test: there is no option --hepl: did you mean --help?\n"},
	    {{"--sitze"}, 2, "e3-test: there is no option --sitze: did you mean --size?\n"},
	    {{"-output", "b"}, 2, "e3-test: there is no option -output: did you mean --output?\n"},
	    {{"-mode=none"}, 2, "e3-test: there is no option -mode: did you mean --mode?\n"},
	    {{"-outputs", "b"}, 0, "file=b o=utputs\n"},
	    {{"--x=1"}, 2, "e3-test: there is no option --x\n"},
	    {{"-x"}, 2, "e3-test: there is no option -x\n"},
	    {{"-fx"}, 2, "e3-test: there is no option -x\n"},
	    {{"--flag=1"}, 2, "e3-test: --flag takes no value\n"},
	    {{"--output"}, 2, "e3-test: --output needs a value: FILE\n"},
	    {{"-o"}, 2, "e3-test: -o needs a value: FILE\n"},
	    {{"-n1"}, 2, "e3-test: --number: expected a whole number from 2 to 10, not '1'\n"},
	    {{"-n11"}, 2, "e3-test: --number: expected a whole number from 2"},
	    {{"--least=1"}, 2, "e3-test: --least: expected a whole number of 2 or more, not '1'\n"},
	    {{"--any=-1"}, 2, "e3-test: --any: expected a whole number, not '-1'\n"},
	    {{"--any=1K"}, 2, "e3-test: --any: expected a whole number, not '1K'\n"},
	    {{"--keep=a,,b"}, 2, "e3-test: --keep: expected NAME,... and none empty, not 'a,,b'\n"},
	    {{"--keep=,a"}, 2, "e3-test: --keep: expected NAME,... and none empty, not ',a'\n"},
	    {{"--keep=a,"}, 2, "e3-test: --keep: expected NAME,... and none empty, not 'a,'\n"},
	    {{"--keep="}, 2, "e3-test: --keep: expected NAME,... and none empty, not ''\n"},
	    {{"--keep=ab,a,ab"}, 2, "e3-test: --keep ab: given twice\n"},
	    {{"--keep=a", "--keep=a"}, 2, "e3-test: --keep a: given twice\n"},
	    {{"--size=1k"}, 2, "e3-test: --size: expected a size such as 64M, not '1k'\n"},
	    {{"-tx"}, 2, "e3-test: --temperature: expected a number of 0 or more, not 'x'\n"},
	    {{"-t1e999"}, 2,
		"e3-test: --temperature: expected a number of 0 or more, not '1e999'\n"},
	    {{"--mode=nat"}, 2,
		"e3-test: --mode: expected one of native|prompt|none, not 'nat': did "
		"you mean native?\n"},
	    {{"--mode=promtp"}, 2,
		"e3-test: --mode: expected one of native|prompt|none, not "
		"'promtp': did you mean prompt?\n"},
	    {{"--mode=some"}, 2,
		"e3-test: --mode: expected one of native|prompt|none, not 'some'\n"},
	    {{"--mode=native|prompt"}, 2, "e3-test: --mode: expected one of"},
	    {{"--mode="}, 2, "e3-test: --mode: expected one of"},
	    {{"--shard=8/8"}, 2, "e3-test: --shard: expected I/N with I from 0"},
	    {{"--shard=1"}, 2, "e3-test: --shard: expected I/N"},
	    {{"-j0"}, 2, "e3-test: --threads: expected a whole number of 1"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct call c = {&prog, t[i].args};
		struct buf b = {0};
		int status = in_child(&b, parse, &c);

		if (status != t[i].status || strncmp(b.data, t[i].want, strlen(t[i].want)) != 0 ||
		    (status == 0 && strcmp(b.data, t[i].want) != 0))
			fail_msg("row %zu: status %d: %s", i, status, b.data);
		if (status == 2 && !strstr(b.data, "\nusage: e3-test [OPTION...] [FILE...]"))
			fail_msg("row %zu: no usage: %s", i, b.data);
		buf_free(&b);
	}
}

static void no_operands(void **state)
{
	static const char *const args[] = {"a", NULL};
	struct call c = {&fileless, args};
	struct buf b = {0};

	(void)state;
	assert_int_equal(in_child(&b, parse, &c), 2);
	assert_ptr_equal(
	    strstr(b.data, "e3-bare: takes no files: 'a'\nusage: e3-bare [OPTION...] ("), b.data);
	buf_free(&b);
}

/* Without its standard files a program has ones that fail, so that none of its own gets their
 * numbers. Its status is how many there are. */
static void parse_closed(void *arg)
{
	static const int mode[] = {O_WRONLY, O_RDONLY, O_RDONLY};
	const struct call *c = arg;
	struct opts o = {0};
	char *argv[] = {(char *)(uintptr_t)c->prog->name};
	int held = 0;

	for (int fd = 0; fd <= 2; fd++)
		close(fd);
	opt_parse(c->prog, 1, argv, &o);
	for (int fd = 0; fd <= 2; fd++)
		held += (fcntl(fd, F_GETFL) & O_ACCMODE) == mode[fd];
	_exit(held);
}

static void closed_files(void **state)
{
	struct call c = {&prog, NULL};
	struct buf b = {0};

	(void)state;
	assert_int_equal(in_child(&b, parse_closed, &c), 3);
	buf_free(&b);
}

static void parse_full(void *arg)
{
	int fd = open("/dev/full", O_WRONLY);

	dup2(fd, STDOUT_FILENO);
	parse(arg);
	_exit(99);
}

/* A full disk behind standard output is told of, whatever is printed there. */
static void help_on_a_full_disk(void **state)
{
	static const char *const t[] = {
	    "--help", "-h", "--help=bash", "--help=zsh", "--version", "-V"};

	(void)state;
	if (access("/dev/full", W_OK) < 0)
		skip("there is no /dev/full");
	for (size_t i = 0; i < LEN(t); i++) {
		const char *args[] = {t[i], NULL};
		struct call c = {&prog, args};
		struct buf b = {0};

		if (in_child(&b, parse_full, &c) != 1 ||
		    strcmp(b.data, "e3-test: standard output: No space left on device\n") != 0)
			fail_msg("%s: %s", t[i], b.data);
		buf_free(&b);
	}
}

static void help_and_completions(void **state)
{
	static const struct {
		const char *arg;
		const char *has[12];
	} t[] = {
	    {"--help",
		{"usage: e3-test [OPTION...] [FILE...]\ntests options\n", "  -o, --output FILE",
		    "where to\n", "--mode native|prompt|none", "  -q, --quiet", "  -V, --version"}},
	    {"-h", {"usage: e3-test", "--shard I/N", "-j, --threads N", "e3-test(1)",
		       "\n      --mode native|prompt|none  how\n",
		       "\n      --into-the-second-column FILE\n"
		       "                                 words that do not fit beside it, and are "
		       "more\n"
		       "                                 than a line takes\n"}},
	    {"--help=bash",
		{"_e3_test()", "\t--mode) COMPREPLY=($(compgen -W \"native prompt none\" -- ",
		    "\t-s|--set) COMPREPLY=($(compgen -W \"red green-2\" -- \"$cur\")); compopt ",
		    "\t-o|--output) COMPREPLY=(); return ;;\n",
		    "\t--split) COMPREPLY=(); return ;;\n", "\t--check) COMPREPLY=(); return ;;\n",
		    "\t--out-dir) COMPREPLY=(); compopt +o default -o dirnames; return ;;\n",
		    "\t-j|--threads) COMPREPLY=(); compopt +o default; return ;;\n",
		    " -o --output --server", " -q --quiet",
		    "complete -o default -F _e3_test e3-test\n", "--version"}},
	    {"--help=zsh",
		{"#compdef e3-test\n", "'--mode=[how]:value:(native prompt none)'",
		    "'--set=[what set]:value:(red green-2)'", "'-f[a flag \\[it'\\''s one\\]]'",
		    "'*--server=[a server]:URL: '", "'--output=[where to]:FILE:_files'",
		    "'--split=[a share]:NAME=X\\:FILE:_files'",
		    "'--check=[against it]:MANIFEST:_files'",
		    "'--out-dir=[a folder]:DIR:_files -/'", "'-n[a number]:N: '",
		    "'--quiet[no talk]'", "'*:file:_files'"}},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		const char *args[] = {t[i].arg, NULL};
		struct call c = {&prog, args};
		struct buf b = {0};

		assert_int_equal(in_child(&b, parse, &c), 0);
		for (size_t k = 0; k < LEN(t[i].has) && t[i].has[k]; k++)
			if (!strstr(b.data, t[i].has[k]))
				fail_msg("%s has no '%s': %s", t[i].arg, t[i].has[k], b.data);
		buf_free(&b);
	}
}

static const char *const *near_list;

static const char *near_name(size_t i)
{
	return near_list[i];
}

static void near_names(void **state)
{
	static const struct {
		const char *word;
		const char *const names[6];
		const char *want;
	} t[] = {
	    {"format", {NULL}, ""},
	    {"formt", {"format", "model"}, ": did you mean format?"},
	    {"fromat", {"model", "format"}, ": did you mean format?"},
	    {"forrmatt", {"format"}, ": did you mean format?"},
	    {"foarmt", {"format"}, ": did you mean format?"},
	    /* of fewer than six letters one is allowed, and of two none */
	    {"dae", {"date"}, ": did you mean date?"},
	    {"daetr", {"date"}, ""},
	    {"hg", {"hf"}, ""},
	    {"xformattt", {"format"}, ""},
	    /* the beginning, or at least half */
	    {"con", {"concurrency"}, ": did you mean concurrency?"},
	    {"sharegpt", {"A1_other", "B7_sharegpt"}, ": did you mean B7_sharegpt?"},
	    {"mix", {"B4_mixturethoughts"}, ""},
	    /* all parts, or no others */
	    {"max_tokens", {"max-new-tokens", "max-len"}, ": did you mean max-new-tokens?"},
	    {"vocab", {"draft-vocab", "counts"}, ": did you mean draft-vocab?"},
	    {"output-file", {"output", "out-dir"}, ": did you mean output?"},
	    {"vocab-size", {"draft-vocab", "size-x"}, ""},
	    {"max-tok", {"max-new-tokens"}, ""},
	    /* the nearest count, two at most */
	    {"server", {"server-dump-dir", "serves"}, ": did you mean server-dump-dir or serves?"},
	    {"layrs", {"layers", "layout", "players"}, ": did you mean layers?"},
	    {"40x", {"400", "401", "404"}, ""},
	    {"a-word-of-more-than-forty-letters-is-no-slip-of-any",
		{"a-word-of-more-than-forty-letters-is-no-slip-of-an"}, ""},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		struct near n = {.word = {t[i].word, strlen(t[i].word)}};

		near_list = t[i].names;
		if (strcmp(near_among(&n, near_name), t[i].want) != 0)
			fail_msg("%s: %s", t[i].word, n.text);
	}
}

static void words(void **state)
{
	(void)state;
	assert_true(span_eq(opt_word("a|bc", 0), "a"));
	assert_true(span_eq(opt_word("a|bc", 1), "bc"));
	assert_int_equal(opt_word("a|bc", 2).n, 0);
	assert_int_equal(opt_word("a|bc", 9).n, 0);
}

/* One write: what the programs of a pipeline say stays in lines. A datagram is what was written at
 * once. */
static void warning_in_one_write(void **state)
{
	int fd[2], saved = dup(STDERR_FILENO);
	char got[100] = "";

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, fd), 0);
	dup2(fd[0], STDERR_FILENO);
	prog_name = "e3-test";
	prog_warn("one and %d", 2);
	dup2(saved, STDERR_FILENO);
	assert_true(read(fd[1], got, sizeof(got) - 1) > 0);
	assert_string_equal(got, "e3-test: one and 2\n");
	prog_name = "e3";
	close(fd[0]);
	close(fd[1]);
	close(saved);
}

static void draw(void *arg)
{
	struct progress *p = progress_open(*(enum progress_when *)arg);

	prog_name = "e3-test";
	if (progress_due(p))
		fputs("due at once\n", stderr);
	progress_draw(p, "1 in = 1 out");
	progress_clear(p);
	progress_close(p);
	progress_close(NULL);
}

static void progress_without_a_terminal(void **state)
{
	static const struct {
		enum progress_when when;
		const char *want;
	} t[] = {
	    {PROGRESS_AUTO, ""},
	    {PROGRESS_OFF, ""},
	    {PROGRESS_ON, "e3-test: 1 in = 1 out\n"},
	};

	(void)state;
	for (size_t i = 0; i < LEN(t); i++) {
		enum progress_when when = t[i].when;
		struct buf b = {0};

		assert_int_equal(in_child(&b, draw, &when), 0);
		assert_string_equal(b.data, t[i].want);
		buf_free(&b);
	}
}

static void draw_long(void *arg)
{
	struct progress *p = progress_open(PROGRESS_AUTO);
	struct timespec t = {0, 250000000};
	int due;

	prog_name = "e3-test";
	nanosleep(&t, NULL);
	due = progress_due(p);
	progress_draw(p, arg);
	if (!due || progress_due(p))
		fputs("not due when it should be, or again at once\n", stderr);
	progress_close(p);
}

/* Drawn over itself, cut at a character to the terminal's width, and gone at the end. */
static void progress_on_a_terminal(void **state)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), saved = dup(STDERR_FILENO), slave;
	char text[200], want[300], got[600];
	size_t have = 0;
	ssize_t n;

	(void)state;
	if (master < 0)
		skip("no terminal can be made");
	assert_int_equal(grantpt(master) + unlockpt(master), 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 3);
	fflush(NULL);
	dup2(slave, STDERR_FILENO);
	draw_long(text);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	/* it comes in pieces, up to an error when nobody can write any more */
	close(slave);
	while ((n = read(master, got + have, sizeof(got) - 1 - have)) > 0)
		have += (size_t)n;
	got[have] = '\0';
	snprintf(want, sizeof(want), "\re3-test: %.*s\033[K\r\033[K", 2 * (79 - 9), text);
	assert_string_equal(got, want);
	prog_name = "e3";
	close(master);
	close(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(command_lines),
	    cmocka_unit_test(no_operands),
	    cmocka_unit_test(closed_files),
	    cmocka_unit_test(help_on_a_full_disk),
	    cmocka_unit_test(help_and_completions),
	    cmocka_unit_test(words),
	    cmocka_unit_test(near_names),
	    cmocka_unit_test(warning_in_one_write),
	    cmocka_unit_test(progress_without_a_terminal),
	    cmocka_unit_test(progress_on_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
