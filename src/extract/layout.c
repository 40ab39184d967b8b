#include "extract/layout.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"

enum { GROUP = 2000, NAME_MAX_BYTES = 200, NAME_KEPT = 150 };

static const struct {
	const char *word, *end;
	int mask;
} layouts[] = {
    [LAYOUT_SEED] = {"seed", ".pt", 1},
    [LAYOUT_SPECFORGE] = {"specforge", ".ckpt", 1},
    [LAYOUT_MODELOPT] = {"modelopt", ".pt", 1},
    [LAYOUT_SPECULATORS] = {"speculators", ".safetensors", 0},
    [LAYOUT_COMPACT] = {"compact", ".e3c", 0}, /* it has one where there is one */
};

#define NLAYOUTS (int)(sizeof(layouts) / sizeof(layouts[0]))

const char *layout_word(enum layout l)
{
	return layouts[l].word;
}

int layout_of_word(const char *word)
{
	for (int i = 0; i < NLAYOUTS; i++)
		if (strcmp(layouts[i].word, word) == 0)
			return i;
	return -1;
}

int layout_is(int l)
{
	return l >= 0 && l < NLAYOUTS;
}

int layout_needs_mask(enum layout l)
{
	return layouts[l].mask;
}

/* ---- names ---- */

static int plain(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

static void name_of_id(struct buf *out, struct span id)
{
	uint64_t hash = hash64(id.p, id.n, 0);
	size_t start;

	buf_addf(out, "%02x/", (unsigned)(hash >> 56));
	start = out->len;
	for (size_t i = 0; i < id.n; i++) {
		unsigned char c = (unsigned char)id.p[i];

		if (plain(c) && !(i == 0 && c == '.'))
			buf_addc(out, (char)c);
		else
			buf_addf(out, "%%%02X", c);
	}
	if (out->len - start > NAME_MAX_BYTES) {
		out->len = start + NAME_KEPT;
		buf_addc(out, '-');
		buf_add_hex64(out, hash);
	}
}

void layout_name(struct buf *out, enum layout l, uint64_t i, uint64_t k, struct span id)
{
	unsigned long long group = i / GROUP * GROUP;

	switch (l) {
	case LAYOUT_MODELOPT: name_of_id(out, id); break;
	case LAYOUT_SPECULATORS:
		buf_addf(out, "hidden_states/hs_%llu", (unsigned long long)k);
		break;
	default:
		buf_addf(
		    out, "rows_%llu-%llu/data_%llu", group, group + GROUP, (unsigned long long)i);
	}
	buf_adds(out, layouts[l].end);
}

/* The digits between before and after, which with them make all of name. */
static int numbered(const char *name, const char *before, const char *after)
{
	size_t b = strlen(before), a = strlen(after), n = strlen(name);
	uint64_t v;

	return n > a + b && memcmp(name, before, b) == 0 && memcmp(name + n - a, after, a) == 0 &&
	       num_u64(name + b, n - a - b, &v) == 0;
}

int layout_owns(enum layout l, const char *name)
{
	const char *slash = strchr(name, '/');
	const char *file = slash ? slash + 1 : name;
	size_t n = strlen(file), end = strlen(layouts[l].end);

	/* what out.c calls the manifest for now, should a kill have left it; others' temporary files,
	 * such as this run's own rejects, may be in the folder too */
	if (!slash && strncmp(file, ".manifest.json.", 15) == 0 &&
	    strcmp(file + n - 4, ".tmp") == 0)
		return 1;
	if (numbered(file, ".new-", layouts[l].end))
		return 1;
	if (!slash || strchr(file, '/'))
		return 0;
	switch (l) {
	case LAYOUT_MODELOPT:
		return slash - name == 2 && n > end && strcmp(file + n - end, layouts[l].end) == 0;
	case LAYOUT_SPECULATORS:
		return strncmp(name, "hidden_states/", 14) == 0 &&
		       numbered(file, "hs_", layouts[l].end);
	default: return strncmp(name, "rows_", 5) == 0 && numbered(file, "data_", layouts[l].end);
	}
}

/* ---- what a layout can't hold ---- */

int layout_refuse(enum layout l, unsigned aux, int last, enum norm norm, struct err *e)
{
	const char *word = layouts[l].word;

	if (!last && l != LAYOUT_SEED && l != LAYOUT_COMPACT)
		return err_set(e, "layout",
		    "layout %s needs the last layer: leave out --no-last, or write --layout seed",
		    word);
	if (l == LAYOUT_SPECFORGE && aux != 3)
		return err_set(
		    e, "layout", "layout specforge holds exactly 3 aux layers, not %u", aux);
	if (!last || l == LAYOUT_SEED || l == LAYOUT_MODELOPT || l == LAYOUT_COMPACT)
		return 0;
	if (norm == NORM_UNSAID)
		return err_set(e, "layout",
		    "layout %s depends on whether the last state is before or after the final "
		    "norm: say "
		    "--norm",
		    word);
	if (l == LAYOUT_SPECFORGE && norm == NORM_BEFORE)
		return err_set(e, "layout",
		    "layout specforge wants the last state after the final norm and it comes "
		    "before: add --apply-norm --model DIR, or write --layout speculators");
	if (l == LAYOUT_SPECULATORS && norm == NORM_AFTER)
		return err_set(e, "layout",
		    "layout speculators wants the last state before the final norm and it comes "
		    "after, from where there is no way back: write --layout specforge or "
		    "modelopt");
	return 0;
}
