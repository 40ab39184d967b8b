#include "sim/states.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "sim/fault.h"
#include "tensor/st.h"

/* One layer of a file. */
struct slot {
	uint32_t layer;
	int after;
};

/* What a file holds, after the faults. */
struct plan {
	const struct states_spec *spec;
	const struct ints *ids;
	const struct fault_hits *f;
	struct slot slot[STATES_LAYERS + 2];
	size_t nslots;
	size_t rows;
	enum dtype dtype;
};

/* ---- the values ---- */

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ x >> 16;
}

static uint32_t row_key(uint32_t id, uint32_t position, uint32_t layer)
{
	return mix(id * 0x85ebca6bu + position * 0xc2b2ae35u + layer * 0x27d4eb2fu + 1);
}

static inline uint16_t bits_of(uint32_t row, uint32_t base, uint32_t channel)
{
	uint32_t x = mix(row + channel * 0x9e3779b9u);

	return (uint16_t)((x >> 31) << 15 | (base + (x >> 28 & 7)) << 7 | (x >> 21 & 0x7f));
}

static uint32_t exponent_base(uint32_t row, int after)
{
	return after ? 120 : 116 + (row & 7);
}

uint16_t state_bits(uint32_t id, uint32_t position, uint32_t layer, int after, uint32_t channel)
{
	uint32_t row = row_key(id, position, layer);

	return bits_of(row, exponent_base(row, after), channel);
}

#define BF16_NAN 0x7fc0
#define BF16_INF 0x7f80

/* Row r of slot k as the faults leave it. */
static void fill(const struct plan *p, size_t r, size_t k, uint16_t *out)
{
	const struct fault_hits *f = p->f;
	size_t h = p->spec->hidden, at = f->on[F_HS_CONSTANT] ? 0 : r;
	struct slot s = p->slot[k == 1 && f->on[F_HS_TWICE] ? 0 : k];
	uint32_t id = (uint32_t)p->ids->v[at < p->ids->n ? at : p->ids->n - 1];
	uint32_t row = row_key(id, (uint32_t)at, s.layer), base = exponent_base(row, s.after);

	if (f->on[F_HS_ZERO] || (f->on[F_HS_ZERO_ROW] && r == p->rows / 2) ||
	    (f->on[F_HS_ZERO_SLOT] && k == 0)) {
		memset(out, 0, h * sizeof(*out));
		return;
	}
	for (size_t c = 0; c < h; c++)
		out[c] = bits_of(row, base, (uint32_t)c);
	if (f->on[F_HS_NAN] && r == p->rows - 1 && k == p->nslots - 1)
		out[h - 1] = BF16_NAN;
	if (f->on[F_HS_INF] && r == 0 && k == 0)
		out[0] = BF16_INF;
}

static void plan_make(struct plan *p, const struct states_spec *s, const struct ints *ids,
    const struct fault_hits *f, int after)
{
	*p = (struct plan){.spec = s, .ids = ids, .f = f, .rows = ids->n};
	if (!f->on[F_HS_EAGLE])
		for (size_t i = 0; i < s->nlayers; i++)
			p->slot[p->nslots++] = (struct slot){s->layer[i], 0};
	if (f->on[F_HS_SLOT_LESS] && p->nslots > 0)
		p->nslots--;
	if (f->on[F_HS_SLOT_MORE])
		p->slot[p->nslots++] = (struct slot){s->total - 1, 0};
	p->slot[p->nslots++] = (struct slot){s->total + (after ? 1 : 0), after};
	if (f->on[F_HS_SHORT])
		p->rows -= f->arg[F_HS_SHORT] < p->rows ? f->arg[F_HS_SHORT] : p->rows - 1;
	if (f->on[F_HS_LONG])
		p->rows += f->arg[F_HS_LONG];
	p->dtype = f->on[F_HS_F16] ? DT_F16 : f->on[F_HS_F32] ? DT_F32 : DT_BF16;
}

/* ---- writing ---- */

static uint16_t f16_of(uint16_t b)
{
	uint32_t exponent = b >> 7 & 0xff, sign = b & 0x8000u;

	if (exponent == 0)
		return (uint16_t)sign;
	if (exponent == 0xff)
		return (uint16_t)(sign | 0x7c00 | (b & 0x7fu) << 3);
	return (uint16_t)(sign | (exponent - 112) << 10 | (b & 0x7fu) << 3); /* 116 to 130: exact */
}

