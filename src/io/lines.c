#include "io/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "io/array.h"
#include "io/in.h"

#define BUFFER_MIN (256u << 10)
#define LINE_END   2 /* CR LF */

struct lines {
	struct lines_file *files;
	int digests;
	char **names;
	size_t nnames, at_file; /* names[at_file] is open, or the next to be */
	size_t max;
	struct in *in;
	int fresh; /* its first bytes are still to be looked at */
	int eof;
	char *data; /* data[start..end) is read and not yet handed out */
	size_t cap, start, end;
	size_t seen; /* of those, bytes known to hold no LF */
	uint64_t number;
	int rest;   /* the line handed out last was too long and its end is still to come */
	int arrays; /* an input may be an array */
	enum { NO_ARRAY, MAYBE_ARRAY, IN_ARRAY, BEHIND_ARRAY, CUT_ARRAY } array;
	struct array scan; /* of data[start .. start + seen) in an array */
	int first;	   /* no element of it yet */
	int failed;	   /* lines_readable did, of which lines_next is to tell */
	struct err why;
};

static int check_file(const char *path, struct err *e)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return 0;
	if (stat(path, &st) < 0 || access(path, R_OK) < 0)
		return err_sys(e, "%s", path);
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return err_sys(e, "%s", path);
	}
	return 0;
}

int lines_check(const char *const *paths, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++)
		if (check_file(paths[i], e) < 0)
			return -1;
	return 0;
}

struct lines *lines_open(const char *const *paths, size_t n, size_t max, struct err *e)
{
	static const char *const standard_input[] = {"-"};
	struct lines *l;

	if (n == 0) {
		paths = standard_input;
		n = 1;
	}
	if (lines_check(paths, n, e) < 0)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->max = max ? max : LINES_MAX_DEFAULT;
	l->nnames = n;
	l->names = xcalloc(n, sizeof(*l->names));
	l->files = xcalloc(n, sizeof(*l->files));
	for (size_t i = 0; i < n; i++)
		l->files[i].name = l->names[i] = xstrdup(paths[i]);
	l->cap = BUFFER_MIN;
	l->data = xmalloc(l->cap);
	return l;
}

void lines_arrays(struct lines *l)
{
	l->arrays = 1;
}

void lines_want_digests(struct lines *l)
{
	l->digests = 1;
}

const struct lines_file *lines_files(const struct lines *l, size_t *n)
{
	*n = l->nnames;
	return l->files;
}

void lines_close(struct lines *l)
{
	if (!l)
		return;
	in_close(l->in);
	for (size_t i = 0; i < l->nnames; i++)
		free(l->names[i]);
	free(l->names);
	free(l->files);
	free(l->data);
	free(l);
}

/* Reads more behind data[end), growing up to what the longest line needs. Sets eof at the end. */
static int fill(struct lines *l, struct err *e)
{
	size_t limit = l->max + LINE_END > BUFFER_MIN ? l->max + LINE_END : BUFFER_MIN;
	ssize_t got;

	if (l->start > 0) {
		memmove(l->data, l->data + l->start, l->end - l->start);
		l->end -= l->start;
		l->start = 0;
	}
	if (l->end == l->cap) {
		l->cap = l->cap > limit / 2 ? limit : l->cap * 2;
		l->data = xreallocarray(l->data, l->cap, 1);
	}
	got = in_read(l->in, l->data + l->end, l->cap - l->end, e);
	if (got < 0)
		return -1;
	l->end += (size_t)got;
	l->eof = got == 0;
	return 0;
}

/* First bytes that belong to no line. UTF-8's mark is passed over; behind the others no line is a
 * record, and the input is refused as a whole. */
static const struct {
	const char *bytes;
	size_t n;
	const char *refuse; /* what it is and what to do about it, or NULL */
} marks[] = {
    {"\xef\xbb\xbf", 3, NULL},
    {"\xff\xfe", 2, "UTF-16 (it begins with FF FE): iconv -f UTF-16 -t UTF-8 FILE | ..."},
    {"\xfe\xff", 2, "UTF-16 (it begins with FE FF): iconv -f UTF-16 -t UTF-8 FILE | ..."},
    {"\x1f\x8b", 2, "gzip: zcat FILE | ..."},
};

