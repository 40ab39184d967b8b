#include "bpe/unicode.h"

int uni_is_word(uint32_t cp)
{
	size_t lo = 0, hi = uni_words;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (cp > uni_word[mid].last)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < uni_words && cp >= uni_word[lo].first;
}
