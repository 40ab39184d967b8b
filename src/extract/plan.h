/* plan.h - what a run has decided: what is asked of the server, what is written
 *
 * Part of it is said by options, part only by the first file (hidden size, dtype, and what a dump
 * declares). Until that file has been seen nothing else is sent; then the plan is adopted (by a
 * copy, which the run takes over), and all later files must agree with it. */
#ifndef E3_PLAN_H
#define E3_PLAN_H

#include "extract/capture.h"
#include "extract/manifest.h"
#include "extract/weights.h"
#include "json/config.h"

struct plan {
	const struct extract_opts *o;
	struct config config; /* zeros without --model */
	struct norm_weights weights;
	enum norm delivered; /* of the last state as it comes */
	enum dtype came;     /* of the states as they come */
	struct setinfo set;  /* what is written */
	int adopted;
};

/* From the options alone: refuses what can be refused before anything is sent. */
int plan_open(struct plan *p, const struct extract_opts *o, struct err *e);
/* For --convert: from the manifest of the set that is read. */
int plan_convert(
    struct plan *p, const struct extract_opts *o, const struct setinfo *from, struct err *e);
void plan_close(struct plan *p);

struct capture_want plan_want(const struct plan *p, const int32_t *ids, size_t n);

/* The first capture: class "layers", "norm", "layout", "manifest": the run can't go on. `old` is
 * the set that a resumed run goes on with, or NULL. */
int plan_adopt(struct plan *p, const struct capture *c, const struct setinfo *old, struct err *e);
/* A later one. */
int plan_agree(const struct plan *p, const struct capture *c, struct err *e);

/* Bytes that a record of n tokens takes on disk, and in the dump directory; 0 where the hidden size
 * is not known. */
uint64_t plan_bytes(const struct plan *p, uint64_t n);

#endif
