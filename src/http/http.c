/* TCP_USER_TIMEOUT and SOCK_CLOEXEC are Linux's. */
#define _GNU_SOURCE
#include "http/http.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/mem.h"
#include "http/watch.h"

#define CONNECT_MS	10000L
#define USER_TIMEOUT_MS 120000u
#define READ_SIZE	2048L	     /* one a transfer: at 1,000 in flight it counts */
#define BODY_FIRST_MAX	(256u << 10) /* room made at once where a reply says its length */

struct http {
	CURLM *multi;
	struct watch watch;
	struct curl_slist *headers;
	char *agent;
	size_t max_reply, max_held, held;
	struct http_xfer *running;  /* doubly linked */
	struct http_xfer *finished; /* not yet reported, oldest first */
	struct http_xfer **finished_end;
	CURL **idle; /* handles without a transfer */
	size_t nidle, idle_cap;
};

struct http_xfer {
	struct http *h;
	CURL *easy;
	void *user;
	struct buf body;
	CURLcode result;
	int ended; /* then it is one of http.finished */
	int sys_errno;
	struct http_xfer *prev, *next;
};

size_t http_max_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 1024;
	return r.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (size_t)r.rlim_cur;
}

static void raise_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

static int add_header(struct http *h, const char *text)
{
	struct curl_slist *l = curl_slist_append(h->headers, text);

	if (!l)
		return -1;
	h->headers = l;
	return 0;
}

/* A server that wants JSON says so by refusing other types; without the empty Expect libcurl asks
 * before each body above 1 MB and waits a second. */
static int add_headers(struct http *h, const char *key, struct err *e)
{
	struct buf b = {0};
	int rc = 0;

	if (add_header(h, "Content-Type: application/json") < 0 || add_header(h, "Expect:") < 0 ||
	    add_header(h, "Accept: application/json") < 0)
		rc = err_set(e, "system", "libcurl: out of memory");
	if (rc == 0 && key) {
		for (const char *p = key; *p; p++)
			if ((unsigned char)*p <= 0x20 || *p == 0x7f)
				rc = err_set(e, "config",
				    "the API key has a blank or control character in it");
		buf_adds(&b, "Authorization: Bearer ");
		buf_adds(&b, key);
		if (rc == 0 && add_header(h, buf_cstr(&b)) < 0)
			rc = err_set(e, "system", "libcurl: out of memory");
		memset(b.data, 0, b.len);
		buf_free(&b);
	}
	return rc;
}

struct http *http_open(const struct http_opt *opt, struct err *e)
{
	struct http *h = xcalloc(1, sizeof(*h));

	raise_files();
	signal(SIGPIPE, SIG_IGN);
	h->finished_end = &h->finished;
	h->watch.epoll = -1;
	h->max_reply = opt->max_reply ? opt->max_reply : HTTP_REPLY_MAX;
	h->max_held = opt->max_held ? opt->max_held : 16 * h->max_reply;
	h->agent = xstrdup(opt->agent ? opt->agent : "e3");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(h->multi = curl_multi_init())) {
		err_set(e, "system", "libcurl does not start");
		http_close(h);
		return NULL;
	}
	if (watch_open(&h->watch, h->multi, e) < 0 || add_headers(h, opt->key, e) < 0) {
		http_close(h);
		return NULL;
	}
	return h;
}

static void forget(struct http *h, struct http_xfer *t)
{
	h->held -= t->body.len;
	buf_free(&t->body);
	free(t);
}

void http_close(struct http *h)
{
	if (!h)
		return;
	while (h->running)
		http_cancel(h, h->running);
	for (struct http_xfer *t = h->finished, *next; t; t = next) {
		next = t->next;
		curl_easy_cleanup(t->easy);
		forget(h, t);
	}
	for (size_t i = 0; i < h->nidle; i++)
		curl_easy_cleanup(h->idle[i]);
	free(h->idle);
	if (h->multi)
		curl_multi_cleanup(h->multi);
	watch_close(&h->watch);
	for (struct curl_slist *l = h->headers; l; l = l->next)
		memset(l->data, 0, strlen(l->data));
	curl_slist_free_all(h->headers);
	free(h->agent);
	free(h);
	curl_global_cleanup();
}

/* A reply that says its length is not copied from buffer to buffer as it grows. */
static void make_room(struct http_xfer *t)
{
	curl_off_t n = -1;

	if (curl_easy_getinfo(t->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &n) == CURLE_OK && n > 0)
		buf_room(&t->body, n < BODY_FIRST_MAX ? (size_t)n : BODY_FIRST_MAX);
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	struct http_xfer *t = arg;
	struct http *h = t->h;

	n *= size;
	if (t->body.len + n > h->max_reply || h->held + n > h->max_held)
		return 0; /* CURLE_WRITE_ERROR */
	if (t->body.cap == 0)
		make_room(t);
	buf_add(&t->body, p, n);
	h->held += n;
	return n;
}

