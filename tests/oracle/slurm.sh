#!/bin/bash
# pipelines/slurm on a real Slurm of one machine: a controller and two nodes on the loopback. Two shards
# must give the bytes of one machine, also when a task is requeued half way or fails; and what is done
# must not be done again. Needs root (munge, slurmd); installs Debian's packages where it may. Ends what it starts.

# tests/run starts all of its kind by sh
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
cd "$(dirname "$0")/../.." || exit 1
: "${E3_BIN:=$PWD/bin}"
what="two Slurm shards give the bytes of one machine"
skip() {
	echo "ok 1 - $what # skip $1"
	exit 0
}
[ "$(id -u)" = 0 ] || skip "needs root"
have() {
	command -v slurmctld slurmd munged sbatch >/dev/null
}
have || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null 2>&1
have || skip "no slurm-wlm and munge, and they cannot be installed"

dir=$(mktemp -d) || exit 1
munged=
sim=
holder=
# the daemons tell their numbers in files of this folder; munged only if it was started here
finish() {
	[ -z "$(squeue -h 2>/dev/null)" ] || scancel -u root 2>/dev/null
	for f in "$dir"/*.pid; do
		[ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null
	done
	[ -z "$sim" ] || kill -9 "$sim" 2>/dev/null
	[ -z "$munged" ] || kill "$munged" 2>/dev/null
	[ -z "$holder" ] || kill "$holder" 2>/dev/null
	for _ in $(seq 50); do
		pgrep -f "slurm(ctld|d|stepd).*$dir" >/dev/null || break
		sleep 0.1
	done
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM
exec 2>"$dir/stderr"

# ---- a cluster ----

start_munge() {
	munge -n 2>/dev/null | unmunge >/dev/null 2>&1 && return 0
	install -d -o munge -g munge -m 755 /run/munge
	install -d -o munge -g munge -m 700 /var/lib/munge /var/log/munge
	su -s /bin/sh munge -c munged || return 1
	munged=$(cat /run/munge/munged.pid)
	munge -n | unmunge >/dev/null 2>&1
}

# Three ports, which stay bound, so that nobody else is given them: Slurm's daemons can listen there all
# the same, since they too set SO_REUSEADDR and nobody listens yet.
hold_ports() {
	python3 -c 'import signal, socket
held = [socket.socket() for _ in range(3)]
for s in held:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("", 0))
print(*(s.getsockname()[1] for s in held), flush=True)
signal.pause()' >"$dir/ports" &
	holder=$!
	until [ -s "$dir/ports" ]; do
		kill -0 $holder || return 1
		sleep 0.1
	done
}

start_slurm() {
	local host n ctld n1 n2
	host=$(hostname -s)
	hold_ports || return 1
	read -r ctld n1 n2 <"$dir/ports"
	cat >"$dir/slurm.conf" <<-END
		ClusterName=e3
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$ctld
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool.%n
		SlurmctldPidFile=$dir/ctld.pid
		SlurmdPidFile=$dir/d.%n.pid
		SlurmctldLogFile=$dir/ctld.log
		SlurmdLogFile=$dir/d.%n.log
		AuthType=auth/munge
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		ReturnToService=2
		MpiDefault=none
		SchedulerParameters=batch_sched_delay=0,sched_interval=1
		NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$n1 CPUs=1 RealMemory=500
		NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$n2 CPUs=1 RealMemory=500
		PartitionName=all Nodes=n1,n2 Default=YES State=UP
	END
	export SLURM_CONF=$dir/slurm.conf
	mkdir "$dir/state" "$dir/spool.n1" "$dir/spool.n2"
	slurmctld -f "$SLURM_CONF" || return 1
	for n in n1 n2; do
		slurmd -N $n -f "$SLURM_CONF" || return 1
	done
	for _ in $(seq 100); do
		[ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = 2 ] && return 0
		sleep 0.2
	done
	return 1
}

start_munge || skip "munge does not start"
start_slurm || skip "slurm does not start: $(tail -n 1 "$dir"/*.log | xargs | cut -c 1-200)"

# ---- the flow ----

mkdir "$dir/hs"
grep -E '^(A2|B1|B6|B8)_' pipelines/100k/datasets.tsv >"$dir/datasets.tsv"
"$E3_BIN/e3-sim" --model pipelines/demo/model --dump-dir "$dir/hs" --latency 1000 --slots 4 >"$dir/port" 2>/dev/null &
sim=$!
until [ -s "$dir/port" ]; do
	kill -0 $sim || exit 1
	sleep 0.1
done
echo "http://127.0.0.1:$(cat "$dir/port") # the only one" | tee "$dir/servers.0" "$dir/servers.1" >"$dir/servers."
settings=(BIN="$E3_BIN" DATASETS="$dir/datasets.tsv" MODEL="$PWD/pipelines/demo/model" RAW=../demo/raw SERVERS_FILE="$dir/servers.%"
	DUMP_DIR="$dir/hs" LAYERS=2,4,5 MIN_FREE=1M DRAFT_VOCAB=1000 NEW_TOKENS_short=300 NEW_TOKENS_long=300)

# flow OUT [requeue]: submits, and waits for the end of all jobs; a short task is thrown out once it works
flow() {
	local short out=$dir/$1
	shift
	SBATCH_OUTPUT="$dir/%x.%j.out" pipelines/slurm/submit 2 "${settings[@]}" OUT="$out" >"$dir/jobs" || return 1
	short=$(awk '$2 == "short" { print $1 }' "$dir/jobs")
	for _ in $(seq 3000); do
		[ -n "$(squeue -h)" ] || return 0
		if [ "${1:-}" = requeue ] && [ -n "$(find "$out" -name 'answers.1-2.jsonl.part' -size +0)" ]; then
			scontrol requeue "${short}_1" && echo "${short}_1" >"$dir/requeued"
			set --
		fi
		# Slurm lets a requeued task wait for two minutes; but one that starts in the second in which it
		# was thrown out fails, since its credential was revoked then
		if [ -e "$dir/requeued" ] && [ ! -e "$dir/hurried" ] && [ "$(squeue -h -j "${short}_1" -o %T)" = PENDING ]; then
			scontrol update JobId="${short}_1" StartTime=now+3 && touch "$dir/hurried"
		fi
		sleep 0.2
	done
	return 1
}

# of a whole set: the index in an order that does not depend on the server's
states() {
	cat "$1"/states*/index.jsonl | jq -c '[.id, .file, .xxh64]' | sort
}

