/* report.h - what a person sees: the progress line, the state, the summary */
#ifndef E3_INFER_REPORT_H
#define E3_INFER_REPORT_H

struct endpoint;
struct run;

/* A line for the user (run.h). */
void report_line(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_server(struct run *r, const struct endpoint *ep); /* what it said it is; not with -q */
void report_progress(struct run *r);			      /* when it is time */
void report_state(struct run *r);			      /* SIGUSR1 */
void report_summary(struct run *r);			      /* the end; not with -q */
void report_stats(struct run *r);			      /* into --stats */

#endif
