#include "sim/sim.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MS 1000000u

/* ---- refusals: no answer is drawn ---- */

static const struct {
	enum fault fault;
	int status;
	const char *message;
} refusals[] = {
    {F_400, 400,
	"The input (300000 tokens) is longer than the model's context length "
	"(262144 tokens)."},
    {F_401, 401, "Unauthorized"},
    {F_404, 404, "The model does not exist."},
    {F_408, 408, "Request timed out in the queue."},
    {F_429, 429, "Too many requests."},
    {F_500, 500, "Internal server error: the stand-in was told to fail"},
    {F_503, 503, "The request queue is full."},
    {F_307, 307, "Temporary Redirect"},
};

#define PAGE                                                                  \
	"<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n" \
	"<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n"

static void page(struct job *j, int status)
{
	buf_reset(&j->reply.body);
	buf_adds(&j->reply.body, PAGE);
	j->reply.type = "text/html";
	j->reply.status = status;
}

void wire_reset(int fd)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};

	/* Linux answers this by dropping the connection with a reset; closing the descriptor, which
	 * is the HTTP library's, would say good-bye first. */
	if (fd >= 0)
		(void)connect(fd, &none, sizeof(none));
}

/* Bytes past the HTTP library, as far as the socket takes them. */
static void raw(int fd, const char *head, size_t fill)
{
	struct buf b = {0};

	buf_adds(&b, head);
	memset(buf_room(&b, fill), 'x', fill);
	b.len += fill;
	(void)send(fd, b.data, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	(void)shutdown(fd, SHUT_WR);
	buf_free(&b);
}

static int end_connection(struct job *j)
{
	j->state = JOB_GONE;
	return 1;
}

/* What begins with this request and lasts. */
static void outages(struct sim *s, const struct job *j)
{
	const struct fault_hits *f = &j->faults;

	s->now = sim_clock();
	if (f->on[F_LOADING])
		s->loading_until = s->now + f->arg[F_LOADING] * MS;
	if (f->on[F_STORM])
		s->storm_until = s->now + f->arg[F_STORM] * MS;
}

static int refuse_by_status(struct job *j)
{
	const struct fault_hits *f = &j->faults;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++)
		if (f->on[refusals[i].fault]) {
			reply_error(j->sim, j, refusals[i].status, refusals[i].message);
			j->reply.retry_after = f->on[F_429] ? f->arg[F_429] : 0;
			j->reply.location = f->on[F_307] ? "/elsewhere" : NULL;
			return 1;
		}
	return 0;
}

int wire_refuse(struct sim *s, struct job *j)
{
	const struct fault_hits *f = &j->faults;

	outages(s, j);
	if (f->on[F_REFUSED]) {
		engine_crash(s, f->arg[F_REFUSED]);
		return end_connection(j);
	}
	if (f->on[F_NO_HTTP] || f->on[F_BIG_HEADER]) {
		raw(j->fd,
		    f->on[F_NO_HTTP] ? "220 this is no HTTP\r\n" : "HTTP/1.1 200 OK\r\nX-A: ",
		    f->on[F_NO_HTTP] ? 0 : 300000);
		return end_connection(j);
	}
	if (s->now < s->loading_until) {
		reply_error(s, j, 503, "Loading model");
		return 1;
	}
	if (s->now < s->storm_until) {
		reply_error(s, j, 500, "Internal server error: in a storm");
		return 1;
	}
	if (f->on[F_502]) {
		page(j, 502);
		return 1;
	}
	if (f->on[F_STATUS]) {
		reply_error(s, j, (int)f->arg[F_STATUS], "The stand-in was told to fail.");
		return 1;
	}
	return refuse_by_status(j);
}

/* ---- bodies that are wrong ---- */

/* Members put before the last brace: each legal or not, none of them needed. */
static const struct {
	enum fault fault;
	const char *text;
} extras[] = {
    {F_NAN, ",\"note\":NaN"},
    {F_SURROGATE, ",\"note\":\"\\ud83d\""},
    {F_NUL, ",\"note\":\"a\\u0000b\""},
    {F_BAD_UTF8, ",\"note\":\"\xff\xfe\""},
    {F_BIG_INT, ",\"note\":1234567890123456789012345678901234567890"},
    {F_DOUBLE_KEY, ",\"note\":1,\"note\":[],\"note\":2"},
};

static void add_long(struct job *j)
{
	struct buf *b = &j->reply.body;
	const struct fault_hits *f = &j->faults;
	size_t n = f->on[F_DEEP] ? f->arg[F_DEEP] : f->arg[F_BIG_BODY];

	buf_adds(b, ",\"padding\":");
	if (f->on[F_DEEP]) {
		memset(buf_room(b, 2 * n), '[', n);
		memset(b->data + b->len + n, ']', n);
		b->len += 2 * n;
	} else {
		buf_addc(b, '"');
		memset(buf_room(b, n), 'x', n);
		b->len += n;
		buf_addc(b, '"');
	}
}

