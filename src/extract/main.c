/* e3-extract - the target's hidden states, in a trainer's files */

#include "base/prog.h"
#include "extract/convert.h"
#include "extract/options.h"
#include "extract/run.h"
#include "extract/verify.h"

int main(int argc, char **argv)
{
	struct extract_opts o;
	int status;

	options_parse(&o, argc, argv);
	if (o.verify)
		status = verify_run(&o);
	else if (o.convert)
		status = convert_run(&o);
	else
		status = run_extract(&o);
	options_free(&o);
	return status;
}