n=0
verdict() { # WHAT COMMAND...
	local what=$1
	shift
	n=$((n + 1))
	if "$@" >"$dir/why" 2>&1; then
		echo "ok $n - $what"
	else
		echo "not ok $n - $what"
		{ cat "$dir/why" "$dir/stderr"; squeue; tail -n 5 "$dir"/e3-*.out; } 2>&1 | sed 's/^/# /'
	fi
}

same() { # OUT: as one machine made it
	local out=$dir/$1
	cmp "$dir/one/merged.jsonl" "$out/merged.jsonl" && cmp "$dir/one/vocab/t2d.pt" "$out/vocab/t2d.pt" &&
		cmp "$dir/one/vocab/d2t.pt" "$out/vocab/d2t.pt" && diff <(states "$dir/one") <(states "$out") &&
		[ -s "$out/states.0-2/index.jsonl" ] && [ -s "$out/states.1-2/index.jsonl" ]
}

# Shard 1 has no server: its short task fails and is not queued again; the other's answers are whole,
# and nothing that needs both is made.
fails_alone() {
	local short
	echo "http://127.0.0.1:1" >"$dir/servers.1"
	flow three || return 1
	cp "$dir/servers.0" "$dir/servers.1"
	short=$(awk '$2 == "short" { print $1 }' "$dir/jobs")
	scontrol -o show job "$short" | grep "ArrayTaskId=1 .*JobState=FAILED" &&
		scontrol -o show job "$short" | grep "ArrayTaskId=0 .*JobState=COMPLETED" &&
		[ -s "$dir/three/prepared/B6_ultrachat/answers.0-2.jsonl" ] &&
		[ ! -e "$dir/three/prepared/B6_ultrachat/answers.1-2.jsonl" ] && [ ! -e "$dir/three/merged.jsonl" ]
}

# Submitted again, what was there stays as it was.
goes_on_alone() {
	touch "$dir/failed"
	flow three && same three &&
		[ -z "$(find "$dir/three/prepared" -newer "$dir/failed" -name 'prompts.jsonl')" ] &&
		[ -z "$(find "$dir/three/prepared/B6_ultrachat" "$dir/three/prepared/B1_glaive" -newer "$dir/failed" -name 'answers.0-2.jsonl')" ]
}

restarted() {
	[ -s "$dir/requeued" ] && grep -h resumed "$dir"/e3-short.*.out | grep -v '^make' | grep -E '[1-9][0-9]* resumed'
}

nothing_new() {
	[ -z "$(find "$dir/two" -newer "$dir/done" -type f ! -name '*.pace')" ] && ! grep -q e3- "$dir"/e3-*.out
}

make --no-print-directory -C pipelines/100k "${settings[@]}" OUT="$dir/one" >"$dir/one.log" 2>&1 || { tail -n 5 "$dir/one.log" | sed 's/^/# /'; exit 1; }
verdict "all jobs end, one of them requeued half way" flow two requeue
verdict "$what" same two
verdict "the requeued task took up where it stood" restarted
rm -f "$dir"/e3-*.out
touch "$dir/done"
verdict "submitted again, all jobs end" flow two
verdict "and find everything done" nothing_new
verdict "a task that fails, fails alone" fails_alone
verdict "and is made up for alone: the bytes of one machine" goes_on_alone
echo "1..$n"
