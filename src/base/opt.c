#include "base/opt_int.h"

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

int opt_replaced(const struct opt_prog *p, const struct opt *o)
{
	for (const struct opt *own = p->own; own && own->kind; own++)
		if (own != o && own->name && o->name && strcmp(own->name, o->name) == 0)
			return 1;
	return 0;
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
	opt_help(p, how);
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

static int set_num(const struct opt *o, const char *s, double *out)
{
	if (num_double(s, strlen(s), out) < 0 || !isfinite(*out))
		return -1;
	return *out < (double)(int64_t)o->min || (o->max && *out > (double)o->max) ? -1 : 0;
}

static int set_value(const struct opt *o, const char *s, void *at)
{
	switch (o->kind) {
	case OPT_STR: *(const char **)at = s; return *s ? 0 : -1;
	case OPT_LIST: opt_list_add(at, s); return *s ? 0 : -1;
	case OPT_U64:
	case OPT_SIZE: return set_u64(o, s, at);
	case OPT_NUM: return set_num(o, s, at);
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

struct bounds {
	char text[80];
};

/* "16M", where a size may be written so. */
static struct bounds bound(const struct opt *o, uint64_t v)
{
	static const char *const unit[] = {"", "K", "M", "G", "T"};
	struct bounds b;
	int i = 0;

	for (; o->kind == OPT_SIZE && i < 4 && v > 0 && v % 1024 == 0; i++)
		v /= 1024;
	snprintf(b.text, sizeof(b.text), "%lld%s", (long long)v, unit[i]);
	return b;
}

static struct bounds bounds_of(const struct opt *o)
{
	struct bounds b = {""};
	int number = o->kind == OPT_U64 || o->kind == OPT_SIZE || o->kind == OPT_NUM;

	if (number && o->max)
		snprintf(b.text, sizeof(b.text), " from %.30s to %.30s", bound(o, o->min).text,
		    bound(o, o->max).text);
	else if (number && (o->min || o->kind == OPT_NUM))
		snprintf(b.text, sizeof(b.text), " of %.30s or more", bound(o, o->min).text);
	return b;
}

static _Noreturn void bad_value(const struct opt_prog *p, const struct opt *o, const char *s)
{
	static const char *const want[OPT_SHARD + 1] = {
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
	opt_misuse(p, "%s%s: expected %s%s, not '%s'", dash, name,
	    want[o->kind] ? want[o->kind] : o->arg, bounds_of(o).text, s);
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
		if (o->name && !opt_replaced(p, o))
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
	if (n == 7 && memcmp(name, "version", 7) == 0) {
		if (value)
			opt_misuse(p, "--version takes no value");
		version(p);
	}
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
		else if (!argv[i][0])
			opt_misuse(p, "expected a file, not ''");
		else
			opt_list_add(operands, argv[i]);
	}
}