#define MARKS (sizeof(marks) / sizeof(marks[0]))

/* The mark at data[start), whole or as far as there is any of it, or MARKS. */
static size_t find_mark(const struct lines *l)
{
	size_t have = l->end - l->start, i = 0;

	while (i < MARKS && memcmp(l->data + l->start, marks[i].bytes,
				have < marks[i].n ? have : marks[i].n) != 0)
		i++;
	return i;
}

static int skip_mark(struct lines *l, struct err *e)
{
	size_t i;

	while ((i = find_mark(l)) < MARKS && !l->eof && l->end - l->start < marks[i].n)
		if (fill(l, e) < 0)
			return -1;
	if (i == MARKS || l->end - l->start < marks[i].n)
		return 0;
	if (marks[i].refuse)
		return err_set(e, "encoding", "%s: %s", in_name(l->in), marks[i].refuse);
	l->start += marks[i].n;
	return 0;
}

static int open_file(struct lines *l, struct err *e)
{
	l->in = in_open(l->names[l->at_file], e);
	if (!l->in)
		return -1;
	if (strcmp(l->names[l->at_file], "-") == 0) {
		free(l->names[l->at_file]);
		l->files[l->at_file].name = l->names[l->at_file] = xstrdup(in_name(l->in));
	}
	if (l->digests)
		in_want_digest(l->in);
	l->eof = 0;
	l->start = l->end = l->seen = 0;
	l->number = 0;
	l->array = l->arrays ? MAYBE_ARRAY : NO_ARRAY;
	l->fresh = 1;
	return 0;
}

static int begin(struct lines *l, struct err *e)
{
	l->fresh = 0;
	return skip_mark(l, e);
}

static void close_file(struct lines *l)
{
	if (l->digests) {
		struct in_digest d = in_digest(l->in);

		l->files[l->at_file].bytes = d.bytes;
		l->files[l->at_file].xxh64 = d.xxh64;
	}
	in_close(l->in);
	l->in = NULL;
	l->at_file++;
}

static int blank(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
			return 0;
	return 1;
}

/* Finds the end of the line at data[start): 1 with its length, without a line end, in *n and the
 * bytes to pass over in *whole; 0 where the file has no more; 2 when it is too long. */
static int find_line(struct lines *l, size_t *n, size_t *whole, struct err *e)
{
	for (;;) {
		size_t have = l->end - l->start;
		const char *p = l->data + l->start;
		const char *lf = memchr(p + l->seen, '\n', have - l->seen);

		if (lf || (l->eof && have > 0)) {
			*n = lf ? (size_t)(lf - p) : have;
			*whole = lf ? *n + 1 : have;
			if (lf && *n > 0 && p[*n - 1] == '\r')
				--*n;
			return *n > l->max ? 2 : 1;
		}
		if (l->eof)
			return 0;
		l->seen = have;
		if (have >= l->max + LINE_END)
			return 2;
		if (fill(l, e) < 0)
			return -1;
	}
}

/* ---- arrays ---- */

/* Whether the input, or what is behind an array, begins with a '['; passes over it and the blanks
 * before it. What is no array is lines; behind one their numbers go on, as elements. */
static int open_array(struct lines *l, struct err *e)
{
	static const char blanks[] = " \t\r\n";

	for (;;) {
		size_t i = l->start;

		while (i < l->end && memchr(blanks, l->data[i], sizeof(blanks) - 1))
			i++;
		if (i < l->end && l->data[i] == '[') {
			l->start = i + 1;
			l->seen = 0;
			l->first = 1;
			l->scan = (struct array){0};
			l->array = IN_ARRAY;
			return 0;
		}
		if (l->array == BEHIND_ARRAY)
			l->start = i;
		if (i < l->end || l->eof) {
			l->array = l->array == BEHIND_ARRAY ? BEHIND_ARRAY : NO_ARRAY;
			return 0;
		}
		/* a file of blanks is lines, and may be longer than any buffer */
		if (l->array == MAYBE_ARRAY && l->end - l->start > BUFFER_MIN / 2) {
			l->array = NO_ARRAY;
			return 0;
		}
		if (fill(l, e) < 0)
			return -1;
	}
}

