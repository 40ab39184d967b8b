/* report.h - what a person sees: the progress line, the state, the summary */
#ifndef E3_INFER_REPORT_H
#define E3_INFER_REPORT_H

struct buf;
struct endpoint;
struct run;

void report_number(struct buf *b, double x);	 /* 1234567 as 1.2M; below 10,000 as it is */
void report_time(struct buf *b, double seconds); /* 5 h 12 min */

/* A line for the user (run.h). */
void report_line(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void report_server(struct run *r, const struct endpoint *ep); /* what it said it is; not with -q */
void report_waiting(struct run *r);  /* for what, while none is up; not with -q */
void report_progress(struct run *r); /* when it is time */
void report_state(struct run *r);    /* SIGUSR1 */
void report_summary(struct run *r);  /* the end; not with -q */
void report_stats(struct run *r);    /* into --stats */

#endif
