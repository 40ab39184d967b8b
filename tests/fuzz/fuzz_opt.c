/* A command line, its words between NULs: it is taken, every value within the table's bounds, or
 * refused with the status for misuse. Its exit() comes back here, what it prints goes nowhere. */
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prog.h"

static jmp_buf back;

static _Noreturn void leave(int status)
{
	longjmp(back, status + 1);
}

static FILE *nowhere;

#undef stdout
#undef stderr
#define stdout		    nowhere
#define stderr		    nowhere
#define printf(...)	    fprintf(nowhere, __VA_ARGS__)
#define putchar(c)	    fputc(c, nowhere)
#define exit		    leave
#define prog_vwarn(fmt, ap) vfprintf(nowhere, fmt, ap)
#include "../../src/base/opt.c"
#include "../../src/base/opt_help.c"
#undef exit
#undef prog_vwarn

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MAX_WORDS 64

struct values {
	int flag, word;
	const char *str;
	struct opt_list list, comma, operands;
	uint64_t count, size;
	double num;
	struct opt_shard shard;
};

#define AT(member) offsetof(struct values, member)
static const struct opt own[] = {
    {"flag", 'f', OPT_FLAG, AT(flag), NULL, "a [flag]:'s help", 0, 0},
    {"str", 's', OPT_STR, AT(str), "TEXT", "text", 0, 0},
    {"list", 'l', OPT_LIST, AT(list), "DIR", "texts", 0, 0},
    {"comma", 0, OPT_COMMA, AT(comma), "A,B", "parts", 0, 0},
    {"count", 'n', OPT_U64, AT(count), "N", "between bounds", 2, 900},
    {0},
};
static const struct opt common[] = {
    {"size", 0, OPT_SIZE, AT(size), "SIZE", "with a letter", 1, 0},
    {NULL, 'x', OPT_NUM, AT(num), "X", "a number, short only", (uint64_t)-1, 9},
    {"word", 'w', OPT_ENUM, AT(word), "one|two|three", "one of three", 0, 0},
    {"shard", 0, OPT_SHARD, AT(shard), "I/N", "a shard", 0, 0},
    {0},
};

static void check(int ok)
{
	if (!ok)
		abort();
}

static void check_values(const struct values *v, size_t words)
{
	check((v->flag == 0 || v->flag == 1) && v->word >= 0 && v->word < 3);
	check(v->count == 0 || (v->count >= 2 && v->count <= 900));
	check(!v->str || v->str[0]);
	check(v->num >= -1 && v->num <= 9 && (v->shard.n == 0 || v->shard.i < v->shard.n));
	check(v->list.n + v->operands.n <= words);
	for (size_t i = 0; i < v->comma.n; i++)
		check(v->comma.v[i][0] != '\0' && !strchr(v->comma.v[i], ','));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct opt_prog prog = {"e3-fuzz", "tries", n > 0 && data[0] % 2 ? "[FILE...]" : NULL,
	    own, common, 0, AT(operands), NULL};
	char *argv[MAX_WORDS + 2] = {"e3-fuzz"}, *text = malloc(n + 1);
	/* what longjmp leaves behind it must not be in a register */
	static struct values v;
	static volatile int argc;
	int status;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	check(text && nowhere);
	memcpy(text, data, n);
	text[n] = '\0';
	v = (struct values){0};
	argc = 1;
	for (size_t at = 1; at < n && argc <= MAX_WORDS; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	status = setjmp(back);
	if (status == 0) {
		opt_parse(&prog, argc, argv, &v);
		check_values(&v, (size_t)argc);
	} else {
		check(status == EXIT_DONE + 1 || status == EXIT_MISUSE + 1);
	}
	opt_list_free(&v.list);
	opt_list_free(&v.comma);
	opt_list_free(&v.operands);
	free(text);
	return 0;
}
