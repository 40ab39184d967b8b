/* folder.h - small model folders for unit tests, in tmp_dir: a token for each byte (id = byte), and
 * added tokens from 256 on
 *
 *	folder_make	added tokens by their names, without flags
 *	folder_write	added_tokens and normalizer are JSON */
#ifndef E3_TESTS_FOLDER_H
#define E3_TESTS_FOLDER_H

#include "base/buf.h"
#include "tmp.h"

/* template may be NULL: the folder has none. */
static inline void folder_write(const char *added, const char *normalizer, const char *template)
{
	struct buf b = {0};
	int moved = 0x100;

	buf_adds(&b, "{\"model\":{\"type\":\"BPE\",\"merges\":[],\"vocab\":{");
	for (int c = 0; c < 256; c++) {
		int plain = (c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c != 0xad);

		buf_adds(&b, c ? ",\"" : "\"");
		if (c == '"' || c == '\\')
			buf_addc(&b, '\\');
		buf_add_utf8(&b, (uint32_t)(plain ? c : moved++));
		buf_addf(&b, "\":%d", c);
	}
	buf_addf(&b, "}},\"normalizer\":%s", normalizer);
	buf_adds(&b, ",\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false,"
		     "\"trim_offsets\":true,\"use_regex\":true}");
	buf_addf(&b, ",\"added_tokens\":%s}", added);
	tmp_write(tmp_path("tokenizer.json"), b.data, b.len);
	buf_free(&b);
	tmp_puts(tmp_path("tokenizer_config.json"),
	    "{\"bos_token\":\"<s>\",\"eos_token\":{\"content\":\"</s>\"},\"pad_token\":null}");
	if (template)
		tmp_puts(tmp_path("chat_template.jinja"), template);
}

/* names ends with NULL. */
static inline void folder_make(const char *const *names, const char *template)
{
	struct buf added = {0};

	buf_addc(&added, '[');
	for (int k = 0; names[k]; k++)
		buf_addf(&added,
		    "%s{\"id\":%d,\"content\":\"%s\",\"special\":true,\"normalized\":false,"
		    "\"lstrip\":false,\"rstrip\":false,\"single_word\":false}",
		    k ? "," : "", 256 + k, names[k]);
	buf_addc(&added, ']');
	folder_write(buf_cstr(&added), "null", template);
	buf_free(&added);
}

#endif