void wire_spoil(struct job *j)
{
	struct buf *b = &j->reply.body;
	const struct fault_hits *f = &j->faults;

	if (j->reply.status != 200)
		return;
	b->len--; /* the last brace */
	for (size_t i = 0; i < sizeof(extras) / sizeof(*extras); i++)
		if (f->on[extras[i].fault])
			buf_adds(b, extras[i].text);
	if (f->on[F_DEEP] || f->on[F_BIG_BODY])
		add_long(j);
	buf_addc(b, '}');
	if (f->on[F_TRAILING])
		buf_adds(b, "}\n<!-- served from cache -->");
	if (f->on[F_CUT_JSON])
		b->len /= 2;
	if (f->on[F_GARBAGE]) {
		buf_reset(b);
		buf_add(b, "\x1f\x8b\x08\0\xff\xfe{\"text\"", 14);
	}
	if (f->on[F_HTML])
		page(j, 200);
}

/* ---- sending ---- */

/* One byte, and a wait before the next. */
static ssize_t trickle(struct job *j, uint64_t at, char *to)
{
	struct sim *s = j->sim;

	if (at >= j->reply.body.len)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!j->paced) {
		j->paced = 1;
		timer_set(&s->timers, &j->timer, sim_clock() + j->faults.arg[F_TRICKLE] * MS);
		conn_suspend(j);
		return 0;
	}
	j->paced = 0;
	*to = j->reply.body.data[at];
	return 1;
}

/* A body in pieces: how far it goes, and what comes then. */
static ssize_t piece(void *ctx, uint64_t at, char *to, size_t room)
{
	struct job *j = ctx;
	const struct fault_hits *f = &j->faults;
	size_t end = f->on[F_RESET_HEADERS] ? 0 : j->reply.body.len / 2, n;

	if (f->on[F_TRICKLE])
		return trickle(j, at, to);
	if (at >= end) {
		if (f->on[F_RESET_HEADERS] || f->on[F_RESET_BODY])
			wire_reset(j->fd);
		return f->on[F_HALF_CLOSE] ? MHD_CONTENT_READER_END_OF_STREAM
					   : MHD_CONTENT_READER_END_WITH_ERROR;
	}
	n = end - at < room ? end - at : room;
	memcpy(to, j->reply.body.data + at, n);
	return (ssize_t)n;
}

static int in_pieces(const struct fault_hits *f)
{
	return f->on[F_RESET_HEADERS] || f->on[F_RESET_BODY] || f->on[F_HALF_BODY] ||
	       f->on[F_HALF_CLOSE] || f->on[F_HALF_CHUNK] || f->on[F_TRICKLE];
}

static struct MHD_Response *make_response(struct job *j)
{
	const struct fault_hits *f = &j->faults;
	int unknown = f->on[F_HALF_CLOSE] || f->on[F_HALF_CHUNK];
	struct MHD_Response *r;

	if (!in_pieces(f))
		return MHD_create_response_from_buffer(
		    j->reply.body.len, j->reply.body.data, MHD_RESPMEM_PERSISTENT);
	r = MHD_create_response_from_callback(
	    unknown ? MHD_SIZE_UNKNOWN : j->reply.body.len, 4096, piece, j, NULL);
	/* without chunks the end of the connection is the end of the body */
	if (r && f->on[F_HALF_CLOSE])
		(void)MHD_set_response_options(r, MHD_RF_HTTP_VERSION_1_0_ONLY, MHD_RO_END);
	return r;
}

static void add_headers(struct MHD_Response *r, const struct job *j)
{
	struct buf b = {0};

	(void)MHD_add_response_header(r, "Content-Type", j->reply.type);
	(void)MHD_add_response_header(r, "Server", "e3-sim");
	if (j->reply.retry_after > 0) {
		buf_add_u64(&b, j->reply.retry_after);
		(void)MHD_add_response_header(r, "Retry-After", buf_cstr(&b));
	}
	if (j->reply.location)
		(void)MHD_add_response_header(r, "Location", j->reply.location);
	buf_free(&b);
}

int wire_send(struct sim *s, struct job *j)
{
	struct MHD_Response *r;
	int rc;

	if (j->state == JOB_GONE)
		return MHD_NO;
	if (j->state == JOB_DONE && j->reply.status == 0) {
		reply_answer(s, j);
		wire_spoil(j);
	}
	if (j->faults.on[F_RESET]) {
		wire_reset(j->fd);
		return MHD_NO;
	}
	r = make_response(j);
	if (!r)
		return MHD_NO;
	add_headers(r, j);
	j->state = JOB_SENT;
	rc = (int)MHD_queue_response(j->conn, (unsigned)j->reply.status, r);
	MHD_destroy_response(r);
	return rc;
}
