# SPDX-License-Identifier: BSD-2-Clause
#
# testbed.sh - a cluster for a sharness script: source it after sharness.sh.
#
# Without root the script is skipped with the reason.  The testbed's name is
# unique, and it is taken down when the script ends, however it ends.

. "$EVENSTEP_SRC/t/lib/helpers.sh"
. "$EVENSTEP_SRC/contrib/slurm_release.sh"

testbed=$EVENSTEP_SRC/contrib/testbed
testbed_name=$(basename "$0" .t | cut -c1-16)-$$
testbed_all=$testbed_name

if test "$(id -u)" != 0; then
	skip_all='a testbed needs root: run it with sudo'
	test_done
fi

# PMIX: this Slurm has mpi/pmix; needs_pmix: without it the whole script is skipped.
! slurm_has_pmix || test_set_prereq PMIX
needs_pmix() {
	if ! test_have_prereq PMIX; then
		skip_all='Slurm has no mpi/pmix here, by which it starts MPI programs'
		test_done
	fi
}

# RULES: a node can be cut off at some ports, by `ip rule`.
! unshare --net ip rule add ipproto tcp dport 1-2 prohibit 2>/dev/null || test_set_prereq RULES

# testbed_end: whatever the script has brought up, under any of its names.
testbed_end() {
	for testbed_each in $testbed_all; do
		"$testbed" down --name "$testbed_each" >/dev/null
	done
}
trap 'testbed_code=$?; testbed_end; (exit $testbed_code); die' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

testbed_up() { "$testbed" up --name "$testbed_name" "$@"; }
testbed_down() { "$testbed" down --name "$testbed_name"; }
testbed_fault() { "$testbed" fault --name "$testbed_name" "$@"; }

# on_ctl COMMAND..., on_node NODE COMMAND...: as a user who is logged in there.
on_ctl() { "$testbed" exec --name "$testbed_name" -- "$@"; }
on_node() {
	testbed_node=$1
	shift
	"$testbed" exec --name "$testbed_name" --on "$testbed_node" -- "$@"
}

# testbed_use NAME: the functions above speak of this testbed from now on.
testbed_use() {
	testbed_name=$1
	case " $testbed_all " in
	*" $1 "*) ;;
	*) testbed_all="$testbed_all $1" ;;
	esac
}

testbed_dir() { echo "${EVENSTEP_TESTBED_DIR:-/run}/evenstep-testbed.$testbed_name"; }

# quiet FILE: nothing stands in it, but that srun had to wait for its nodes, or what
# Slurm lacks here; silent FILE: nothing of ours.
quiet() { test -e "$1" && ! grep -vE "^(srun|salloc): [Jj]ob [0-9]+ (queued and|has been|step creation)|^srun: Step created|^evenstep: Slurm has no PMIx here: " "$1"; }
silent() { test -e "$1" && ! sed "/^evenstep: Slurm has no PMIx here: /d" "$1" | grep evenstep:; }

# ours NAME [NODE]: processes of this testbed with that name, on any node or that
# one; ours -f PATTERN [NODE]: whose command line is so.
ours() {
	testbed_how=-x
	test "$1" != -f || { testbed_how=-f && shift; }
	for testbed_each in $(pgrep $testbed_how "$1"); do
		grep -qzsxF "EVENSTEP_TESTBED=$testbed_name" "/proc/$testbed_each/environ" || continue
		test -z "$2" || grep -qzsxF "SLURMD_NODENAME=$2" "/proc/$testbed_each/environ" || continue
		echo "$testbed_each"
	done
}
none_of() { test -z "$(ours "$1")"; }
no_agents() { none_of evenstep-agent; }
no_jobs() { test -z "$(on_ctl squeue -h)"; }
# no_step_dir: none on any of four nodes; no_states: of evenstep-power, nor a socket.
no_step_dir() { none_on_nodes 'ls -d /dev/shm/evenstep-*'; }
no_states() { none_on_nodes 'ls -A /run/evenstep/power'; }
none_on_nodes() {
	for testbed_each in n0 n1 n2 n3; do
		test -z "$(on_node $testbed_each sh -c "$1 2>&-")" || return 1
	done
}

# nodes_idle N: true when exactly N nodes are idle, in whatever partitions they are.
nodes_idle() {
	test "$(on_ctl sinfo -h -N -t idle -o %N | sort -u | wc -l)" = "$1"
}

# testbed_processes NAME: those that carry its mark; the dead carry none.
testbed_processes() {
	{
		grep -lzsxF "EVENSTEP_TESTBED=$1" /proc/[0-9]*/environ
		# shellcheck disable=SC2062 # the shell is to expand it
		printf '%s\n' "$1" | grep -lzsxF -f - /proc/[0-9]*/cmdline
	} | cut -d/ -f3 | sort -u
}

# testbed_cgroups NAME: its folders in any hierarchy.
testbed_cgroups() {
	awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/mounts |
		while read -r testbed_root; do
			find "$testbed_root" -maxdepth 1 -name "evenstep-testbed.$1"
		done
}

# testbed_namespaces NAME: those of its processes that are not the host's.
testbed_namespaces() {
	testbed_processes "$1" | while read -r testbed_pid; do
		for testbed_ns in net mnt uts; do
			readlink "/proc/$testbed_pid/ns/$testbed_ns"
		done
	done | sort -u | grep -vxF "$(readlink /proc/$$/ns/net /proc/$$/ns/mnt /proc/$$/ns/uts)"
}

# testbed_nothing_left NAME: no process, cgroup, file, mount or link of it; says what there is.
testbed_nothing_left() {
	{
		testbed_processes "$1" | sed 's/^/process /'
		testbed_cgroups "$1" | sed 's/^/cgroup /'
		find "${EVENSTEP_TESTBED_DIR:-/run}" -maxdepth 1 -name "evenstep-testbed.$1" | sed 's/^/folder /'
		grep -F "evenstep-testbed.$1" /proc/mounts | sed 's/^/mount /'
		ip netns | grep -F "$1" | sed 's/^/namespace /'
		ip -o link | grep -F "$1" | sed 's/^/link /'
	} >testbed_left
	cat testbed_left
	test ! -s testbed_left
}
