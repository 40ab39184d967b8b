#include "infer/call.h"

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
