#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep bcast --transport=ofi: libfabric carries the bytes, or TCP does, and they are the same'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
ends_with_test
here=$PWD
unset FI_PROVIDER

# --- helpers -------------------------------------------------------------------
head -c 16000000 /dev/urandom >src
seq 400000 >soft
mkdir -p tree/a && cp soft src tree && head -c 100000 soft >tree/a/part && : >tree/empty
echo 'encrypt = true' >secret.conf

nodes() { # N: a folder for each
	n=$1
	rm -rf dst && for i in $(seq 0 $((n - 1))); do mkdir -p dst/local"$i" || return 1; done
}
arrived() { # SRC: it is on all of them
	for i in $(seq 0 $((n - 1))); do diff -r "$1" dst/local"$i"/x || return 1; done
}
value() { sed "s/.*\"$1\":\([0-9.]*\).*/\1/" out; }
by() { FI_PROVIDER=$1; export FI_PROVIDER; }
bcast() { evenstep bcast --local "$n" --no-sync --json "$@" "$here/dst/{node}/x" >out 2>err; }
by_fabric() { test "$(value fabric_bytes)" -gt 0 && ! grep "by TCP" err; }
by_tcp() { test "$(value fabric_bytes)" = 0; }
# in_time N OPTIONS...: a broadcast to N nodes.  Where this machine has so much to do that some node has libfabric
# seconds after another all may go by TCP, and that is said: then all is begun anew.
in_time() {
	in_time_n=$1 && shift
	for try in $(seq 20); do
		nodes "$in_time_n" && bcast "$@" || return
		grep "not there in time" err || return 0
	done
	return 1
}

evenstep bcast --local 1 --transport=ofi soft "$here/first" 2>first.err
grep "built without" first.err || test_set_prereq FABRIC

# --- what arrives --------------------------------------------------------------
for provider in tcp shm; do
	test_expect_success FABRIC "$provider: the file is on all nodes, and libfabric carried it" '
		(by $provider && in_time 4 --transport=ofi src && arrived src && by_fabric)
	'
	test_expect_success FABRIC "$provider: encrypted, and compressed" '
		(by $provider && EVENSTEP_CONF=$here/secret.conf && export EVENSTEP_CONF &&
		 in_time 3 --transport=ofi src && arrived src && by_fabric &&
		 bcast --transport=ofi --compress=lz4 -f soft && arrived soft)
	'
	test_expect_success FABRIC "$provider: a folder, and an update of it" '
		(by $provider && in_time 3 --transport=ofi -r tree && arrived tree && by_fabric &&
		 date >tree/new && bcast --transport=ofi -r --update -f tree && arrived tree)
	'
done
test_expect_success FABRIC 'in chunks of any size, by the tree as published, and read back' '
	(by tcp && for size in 64Ki 1Mi 4Mi; do nodes 3 && bcast --transport=ofi -s $size src && arrived src || return 1; done &&
	 in_time 4 --transport=ofi --strict --verify src && arrived src && by_fabric)
'
test_expect_success FABRIC 'as the configuration says' '
	(by shm && echo "bcast { transport = \"ofi\" }" >ofi.conf && EVENSTEP_CONF=$here/ofi.conf && export EVENSTEP_CONF &&
	 in_time 3 src && arrived src && by_fabric &&
	 nodes 3 && bcast --transport=tcp src && arrived src && ! grep fabric_bytes out)
'

# --- by TCP --------------------------------------------------------------------
test_expect_success FABRIC 'a provider that is not there: TCP carries it, and one line says so' '
	(by nosuch && in_time 4 --transport=ofi src && arrived src && by_tcp &&
	 grep -c TCP err >lines && echo 1 >want && test_cmp want lines &&
	 grep "data goes by TCP: libfabric has no provider \"nosuch\"" err)
'
test_expect_success FABRIC 'auto takes no provider over sockets, nor one within the host, and says nothing' '
	for provider in tcp shm; do
		(by $provider && nodes 3 && bcast --transport=auto src && arrived src && by_tcp && ! grep TCP err) || return 1
	done
'
test_expect_success 'without the option nothing is said of it' '
	nodes 3 && bcast soft && arrived soft && ! grep fabric out
'
is_begun() { opened 4 "$here/dst/local*/*" && ! ls dst/*/x 2>&-; } # all have opened their copy, none has a name
bring() { by "$1" && nodes 4 && exec evenstep bcast --local 4 --no-sync --transport=ofi src "$here/dst/{node}/x"; }
test_expect_success FABRIC 'an agent that is killed is lost; the others have the file whole, and nothing is half' '
	for provider in tcp shm; do
		held_while is_begun 4 bring $provider && kill -KILL $(echo "$agents" | tail -n 1) || return 1
		kill -CONT $agents 2>&-
		test_expect_code 1 wait $run && run= || return 1
		for i in 0 1 2 3; do test ! -e dst/local$i/x || cmp src dst/local$i/x || return 1; done
		test "$(ls dst/*/x | wc -l)" = 3 || return 1
	done
'

# --- refused -------------------------------------------------------------------
test_expect_success 'a front end that was built without libfabric refuses ofi, and takes auto' '
	test_expect_code 2 "$EVENSTEP_BUILD"/t/programs/no_fabric bcast --local 2 --transport=ofi soft "$here/no-{node}" 2>err &&
	grep "built without libfabric" err && test ! -e no-local0 &&
	echo "plugin { agent_path = \"$EVENSTEP_BUILD/evenstep-agent\" }" >agent.conf &&
	EVENSTEP_CONF=$here/agent.conf "$EVENSTEP_BUILD"/t/programs/no_fabric bcast --local 2 --transport=auto soft "$here/no-{node}" &&
	cmp soft no-local0 && cmp soft no-local1
'
test_expect_success 'anything else is refused, as an option and in the configuration' '
	test_expect_code 2 evenstep bcast --local 2 --transport=udp soft "$here/none" 2>err && grep -- "--transport" err &&
	echo "bcast { transport = \"udp\" }" >bad.conf &&
	EVENSTEP_CONF=bad.conf test_expect_code 2 evenstep config 2>err && grep "transport is out of range" err
'
test_done
