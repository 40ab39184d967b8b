#include "extract/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "tensor/st.h"

int capture_ids(const struct tensor *t, const struct capture_want *w, struct err *e)
{
	const char *p = tensor_data(t);

	if (t->dtype != DT_I64 || t->ndim != 1)
		return err_set(e, "shape", "%s: expected int64 of one dimension", t->name);
	if (t->dim[0] != w->n)
		return err_set(e, "ids", "%s has %llu ids, %zu were sent", t->name,
		    (unsigned long long)t->dim[0], w->n);
	for (size_t i = 0; i < w->n; i++) {
		int64_t id;

		memcpy(&id, p + i * sizeof(id), sizeof(id));
		if (id != w->ids[i])
			return err_set(e, "ids", "%s[%zu] is %lld, %d was sent", t->name, i,
			    (long long)id, (int)w->ids[i]);
	}
	return 0;
}

int capture_eagle(uint64_t values, const struct capture_want *w, uint64_t hidden, struct err *e)
{
	return err_set(e, "layers",
	    "the server delivers %llu values a token, not %llu: it captures the last layer only, "
	    "as one does "
	    "that was started with speculative algorithm EAGLE instead of EAGLE3",
	    (unsigned long long)values, (unsigned long long)(w->nlayers * hidden));
}

void capture_close(struct capture *c)
{
	st_close(c->st);
	free(c->own);
	*c = (struct capture){0};
}
