/* The pump against a server of plain sockets that misbehaves on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "http/http.h"

#define CURLE_OK_	       0
#define CURLE_CONNECT	       7
#define CURLE_PARTIAL	       18
#define CURLE_TIMEOUT	       28
#define CURLE_GOT_NOTHING      52
#define CURLE_BAD_WRITE	       23
#define CURLE_UNSUPPORTED_HTTP 1

/* One connection after the other; what to do with request number n, from 0, of all connections. */
struct server {
	int fd, port;
	_Atomic int stop;
	pthread_t thread;
	const char *(*answer)(struct server *s, int n); /* NULL: close without a byte */
	int requests, connections, keep;
	char last[8192]; /* the last request as it came */
};

static int read_request(struct server *s, int c)
{
	size_t n = 0, want = 0;
	char *body;

	while (n < sizeof(s->last) - 1) {
		ssize_t got = read(c, s->last + n, sizeof(s->last) - 1 - n);

		if (got <= 0)
			return -1;
		n += (size_t)got;
		s->last[n] = '\0';
		body = strstr(s->last, "\r\n\r\n");
		if (!body)
			continue;
		if (strstr(s->last, "Content-Length: "))
			want = (size_t)atoi(strstr(s->last, "Content-Length: ") + 16);
		if (n >= (size_t)(body + 4 - s->last) + want)
			return 0;
	}
	return -1;
}

static void *serve(void *arg)
{
	struct server *s = arg;

	for (;;) {
		int c = accept(s->fd, NULL, NULL);

		if (c < 0 || s->stop) {
			if (c >= 0)
				close(c);
			return NULL;
		}
		s->connections++;
		while (read_request(s, c) == 0) {
			const char *a = s->answer(s, s->requests++);

			if (!a || write(c, a, strlen(a)) < 0 || !s->keep)
				break;
		}
		close(c);
	}
}

static void start(struct server *s, const char *(*answer)(struct server *, int), int keep)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	*s = (struct server){.answer = answer, .keep = keep};
	s->fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s->fd, 64), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &len), 0);
	s->port = ntohs(a.sin_port);
	assert_int_equal(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void stop(struct server *s)
{
	s->stop = 1;
	shutdown(s->fd, SHUT_RDWR);
	pthread_join(s->thread, NULL);
	close(s->fd);
}

static struct http *pump(const struct http_opt *opt)
{
	struct err e = {0};
	struct http *h = http_open(opt, &e);

	assert_non_null(h);
	return h;
}

static struct http_xfer *post(struct http *h, int port, const char *body, uint32_t ms)
{
	struct err e = {0};
	char url[64];
	struct http_req r = {.url = url, .user = (void *)body, .timeout_ms = ms};

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/generate", port);
	if (body)
		r.body = (struct span){body, strlen(body)};
	return http_start(h, &r, &e);
}

static struct http_done finish(struct http *h)
{
	struct http_done d;
	struct err e = {0};

	while (!http_next(h, &d))
		assert_int_equal(http_wait(h, 1000, NULL, 0, &e), 0);
	return d;
}

#define OK_REPLY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

static const char *always_ok(struct server *s, int n)
{
	(void)s, (void)n;
	return OK_REPLY;
}

static const char *drop_odd(struct server *s, int n)
{
	(void)s;
	return n % 2 ? NULL : OK_REPLY;
}

/* With reused connections libcurl sends each dropped request twice, and says that all went well. */
static void no_silent_second_post(void **state)
{
	struct http_opt opt = {0};
	struct http *h = pump(&opt);
	struct server s;
	int ok = 0, empty = 0;

	(void)state;
	start(&s, drop_odd, 1);
	for (int i = 0; i < 40; i++) {
		struct http_done d;

		assert_non_null(post(h, s.port, "{\"rid\":1}", 0));
		d = finish(h);
		ok += d.curl == CURLE_OK_ && d.status == 200;
		empty += d.curl == CURLE_GOT_NOTHING;
		buf_free(&d.body);
	}
	http_close(h);
	stop(&s);
	assert_int_equal(s.requests, 40);
	assert_int_equal(s.connections, 40);
	assert_int_equal(ok, 20);
	assert_int_equal(empty, 20);
}

static const char *_Atomic canned; /* the server's thread reads it */

static const char *say_canned(struct server *s, int n)
{
	(void)s, (void)n;
	return canned;
}

static void what_failures_look_like(void **state)
{
	static const struct {
		const char *name, *reply;
		int curl, status;
		int64_t after;
		const char *body;
	} table[] = {
	    {"success", OK_REPLY, 0, 200, -1, "{}"},
	    {"short body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", CURLE_PARTIAL, 200, -1,
		"{}"},
	    {"chunk cut", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}",
		CURLE_PARTIAL, 200, -1, "{}"},
	    {"no length, cut", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"a\":", 0, 200, -1,
		"{\"a\":"},
	    {"nothing", NULL, CURLE_GOT_NOTHING, 0, -1, ""},
	    {"no HTTP", "hello\r\n\r\n", CURLE_UNSUPPORTED_HTTP, 0, -1, ""},
	    {"redirect is not followed",
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
		0, 302, -1, ""},
	    {"error body is kept", "HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nbad", 0, 400, -1,
		"bad"},
	    {"retry after", "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n", 0,
		429, 7, ""},
	};
	struct http_opt opt = {0};
	struct http *h = pump(&opt);
	struct server s;

	(void)state;
	start(&s, say_canned, 0);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct http_done d;

		canned = table[i].reply;
		assert_non_null(post(h, s.port, "{}", 0));
		d = finish(h);
		if (d.curl != table[i].curl || d.status != table[i].status ||
		    d.retry_after != table[i].after ||
		    strcmp(buf_cstr(&d.body), table[i].body) != 0)
			fail_msg("%s: curl %d, status %d, after %ld, body '%s'", table[i].name,
			    d.curl, d.status, (long)d.retry_after, buf_cstr(&d.body));
		buf_free(&d.body);
	}
	http_close(h);
	stop(&s);
}

