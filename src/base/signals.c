/* signalfd is Linux's. */
#define _GNU_SOURCE
#include "base/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/err.h"

int signals_open(int more, struct err *e)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (more != 0)
		sigaddset(&set, more);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return err_sys(e, "signals");
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? err_sys(e, "signals") : fd;
}

int signals_next(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info) ? (int)info.ssi_signo : 0;
}
