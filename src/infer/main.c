/* e3-infer: lets a server answer the prompts of conversation records. */
#include "infer/options.h"
#include "infer/run.h"

int main(int argc, char **argv)
{
	struct options o;
	int rc;

	infer_options(&o, argc, argv);
	rc = infer_run(&o);
	opt_list_free(&o.servers);
	opt_list_free(&o.flow.files);
	return rc;
}
