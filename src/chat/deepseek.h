/* chat/deepseek.h - what DeepSeek's layouts share
 *
 * DeepSeek V3.2 has no chat template: an encoder in Python, encoding_dsv32.py, lies beside its
 * weights, and the servers have copies of it. What the model writes is the same wherever a
 * conversation stands:
 *
 *	answer	= [REASONING "</think>"] CONTENT [LF LF calls] END
 *	calls	= "<｜DSML｜function_calls>" LF {call LF} "</｜DSML｜function_calls>"
 *	call	= "<｜DSML｜invoke name="NAME">" LF arg {LF arg} LF "</｜DSML｜invoke>"
 *	arg	= "<｜DSML｜parameter name="KEY" string="true">" TEXT "</｜DSML｜parameter>"
 *		| "<｜DSML｜parameter name="KEY" string="false">" JSON "</｜DSML｜parameter>"
 *
 * where nothing is escaped but inside JSON, and a call without arguments has an empty line.
 */
#ifndef E3_CHAT_DEEPSEEK_H
#define E3_CHAT_DEEPSEEK_H

#include "chat/impl.h"

#define DS_THINK   "<think>"
#define DS_THOUGHT "</think>"
#define DS_END	   "<｜end▁of▁sentence｜>"

#define DSML_CALLS	"\n\n<｜DSML｜function_calls>\n"
#define DSML_CALLED	"</｜DSML｜function_calls>"
#define DSML_INVOKE	"<｜DSML｜invoke name=\""
#define DSML_INVOKED	"</｜DSML｜invoke>"
#define DSML_ARG	"<｜DSML｜parameter name=\""
#define DSML_ARG_STRING "\" string=\"true\">"
#define DSML_ARG_JSON	"\" string=\"false\">"
#define DSML_ARG_END	"</｜DSML｜parameter>"

/* Appends to a rendering. v may be NULL; what is no string prints nothing. */
void ds_put(struct jinja_out *out, const char *text);
void ds_put_value(struct jinja_out *out, const struct jval *v);
void ds_put_json(struct jinja_out *out, const struct jval *v, uint32_t origin);

/* [CONTENT] [LF LF calls] of message i. Class "template". */
int ds_put_said(struct jinja_out *out, const struct jval *message, size_t i, struct err *e);

#endif
