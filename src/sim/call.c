#include "sim/call.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "bpe/bpe.h"

#define CALL "<|tool_call_begin|>"
#define ARGS "<|tool_call_argument_begin|>"
#define END  "<|tool_call_end|>"

/* "functions.NAME:3" is NAME. */
static struct span function_name(struct span id)
{
	const char *dot = memchr(id.p, '.', id.n), *colon;
	struct span name = id;

	if (dot)
		name = (struct span){dot + 1, id.n - (size_t)(dot + 1 - id.p)};
	colon = memchr(name.p, ':', name.n);
	if (colon)
		name.n = (size_t)(colon - name.p);
	return name;
}

static void one(struct buf *out, struct span id, struct span args)
{
	struct span name = function_name(id);

	buf_adds(out, "{\"id\":");
	buf_add_json(out, id.p, id.n);
	buf_adds(out, ",\"type\":\"function\",\"function\":{\"name\":");
	buf_add_json(out, name.p, name.n);
	buf_adds(out, ",\"arguments\":");
	buf_add_json(out, args.p, args.n);
	buf_adds(out, "}}");
}

size_t call_write(const struct bpe *b, const int32_t *ids, size_t n, struct buf *out)
{
	struct buf text = {0};
	struct err e;
	const char *at, *args, *end;
	size_t calls = 0;

	if (bpe_decode(b, ids, n, &text, &e) < 0)
		text.len = 0;
	for (at = buf_cstr(&text); (at = strstr(at, CALL)); at = end) {
		at += strlen(CALL);
		args = strstr(at, ARGS);
		end = args ? strstr(args, END) : NULL;
		if (!end)
			break;
		buf_adds(out, calls++ == 0 ? ",\"tool_calls\":[" : ",");
		one(out, (struct span){at, (size_t)(args - at)},
		    (struct span){args + strlen(ARGS), (size_t)(end - args) - strlen(ARGS)});
	}
	if (calls > 0)
		buf_addc(out, ']');
	buf_free(&text);
	return calls;
}
