#include "infer/call.h"

#include <string.h>

#include "infer/infer.h"

void call_send(struct run *r, struct call *c, const char *path, uint32_t ms)
{
	struct http_req req = {.user = c, .timeout_ms = ms};
	struct buf url = {0};
	struct err e;

	buf_adds(&url, c->ep->url);
	buf_adds(&url, path);
	req.url = buf_cstr(&url);
	if (c->body.len)
		req.body = (struct span){c->body.data, c->body.len};
	c->xfer = http_start(r->http, &req, &e);
	if (!c->xfer)
		infer_fail(r, &e);
	buf_free(&url);
}

int call_tell(const struct http_done *d, const char *class, struct err *e)
{
	struct serve_evidence ev = {d->curl, d->sys_errno, d->status, FOUND_SHAPE};
	struct buf b = {0};
	int loading = 0;

	if (d->curl != 0) {
		buf_addf(&b, "%s: %s", serve_classify(&ev).name,
		    d->sys_errno ? strerror(d->sys_errno) : d->why);
		if (d->seconds >= 1)
			buf_addf(&b, " after %.0f s", d->seconds);
	} else {
		buf_addf(&b, "HTTP %d%s%s%s", d->status, d->leads_to ? " to " : "",
		    d->leads_to ? d->leads_to : "", d->body.len ? ": " : "");
		loading = serve_error_read(&b, (struct span){d->body.data, d->body.len});
	}
	err_set(e, class, "%s", buf_cstr(&b));
	buf_free(&b);
	return loading;
}
