#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='bcast { threads }: several threads of an agent receive, as many as the rate needs, and what arrives is the same, also when agents die'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
here=$PWD

# --- helpers -------------------------------------------------------------------
head -c 12000000 /dev/urandom >src
head -c 100000000 /dev/urandom >large
seq 400000 >soft
mkdir -p tree/a && cp soft src tree && head -c 100000 soft >tree/a/part && : >tree/empty

with() { # THREADS [MORE]: in the configuration
	printf 'bcast { threads = "%s" }\n%s\n' "$1" "${2-}" >conf && EVENSTEP_CONF=$here/conf && export EVENSTEP_CONF
}
# In memory: a file there is mapped.
mem=$(mktemp -d /dev/shm/evenstep-threads.XXXXXX) || exit
cleanup() { rm -rf "$mem"; }
run='' agents=''
trap 'code=$?; end_ours $run $agents; cleanup; (exit $code); die' EXIT
trap 'exit 143' TERM
nodes() { # N: a folder for each
	n=$1
	rm -rf "${mem:?}"/* dst && for i in $(seq 0 $((n - 1))); do mkdir -p "$mem"/local"$i" dst/local"$i" || return 1; done
}
arrived() { # SRC [FOLDER]: it is on all of them
	for i in $(seq 0 $((n - 1))); do diff -r "$1" "${2:-$mem}"/local"$i"/x || return 1; done
}
bcast() { evenstep bcast --local "$n" --no-sync --json "$@" "$mem/{node}/x" >out 2>err || { cat err && return 1; }; }

# --- what arrives --------------------------------------------------------------
for threads in 1 2 3 8 auto; do
	test_expect_success "threads = $threads: a file in memory is on all nodes" '
		(with $threads && nodes 4 && bcast src && arrived src && bcast -f --verify -s 64Ki src && arrived src)
	'
done
test_expect_success 'a file on the disk, a folder, and an update of it' '
	(with 3 && nodes 3 && evenstep bcast --local 3 src "$here/dst/{node}/x" && arrived src dst &&
	 bcast -r tree && arrived tree && date >tree/new && bcast -r --update -f tree && arrived tree)
'
test_expect_success 'encrypted, compressed, and by the tree as published' '
	(with 2 "encrypt = true" && nodes 3 && bcast src && arrived src &&
	 with 2 && bcast -f --compress=lz4 soft && arrived soft && nodes 5 && bcast --strict src && arrived src)
'

# --- who dies ------------------------------------------------------------------
is_begun() { opened 6 "$mem/local*/*" && ! ls "$mem"/local?/x 2>&-; } # all have opened their copy, none has a name
bring() { with 3 && nodes 6 && exec evenstep bcast --local 6 --no-sync "$@" large "$mem/{node}/x"; }
for try in 1 2 3; do
	test_expect_success "two of six agents killed in the middle ($try): the others have all of it" '
		held_while is_begun 6 bring --branches $try && kill -KILL $(echo "$agents" | sed -n "$try p;6p") &&
		kill -CONT $agents 2>&-; test_expect_code 1 wait $run && run= && cat err && grep -q "local[0-9]: " err &&
		for i in 0 1 2 3 4 5; do
			test ! -e "$mem/local$i/x" || cmp large "$mem/local$i/x" || return 1
		done && test "$(ls "$mem"/local?/x | wc -l)" = 4
	'
done

# --- as many as the rate needs -------------------------------------------------
# Where "auto" may be two: an agent sees four CPUs, whatever there are.  FIRST: those that there are it has before others.
first= && test "$(nice -n -20 nice 2>&-)" = -20 && first='nice -n -20' && test_set_prereq FIRST
test_expect_success 'an agent that sees four CPUs' '
	gcc -shared -fPIC -D_GNU_SOURCE -o four_cpus.so "$EVENSTEP_SRC/t/programs/four_cpus.c" &&
	printf "#!/bin/sh\nLD_LIBRARY_PATH=\"%s\" LD_PRELOAD=four_cpus.so exec %s \"%s\" \"\$@\"\n" "$here" "$first" "$EVENSTEP_BUILD/evenstep-agent" >agent && chmod +x agent
'
four_cpus="plugin { agent_path = \"$here/agent\" }"
# shaped COMMAND...: 100 Mbit/s, for all agents together.
shaped() { unshare --user --map-root-user --net sh -c 'ip link set lo mtu 1500 up && tc qdisc add dev lo root tbf rate 100mbit burst 128k latency 50ms && exec "$@"' - "$@"; }
shaped true 2>&- && test_set_prereq SHAPED
threads() { test "$(jq .threads out)" = "$1" || { cat out && false; }; }
test_expect_success SHAPED 'at 100 Mbit/s one thread receives' '
	(with auto "$four_cpus" && nodes 2 && shaped evenstep bcast --local 2 --no-sync --json src "$mem/{node}/x" >out && threads 1 && arrived src)
'
test_expect_success SHAPED 'as many as are asked for do, whatever the rate' '
	(with 3 "$four_cpus" && shaped evenstep bcast --local 2 -f --no-sync --json src "$mem/{node}/x" >out && threads 3 && arrived src)
'
# Where a test beside this one has much of the CPUs an agent may all the same not be busy.
test_expect_success FIRST 'as fast as the agents can, two' '
	(with auto "$four_cpus" && nodes 2 && cat large large >larger &&
	 for try in $(seq 20); do
		bcast -f larger && arrived larger || return 1
		! threads 2 || return 0
	 done; false)
'
test_expect_success 'what comes encrypted is received by one' '
	(with auto "$four_cpus encrypt = true" && nodes 2 && bcast large && arrived large && threads 1)
'

# --- the configuration ---------------------------------------------------------
test_expect_success 'the configuration is printed, and its bad values are refused' '
	(with 1 && evenstep config | grep -qx "  threads = .1." &&
	 unset EVENSTEP_CONF && evenstep config | grep -qx "  threads = .auto." &&
	 for bad in 0 9 -1 2x "" many; do
		with "$bad" && test_expect_code 2 evenstep config 2>err &&
			grep "conf:1: bcast: threads is out of range: give .auto., or .1. to .8." err || return 1
	 done)
'

test_done
