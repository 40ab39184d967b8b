/* loop.h - one turn of a run: read, start, wait, finish */
#ifndef E3_INFER_LOOP_H
#define E3_INFER_LOOP_H

struct run;

/* What can be done is done; then it waits for a transfer, a signal, input or the time. */
void loop_turn(struct run *r);
/* Does what the signals that came are for. */
void loop_signals(struct run *r);
/* Takes what has ended. */
void loop_finish(struct run *r);

#endif