static size_t put_row(const struct plan *p, uint16_t *row, FILE *to)
{
	size_t h = p->spec->hidden;

	if (p->dtype == DT_F16)
		for (size_t c = 0; c < h; c++)
			row[c] = f16_of(row[c]);
	if (p->dtype != DT_F32)
		return fwrite(row, sizeof(*row), h, to) == h;
	for (size_t c = 0; c < h; c++) {
		uint32_t wide = (uint32_t)row[c] << 16;

		if (fwrite(&wide, sizeof(wide), 1, to) != 1)
			return 0;
	}
	return 1;
}

/* Slots [from, to) of every row. */
static int put_states(const struct plan *p, size_t from, size_t to, FILE *out)
{
	uint16_t *row = xmalloc((p->spec->hidden + 1) * sizeof(*row));
	int ok = 1;

	for (size_t r = 0; r < p->rows && ok; r++)
		for (size_t k = from; k < to && ok; k++) {
			fill(p, r, k, row);
			ok = (int)put_row(p, row, out);
		}
	free(row);
	return ok;
}

static int put_ids(const struct plan *p, FILE *out)
{
	for (size_t i = 0; i < p->ids->n; i++) {
		int64_t id = p->ids->v[i] + (p->f->on[F_HS_IDS] && i == p->ids->n / 2);

		if (fwrite(&id, sizeof(id), 1, out) != 1)
			return 0;
	}
	return 1;
}

static FILE *open_new(const char *path, struct err *e)
{
	/* what a server writes, its clients remove: they may run as other users */
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");

	if (!out) {
		err_sys(e, "%s", path);
		if (fd >= 0)
			close(fd);
	}
	return out;
}

static int done(FILE *out, int ok, const struct plan *p, const char *path, struct err *e)
{
	int bad = !ok || fflush(out) != 0;

	if (!bad && p->f->on[F_HS_CUT])
		bad = ftruncate(fileno(out), ftell(out) / 2) < 0;
	if (bad)
		err_sys(e, "%s", path);
	if (fclose(out) != 0 && !bad)
		bad = err_sys(e, "%s", path) != 0;
	return bad ? -1 : 0;
}

/* PATH becomes a link to PATH.real. */
static int make_link(const char *path, struct err *e)
{
	struct buf real = {0};
	int rc = 0;

	buf_addf(&real, "%s.real", path);
	if (rename(path, buf_cstr(&real)) < 0 || symlink(buf_cstr(&real), path) < 0)
		rc = err_sys(e, "%s", path);
	buf_free(&real);
	return rc;
}

int states_write_vllm(const struct states_spec *s, const struct ints *ids,
    const struct fault_hits *f, const char *path, struct err *e)
{
	struct plan p;
	struct tensor t[2];
	struct buf head = {0};
	FILE *out;
	int ok;

	if (f->on[F_HS_MISSING])
		return 0;
	plan_make(&p, s, ids, f, 0);
	t[0] = tensor_flat(
	    "hidden_states", p.dtype, 3, (uint64_t[]){p.rows, p.nslots, s->hidden}, NULL);
	t[1] = tensor_1d("token_ids", DT_I64, ids->n, NULL);
	out = open_new(path, e);
	if (!out)
		return -1;
	st_header(&head, t, 2);
	ok = fwrite(head.data, 1, head.len, out) == head.len && put_states(&p, 0, p.nslots, out) &&
	     put_ids(&p, out);
	buf_free(&head);
	if (done(out, ok, &p, path, e) < 0)
		return -1;
	return f->on[F_HS_LINK] ? make_link(path, e) : 0;
}

/* ---- the dump directory ---- */

/* The header with "__metadata__" put first; its length and its padding made anew. */
static void header_with(struct buf *out, const struct tensor *t, size_t n, const struct buf *meta)
{
	struct buf bare = {0};
	uint64_t len;

	st_header(&bare, t, n);
	while (bare.data[bare.len - 1] == ' ')
		bare.len--;
	buf_add(out, bare.data, 8);
	buf_adds(out, "{\"__metadata__\":");
	buf_add(out, meta->data, meta->len);
	buf_addc(out, ',');
	buf_add(out, bare.data + 9, bare.len - 9);
	while (out->len % 8 != 0)
		buf_addc(out, ' ');
	len = out->len - 8;
	for (int i = 0; i < 8; i++)
		out->data[i] = (char)(len >> (8 * i) & 0xff);
	buf_free(&bare);
}