/* The element at data[start): as find_line, its end being a ',' or a ']'. */
static int find_element(struct lines *l, size_t *n, struct err *e)
{
	for (;;) {
		size_t have = l->end - l->start;

		l->seen += array_end(&l->scan, l->data + l->start + l->seen, have - l->seen);
		*n = l->seen;
		if (l->seen < have || l->eof)
			return l->seen > l->max ? 2 : 1;
		if (have > l->max)
			return 2;
		if (fill(l, e) < 0)
			return -1;
	}
}

/* Passes over the element's end, if it has one. Where the input ends behind a whole element, the
 * array's missing end is to be told of too. */
static void end_element(struct lines *l, int empty)
{
	int whole = !empty && l->scan.depth == 0 && !l->scan.string;

	l->start += l->seen;
	if (l->start == l->end)
		l->array = whole ? CUT_ARRAY : NO_ARRAY;
	else if (l->data[l->start++] == ']')
		l->array = BEHIND_ARRAY;
	l->seen = 0;
	l->scan = (struct array){0};
}

static void trim(struct line *line)
{
	while (line->n && blank(line->p, 1)) {
		line->p++;
		line->n--;
	}
	while (line->n && blank(line->p + line->n - 1, 1))
		line->n--;
}

/* An element of nothing is an element, which its reader will refuse: the place of a comma too many,
 * or where the array is cut. Only "[]" has none. */
static int next_element(struct lines *l, struct line *out, struct err *e)
{
	size_t n = 0;
	int rc = find_element(l, &n, e), first = l->first;

	if (rc < 0)
		return -1;
	l->first = 0;
	l->number++;
	*out = (struct line){l->data + l->start, n, l->names[l->at_file], l->number, rc == 2, 1};
	if (rc == 2) {
		out->n = l->max;
		l->start += l->max;
		l->seen -= l->max;
		l->rest = 1;
		return 1;
	}
	trim(out);
	end_element(l, out->n == 0);
	if (out->n || !first || l->array != BEHIND_ARRAY)
		return 1;
	l->number--;
	return 0;
}

/* ---- the lines and elements of a file ---- */

static int next_in_file(struct lines *l, struct line *out, struct err *e)
{
	size_t n = 0, whole = 0;
	int rc;

	if (l->array == CUT_ARRAY) {
		l->array = NO_ARRAY;
		*out =
		    (struct line){l->data + l->start, 0, l->names[l->at_file], ++l->number, 0, 1};
		return 1;
	}
	for (;;) {
		if ((l->array == MAYBE_ARRAY || l->array == BEHIND_ARRAY) && open_array(l, e) < 0)
			return -1;
		if (l->array != IN_ARRAY)
			break;
		rc = next_element(l, out, e);
		if (rc != 0)
			return rc;
	}
	for (;;) {
		rc = find_line(l, &n, &whole, e);
		if (rc <= 0)
			return rc;
		l->number++;
		*out = (struct line){l->data + l->start, n, l->names[l->at_file], l->number,
		    rc == 2, l->array == BEHIND_ARRAY};
		if (rc == 2) {
			out->n = l->max;
			l->start += l->max;
			l->rest = 1;
		} else {
			l->start += whole;
		}
		l->seen = 0;
		if (rc == 2 || !blank(out->p, out->n))
			return 1;
	}
}

int lines_next(struct lines *l, struct line *out, struct err *e)
{
	const char *p;
	size_t n;
	int rc;

	if (l->failed) {
		*e = l->why;
		return -1;
	}
	while ((rc = lines_rest(l, &p, &n, e)) > 0)
		;
	while (rc == 0 && l->at_file < l->nnames) {
		if (!l->in && open_file(l, e) < 0)
			return -1;
		if (l->fresh && begin(l, e) < 0)
			return -1;
		rc = next_in_file(l, out, e);
		if (rc == 0)
			close_file(l);
		if (rc > 0)
			l->files[l->at_file].records++;
	}
	return rc;
}

