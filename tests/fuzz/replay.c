/* Runs a fuzzer's function over files: the corpus in `make check`, without a fuzzing engine. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int replay(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data;
	long n;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0) {
		perror(path);
		return -1;
	}
	rewind(f);
	data = malloc((size_t)n + 1);
	if (!data || fread(data, 1, (size_t)n, f) != (size_t)n) {
		perror(path);
		return -1;
	}
	fclose(f);
	LLVMFuzzerTestOneInput(data, (size_t)n);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		struct dirent *d;
		char path[4096];

		if (!dir) {
			perror(argv[i]);
			return 1;
		}
		while ((d = readdir(dir))) {
			if (d->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", argv[i], d->d_name);
			if (replay(path) < 0)
				return 1;
			printf("ok %d - %s\n", ++count, d->d_name);
		}
		closedir(dir);
	}
	printf("1..%d\n", count);
	return count > 0 ? 0 : 1;
}
