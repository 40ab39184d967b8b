#define _XOPEN_SOURCE 700 /* realpath */

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"
#include "extract/run.h"
#include "extract/say.h"

/* Servers name a file by the id of its request, which is the client's to choose (SGLang's rid,
 * vLLM's request_id). Ours begin with what tells the set: so the file of a request that nobody
 * waits for any more - its client was killed, its connection lost - is known from those of others,
 * other shards of the same input among them, whichever run of the set sent it. One folder is the
 * out-dir of one run at a time. */

enum { POLL_MS = 50, WAIT_MS = 10000 };

/* The set is its folder: by its name and its number, so that neither another one in its place nor
 * one of the same name on another machine is taken for it; and the shard. */
static int name_set(struct run *r, struct err *e)
{
	char *path = realpath(r->o->out_dir, NULL), hex[17] = "";
	struct buf key = {0};
	struct stat st;

	if (!path || stat(path, &st) < 0) {
		free(path);
		return err_sys(e, "%s", r->o->out_dir);
	}
	buf_addf(&key, "%s %llu %llu/%llu", path, (unsigned long long)st.st_ino,
	    (unsigned long long)r->o->flow.shard.i, (unsigned long long)r->o->flow.shard.n);
	snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)hash64(key.data, key.len, 0));
	snprintf(r->mine, sizeof(r->mine), "e3x-%s-", hex);
	buf_free(&key);
	free(path);
	return 0;
}

static void name_run(struct run *r)
{
	struct buf key = {0};
	char host[64] = "";

	gethostname(host, sizeof(host) - 1);
	buf_addf(&key, "%lld %ld %ld %s", (long long)r->start_time.tv_sec, r->start_time.tv_nsec,
	    (long)getpid(), host);
	snprintf(r->tag, sizeof(r->tag), "%08lx",
	    (unsigned long)(hash64(key.data, key.len, 0) & 0xffffffff));
	buf_free(&key);
}

static const char *files(uint64_t n)
{
	return n == 1 ? "file" : "files";
}

/* The run ends without a word then. */
static int reader_left(const struct run *r)
{
	return r->failed && err_is_pipe(&r->err);
}

static void say_mine(const struct run *r, uint64_t n)
{
	if (n > 0 && !r->o->flow.quiet && !reader_left(r))
		say("%s: %llu %s of this set's requests that nobody waited for: deleted",
		    r->o->dump_dir, (unsigned long long)n, files(n));
}

int sweep_begin(struct run *r, struct err *e)
{
	struct sweep s = {.mine = r->mine, .before = r->o->sweep ? &r->start_time : NULL};
	struct leftovers l;
	char bytes[32];

	name_run(r);
	if (name_set(r, e) < 0)
		return -1;
	if (!r->dump)
		return 0;
	if (dumpdir_sweep(r->dump, &s, &l, e) < 0)
		return -1;
	say_mine(r, l.mine);
	if (l.old > 0 && !r->o->flow.quiet)
		say("%s: %llu %s that others left: deleted", r->o->dump_dir,
		    (unsigned long long)l.old, files(l.old));
	num_human(l.bytes, bytes);
	if (l.files > 0)
		say("%s: %llu %s (%s) of no record of this run: --sweep deletes what nobody "
		    "writes",
		    r->o->dump_dir, (unsigned long long)l.files, files(l.files), bytes);
	return 0;
}

int sweep_mine(struct run *r, struct err *e)
{
	struct sweep s = {.mine = r->mine};
	struct leftovers l;

	if (dumpdir_sweep(r->dump, &s, &l, e) < 0)
		return -1;
	say_mine(r, l.mine);
	return 0;
}

int sweep_end(struct run *r, struct err *e)
{
	struct sweep s = {.mine = r->mine};
	struct leftovers l = {.held = 1};
	uint64_t n = 0;

	if (!r->dump)
		return 0;
	for (int waited = 0; l.held > 0 && waited <= WAIT_MS; waited += POLL_MS) {
		struct pollfd signal = {.fd = r->signals, .events = POLLIN};

		if (waited > 0 && (atomic_load(&r->stop) > 1 || poll(&signal, 1, POLL_MS) > 0))
			break;
		if (dumpdir_sweep(r->dump, &s, &l, e) < 0)
			return -1;
		n += l.mine;
	}
	say_mine(r, n);
	if (l.held > 0 && !reader_left(r))
		say("%s: %llu %s of this set's requests still being written: --resume deletes what "
		    "they become",
		    r->o->dump_dir, (unsigned long long)l.held, files(l.held));
	return 0;
}
