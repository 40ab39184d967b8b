/* Any bytes may come back from a server: the first chooses the route. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "serve/facts.h"
#include "serve/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const int32_t ids[] = {1, 2, 3};
	struct serve_sent sent = {
	    .ids = ids, .n = 3, .rid = "r", .max_new_tokens = 3, .want_ids = 1};
	struct serve_facts f = SERVE_FACTS_NONE;
	struct serve_reply r = {0};
	struct serve_load l;
	struct buf b = {0};
	struct err e = {0};
	struct span body;
	char *copy;

	if (n == 0)
		return 0;
	copy = malloc(n); /* exactly as long, so that a step beyond is seen */
	if (!copy)
		return 0;
	memcpy(copy, data + 1, n - 1);
	body = (struct span){copy, n - 1};
	if (serve_reply_read(&r, (enum serve_route)(data[0] % 6), body, &e) == 0)
		serve_reply_check(&r, &sent, &e);
	serve_error_read(&b, body);
	serve_load_read(&l, body);
	for (size_t i = 0; i < serve_nprobes; i++)
		serve_probes[i].read(&f, body);
	buf_free(&b);
	serve_reply_free(&r);
	free(copy);
	return 0;
}