static void retry_after_as_a_date(void **state)
{
	struct http_opt opt = {0};
	struct http *h = pump(&opt);
	char reply[200], date[64];
	time_t then = time(NULL) + 100;
	struct http_done d;
	struct server s;
	struct tm tm;

	(void)state;
	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&then, &tm));
	snprintf(reply, sizeof(reply),
	    "HTTP/1.1 503 Wait\r\nRetry-After: %s\r\nContent-Length: 0\r\n\r\n", date);
	canned = reply;
	start(&s, say_canned, 0);
	assert_non_null(post(h, s.port, "{}", 0));
	d = finish(h);
	assert_in_range(d.retry_after, 90, 100);
	http_close(h);
	stop(&s);
}

static void request_on_the_wire(void **state)
{
	struct http_opt opt = {.key = "s3cret", .agent = "e3-test"};
	struct http *h;
	struct http_done d;
	struct server s;

	(void)state;
	setenv("http_proxy", "http://127.0.0.1:1/", 1);
	h = pump(&opt);
	start(&s, always_ok, 0);
	assert_non_null(post(h, s.port, "{\"a\":1}", 0));
	d = finish(h);
	unsetenv("http_proxy");
	assert_int_equal(d.curl, 0);
	assert_string_equal((const char *)d.user, "{\"a\":1}");
	buf_free(&d.body);
	assert_non_null(strstr(s.last, "POST /generate HTTP/1.1\r\n"));
	assert_non_null(strstr(s.last, "Content-Type: application/json\r\n"));
	assert_non_null(strstr(s.last, "Authorization: Bearer s3cret\r\n"));
	assert_non_null(strstr(s.last, "\r\n\r\n{\"a\":1}"));
	assert_null(strstr(s.last, "Expect"));
	assert_null(strstr(s.last, "Accept-Encoding"));
	assert_non_null(post(h, s.port, NULL, 0));
	d = finish(h);
	buf_free(&d.body);
	assert_non_null(strstr(s.last, "GET /generate HTTP/1.1\r\n"));
	http_close(h);
	stop(&s);
}

static void large_reply(void **state)
{
	struct http_opt opt = {.max_reply = 1000, .max_held = 1500};
	struct http *h = pump(&opt);
	static char reply[3000];
	struct http_done d;
	struct server s;

	(void)state;
	memset(reply, 'x', sizeof(reply) - 1);
	memcpy(reply, "HTTP/1.1 200 OK\r\n\r\n", 19);
	canned = reply;
	start(&s, say_canned, 0);
	assert_non_null(post(h, s.port, "{}", 0));
	d = finish(h);
	assert_int_equal(d.curl, CURLE_BAD_WRITE);
	assert_true(d.body.len <= 1000);
	buf_free(&d.body);
	canned = OK_REPLY;
	assert_non_null(post(h, s.port, "{}", 0));
	d = finish(h);
	assert_int_equal(d.curl, 0); /* what was held was given back */
	buf_free(&d.body);
	http_close(h);
	stop(&s);
}

static const char *stall(struct server *s, int n)
{
	(void)n;
	while (!s->stop)
		poll(NULL, 0, 1);
	return NULL;
}

static void cancel_and_timeout(void **state)
{
	struct http_opt opt = {0};
	struct http *h = pump(&opt);
	struct pollfd p = {.events = POLLIN};
	struct http_xfer *t;
	struct http_done d;
	struct err e = {0};
	struct server s;
	int fd[2];

	(void)state;
	start(&s, stall, 0);
	t = post(h, s.port, "{}", 0);
	assert_non_null(t);
	assert_int_equal(pipe(fd), 0);
	p.fd = fd[0];
	assert_int_equal(write(fd[1], "x", 1), 1);
	while (!p.revents)
		assert_int_equal(http_wait(h, 5000, &p, 1, &e), 0);
	assert_int_equal(p.revents, POLLIN);
	http_cancel(h, t);
	assert_int_equal(http_next(h, &d), 0);
	assert_non_null(post(h, s.port, "{}", 50));
	d = finish(h);
	assert_int_equal(d.curl, CURLE_TIMEOUT);
	buf_free(&d.body);
	assert_non_null(post(h, s.port, "{}", 0));
	s.stop = 1;
	http_close(h); /* with a transfer in it */
	stop(&s);
	close(fd[0]);
	close(fd[1]);
}