/* lines_rest in an array: first what was scanned already. */
static int element_rest(struct lines *l, const char **p, size_t *n, struct err *e)
{
	if (l->start == l->end && !l->eof && fill(l, e) < 0)
		return -1;
	if (!l->seen)
		l->seen = array_end(&l->scan, l->data + l->start, l->end - l->start);
	*p = l->data + l->start;
	*n = l->seen;
	if (l->start + l->seen == l->end && !l->eof) {
		l->start = l->end;
		l->seen = 0;
		return 1;
	}
	end_element(l, 0);
	l->rest = 0;
	return *n > 0;
}

int lines_rest(struct lines *l, const char **p, size_t *n, struct err *e)
{
	const char *lf;

	if (!l->rest)
		return 0;
	if (l->array == IN_ARRAY)
		return element_rest(l, p, n, e);
	if (l->start == l->end && !l->eof && fill(l, e) < 0)
		return -1;
	lf = memchr(l->data + l->start, '\n', l->end - l->start);
	*p = l->data + l->start;
	*n = lf ? (size_t)(lf - *p) : l->end - l->start;
	l->start += *n + (lf != NULL);
	if (lf || (l->eof && *n == 0))
		l->rest = 0;
	return *n > 0 ? 1 : 0;
}

int lines_ready(struct lines *l)
{
	if (l->array == IN_ARRAY && !l->rest) {
		size_t have = l->end - l->start;

		l->seen += array_end(&l->scan, l->data + l->start + l->seen, have - l->seen);
		return l->seen < have;
	}
	if (l->rest || l->array == IN_ARRAY || l->end == l->start)
		return 0;
	if (memchr(l->data + l->start + l->seen, '\n', l->end - l->start - l->seen))
		return 1;
	if (l->array == NO_ARRAY)
		l->seen = l->end - l->start;
	return 0;
}

/* Passes over the whole line at data[start), if it is blank. */
static int pass_blank(struct lines *l)
{
	const char *p = l->data + l->start;
	const char *lf = memchr(p + l->seen, '\n', l->end - l->start - l->seen);
	size_t n = lf ? (size_t)(lf - p) : 0;

	if (!lf || n - (n > 0 && lf[-1] == '\r') > l->max || !blank(p, n))
		return 0;
	l->start += n + 1;
	l->seen = 0;
	l->number++;
	return 1;
}

/* Whether the file that is open has a whole line, or no more: 1; 2 at its end; else 0. */
static int readable(struct lines *l)
{
	size_t n;

	if (l->rest || l->array != NO_ARRAY)
		return lines_ready(l) || in_ready(l->in);
	while (!l->failed) {
		if (pass_blank(l))
			continue;
		if (lines_ready(l) || l->eof || l->end - l->start >= l->max + LINE_END)
			break;
		if (!in_ready(l->in))
			return 0;
		l->failed = fill(l, &l->why) < 0;
	}
	n = l->end - l->start;
	return !l->failed && l->eof && n <= l->max && blank(l->data + l->start, n) ? 2 : 1;
}

/* Half a line, whose writer has gone to sleep, must not stop a run that has other things to do; nor
 * must the next file, if that is one's to write who is not there yet. */
int lines_readable(struct lines *l)
{
	int rc = 2;

	while (rc == 2 && !l->failed && (l->in || l->at_file < l->nnames)) {
		if (!l->in)
			l->failed = open_file(l, &l->why) < 0;
		if (l->in && l->fresh) {
			if (!in_ready(l->in))
				return 0;
			l->failed = begin(l, &l->why) < 0;
		}
		rc = l->failed ? 1 : readable(l);
		if (rc == 2)
			close_file(l);
	}
	return rc > 0;
}
