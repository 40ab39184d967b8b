# To be sourced by the oracle tests:
#
#	. "$(dirname "$0")/venv.sh" || exit 0
#	"$PYTHON" ...
#
# Makes, once, the virtual environment that holds the real libraries, and exports PYTHON. It lies in
# E3_ORACLE_VENV, by default build/oracle-venv; several tests may ask for it at once. Where it
# cannot be made, prints a TAP line that skips, and returns 1.
#
# torch is named exactly, so that a CPU build of that number, where pip is shown one, is taken: a
# plain "torch" may fetch gigabytes of CUDA.

oracle_root=$(cd "$(dirname "$0")/../.." && pwd)
oracle_venv=${E3_ORACLE_VENV:-$oracle_root/build/oracle-venv}
oracle_wants="torch==2.13.0 numpy safetensors tiktoken tokenizers jinja2==3.1.6 regex transformers==5.8.1"

# oracle_make DIR LOG WHAT...: makes the environment, or does nothing when it is there already
oracle_make() {
	(
		dir=$1 log=$2
		shift 2
		mkdir -p "$(dirname "$dir")"
		exec 9>"$dir.lock"
		flock 9
		[ "$(cat "$dir/e3-wants" 2>/dev/null)" = "$*" ] && exit 0
		[ -x "$dir/bin/python" ] || python3 -m venv "$dir" || exit 1
		for step in "$@"; do
			# a step is the argument list of one pip install
			# shellcheck disable=SC2086
			"$dir/bin/python" -m pip install -q --disable-pip-version-check $step || exit 1
		done
		echo "$*" >"$dir/e3-wants"
	) >"$2" 2>&1
}

oracle_skip() {
	echo "ok 1 - $(basename "$0" .sh) # skip $1"
	return 1
}

oracle_log=$(mktemp)
if ! command -v python3 >/dev/null; then
	rm -f "$oracle_log"
	oracle_skip "no python3" || return 1
elif ! oracle_make "$oracle_venv" "$oracle_log" "$oracle_wants"; then
	oracle_why=$(grep -iE 'error|no such|not found' "$oracle_log" | head -n 1 | cut -c 1-200)
	rm -f "$oracle_log"
	oracle_skip "cannot install the real libraries: ${oracle_why:-see python3 -m venv}" || return 1
fi
rm -f "$oracle_log"
PYTHON=$oracle_venv/bin/python
HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
export PYTHON HF_HUB_OFFLINE TOKENIZERS_PARALLELISM PYTHONDONTWRITEBYTECODE
