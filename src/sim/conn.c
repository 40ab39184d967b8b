#include "sim/sim.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define BODY_MAX    (512u << 20)
#define BACKLOG	    4096
#define SPARE_FILES 64
/* A connection's pool holds its headers and what is on its way to the socket. 10,000 of them must
 * not fill the memory. */
#define POOL_BYTES 16384
/* Both Python servers close an idle connection after five seconds (uvicorn's default). */
#define IDLE_SECONDS 5u

/* ---- jobs ---- */

/* Only between two requests: a client may be slow to send or to read, or stopped. */
static void idle_after(struct MHD_Connection *conn, unsigned seconds)
{
	(void)MHD_set_connection_option(conn, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

static struct job *job_new(struct sim *s, struct MHD_Connection *conn, const char *method)
{
	struct job *j = xcalloc(1, sizeof(*j));
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);

	idle_after(conn, 0);
	j->sim = s;
	j->conn = conn;
	j->fd = info ? info->connect_fd : -1;
	j->post = strcmp(method, "POST") == 0;
	j->timer.owner = j;
	j->states_lock = -1;
	j->next = s->jobs;
	if (s->jobs)
		s->jobs->prev = j;
	s->jobs = j;
	s->open++;
	return j;
}

static void job_free(struct sim *s, struct job *j)
{
	engine_drop(s, j);
	*(j->prev ? &j->prev->next : &s->jobs) = j->next;
	if (j->next)
		j->next->prev = j->prev;
	s->open--;
	buf_free(&j->body);
	buf_free(&j->rid);
	buf_free(&j->model);
	buf_free(&j->states_path);
	buf_free(&j->reply.body);
	ints_free(&j->prompt);
	ints_free(&j->out);
	free(j);
}

void conn_suspend(struct job *j)
{
	j->suspended = 1;
	MHD_suspend_connection(j->conn);
}

void conn_resume(struct job *j)
{
	if (j->suspended)
		MHD_resume_connection(j->conn);
	j->suspended = 0;
}

/* ---- the request ---- */

static enum MHD_Result take_body(struct sim *s, struct job *j, const char *data, size_t *n)
{
	if (j->body.len + *n > BODY_MAX) {
		reply_error(s, j, 413, "the request body is too large");
		j->state = JOB_DONE;
	} else {
		buf_add(&j->body, data, *n);
	}
	*n = 0;
	return MHD_YES;
}

/* The whole request is here: a reply, or a place in the queue. */
static enum MHD_Result act(struct sim *s, struct job *j, const char *method, const char *path)
{
	if (!info_ask(s, path, &j->ask)) {
		if (!info_reply(s, j, method, path))
			reply_error(s, j, 404, "Not Found");
		return (enum MHD_Result)wire_send(s, j);
	}
	j->number = ++s->count.requests;
	fault_draw(&s->plan, j->number, &j->faults);
	if (!j->post)
		reply_error(s, j, 405, "Method Not Allowed");
	else if (engine_full(s))
		reply_error(s, j, 503, "The request queue is full.");
	else if (!wire_refuse(s, j) && ask_read(s, j) == 0 && !engine_submit(s, j)) {
		conn_suspend(j);
		return MHD_YES;
	}
	return (enum MHD_Result)wire_send(s, j);
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *conn, const char *path,
    const char *method, const char *version, const char *data, size_t *n, void **slot)
{
	struct sim *s = ctx;
	struct job *j = *slot;

	(void)version;
	if (!j) {
		*slot = job_new(s, conn, method);
		return MHD_YES;
	}
	if (*n > 0)
		return take_body(s, j, data, n);
	switch (j->state) {
	case JOB_NEW: j->state = JOB_READ; return act(s, j, method, path);
	case JOB_DONE: return (enum MHD_Result)wire_send(s, j);
	default: return MHD_NO;
	}
}

static void completed(
    void *ctx, struct MHD_Connection *conn, void **slot, enum MHD_RequestTerminationCode code)
{
	struct sim *s = ctx;
	struct job *j = *slot;

	*slot = NULL;
	if (!j)
		return;
	if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK) {
		idle_after(conn, IDLE_SECONDS);
		engine_after_reply(s, j);
	}
	job_free(s, j);
}

/* ---- sockets ---- */

static uint64_t raise_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return 1024;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r); /* what it was will do, for fewer clients */
	(void)getrlimit(RLIMIT_NOFILE, &r);
	return r.rlim_cur;
}

