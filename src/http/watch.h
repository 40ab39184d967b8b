/* watch.h - waiting for libcurl's sockets by epoll; internal to http/
 *
 * curl_multi_poll hands every socket to the kernel at each wait and looks at every transfer after
 * it: of 1,000 requests in flight all but a few are silent for minutes. Here the kernel keeps the
 * list, and libcurl is told which socket is ready.
 * When libcurl wants to be called next is asked for at each wait (curl_multi_timeout), not
 * remembered: there is no timer to be lost.
 */
#ifndef E3_HTTP_WATCH_H
#define E3_HTTP_WATCH_H

#include <curl/curl.h>
#include <poll.h>
#include <stddef.h>

struct err;

struct watch {
	CURLM *multi;
	int epoll;
	int sys_errno; /* why a socket could not be watched, or 0 */
};

int watch_open(struct watch *w, CURLM *multi, struct err *e);
void watch_close(struct watch *w); /* after the multi handle */
/* As http_wait, but for what has finished. */
int watch_wait(struct watch *w, int timeout_ms, struct pollfd *fds, size_t nfds, struct err *e);

#endif