/* One that has ended, and whose end was not asked for yet, is cancelled as any other. */
static void cancelled_at_its_end(void **state)
{
	struct http_opt opt = {0};
	struct http *h = pump(&opt);
	struct http_xfer *t[3];
	struct http_done d;
	struct server s;

	(void)state;
	start(&s, always_ok, 0);
	for (int gone = 0; gone < 3; gone++) {
		for (int i = 0; i < 3; i++)
			t[i] = post(h, s.port, "{}", 0);
		for (int i = 0; i < 100 || http_received(t[0]) == 0 || http_received(t[1]) == 0 ||
				http_received(t[2]) == 0;
		     i++)
			assert_int_equal(http_wait(h, 10, NULL, 0, &(struct err){0}), 0);
		http_cancel(h, t[gone]);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(http_next(h, &d), 1);
			assert_int_equal(d.status, 200);
			buf_free(&d.body);
		}
		assert_int_equal(http_next(h, &d), 0);
	}
	http_close(h);
	stop(&s);
}

static void nobody_there_and_no_descriptors(void **state)
{
	struct http_opt opt = {0};
	struct http *h = pump(&opt);
	struct rlimit was, few;
	struct http_done d;
	struct server s;
	int last;

	(void)state;
	start(&s, always_ok, 0);
	stop(&s);
	assert_non_null(post(h, s.port, "{}", 0));
	d = finish(h);
	assert_int_equal(d.curl, CURLE_CONNECT);
	assert_int_equal(d.sys_errno, 0);
	buf_free(&d.body);
	start(&s, always_ok, 0);
	getrlimit(RLIMIT_NOFILE, &was);
	few = was;
	last = dup(0);
	few.rlim_cur = (rlim_t)last;
	setrlimit(RLIMIT_NOFILE, &few);
	assert_non_null(post(h, s.port, "{}", 0));
	d = finish(h);
	setrlimit(RLIMIT_NOFILE, &was);
	close(last);
	assert_int_equal(d.curl, CURLE_CONNECT);
	assert_int_equal(d.sys_errno, EMFILE);
	buf_free(&d.body);
	http_close(h);
	stop(&s);
}

static void urls(void **state)
{
	static const struct {
		const char *url;
		int ok;
	} table[] = {
	    {"http://127.0.0.1:30000", 1},
	    {"https://host.example/base/", 1},
	    {"http://[::1]:8000", 1},
	    {"127.0.0.1:30000", 0},
	    {"ftp://host/", 0},
	    {"http://user:pass@host/", 0},
	    {"http://host/?a=1", 0},
	    {"http://host/#x", 0},
	    {"http://host/#", 0},
	    {"http://host/?", 0},
	    {"http://", 0},
	    {"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct err e = {0};

		if ((http_check_url(table[i].url, &e) == 0) != table[i].ok)
			fail_msg("%s", table[i].url);
		if (!table[i].ok)
			assert_null(strstr(e.msg, "user:pass"));
	}
}

static void base_urls(void **state)
{
	static const struct {
		const char *url, *base;
	} table[] = {
	    {"http://127.0.0.1:30000", "http://127.0.0.1:30000"},
	    {"http://h:30000//", "http://h:30000"},
	    {"http://Host.Example:80/", "http://host.example"},
	    {"http://h:8080", "http://h:8080"},
	    {"http://h:443", "http://h:443"},
	    {"https://H:443/Base/", "https://h/Base"},
	    {"https://h:80/base:80", "https://h:80/base:80"},
	    {"http://[::AB]:80/", "http://[::ab]"},
	    {"http://[::80]", "http://[::80]"},
	    {"http://h/a:80", "http://h/a:80"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct err e = {0};
		char *base = http_base_url(table[i].url);

		assert_int_equal(http_check_url(table[i].url, &e), 0);
		assert_string_equal(base, table[i].base);
		free(base);
	}
}

static void bad_key(void **state)
{
	struct http_opt opt = {.key = "a\r\nX-Other: b"};
	struct err e = {0};

	(void)state;
	assert_null(http_open(&opt, &e));
	assert_null(strstr(e.msg, "X-Other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(no_silent_second_post),
	    cmocka_unit_test(what_failures_look_like),
	    cmocka_unit_test(retry_after_as_a_date),
	    cmocka_unit_test(request_on_the_wire),
	    cmocka_unit_test(large_reply),
	    cmocka_unit_test(cancel_and_timeout),
	    cmocka_unit_test(cancelled_at_its_end),
	    cmocka_unit_test(nobody_there_and_no_descriptors),
	    cmocka_unit_test(urls),
	    cmocka_unit_test(base_urls),
	    cmocka_unit_test(bad_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