static void metadata(struct buf *out, const struct plan *p, const char *rid)
{
	buf_adds(out, "{\"layers\":\"");
	for (size_t i = 0; i + 1 < p->nslots; i++)
		buf_addf(out, "%s%u", i > 0 ? "," : "", (unsigned)p->slot[i].layer);
	buf_addf(out, "\",\"convention\":\"in\",\"norm\":\"%s\",\"rid\":",
	    p->spec->after_norm ? "after" : "before");
	buf_add_json(out, rid, strlen(rid));
	buf_addc(out, '}');
}

static int write_dump(const struct plan *p, const char *rid, const char *path, struct err *e)
{
	size_t aux = p->nslots - 1, n = 0;
	uint64_t h = p->spec->hidden;
	struct buf meta = {0}, head = {0};
	struct tensor t[3];
	FILE *out = open_new(path, e);
	int ok;

	if (!out)
		return -1;
	t[n++] = tensor_1d("input_ids", DT_I64, p->ids->n, NULL);
	if (aux > 0)
		t[n++] = tensor_flat(
		    "aux_hidden_states", p->dtype, 2, (uint64_t[]){p->rows, aux * h}, NULL);
	t[n++] = tensor_flat("last_hidden_states", p->dtype, 2, (uint64_t[]){p->rows, h}, NULL);
	metadata(&meta, p, rid);
	header_with(&head, t, n, &meta);
	ok = fwrite(head.data, 1, head.len, out) == head.len && put_ids(p, out) &&
	     put_states(p, 0, aux, out) && put_states(p, aux, p->nslots, out);
	buf_free(&meta);
	buf_free(&head);
	return done(out, ok, p, path, e);
}

int states_write_dump(const struct states_spec *s, const struct ints *ids,
    const struct fault_hits *f, const char *dir, const char *rid, struct err *e)
{
	struct plan p;
	struct buf part = {0}, path = {0};
	int rc;

	if (f->on[F_HS_MISSING])
		return 0;
	if (rid[0] == '.' || rid[0] == '\0' || strchr(rid, '/') || strlen(rid) > 200)
		return err_set(e, "rid", "rid \"%.200s\" can't name a file", rid);
	plan_make(&p, s, ids, f, s->after_norm);
	buf_addf(&part, "%s/.%s.part", dir, rid);
	buf_addf(&path, "%s/%s.safetensors", dir, rid);
	rc = write_dump(&p, rid, buf_cstr(&part), e);
	if (rc == 0 && rename(part.data, buf_cstr(&path)) < 0)
		rc = err_sys(e, "%s", path.data);
	if (rc < 0)
		unlink(part.data);
	else if (f->on[F_HS_LINK])
		rc = make_link(path.data, e);
	buf_free(&part);
	buf_free(&path);
	return rc;
}

/* ---- JSON ---- */

static void json_value(struct buf *out, uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	char text[32];
	float v;

	memcpy(&v, &wide, sizeof(v));
	if (bits == BF16_NAN)
		buf_adds(out, "NaN"); /* as Python's json.dumps writes them */
	else if (bits == BF16_INF)
		buf_adds(out, "Infinity");
	else
		buf_add(out, text, num_repr((double)v, text));
}

void states_json(const struct states_spec *s, const struct ints *ids, const struct fault_hits *f,
    struct buf *out)
{
	struct plan p;
	uint16_t *row = xmalloc((s->hidden + 1) * sizeof(*row));
	size_t from, to;

	plan_make(&p, s, ids, f, s->after_norm);
	from = p.nslots > 1 ? 0 : p.nslots - 1;
	to = p.nslots > 1 ? p.nslots - 1 : p.nslots;
	buf_adds(out, "[[");
	for (size_t r = 0; r < p.rows; r++) {
		buf_adds(out, r > 0 ? ",[" : "[");
		for (size_t k = from; k < to; k++) {
			fill(&p, r, k, row);
			for (size_t c = 0; c < s->hidden; c++) {
				if (c > 0 || k > from)
					buf_addc(out, ',');
				json_value(out, row[c]);
			}
		}
		buf_addc(out, ']');
	}
	buf_adds(out, "]]");
	free(row);
}

int states_lock(const char *path, struct err *e)
{
	struct buf lock = {0};
	int fd;

	buf_addf(&lock, "%s.lock", path);
	fd = open(buf_cstr(&lock), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || flock(fd, LOCK_EX) < 0) {
		err_sys(e, "%s", lock.data);
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	buf_free(&lock);
	return fd;
}
