#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tensor/le.h"
#include "tensor/pickle.h"

/* The stack machine of pickle, less everything that could call something. Each opcode pushes at
 * most one value, and values share their parts, so PICKLE_MOST bounds the memory. */
struct vm {
	const char *p, *end;
	struct arena *arena;
	struct err *err;
	struct pv *stack;
	size_t n, cap;
	struct pv *memo; /* PV_MARK: free */
	size_t nmemo, memocap;
	size_t pushed; /* values, in all */
};

static int bad(struct vm *m, const char *what)
{
	return err_set(m->err, "format", "pickle: %s", what);
}

static int push(struct vm *m, struct pv v)
{
	if (m->pushed++ == PICKLE_MOST)
		return bad(m, "more than a million values");
	m->stack = xgrow(m->stack, &m->cap, m->n + 1, sizeof(*m->stack));
	m->stack[m->n++] = v;
	return 0;
}

static int push_int(struct vm *m, enum pv_kind kind, int64_t v)
{
	return push(m, (struct pv){.kind = kind, .u.i = v});
}

/* The next n bytes, or NULL. */
static const char *take(struct vm *m, size_t n)
{
	const char *p = m->p;

	if ((size_t)(m->end - p) < n) {
		bad(m, "it ends early");
		return NULL;
	}
	m->p += n;
	return p;
}

static int take_uint(struct vm *m, int bytes, uint64_t *v)
{
	const char *p = take(m, (size_t)bytes);

	*v = p ? le_get(p, bytes) : 0;
	return p ? 0 : -1;
}

/* BININT1, BININT2 are unsigned, BININT signed. */
static int op_int(struct vm *m, int bytes)
{
	uint64_t v;

	if (take_uint(m, bytes, &v) < 0)
		return -1;
	return push_int(m, PV_INT, bytes == 4 ? (int32_t)(uint32_t)v : (int64_t)v);
}

static int op_long1(struct vm *m)
{
	uint64_t n, v;
	const char *p;

	if (take_uint(m, 1, &n) < 0 || !(p = take(m, n)))
		return -1;
	if (n > 8)
		return bad(m, "an int of more than 64 bits");
	v = le_get(p, (int)n);
	if (n > 0 && n < 8 && (unsigned char)p[n - 1] & 0x80)
		v |= UINT64_MAX << (8 * n);
	return push_int(m, PV_INT, (int64_t)v);
}

static int op_str(struct vm *m)
{
	uint64_t n;
	const char *p;

	if (take_uint(m, 4, &n) < 0 || !(p = take(m, n)))
		return -1;
	return push(m, (struct pv){.kind = PV_STR, .u.s = {p, n}});
}

static int op_global(struct vm *m)
{
	const char *start = m->p, *lf = memchr(start, '\n', (size_t)(m->end - start));

	if (lf)
		lf = memchr(lf + 1, '\n', (size_t)(m->end - lf - 1));
	if (!lf)
		return bad(m, "a global without its end");
	m->p = lf + 1;
	return push(m, (struct pv){.kind = PV_GLOBAL, .u.s = {start, (size_t)(lf - start)}});
}

static int is_global(const struct pv *v, const char *s)
{
	return v->kind == PV_GLOBAL && span_eq(v->u.s, s);
}

static int op_tuple(struct vm *m, size_t n)
{
	struct pv v = {.kind = PV_TUPLE, .u.tuple = {.n = n}};

	if (m->n < n)
		return bad(m, "the stack is empty");
	v.u.tuple.v = arena_array(m->arena, n + 1, sizeof(struct pv));
	if (n > 0)
		memcpy(v.u.tuple.v, m->stack + m->n - n, n * sizeof(struct pv));
	for (size_t i = 0; i < n; i++)
		if (v.u.tuple.v[i].kind == PV_MARK)
			return bad(m, "a mark in a tuple");
	m->n -= n;
	return push(m, v);
}

/* Values above the topmost mark; the mark goes. */
static int above_mark(struct vm *m, size_t *n)
{
	size_t i = m->n;

	while (i > 0 && m->stack[i - 1].kind != PV_MARK)
		i--;
	if (i == 0)
		return bad(m, "no mark");
	*n = m->n - i;
	if (*n > 0)
		memmove(m->stack + i - 1, m->stack + i, *n * sizeof(struct pv));
	m->n--;
	return 0;
}

