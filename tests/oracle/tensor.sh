#!/bin/sh
# src/tensor against torch and safetensors, in both directions, and numpy; a file over 4 GiB for Zip64
# where there is room for it.
. "$(dirname "$0")/venv.sh" || exit 0
here=$(cd "$(dirname "$0")" && pwd)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

for tool in write read; do
	"${CC:-gcc}" -std=c17 -D_POSIX_C_SOURCE=200809L -O2 -I"$here/../../src" -pthread \
		-o "$dir/$tool" "$here/tensor_$tool.c" "$E3_BUILD/libe3.a" \
		-lcurl -lmicrohttpd -ljansson -lzstd -lxxhash -lm || exit 1
done
"$dir/write" "$dir" || exit 1
"$PYTHON" "$here/tensor.py" "$dir" || exit 1
"$PYTHON" "$here/tensor_read.py" "$dir" "$dir/read" 14 || exit 1
if [ "$(df -Pk "$dir" | awk 'NR == 2 {print $4}')" -lt 6000000 ]; then
	echo "ok 22 - over 4 GiB # skip no room in $dir"
else
	"$dir/write" "$dir" big && "$PYTHON" "$here/tensor.py" "$dir" big
fi
