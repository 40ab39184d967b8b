/* dumpdir.h - the folder where the server leaves its files, seen from this machine
 *
 * vLLM writes DIR/<name>.safetensors in place, under an exclusive lock on <name>.safetensors.lock
 * which it created before the client could know the name, and never deletes either. A claim waits
 * for that lock; without one (an early server, or locking off) until the file is as long as its
 * header says. While the claim is held nobody else should take the file.
 *
 * Only regular files directly in the folder are read or deleted: other paths, links and FIFOs are
 * an error ("dump-dir").
 */
#ifndef E3_DUMPDIR_H
#define E3_DUMPDIR_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/buf.h"

struct err;
struct dumpdir;

#define DUMP_END ".safetensors"

/* server_path: what the server calls the folder; NULL: the same. */
struct dumpdir *dumpdir_open(const char *path, const char *server_path, struct err *e);
void dumpdir_close(struct dumpdir *d);

/* The file's name in the folder, from the path that the server told: one that begins as
 * server_path, or that leads to the folder when it is followed on this machine. */
int dumpdir_name(const struct dumpdir *d, struct span server_file, char name[256], struct err *e);

int dumpdir_is(const struct dumpdir *d, const char *path); /* whether path leads to the folder */

struct claim {
	char *path; /* NULL: nothing is claimed */
	char name[256];
	int lock; /* held shared, or -1 */
	int seen; /* the file was there, whole or not */
};

/* How long a file without a lock is waited for until it is there and whole. */
#define CLAIM_WAIT_MS 10000

/* Waits for the writer: as long as it holds its lock, up to an hour, or wait_ms where there is none;
 * 0 is one look. Class "no-file", "truncated" (try again), "absent" (no sign of it, not even a
 * lock), "dump-dir", "system", or "stopped" when *stop became 2. On error too the claim holds what
 * there was (to be removed). */
int dumpdir_claim(const struct dumpdir *d, const char *name, long wait_ms, const atomic_int *stop,
    struct claim *c, struct err *e);
int claim_remove(const struct dumpdir *d, struct claim *c, struct err *e); /* data, then lock */
void claim_free(struct claim *c); /* lets go; the files stay */

/* Free bytes of the folder's file system. */
uint64_t dumpdir_free(const struct dumpdir *d);

/* Files of servers that nobody claimed, locks without data, and what a killed server had begun (a
 * name with a dot before it, which goes only where it holds `mine`). Those whose lock is free are
 * deleted where the name holds `mine`, or where they are older than `before`; either may be NULL.
 * The caller claims no file meanwhile whose name holds `mine`. */
struct sweep {
	const char *mine;
	const struct timespec *before;
};
struct leftovers {
	uint64_t mine, old;    /* deleted */
	uint64_t held;	       /* mine, still being written */
	uint64_t files, bytes; /* of others, left */
};
int dumpdir_sweep(
    const struct dumpdir *d, const struct sweep *s, struct leftovers *l, struct err *e);

#endif
