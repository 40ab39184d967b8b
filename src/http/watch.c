/* epoll is Linux's. */
#define _GNU_SOURCE
#include "http/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/err.h"

#define EXTRA_FDS 16
#define EVENTS	  256 /* handled at one wait; the rest is ready at the next one */

/* socket_data: not NULL where epoll knows the socket already. */
static int on_change(CURL *easy, curl_socket_t s, int what, void *arg, void *socket_data)
{
	struct watch *w = arg;
	struct epoll_event ev = {.data.fd = s};

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		epoll_ctl(w->epoll, EPOLL_CTL_DEL, s, NULL); /* closed ones have gone already */
		return 0;
	}
	ev.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
	if (epoll_ctl(w->epoll, socket_data ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, s, &ev) < 0) {
		w->sys_errno = errno;
		return -1;
	}
	if (!socket_data)
		curl_multi_assign(w->multi, s, w);
	return 0;
}

int watch_open(struct watch *w, CURLM *multi, struct err *e)
{
	w->multi = multi;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0)
		return err_sys(e, "epoll");
	if (curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_change) != CURLM_OK ||
	    curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, w) != CURLM_OK)
		return err_set(e, "system", "libcurl refuses to be watched");
	return 0;
}

void watch_close(struct watch *w)
{
	if (w->epoll >= 0)
		close(w->epoll);
	w->epoll = -1;
}

static CURLMcode act(struct watch *w, curl_socket_t s, int what)
{
	int running;

	return curl_multi_socket_action(w->multi, s, what, &running);
}

static CURLMcode act_on_sockets(struct watch *w)
{
	struct epoll_event ev[EVENTS];
	int n = epoll_wait(w->epoll, ev, EVENTS, 0);
	CURLMcode rc = CURLM_OK;

	for (int i = 0; i < n && rc == CURLM_OK; i++)
		rc = act(w, ev[i].data.fd,
		    (ev[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
			(ev[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
			(ev[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0));
	return rc;
}

/* What libcurl wants to do by itself: begin a transfer, give up a connection. */
static CURLMcode act_on_time(struct watch *w)
{
	long ms = -1;
	CURLMcode rc = curl_multi_timeout(w->multi, &ms);

	return rc == CURLM_OK && ms == 0 ? act(w, CURL_SOCKET_TIMEOUT, 0) : rc;
}

/* timeout_ms, or the time until libcurl wants to be called where that is sooner. */
static int shorter(struct watch *w, int timeout_ms)
{
	long ms = -1;

	if (curl_multi_timeout(w->multi, &ms) != CURLM_OK || ms < 0 ||
	    (timeout_ms >= 0 && ms > timeout_ms))
		return timeout_ms;
	return ms > 1000000 ? 1000000 : (int)ms;
}

int watch_wait(struct watch *w, int timeout_ms, struct pollfd *fds, size_t nfds, struct err *e)
{
	struct pollfd all[EXTRA_FDS + 1] = {{.fd = w->epoll, .events = POLLIN}};
	CURLMcode rc = CURLM_OK;

	if (nfds > EXTRA_FDS)
		return err_set(e, "system", "more than %d descriptors to wait for", EXTRA_FDS);
	for (size_t i = 0; i < nfds; i++)
		all[i + 1] = fds[i];
	if (poll(all, (nfds_t)nfds + 1, shorter(w, timeout_ms)) < 0 && errno != EINTR)
		return err_sys(e, "poll");
	for (size_t i = 0; i < nfds; i++)
		fds[i].revents = all[i + 1].revents;
	if (all[0].revents)
		rc = act_on_sockets(w);
	if (rc == CURLM_OK)
		rc = act_on_time(w);
	if (w->sys_errno)
		return err_set(e, "system", "epoll: %s", strerror(w->sys_errno));
	return rc == CURLM_OK ? 0 : err_set(e, "system", "libcurl: %s", curl_multi_strerror(rc));
}
