/* signalfd is Linux's: the pump waits for descriptors. */
#define _GNU_SOURCE
#include "infer/signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"

static void wanted(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
}

int signals_open(struct err *e)
{
	sigset_t set;
	int fd;

	wanted(&set);
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

void signals_close(int fd)
{
	close(fd);
}

uint64_t clock_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
