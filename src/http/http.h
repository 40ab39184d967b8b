/* http.h - the one libcurl pump: many requests at once on one thread
 *
 *	struct http *h = http_open(&opt, &e);
 *	t = http_start(h, &req, &e);		as many as may run: nothing is queued here
 *	while (http_wait(h, ms, fds, nfds, &e) == 0)
 *		while (http_next(h, &done))
 *			...	buf_free(&done.body)
 *	http_close(h);
 *
 * Only http_wait blocks: until a transfer has moved, one of the caller's descriptors is ready, or
 * the time is over. A transfer ends by http_next or by http_cancel, once.
 *
 * The pump knows no server and no record: it tells what happened (done.curl, done.status) and
 * retries nothing. Each request has a connection of its own: on a reused one that turns out to be
 * dead libcurl sends a POST a second time without telling, and a generation of ten minutes runs
 * twice. A new connection costs 50 us of processor time.
 *
 * There is no time limit unless the request asks for one: an answer that is not streamed is silent
 * for minutes. Dead hosts are found by TCP keepalive and TCP_USER_TIMEOUT (2 minutes).
 * Redirects are not followed, proxies of the environment are not used, certificates are verified.
 */
#ifndef E3_HTTP_H
#define E3_HTTP_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct err;
struct http;
struct http_xfer;

#define HTTP_REPLY_MAX (64u << 20)

struct http_opt {
	const char *key;  /* sent as "Authorization: Bearer KEY"; NULL: none. Copied, never shown */
	size_t max_reply; /* bytes of one body; 0: HTTP_REPLY_MAX */
	size_t max_held;  /* bytes of all bodies that are being received; 0: 16 times max_reply */
	const char *agent; /* User-Agent */
};

struct http_req {
	const char *url;     /* copied */
	struct span body;    /* a POST; borrowed until the transfer ends. p NULL: a GET */
	void *user;	     /* comes back in http_done */
	uint32_t timeout_ms; /* of the whole transfer; 0: none */
};

struct http_done {
	void *user;
	int curl;	      /* the CURLcode; 0 is a whole HTTP reply of any status */
	const char *why;      /* libcurl's words for it, static */
	int sys_errno;	      /* why no socket could be made: EMFILE, ENOMEM ...; else 0 */
	int status;	      /* HTTP status, or 0 */
	const char *leads_to; /* where a redirect does, or NULL; goes with the next http_start */
	int64_t retry_after;  /* seconds, from either form of the header; -1: none */
	struct buf body;      /* the caller's to free */
	double seconds;
};

/* Also raises the limit of open files to the hard limit. */
struct http *http_open(const struct http_opt *opt, struct err *e);
/* Ends what still runs. NULL is allowed. */
void http_close(struct http *h);

/* NULL only where libcurl refuses the URL or an option. */
struct http_xfer *http_start(struct http *h, const struct http_req *req, struct err *e);
/* Closes the connection; nothing will be reported, an end that has come and was not asked for yet
 * neither. The request's body may go. */
void http_cancel(struct http *h, struct http_xfer *t);
size_t http_received(const struct http_xfer *t); /* bytes of the reply's body, so far */

/* timeout_ms < 0: as long as it takes. fds may be NULL; their revents are set. 0, or -1. */
int http_wait(struct http *h, int timeout_ms, struct pollfd *fds, size_t nfds, struct err *e);
/* 1 and the next finished transfer, or 0. */
int http_next(struct http *h, struct http_done *out);

/* Open files allowed: the bound on transfers at once. */
size_t http_max_files(void);

/* Whether a server's base URL can be used: http or https, a host, no user, query or fragment. */
int http_check_url(const char *url, struct err *e);
/* Such a URL as the paths of requests are put behind it, and as two are told apart: the host in lower
 * case, without the scheme's own port and without slashes at the end. To be freed. */
char *http_base_url(const char *url);

#endif
