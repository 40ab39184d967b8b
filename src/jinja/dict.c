#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "jinja/rt.h"
#include "jinja/value.h"
#include "json/val.h"

#define SMALL 8 /* dicts up to this size are searched without an index */

static uint64_t mix(uint64_t x)
{
	return hash64(&x, sizeof(x), 1);
}

/* Equal values hash alike: 1, 1.0 and true. */
static int hash_double(double d, uint64_t *hash)
{
	if (d >= -9223372036854775808.0 && d < 9223372036854775808.0 && d == floor(d)) {
		*hash = mix((uint64_t)(int64_t)d);
		return 0;
	}
	*hash = hash64(&d, sizeof(d), 2);
	return 0;
}

static int hash_tuple(struct rt *rt, const struct list *l, uint64_t *hash)
{
	uint64_t sum = 3;

	if (++rt->depth > VALUE_DEPTH)
		return rt_fail(rt, "values nested too deep");
	for (size_t i = 0; i < l->n; i++) {
		uint64_t h;

		if (value_hash(rt, &l->v[i], &h) < 0) {
			rt->depth--;
			return -1;
		}
		sum = mix(sum ^ h);
	}
	rt->depth--;
	*hash = sum;
	return 0;
}

int value_hash(struct rt *rt, const struct value *v, uint64_t *hash)
{
	switch (v->kind) {
	case V_STR: *hash = hash64(v->u.s.p, v->u.s.n, 0); return rt_step(rt, v->u.s.n);
	case V_BIG: *hash = hash64(v->u.s.p, v->u.s.n, 4); return 0;
	case V_BOOL:
	case V_INT: *hash = mix((uint64_t)v->u.i); return 0;
	case V_FLOAT: return hash_double(v->u.d, hash);
	case V_NONE:
	case V_UNDEF: *hash = v->kind; return 0;
	case V_TUPLE: return hash_tuple(rt, v->u.list, hash);
	case V_LIST:
	case V_DICT:
	case V_VIEW: return -1;
	default: *hash = mix((uint64_t)(uintptr_t)v->u.list); return 0;
	}
}

struct dict *dict_new(struct rt *rt, size_t cap)
{
	struct dict *d = rt_alloc(rt, sizeof(*d));

	*d = (struct dict){.cap = cap};
	if (cap > 0)
		d->p = rt_array(rt, cap, sizeof(*d->p));
	return d;
}

void dict_read(struct rt *rt, struct dict *d)
{
	const struct jval *src = d->src;

	d->p = rt_array(rt, d->n, sizeof(*d->p));
	d->cap = d->n;
	for (size_t i = 0; i < d->n; i++) {
		value_str(&d->p[i].key, src->u.obj.m[i].key.p, src->u.obj.m[i].key.n);
		value_of_json(rt, &src->u.obj.m[i].val, &d->p[i].val);
	}
	d->src = NULL;
}

static void put_slot(struct dict *d, size_t i, uint64_t hash)
{
	size_t at = hash & (d->nslot - 1);

	while (d->slot[at])
		at = (at + 1) & (d->nslot - 1);
	d->slot[at] = (uint32_t)i + 1;
}

/* Every key in an index that is at most half full. */
static void make_index(struct rt *rt, struct dict *d)
{
	uint64_t hash = 0;

	for (d->nslot = 32; d->nslot < d->n * 2 + 2;)
		d->nslot *= 2;
	d->nslot *= 2;
	d->slot = rt_array(rt, d->nslot, sizeof(*d->slot));
	memset(d->slot, 0, d->nslot * sizeof(*d->slot));
	for (size_t i = 0; i < d->n; i++) {
		value_hash(rt, &d->p[i].key, &hash);
		put_slot(d, i, hash);
	}
}

static struct value *find_linear(struct rt *rt, const struct dict *d, const struct value *key)
{
	for (size_t i = 0; i < d->n; i++)
		if (value_eq(rt, &d->p[i].key, key) > 0)
			return &d->p[i].val;
	return NULL;
}

struct value *dict_find(struct rt *rt, struct dict *d, const struct value *key, int *bad)
{
	uint64_t hash;

	*bad = 0;
	dict_open(rt, d);
	if (key->kind == V_STR && d->n <= SMALL)
		return dict_find_str(rt, d, key->u.s.p, key->u.s.n);
	if (value_hash(rt, key, &hash) < 0) {
		*bad = 1;
		return NULL;
	}
	if (d->n <= SMALL)
		return find_linear(rt, d, key);
	if (!d->slot)
		make_index(rt, d);
	for (size_t at = hash & (d->nslot - 1); d->slot[at]; at = (at + 1) & (d->nslot - 1)) {
		struct pair *p = &d->p[d->slot[at] - 1];

		if (value_eq(rt, &p->key, key) > 0)
			return &p->val;
	}
	return NULL;
}

struct value *dict_find_str(struct rt *rt, struct dict *d, const char *s, size_t n)
{
	struct value key;
	int bad;

	dict_open(rt, d);
	if (d->n > SMALL) {
		value_str(&key, s, n);
		return dict_find(rt, d, &key, &bad);
	}
	for (size_t i = 0; i < d->n; i++) {
		const struct value *k = &d->p[i].key;

		if (k->kind == V_STR && k->u.s.n == n && (n == 0 || memcmp(k->u.s.p, s, n) == 0))
			return &d->p[i].val;
	}
	return NULL;
}

int dict_set(struct rt *rt, struct dict *d, const struct value *key, const struct value *val)
{
	uint64_t hash;
	int bad;
	struct value *have = dict_find(rt, d, key, &bad);

	if (have) {
		*have = *val;
		return 0;
	}
	if (bad || value_hash(rt, key, &hash) < 0)
		return rt_fail(rt, "a value of type '%s' can't be a key", value_type(key));
	if (d->n == d->cap) {
		size_t cap = d->cap ? d->cap * 2 : 4;
		struct pair *p;

		if (rt_room(rt, cap, sizeof(*p)) < 0)
			return -1;
		p = rt_array(rt, cap, sizeof(*p));
		if (d->n > 0)
			memcpy(p, d->p, d->n * sizeof(*p));
		d->p = p;
		d->cap = cap;
	}
	d->p[d->n++] = (struct pair){*key, *val};
	if (d->slot && d->n * 2 > d->nslot)
		make_index(rt, d);
	else if (d->slot)
		put_slot(d, d->n - 1, hash);
	return 0;
}
