#include "base/opt.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/num.h"
#include "base/prog.h"

void opt_list_add(struct opt_list *l, const char *s)
{
	l->v = xgrow(l->v, &l->cap, l->n + 1, sizeof(*l->v));
	l->v[l->n++] = s;
}

void opt_list_free(struct opt_list *l)
{
	for (size_t i = 0; l->owned && i < l->n; i++)
		free((char *)l->v[i]);
	free(l->v);
	*l = (struct opt_list){0};
}

_Noreturn void opt_misuse(const struct opt_prog *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	prog_vwarn(fmt, ap);
	va_end(ap);
	fprintf(stderr, "usage: %s [OPTION...]%s%s (%s --help lists them)\n", p->name,
	    p->operands ? " " : "", p->operands ? p->operands : "", p->name);
	exit(EXIT_MISUSE);
}

/* ---- help, the same table in three dialects ---- */

enum {
	HELP_COLUMN = 33, /* where the words about an option begin */
	HELP_WIDTH = 80,
};

/* A common option that the program describes itself. */
static int replaced(const struct opt_prog *p, const struct opt *o)
{
	for (const struct opt *own = p->own; own && own->kind; own++)
		if (own != o && own->name && o->name && strcmp(own->name, o->name) == 0)
			return 1;
	return 0;
}

/* A row of two columns; a name that reaches into the second has a line of its own. */
static void help_row(const char *name, const char *words)
{
	size_t room = HELP_WIDTH - HELP_COLUMN;

	if (strlen(name) > HELP_COLUMN - 3)
		printf("  %s\n%*s", name, HELP_COLUMN, "");
	else
		printf("  %-*s", HELP_COLUMN - 2, name);
	while (strlen(words) > room) {
		size_t n = room;

		while (n > 0 && words[n] != ' ')
			n--;
		if (n == 0)
			break;
		printf("%.*s\n%*s", (int)n, words, HELP_COLUMN, "");
		words += n + 1;
	}
	printf("%s\n", words);
}

static void help_one(const struct opt *o)
{
	struct buf left = {0};

	if (o->key)
		buf_addf(&left, "-%c", o->key);
	if (o->name)
		buf_addf(&left, "%s--%s", o->key ? ", " : "    ", o->name);
	if (o->arg)
		buf_addf(&left, " %s", o->arg);
	help_row(buf_cstr(&left), o->help);
	buf_free(&left);
}

static void help_text(const struct opt_prog *p)
{
	printf("usage: %s [OPTION...]%s%s\n%s\n\n", p->name, p->operands ? " " : "",
	    p->operands ? p->operands : "", p->what);
	for (const struct opt *o = p->own; o && o->kind; o++)
		help_one(o);
	if (p->common)
		printf("\n");
	for (const struct opt *o = p->common; o && o->kind; o++)
		if (!replaced(p, o))
			help_one(o);
	help_row("-h, --help", "this text");
	help_row("-V, --version", "the version");
	printf("\nThe man page, %s(1), says more.\n", p->name);
}

static void bash_words(const struct opt_prog *p, const struct opt *o)
{
	for (; o && o->kind; o++) {
		if (replaced(p, o))
			continue;
		if (o->key)
			printf(" -%c", o->key);
		if (o->name)
			printf(" --%s", o->name);
	}
}

enum takes { TAKES_NOTHING, TAKES_WORDS, TAKES_FOLDER, TAKES_FILE, TAKES_OTHER };

static const struct opt_names *names_of(const struct opt_prog *p, const struct opt *o)
{
	for (const struct opt_names *n = p->names; n && n->option; n++)
		if (o->name && strcmp(n->option, o->name) == 0)
			return n;
	return NULL;
}

static enum takes takes(const struct opt_prog *p, const struct opt *o)
{
	if (!o->arg)
		return TAKES_NOTHING;
	if (o->kind == OPT_ENUM || names_of(p, o))
		return TAKES_WORDS;
	if (strstr(o->arg, "DIR"))
		return TAKES_FOLDER;
	return strstr(o->arg, "FILE") || strstr(o->arg, "MANIFEST") ? TAKES_FILE : TAKES_OTHER;
}

/* With blanks between. */
static void print_words(const struct opt_prog *p, const struct opt *o)
{
	const struct opt_names *names = names_of(p, o);
	const char *name;

	for (size_t i = 0; names && (name = names->name(i)); i++)
		printf("%s%s", i ? " " : "", name);
	for (const char *c = names ? "" : o->arg; *c; c++)
		putchar(*c == '|' ? ' ' : *c);
}

