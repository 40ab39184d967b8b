/* fault.c - system calls that fail, for LD_PRELOAD
 *
 *	E3_FAULT=CALL:N:ERRNO	the Nth CALL (from 1) fails with that errno, the others work
 *	E3_FAULT=short		reads and writes move at most 7 bytes
 *	E3_FAULT=tmpfile	there are no unnamed files (O_TMPFILE), as on network file systems
 *	E3_FAULT=CALL:0:ERRNO	every second CALL fails; the other half works
 *	E3_FAULT_DIR=DIR	only calls on files in this folder count (all of them for calls that
 *				name a file); stderr never does
 *	E3_FAULT_MARK=FILE	is made when a call was made to fail
 *
 * Calls: open read pread write pwrite fsync fdatasync close rename linkat dup ftruncate mmap. One
 * process is expected to make them on one thread at a time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int in_folder(const char *path)
{
	const char *dir = getenv("E3_FAULT_DIR");

	return !dir || strncmp(path, dir, strlen(dir)) == 0;
}

static int fd_counts(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	if (fd == STDERR_FILENO)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return in_folder(path);
}

/* Relative names are of the working folder, where the tests run. */
static int path_counts(const char *path)
{
	return path[0] != '/' || in_folder(path);
}

static void mark(void)
{
	const char *file = getenv("E3_FAULT_MARK");

	if (file)
		syscall(SYS_close,
		    syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC, 0600));
}

/* Whether this call, which counts, is the one to fail; sets errno. */
static int fails(const char *call)
{
	static int seen;
	const char *want = getenv("E3_FAULT"), *colon;
	size_t n = strlen(call);
	int at;

	if (!want || strncmp(want, call, n) != 0 || want[n] != ':')
		return 0;
	at = atoi(want + n + 1);
	colon = strchr(want + n + 1, ':');
	seen++;
	if (at ? seen != at : seen % 2 == 0)
		return 0;
	mark();
	errno = colon ? atoi(colon + 1) : EIO;
	return 1;
}

static size_t at_most(size_t n)
{
	const char *want = getenv("E3_FAULT");

	return want && strcmp(want, "short") == 0 && n > 7 ? 7 : n;
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, name))

int open(const char *path, int flags, ...)
{
	const char *want = getenv("E3_FAULT");
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	if ((flags & O_TMPFILE) == O_TMPFILE && want && strcmp(want, "tmpfile") == 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (path_counts(path) && fails("open"))
		return -1;
	return REAL("open", int (*)(const char *, int, ...))(path, flags, mode);
}

ssize_t read(int fd, void *p, size_t n)
{
	if (fd_counts(fd) && fails("read"))
		return -1;
	return REAL("read", ssize_t(*)(int, void *, size_t))(fd, p, at_most(n));
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
	if (fd_counts(fd) && fails("pread"))
		return -1;
	return REAL("pread", ssize_t(*)(int, void *, size_t, off_t))(fd, p, at_most(n), at);
}

ssize_t write(int fd, const void *p, size_t n)
{
	if (fd_counts(fd) && fails("write"))
		return -1;
	return REAL("write", ssize_t(*)(int, const void *, size_t))(fd, p, at_most(n));
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	if (fd_counts(fd) && fails("pwrite"))
		return -1;
	return REAL("pwrite", ssize_t(*)(int, const void *, size_t, off_t))(fd, p, at_most(n), at);
}

int fsync(int fd)
{
	if (fd_counts(fd) && fails("fsync"))
		return -1;
	return REAL("fsync", int (*)(int))(fd);
}

int fdatasync(int fd)
{
	if (fd_counts(fd) && fails("fdatasync"))
		return -1;
	return REAL("fdatasync", int (*)(int))(fd);
}

/* As the kernel's, which closes the descriptor even when it fails. */
int close(int fd)
{
	int bad = fd_counts(fd) && fails("close"), saved = errno;
	int rc = REAL("close", int (*)(int))(fd);

	if (!bad)
		return rc;
	errno = saved;
	return -1;
}

int dup(int fd)
{
	if (fd_counts(fd) && fails("dup"))
		return -1;
	return REAL("dup", int (*)(int))(fd);
}

int ftruncate(int fd, off_t n)
{
	if (fd_counts(fd) && fails("ftruncate"))
		return -1;
	return REAL("ftruncate", int (*)(int, off_t))(fd, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	if (fd >= 0 && fd_counts(fd) && fails("mmap"))
		return MAP_FAILED;
	return REAL("mmap", void *(*)(void *, size_t, int, int, int, off_t))(
	    at, n, prot, flags, fd, offset);
}

int rename(const char *from, const char *to)
{
	if (path_counts(to) && fails("rename"))
		return -1;
	return REAL("rename", int (*)(const char *, const char *))(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
	if (path_counts(to) && fails("linkat"))
		return -1;
	return REAL("linkat", int (*)(int, const char *, int, const char *, int))(
	    a, from, b, to, flags);
}
