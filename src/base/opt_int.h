/* opt_int.h - a table's text in three dialects; private to opt */
#ifndef E3_OPT_INT_H
#define E3_OPT_INT_H

#include "base/opt.h"

/* A common option that the program describes itself. */
int opt_replaced(const struct opt_prog *p, const struct opt *o);

/* Prints --help's text, or with "bash" or "zsh" the completions; anything else is misuse. */
void opt_help(const struct opt_prog *p, const char *how);

#endif
