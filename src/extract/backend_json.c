#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/num.h"
#include "extract/capture.h"
#include "serve/lax.h"

/* meta_info.hidden_states: a list whose first element is the prompt's rows, each a list of numbers;
 * a flat list for each decoded token follows. With aux capture on, a row is the aux layers side by
 * side; else it is the last layer alone. Written as float32: JSON does not say what they were. */

struct rows {
	float *v;
	size_t n, cap, rows, width;
};

static int read_number(struct rows *r, struct span v, struct err *e)
{
	double x;

	/* Python's json writes NaN and Infinity: numbers to be found by the check of all states */
	if (span_eq(v, "NaN") || span_eq(v, "Infinity") || span_eq(v, "-Infinity"))
		x = (double)INFINITY;
	else if (num_double(v.p, v.n, &x) < 0)
		return err_set(e, "format", "hidden_states: row %zu holds no number", r->rows);
	r->v = xgrow(r->v, &r->cap, r->n + 1, sizeof(*r->v));
	r->v[r->n++] = (float)x;
	return 0;
}

static int read_row(struct rows *r, struct span row, struct err *e)
{
	struct lax s;
	struct span v;
	size_t start = r->n;

	lax_begin(&s, row);
	while (lax_element(&s, &v))
		if (read_number(r, v, e) < 0)
			return -1;
	if (r->rows > 0 && r->n - start != r->width)
		return err_set(e, "format",
		    "hidden_states: row %zu has %zu values, the first has %zu", r->rows,
		    r->n - start, r->width);
	r->width = r->n - start;
	r->rows++;
	return 0;
}

static int read_rows(struct rows *r, struct span states, struct err *e)
{
	struct lax s;
	struct span prompt, row;

	if (!states.p || *states.p != '[')
		return err_set(e, "members",
		    "no hidden_states in the reply: start the server with "
		    "--enable-return-hidden-states");
	lax_begin(&s, states);
	if (!lax_element(&s, &prompt) || *prompt.p != '[')
		return err_set(e, "format", "hidden_states: expected a list of rows");
	lax_begin(&s, prompt);
	while (lax_element(&s, &row)) {
		if (*row.p != '[')
			return err_set(e, "format", "hidden_states: expected a list of rows");
		if (read_row(r, row, e) < 0)
			return -1;
	}
	return 0;
}

static int shape(struct capture *c, struct rows *r, const struct capture_want *w, struct err *e)
{
	uint64_t dim[2] = {r->rows, r->width};
	struct tensor t = tensor_flat("hidden_states", DT_F32, 2, dim, r->v);

	c->own = (char *)r->v;
	r->v = NULL;
	c->states.rows = w->n;
	c->states.hidden = w->hidden;
	if (w->nlayers > 1 && r->width == w->hidden)
		return capture_eagle(r->width, w, w->hidden, e);
	return states_add(&c->states, &t, w->nlayers, e);
}

int capture_json(struct capture *c, struct span states, const struct capture_want *w, struct err *e)
{
	struct rows r = {0};
	int rc = -1;

	*c = (struct capture){.aux = w->nlayers};
	c->said.convention = LAYERS_UNSAID;
	c->said.norm = NORM_UNSAID;
	if (read_rows(&r, states, e) == 0)
		rc = shape(c, &r, w, e);
	free(r.v);
	if (rc < 0)
		capture_close(c);
	return rc;
}