static int op_mark_tuple(struct vm *m)
{
	size_t n;

	return above_mark(m, &n) < 0 ? -1 : op_tuple(m, n);
}

static int op_dict(struct vm *m)
{
	struct pv v = {.kind = PV_DICT};

	v.u.dict = arena_alloc(m->arena, sizeof(*v.u.dict));
	*v.u.dict = (struct pv_dict){0};
	return push(m, v);
}

static int set_items(struct vm *m, size_t n)
{
	struct pv_dict *d;

	if (m->n < n + 1 || m->stack[m->n - n - 1].kind != PV_DICT || n % 2 != 0)
		return bad(m, "items for no dict");
	d = m->stack[m->n - n - 1].u.dict;
	if (2 * d->n + n > d->cap) {
		size_t cap = 2 * (2 * d->n + n);
		struct pv *kv = arena_array(m->arena, cap, sizeof(*kv));

		if (d->n > 0)
			memcpy(kv, d->kv, 2 * d->n * sizeof(*kv));
		d->kv = kv;
		d->cap = cap;
	}
	if (n > 0)
		memcpy(d->kv + 2 * d->n, m->stack + m->n - n, n * sizeof(struct pv));
	d->n += n / 2;
	m->n -= n;
	return 0;
}

static int op_items(struct vm *m)
{
	size_t n;

	return above_mark(m, &n) < 0 ? -1 : set_items(m, n);
}

static int op_put(struct vm *m, int bytes)
{
	uint64_t i;

	if (take_uint(m, bytes, &i) < 0)
		return -1;
	/* memo numbers are dense in what Python writes */
	if (m->n == 0 || i > m->nmemo || i >= PICKLE_MOST)
		return bad(m, "a bad memo number");
	if (i == m->nmemo) {
		m->memo = xgrow(m->memo, &m->memocap, i + 1, sizeof(*m->memo));
		m->nmemo++;
	}
	m->memo[i] = m->stack[m->n - 1];
	return 0;
}

static int op_get(struct vm *m, int bytes)
{
	uint64_t i;

	if (take_uint(m, bytes, &i) < 0)
		return -1;
	if (i >= m->nmemo || m->memo[i].kind == PV_MARK)
		return bad(m, "a bad memo number");
	return push(m, m->memo[i]);
}

/* ("storage", torch.XStorage, "0", "cpu", elements) */
static int op_persid(struct vm *m)
{
	struct pv v = {.kind = PV_STORAGE}, *t;

	if (m->n == 0 || m->stack[m->n - 1].kind != PV_TUPLE || m->stack[m->n - 1].u.tuple.n != 5)
		return bad(m, "an unknown persistent id");
	t = m->stack[m->n - 1].u.tuple.v;
	if (t[0].kind != PV_STR || !span_eq(t[0].u.s, "storage") || t[1].kind != PV_GLOBAL ||
	    t[2].kind != PV_STR || t[4].kind != PV_INT || t[4].u.i < 0)
		return bad(m, "an unknown persistent id");
	v.u.storage = arena_alloc(m->arena, sizeof(*v.u.storage));
	*v.u.storage = (struct pv_storage){.record = t[2].u.s, .elements = (uint64_t)t[4].u.i};
	for (int i = 0; i < DT_COUNT; i++) {
		char name[40] = "torch\n";

		strcat(name, dtypes[i].torch);
		if (is_global(&t[1], name)) {
			v.u.storage->dtype = (enum dtype)i;
			m->stack[m->n - 1] = v;
			return 0;
		}
	}
	return bad(m, "an unknown storage type");
}

static int row_major(const struct pv_tensor *t, const struct pv *stride)
{
	uint64_t step = 1;

	for (unsigned i = t->ndim; i-- > 0;) {
		if (stride[i].kind != PV_INT)
			return 0;
		if (t->dim[i] > 1 && (uint64_t)stride[i].u.i != step)
			return 0;
		if (t->dim[i] > 0 && step > INT64_MAX / t->dim[i])
			return 0;
		step *= t->dim[i] > 0 ? t->dim[i] : 1;
	}
	return 1;
}