static void bash_value(const struct opt_prog *p, const struct opt *o)
{
	/* names of files are left to readline, which quotes them */
	static const char *const else_what[] = {
	    [TAKES_WORDS] = "; compopt +o default",
	    [TAKES_FOLDER] = "; compopt +o default -o dirnames",
	    [TAKES_FILE] = "",
	    [TAKES_OTHER] = "; compopt +o default",
	};
	enum takes what = takes(p, o);

	if (what == TAKES_NOTHING)
		return;
	printf("\t");
	if (o->key)
		printf("-%c%s", o->key, o->name ? "|" : "");
	if (o->name)
		printf("--%s", o->name);
	printf(") COMPREPLY=(");
	if (what == TAKES_WORDS) {
		printf("$(compgen -W \"");
		print_words(p, o);
		printf("\" -- \"$cur\")");
	}
	printf(")%s; return ;;\n", else_what[what]);
}

static void bash_values(const struct opt_prog *p, const struct opt *o)
{
	for (; o && o->kind; o++)
		if (!replaced(p, o))
			bash_value(p, o);
}

static void help_bash(const struct opt_prog *p)
{
	printf("_%.2s_%s() {\n", p->name, p->name + 3);
	printf("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n");
	/* bash makes three words of --name=value */
	printf("\tif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n");
	printf("\tif [[ $cur == = ]]; then cur=; fi\n");
	printf("\tcase $prev in\n");
	bash_values(p, p->own);
	bash_values(p, p->common);
	printf("\tesac\n\tif [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"");
	bash_words(p, p->own);
	bash_words(p, p->common);
	printf(" -h --help -V --version\" -- \"$cur\")); else COMPREPLY=(); fi\n");
	printf("}\ncomplete %s-F _%.2s_%s %s\n", p->operands ? "-o default " : "", p->name,
	    p->name + 3, p->name);
}

/* Behind a backslash: what would end the text, and the colon that separates it from the next. */
static void zsh_text(const char *s, const char *special)
{
	for (; *s; s++) {
		if (*s == '\'')
			printf("'\\'");
		else if (strchr(special, *s))
			putchar('\\');
		putchar(*s);
	}
}

static void zsh_value(const struct opt_prog *p, const struct opt *o)
{
	static const char *const action[] = {
	    [TAKES_FOLDER] = "_files -/", [TAKES_FILE] = "_files", [TAKES_OTHER] = " "};
	enum takes what = takes(p, o);

	if (what == TAKES_NOTHING)
		return;
	putchar(':');
	zsh_text(what == TAKES_WORDS ? "value" : o->arg, "\\:");
	putchar(':');
	if (what == TAKES_WORDS) {
		putchar('(');
		print_words(p, o);
		putchar(')');
	} else {
		printf("%s", action[what]);
	}
}

static void zsh_one(
    const struct opt_prog *p, const struct opt *o, const char *name, const char *dashes)
{
	int many = o->kind == OPT_LIST || o->kind == OPT_COMMA;

	/* "=": the value may also stand behind one */
	printf(" \\\n\t'%s%s%s%s[", many ? "*" : "", dashes, name, o->arg && dashes[1] ? "=" : "");
	zsh_text(o->help, "[]\\");
	printf("]");
	zsh_value(p, o);
	printf("'");
}

static void zsh_table(const struct opt_prog *p, const struct opt *o)
{
	for (; o && o->kind; o++) {
		char key[2] = {o->key, '\0'};

		if (replaced(p, o))
			continue;
		if (o->key)
			zsh_one(p, o, key, "-");
		if (o->name)
			zsh_one(p, o, o->name, "--");
	}
}

static void help_zsh(const struct opt_prog *p)
{
	printf("#compdef %s\n_arguments -s", p->name);
	zsh_table(p, p->own);
	zsh_table(p, p->common);
	printf(" \\\n\t'(-h --help)'{-h,--help}'[help]' '(-V --version)'{-V,--version}'[version]'");
	printf("%s\n", p->operands ? " \\\n\t'*:file:_files'" : "");
}

static _Noreturn void printed(void)
{
	struct err e;

	if (prog_flush(&e) < 0)
		prog_die(&e);
	exit(EXIT_DONE);
}

static _Noreturn void help(const struct opt_prog *p, const char *how)
{
	if (!how)
		help_text(p);
	else if (strcmp(how, "bash") == 0)
		help_bash(p);
	else if (strcmp(how, "zsh") == 0)
		help_zsh(p);
	else
		opt_misuse(p, "--help takes bash or zsh, for completions");
	printed();
}

static _Noreturn void version(const struct opt_prog *p)
{
	printf("%s %s\n", p->name, E3_VERSION);
	printed();
}

/* ---- values ---- */

struct span opt_word(const char *words, int i)
{
	for (; i > 0; i--) {
		words += strcspn(words, "|");
		words += *words == '|';
	}
	return (struct span){words, strcspn(words, "|")};
}

static int set_enum(const char *words, const char *s, int *out)
{
	struct span w;

	for (int i = 0; (w = opt_word(words, i)).n > 0; i++) {
		if (span_eq(w, s)) {
			*out = i;
			return 0;
		}
	}
	return -1;
}

static int set_shard(const char *s, struct opt_shard *out)
{
	const char *slash = strchr(s, '/');

	if (!slash || num_u64(s, (size_t)(slash - s), &out->i) < 0 ||
	    num_u64(slash + 1, strlen(slash + 1), &out->n) < 0)
		return -1;
	return out->i < out->n ? 0 : -1;
}

static int set_u64(const struct opt *o, const char *s, uint64_t *out)
{
	int bad = o->kind == OPT_SIZE ? num_size(s, strlen(s), out) : num_u64(s, strlen(s), out);

	return bad || *out < o->min || (o->max && *out > o->max) ? -1 : 0;
}

static int set_num(const char *s, double *out)
{
	return num_double(s, strlen(s), out) < 0 || !isfinite(*out) ? -1 : 0;
}

static int set_value(const struct opt *o, const char *s, void *at)
{
	switch (o->kind) {
	case OPT_STR: *(const char **)at = s; return 0;
	case OPT_LIST: opt_list_add(at, s); return 0;
	case OPT_U64:
	case OPT_SIZE: return set_u64(o, s, at);
	case OPT_NUM: return set_num(s, at);
	case OPT_ENUM: return set_enum(o->arg, s, at);
	case OPT_SHARD: return set_shard(s, at);
	default: return -1;
	}
}

static const char *near_word(struct near *n, const char *words)
{
	struct span w;

	for (int i = 0; (w = opt_word(words, i)).n > 0; i++)
		near_try(n, w);
	return near_text(n);
}

static _Noreturn void bad_value(const struct opt_prog *p, const struct opt *o, const char *s)
{
	static const char *const want[] = {
	    [OPT_U64] = "a whole number",
	    [OPT_SIZE] = "a size such as 64M",
	    [OPT_NUM] = "a number",
	    [OPT_SHARD] = "I/N with I from 0 to N-1",
	};
	struct near near = {.word = {s, strlen(s)}};
	char key[2] = {o->key, '\0'};
	const char *dash = o->name ? "--" : "-", *name = o->name ? o->name : key;

	if (o->kind == OPT_ENUM)
		opt_misuse(p, "%s%s: expected one of %s, not '%s'%s", dash, name, o->arg, s,
		    near_word(&near, o->arg));
	if ((o->kind == OPT_U64 || o->kind == OPT_SIZE) && o->max)
		opt_misuse(p, "%s%s: expected %s from %llu to %llu, not '%s'", dash, name,
		    want[o->kind], (unsigned long long)o->min, (unsigned long long)o->max, s);
	if ((o->kind == OPT_U64 || o->kind == OPT_SIZE) && o->min)
		opt_misuse(p, "%s%s: expected %s of %llu or more, not '%s'", dash, name,
		    want[o->kind], (unsigned long long)o->min, s);
	opt_misuse(p, "%s%s: expected %s, not '%s'", dash, name, want[o->kind], s);
}

/* ---- the command line ---- */

struct found {
	const struct opt *o;
	void *at;
};

static struct found find_in(
    const struct opt *table, void *base, const char *name, size_t n, char key)
{
	for (const struct opt *o = table; o && o->kind; o++) {
		int hit = name ? o->name && strlen(o->name) == n && memcmp(o->name, name, n) == 0
			       : o->key == key;

		if (hit)
			return (struct found){o, (char *)base + o->at};
	}
	return (struct found){0};
}

static struct found find(const struct opt_prog *p, void *into, const char *name, size_t n, char key)
{
	struct found f = find_in(p->own, into, name, n, key);

	return f.o ? f : find_in(p->common, (char *)into + p->common_at, name, n, key);
}

static void add_part(
    const struct opt_prog *p, const struct opt *o, struct opt_list *l, const char *s, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		if (strncmp(l->v[i], s, n) == 0 && l->v[i][n] == '\0')
			opt_misuse(p, "--%s %s: given twice", o->name, l->v[i]);
	l->owned = 1;
	opt_list_add(l, xstrndup(s, n));
}

static void add_parts(const struct opt_prog *p, struct found f, const char *value)
{
	for (const char *s = value;; s++) {
		size_t n = strcspn(s, ",");

		if (n == 0)
			opt_misuse(p, "--%s: expected %s and none empty, not '%s'", f.o->name,
			    f.o->arg, value);
		add_part(p, f.o, f.at, s, n);
		s += n;
		if (*s == '\0')
			return;
	}
}

static void set(const struct opt_prog *p, struct found f, const char *value)
{
	if (f.o->kind == OPT_COMMA)
		add_parts(p, f, value);
	else if (set_value(f.o, value, f.at) < 0)
		bad_value(p, f.o, value);
}

static void try_names(struct near *n, const struct opt_prog *p, const struct opt *o)
{
	for (; o && o->kind; o++)
		if (o->name && !replaced(p, o))
			near_try(n, (struct span){o->name, strlen(o->name)});
}

static _Noreturn void no_option(const struct opt_prog *p, const char *name, size_t n)
{
	static const struct opt every[] = {
	    {.name = "help", .kind = OPT_FLAG}, {.name = "version", .kind = OPT_FLAG}, {0}};
	struct near near = {.word = {name, n}, .before = "--"};

	try_names(&near, p, p->own);
	try_names(&near, p, p->common);
	try_names(&near, p, every);
	opt_misuse(p, "there is no option --%.*s%s", (int)n, name, near_text(&near));
}

static void parse_long(const struct opt_prog *p, char **argv, int *i, void *into)
{
	const char *name = argv[*i] + 2, *value = strchr(name, '=');
	size_t n = value ? (size_t)(value++ - name) : strlen(name);
	struct found f;

	if (n == 4 && memcmp(name, "help", 4) == 0)
		help(p, value);
	if (strcmp(name, "version") == 0)
		version(p);
	f = find(p, into, name, n, 0);
	if (!f.o)
		no_option(p, name, n);
	if (f.o->kind == OPT_FLAG) {
		if (value)
			opt_misuse(p, "--%s takes no value", f.o->name);
		*(int *)f.at = 1;
		return;
	}
	if (!value)
		value = argv[++*i];
	if (!value)
		opt_misuse(p, "--%s needs a value: %s", f.o->name, f.o->arg);
	set(p, f, value);
}

static void parse_short(const struct opt_prog *p, char **argv, int *i, void *into)
{
	const char *word = argv[*i] + 1;
	size_t n = strcspn(word, "=");

	if (n > 1 && find(p, into, word, n, 0).o)
		opt_misuse(p, "there is no option -%.*s: did you mean --%.*s?", (int)n, word,
		    (int)n, word);
	for (const char *c = word; *c; c++) {
		struct found f;

		if (*c == 'h')
			help(p, NULL);
		if (*c == 'V')
			version(p);
		f = find(p, into, NULL, 0, *c);
		if (!f.o)
			opt_misuse(p, "there is no option -%c", *c);
		if (f.o->kind == OPT_FLAG) {
			*(int *)f.at = 1;
			continue;
		}
		c = c[1] ? c + 1 : argv[++*i];
		if (!c)
			opt_misuse(p, "-%c needs a value: %s", f.o->key, f.o->arg);
		set(p, f, c);
		return;
	}
}

/* No file of ours may get the number of a standard one that is closed, where it would be read as
 * input or get our messages. What stands in for it fails like it: fd 0 can't be read, 1 and 2 can't
 * be written. */
static void hold_standard_files(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

void opt_parse(const struct opt_prog *p, int argc, char **argv, void *into)
{
	struct opt_list *operands = (void *)((char *)into + p->operands_at);
	int options = 1;

	prog_name = p->name;
	hold_standard_files();
	for (int i = 1; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0)
			options = 0;
		else if (options && argv[i][0] == '-' && argv[i][1] == '-')
			parse_long(p, argv, &i, into);
		else if (options && argv[i][0] == '-' && argv[i][1])
			parse_short(p, argv, &i, into);
		else if (!p->operands)
			opt_misuse(p, "takes no files: '%s'", argv[i]);
		else
			opt_list_add(operands, argv[i]);
	}
}
