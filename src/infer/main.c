/* e3-infer: lets a server answer the prompts of conversation records. */
#include <string.h>

#include "base/err.h"
#include "base/prog.h"
#include "infer/options.h"
#include "infer/run.h"

static void say(const char *text)
{
	prog_warn("%s", text);
}

int main(int argc, char **argv)
{
	struct options o;
	struct err e = {0};
	int rc;

	infer_defaults(&o);
	opt_parse(&infer_prog, argc, argv, &o);
	if (infer_check(&o, &e) < 0)
		opt_misuse(&infer_prog, "%s", e.msg);
	if (o.flow.output && strcmp(o.flow.output, "-") != 0) {
		flow_beside(&o.flow, "%s.part", o.flow.output);
		flow_beside(&o.flow, "%s.turns", o.flow.output);
	}
	if (o.servers_file)
		opt_list_add(&o.flow.inputs, o.servers_file);
	if (o.template)
		opt_list_add(&o.flow.inputs, o.template);
	rc = infer_run(&o, say, &e);
	if (rc < 0)
		rc = prog_fail(&e);
	else if (rc > 0)
		rc += 128;
	opt_list_free(&o.servers);
	opt_list_free(&o.flow.files);
	opt_list_free(&o.flow.inputs);
	opt_list_free(&o.flow.beside);
	return rc;
}
