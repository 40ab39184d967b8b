#include "base/opt_int.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

enum {
	HELP_COLUMN = 33, /* where the words about an option begin */
	HELP_WIDTH = 80,
};

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
		if (!opt_replaced(p, o))
			help_one(o);
	help_row("-h, --help", "this text");
	help_row("-V, --version", "the version");
	printf("\nThe man page, %s(1), says more.\n", p->name);
}

static void bash_words(const struct opt_prog *p, const struct opt *o)
{
	for (; o && o->kind; o++) {
		if (opt_replaced(p, o))
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
		if (!opt_replaced(p, o))
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

		if (opt_replaced(p, o))
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

void opt_help(const struct opt_prog *p, const char *how)
{
	if (!how)
		help_text(p);
	else if (strcmp(how, "bash") == 0)
		help_bash(p);
	else if (strcmp(how, "zsh") == 0)
		help_zsh(p);
	else
		opt_misuse(p, "--help takes bash or zsh, for completions");
}