/* Makes the socket here, so that a lack of descriptors is told from a server that is down. */
static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct http_xfer *t = arg;
	unsigned ms = USER_TIMEOUT_MS;
	int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);

	(void)purpose;
	if (fd < 0) {
		if (errno != EAFNOSUPPORT) /* a host with an IPv6 address, a machine without */
			t->sys_errno = errno;
		return CURL_SOCKET_BAD;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	return fd;
}

/* What all transfers of a handle have in common. */
static int set_constant(const struct http *h, CURL *c)
{
	static const struct {
		CURLoption option;
		long value;
	} longs[] = {
	    {CURLOPT_FRESH_CONNECT, 1}, /* see http.h */
	    {CURLOPT_FORBID_REUSE, 1}, {CURLOPT_NOSIGNAL, 1},
	    {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1}, {CURLOPT_FOLLOWLOCATION, 0},
	    {CURLOPT_FAILONERROR, 0}, /* the body of an error is wanted */
	    {CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS}, {CURLOPT_BUFFERSIZE, READ_SIZE},
	    {CURLOPT_LOW_SPEED_LIMIT, 0}, {CURLOPT_LOW_SPEED_TIME, 0}, {CURLOPT_TCP_KEEPALIVE, 1},
	    {CURLOPT_TCP_KEEPIDLE, 30}, {CURLOPT_TCP_KEEPINTVL, 15}, {CURLOPT_TCP_NODELAY, 1},
	    {CURLOPT_SSL_VERIFYPEER, 1}, {CURLOPT_SSL_VERIFYHOST, 2},
	    {CURLOPT_DNS_CACHE_TIMEOUT, 300}, /* each look-up is a thread of libcurl */
	};
	CURLcode rc = CURLE_OK;

	for (size_t i = 0; i < sizeof(longs) / sizeof(*longs); i++)
		rc |= curl_easy_setopt(c, longs[i].option, longs[i].value);
	rc |= curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
	rc |= curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	rc |= curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, NULL);
	rc |= curl_easy_setopt(c, CURLOPT_USERAGENT, h->agent);
	rc |= curl_easy_setopt(c, CURLOPT_HTTPHEADER, h->headers);
	rc |= curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
	rc |= curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, on_socket);
	return rc == CURLE_OK ? 0 : -1;
}

static int set_request(struct http_xfer *t, const struct http_req *req)
{
	CURL *c = t->easy;
	CURLcode rc = curl_easy_setopt(c, CURLOPT_URL, req->url);

	rc |= curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)req->timeout_ms);
	rc |= curl_easy_setopt(c, CURLOPT_PRIVATE, (void *)t);
	rc |= curl_easy_setopt(c, CURLOPT_WRITEDATA, (void *)t);
	rc |= curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, (void *)t);
	if (req->body.p) {
		rc |= curl_easy_setopt(c, CURLOPT_POST, 1L);
		rc |= curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)req->body.n);
		rc |= curl_easy_setopt(c, CURLOPT_POSTFIELDS, req->body.p);
	} else {
		rc |= curl_easy_setopt(c, CURLOPT_HTTPGET, 1L);
	}
	return rc == CURLE_OK ? 0 : -1;
}

/* One that was used before, or a new one. */
static CURL *take_handle(struct http *h)
{
	CURL *c;

	if (h->nidle)
		return h->idle[--h->nidle];
	c = curl_easy_init();
	if (c && set_constant(h, c) < 0) {
		curl_easy_cleanup(c);
		c = NULL;
	}
	return c;
}

static void link_running(struct http *h, struct http_xfer *t)
{
	t->next = h->running;
	if (h->running)
		h->running->prev = t;
	h->running = t;
}

static void unlink_running(struct http *h, struct http_xfer *t)
{
	if (t->prev)
		t->prev->next = t->next;
	else
		h->running = t->next;
	if (t->next)
		t->next->prev = t->prev;
	t->prev = t->next = NULL;
}

static void put_idle(struct http *h, CURL *easy)
{
	h->idle = xgrow(h->idle, &h->idle_cap, h->nidle + 1, sizeof(*h->idle));
	h->idle[h->nidle++] = easy;
}

struct http_xfer *http_start(struct http *h, const struct http_req *req, struct err *e)
{
	struct http_xfer *t = xcalloc(1, sizeof(*t));