static int bind_one(const struct addrinfo *a)
{
	int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol), one = 1;

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, a->ai_addr, a->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		int keep = errno;

		close(fd);
		errno = keep;
		return -1;
	}
	return fd;
}

static int bound_port(int fd)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);

	if (getsockname(fd, (struct sockaddr *)&a, &n) < 0)
		return 0;
	return a.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&a)->sin6_port)
				       : ntohs(((struct sockaddr_in *)&a)->sin_port);
}

int conn_listen(struct sim *s, struct err *e)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *a = NULL;
	char port[32] = "";
	struct buf b = {0};
	int rc;

	buf_addf(&b, "%d", s->port);
	memcpy(port, b.data, b.len);
	buf_free(&b);
	rc = getaddrinfo(s->opt->host, port, &hints, &a);
	if (rc != 0)
		return err_set(e, "host", "%s: %s", s->opt->host, gai_strerror(rc));
	s->listen = bind_one(a);
	if (s->listen < 0)
		err_sys(e, "%s port %s", s->opt->host, port);
	freeaddrinfo(a);
	if (s->listen < 0)
		return -1;
	s->port = bound_port(s->listen);
	return 0;
}

void conn_refuse(struct sim *s)
{
	if (s->listen >= 0)
		close(s->listen);
	s->listen = -1;
}

/* The signals that end the server become a descriptor to poll. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int conn_open(struct sim *s, struct err *e)
{
	uint64_t files = raise_files();

	s->signals = catch_signals();
	if (s->signals < 0)
		return err_sys(e, "signals");
	s->port = (int)s->opt->port;
	if (conn_listen(s, e) < 0)
		return -1;
	/* Without a listening socket of its own: ours can be closed and opened again. */
	s->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
	    handle, s, MHD_OPTION_NOTIFY_COMPLETED, completed, s, MHD_OPTION_CONNECTION_LIMIT,
	    (unsigned)(files > 2 * SPARE_FILES ? files - SPARE_FILES : files / 2),
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
	    IDLE_SECONDS, MHD_OPTION_END);
	if (!s->daemon)
		return err_sys(e, "can't start the HTTP server");
	return 0;
}

static void accept_all(struct sim *s)
{
	struct sockaddr_storage a;
	int fd, one = 1;

	for (;;) {
		socklen_t n = sizeof(a);

		fd = accept(s->listen, (struct sockaddr *)&a, &n);
		if (fd < 0)
			return; /* none is left, or no descriptor is free: the client waits or is
				   cut */
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		if (MHD_add_connection(s->daemon, fd, (struct sockaddr *)&a, n) != MHD_YES)
			s->count.refused++;
	}
}

/* The first signal lets what runs end, the second does not. */
static int signalled(struct sim *s)
{
	struct signalfd_siginfo info;
	int end = 0;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		end = s->draining;
		s->draining = 1;
		conn_refuse(s);
	}
	return end;
}

static int wait_ms(struct sim *s)
{
	int due = engine_wait(s);
	MHD_UNSIGNED_LONG_LONG mhd;

	if (MHD_get_timeout(s->daemon, &mhd) != MHD_YES)
		return due;
	if (mhd > 60000)
		mhd = 60000;
	return due >= 0 && (unsigned)due < mhd ? due : (int)mhd;
}

int conn_loop(struct sim *s, struct err *e)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd p[3] = {{.events = POLLIN}, {.events = POLLIN}, {.events = POLLIN}};

	if (!info)
		return err_set(e, "system", "libmicrohttpd has no epoll descriptor");
	p[0].fd = s->signals;
	p[1].fd = info->epoll_fd;
	while (!s->draining || s->open > 0) {
		engine_turn(s);
		if (s->draining && s->open == 0)
			break;
		if (MHD_run(s->daemon) != MHD_YES)
			return err_set(e, "system", "libmicrohttpd stopped");
		p[2].fd = s->listen; /* poll skips a negative one */
		if (poll(p, 3, wait_ms(s)) < 0 && errno != EINTR)
			return err_sys(e, "poll");
		if (p[0].revents && signalled(s))
			break;
		if (p[2].revents && s->listen >= 0)
			accept_all(s);
	}
	return 0;
}

void conn_close(struct sim *s)
{
	conn_refuse(s);
	/* MHD refuses to stop while a connection is suspended */
	if (s->daemon) {
		engine_forget(s);
		MHD_stop_daemon(s->daemon);
	}
	if (s->signals >= 0)
		close(s->signals);
}
