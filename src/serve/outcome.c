#include "serve/outcome.h"

#define ANY (-1)

/* The first row that fits decides. The curl codes of a range include both ends; the last row of
 * each kind catches what is new. */
static const struct row {
	int curl_from, curl_to;
	int status_from, status_to;
	int found; /* ANY, or a serve_found */
	struct serve_outcome out;
} table[] = {
    /* no reply: what became of the connection */
    {1, 1, ANY, ANY, ANY, {CLASS_UNPARSED, "no HTTP"}},
    {3, 4, ANY, ANY, ANY, {CLASS_CONFIG, "URL refused"}},
    {5, 6, ANY, ANY, ANY, {CLASS_OUTAGE, "host not found"}},
    {7, 7, ANY, ANY, ANY, {CLASS_OUTAGE, "connection refused"}},
    {8, 8, ANY, ANY, ANY, {CLASS_UNPARSED, "bad header"}},
    {16, 16, ANY, ANY, ANY, {CLASS_TRANSIENT, "connection lost"}},
    {18, 18, ANY, ANY, ANY, {CLASS_TRANSIENT, "reply cut"}},
    {23, 23, ANY, ANY, ANY, {CLASS_UNPARSED, "reply too large"}},
    /* 7.88.1 says "out of memory" of one oversized header line */
    {27, 27, ANY, ANY, ANY, {CLASS_UNPARSED, "bad header"}},
    {28, 28, ANY, ANY, ANY, {CLASS_TRANSIENT, "timed out"}},
    {35, 35, ANY, ANY, ANY, {CLASS_TRANSIENT, "TLS handshake failed"}},
    {52, 52, ANY, ANY, ANY, {CLASS_TRANSIENT, "no answer"}},
    {55, 56, ANY, ANY, ANY, {CLASS_TRANSIENT, "connection lost"}},
    {60, 60, ANY, ANY, ANY, {CLASS_CONFIG, "certificate not trusted"}},
    {77, 77, ANY, ANY, ANY, {CLASS_CONFIG, "no certificates to check with"}},
    {92, 92, ANY, ANY, ANY, {CLASS_TRANSIENT, "connection lost"}},
    {1, 999, ANY, ANY, ANY, {CLASS_TRANSIENT, "transfer failed"}},
    /* a whole reply: its status */
    {0, 0, ANY, ANY, FOUND_LOADING, {CLASS_OUTAGE, "loading model"}},
    {0, 0, 200, 200, FOUND_GOOD, {CLASS_OK, "ok"}},
    {0, 0, 200, 200, FOUND_SHAPE, {CLASS_UNPARSED, "no reply of this API"}},
    {0, 0, 200, 200, FOUND_ABORT, {CLASS_TRANSIENT, "aborted by the server"}},
    {0, 0, 200, 200, FOUND_EMPTY, {CLASS_TRANSIENT, "no tokens"}},
    {0, 0, 200, 200, FOUND_MISMATCH, {CLASS_UNPARSED, "reply contradicts itself"}},
    {0, 0, 200, 200, FOUND_NO_IDS, {CLASS_CONFIG, "no token ids"}},
    {0, 0, 200, 200, FOUND_CUT, {CLASS_CONFIG, "prompt cut by the server"}},
    {0, 0, 200, 200, FOUND_WEIGHTS, {CLASS_CONFIG, "another server"}},
    {0, 0, 200, 200, FOUND_FOREIGN, {CLASS_CONFIG, "another vocabulary"}},
    {0, 0, 201, 299, ANY, {CLASS_UNPARSED, "no reply of this API"}},
    {0, 0, 300, 399, ANY, {CLASS_CONFIG, "redirect"}},
    {0, 0, 400, 401, ANY, {CLASS_PERMANENT, "refused"}},
    {0, 0, 402, 402, ANY, {CLASS_CONFIG, "payment required"}},
    {0, 0, 403, 404, ANY, {CLASS_PERMANENT, "refused"}},
    {0, 0, 405, 405, ANY, {CLASS_CONFIG, "method not allowed"}},
    {0, 0, 408, 408, ANY, {CLASS_BUSY, "server busy"}},
    {0, 0, 415, 415, ANY, {CLASS_CONFIG, "media type not supported"}},
    {0, 0, 425, 425, ANY, {CLASS_BUSY, "server busy"}},
    {0, 0, 429, 429, ANY, {CLASS_BUSY, "server busy"}},
    {0, 0, 431, 431, ANY, {CLASS_CONFIG, "headers too large"}},
    {0, 0, 400, 499, ANY, {CLASS_PERMANENT, "refused"}},
    {0, 0, 503, 503, ANY, {CLASS_BUSY, "server busy"}},
    {0, 0, 500, 599, ANY, {CLASS_TRANSIENT, "server error"}},
    {0, 0, ANY, ANY, ANY, {CLASS_UNPARSED, "no reply of this API"}},
};

/* The first row that fits. */
static const struct {
	int curl_from, curl_to;
	int status_from, status_to;
	const char *look;
} looks[] = {
    {1, 1, ANY, ANY, "is another program at this port, or https?"},
    {35, 35, ANY, ANY, "is it a server of http, or of another TLS?"},
    {52, 56, ANY, ANY, "is another program at this port, or https?"},
    {0, 0, 300, 399, "give that URL if it is the server's"},
    {0, 0, 401, 401, "is E3_API_KEY the server's key?"},
    {0, 0, 403, 403, "is E3_API_KEY the server's key?"},
    {0, 0, 200, 299, "is this a model server's URL, without /v1?"},
    {0, 0, 404, 405, "is this a model server's URL, without /v1?"},
    {ANY, ANY, ANY, ANY, NULL},
};

static int within(int x, int from, int to)
{
	return from == ANY || (x >= from && x <= to);
}

struct serve_outcome serve_classify(const struct serve_evidence *ev)
{
	size_t i = 0;

	if (ev->sys_errno)
		return (struct serve_outcome){CLASS_OURS, "no socket"};
	for (; i < sizeof(table) / sizeof(*table) - 1; i++) {
		const struct row *r = &table[i];

		if (within(ev->curl, r->curl_from, r->curl_to) &&
		    within(ev->status, r->status_from, r->status_to) &&
		    (r->found == ANY || r->found == (int)ev->found))
			break;
	}
	return table[i].out;
}

const char *serve_look(const struct serve_evidence *ev)
{
	size_t i = 0;

	while (!within(ev->curl, looks[i].curl_from, looks[i].curl_to) ||
	       !within(ev->status, looks[i].status_from, looks[i].status_to))
		i++;
	return ev->sys_errno ? NULL : looks[i].look;
}

const char *serve_class_name(enum serve_class c)
{
	static const char *const names[] = {
	    "ok", "permanent", "transient", "busy", "unparsed", "outage", "config", "ours"};

	return names[c];
}