	t->h = h;
	t->user = req->user;
	t->easy = take_handle(h);
	if (!t->easy || set_request(t, req) < 0 ||
	    curl_multi_add_handle(h->multi, t->easy) != CURLM_OK) {
		err_set(e, "system", "libcurl refuses a request to %s", req->url);
		if (t->easy)
			curl_easy_cleanup(t->easy);
		free(t);
		return NULL;
	}
	link_running(h, t);
	return t;
}

static void unlink_finished(struct http *h, struct http_xfer *t)
{
	struct http_xfer **at = &h->finished;

	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	if (!*at)
		h->finished_end = at;
}

void http_cancel(struct http *h, struct http_xfer *t)
{
	if (t->ended) {
		unlink_finished(h, t);
	} else {
		curl_multi_remove_handle(h->multi, t->easy);
		unlink_running(h, t);
	}
	put_idle(h, t->easy);
	forget(h, t);
}

/* The message is freed by the removal: what is needed of it is copied before. */
static void collect(struct http *h)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(h->multi, &left))) {
		CURL *easy = m->easy_handle;
		CURLcode result = m->data.result;
		struct http_xfer *t = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&t);
		curl_multi_remove_handle(h->multi, easy);
		unlink_running(h, t);
		t->result = result;
		t->ended = 1;
		*h->finished_end = t;
		h->finished_end = &t->next;
	}
}

size_t http_received(const struct http_xfer *t)
{
	return t->body.len;
}

int http_wait(struct http *h, int timeout_ms, struct pollfd *fds, size_t nfds, struct err *e)
{
	if (watch_wait(&h->watch, h->finished ? 0 : timeout_ms, fds, nfds, e) < 0)
		return -1;
	collect(h);
	return 0;
}

int http_next(struct http *h, struct http_done *out)
{
	struct http_xfer *t = h->finished;
	curl_off_t after = 0;
	long status = 0;

	if (!t)
		return 0;
	h->finished = t->next;
	if (!h->finished)
		h->finished_end = &h->finished;
	*out = (struct http_done){
	    .user = t->user,
	    .curl = (int)t->result,
	    .why = curl_easy_strerror(t->result),
	    .sys_errno = t->sys_errno,
	    .retry_after = -1,
	    .body = t->body,
	};
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	out->status = (int)status;
	if (curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after) == CURLE_OK && after > 0)
		out->retry_after = after;
	curl_easy_getinfo(t->easy, CURLINFO_REDIRECT_URL, (char **)&out->leads_to);
	curl_easy_getinfo(t->easy, CURLINFO_TOTAL_TIME, &out->seconds);
	h->held -= t->body.len;
	t->body = (struct buf){0};
	put_idle(h, t->easy);
	forget(h, t);
	return 1;
}

int http_check_url(const char *url, struct err *e)
{
	static const struct {
		CURLUPart part;
		const char *what;
	} refused[] = {
	    {CURLUPART_USER, "a user name"},
	    {CURLUPART_PASSWORD, "a password"},
	    {CURLUPART_QUERY, "a query"},
	};
	CURLU *u = curl_url(); /* the URL itself is not repeated: it may hold a secret */
	char *part = NULL;
	int rc = 0;

	if (!u)
		return err_set(e, "system", "libcurl: out of memory");
	if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
	    curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK)
		rc = err_set(e, "config", "not a server's URL (http://HOST:PORT)");
	for (size_t i = 0; rc == 0 && i < sizeof(refused) / sizeof(*refused); i++) {
		if (curl_url_get(u, refused[i].part, &part, 0) != CURLUE_OK)
			continue;
		curl_free(part);
		rc = err_set(e, "config", "a server's URL may not hold %s", refused[i].what);
	}
	curl_url_cleanup(u);
	/* of an empty one libcurl says nothing, and drops the path that is put behind it */
	if (rc == 0 && strchr(url, '#'))
		rc = err_set(e, "config", "a server's URL may not hold a fragment");
	return rc;
}

char *http_base_url(const char *url)
{
	const char *port = strncmp(url, "https:", 6) == 0 ? ":443" : ":80";
	size_t n = strlen(url), host_end, k = strlen(port);
	char *base = xstrdup(url);

	while (n > 0 && base[n - 1] == '/')
		n--;
	base[n] = '\0';
	host_end = (size_t)(strstr(url, "://") + 3 - url);
	for (; base[host_end] && base[host_end] != '/'; host_end++)
		base[host_end] = (char)tolower((unsigned char)base[host_end]);
	if (memcmp(base + host_end - k, port, k) == 0)
		memmove(base + host_end - k, base + host_end, n + 1 - host_end);
	return base;
}