/* _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks) */
static int rebuild(struct vm *m, const struct pv *arg)
{
	const struct pv *v = arg->u.tuple.v, *size, *stride;
	struct pv out = {.kind = PV_TENSOR};
	struct pv_tensor *t;

	if (arg->u.tuple.n < 6 || v[0].kind != PV_STORAGE || v[1].kind != PV_INT || v[1].u.i < 0 ||
	    v[2].kind != PV_TUPLE || v[3].kind != PV_TUPLE)
		return bad(m, "a tensor of unknown make");
	size = v[2].u.tuple.v;
	stride = v[3].u.tuple.v;
	if (v[2].u.tuple.n > TENSOR_DIMS || v[3].u.tuple.n != v[2].u.tuple.n)
		return bad(m, "a tensor of too many dimensions");
	t = out.u.tensor = arena_alloc(m->arena, sizeof(*t));
	*t = (struct pv_tensor){.storage = v[0].u.storage, .offset = (uint64_t)v[1].u.i};
	t->ndim = (unsigned)v[2].u.tuple.n;
	for (unsigned i = 0; i < t->ndim; i++) {
		if (size[i].kind != PV_INT || size[i].u.i < 0)
			return bad(m, "a tensor of unknown make");
		t->dim[i] = (uint64_t)size[i].u.i;
	}
	if (!row_major(t, stride))
		return bad(m, "a tensor that is not contiguous");
	m->n -= 2;
	return push(m, out);
}

static int op_reduce(struct vm *m)
{
	const struct pv *f, *arg;

	if (m->n < 2 || m->stack[m->n - 1].kind != PV_TUPLE)
		return bad(m, "a call without arguments");
	f = &m->stack[m->n - 2];
	arg = &m->stack[m->n - 1];
	if (is_global(f, "torch._utils\n_rebuild_tensor_v2"))
		return rebuild(m, arg);
	if (is_global(f, "collections\nOrderedDict") && arg->u.tuple.n == 0) {
		m->n -= 2;
		return op_dict(m);
	}
	return bad(m, "a call of something else than a tensor");
}

static int step(struct vm *m, unsigned char op)
{
	switch (op) {
	case '}': return op_dict(m);
	case '(': return push(m, (struct pv){.kind = PV_MARK});
	case 't': return op_mark_tuple(m);
	case ')': return op_tuple(m, 0);
	case 0x85: return op_tuple(m, 1);
	case 0x86: return op_tuple(m, 2);
	case 0x87: return op_tuple(m, 3);
	case 's': return set_items(m, 2);
	case 'u': return op_items(m);
	case 'X': return op_str(m);
	case 'K': return op_int(m, 1);
	case 'M': return op_int(m, 2);
	case 'J': return op_int(m, 4);
	case 0x8a: return op_long1(m);
	case 0x88: return push_int(m, PV_BOOL, 1);
	case 0x89: return push_int(m, PV_BOOL, 0);
	case 'N': return push(m, (struct pv){.kind = PV_NONE});
	case 'c': return op_global(m);
	case 'q': return op_put(m, 1);
	case 'r': return op_put(m, 4);
	case 'h': return op_get(m, 1);
	case 'j': return op_get(m, 4);
	case 'Q': return op_persid(m);
	case 'R': return op_reduce(m);
	default: return err_set(m->err, "format", "pickle: opcode 0x%02x is not read here", op);
	}
}

static int run(struct vm *m, struct pv *out)
{
	const char *p = take(m, 2);

	if (!p)
		return -1;
	if ((unsigned char)p[0] != 0x80 || p[1] != 2)
		return bad(m, "not protocol 2");
	for (;;) {
		p = take(m, 1);
		if (!p)
			return -1;
		if (*p == '.')
			break;
		if (step(m, (unsigned char)*p) < 0)
			return -1;
	}
	if (m->n != 1 || m->stack[0].kind == PV_MARK)
		return bad(m, "not one value");
	*out = m->stack[0];
	return 0;
}

int pickle_read(struct pv *out, struct span text, struct arena *a, struct err *e)
{
	struct vm m = {.p = text.p, .end = text.p + text.n, .arena = a, .err = e};
	int rc = run(&m, out);

	free(m.stack);
	free(m.memo);
	return rc;
}
