#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='--rails: data goes by two networks at once, and by one of them when the other is not there or breaks'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

size=8000000 # which takes seconds by these networks, however slow the machine is
head -c $size /dev/urandom >input
unset EVENSTEP_CONF

sent() { on_node "$1" cat /sys/class/net/"$2"/statistics/tx_bytes; } # NODE INTERFACE: bytes so far
count() { echo $(($(sent ctl "$1") + $(sent n0 "$1") + $(sent n1 "$1") + $(sent n2 "$1"))); }
# bring COMMAND...: grew0 and grew1 are what all have sent by eth0 and eth1.
bring() {
	before0=$(count eth0) before1=$(count eth1)
	if ! on_ctl "$@" >said 2>&1; then
		cat said
		return 1
	fi
	grew0=$(($(count eth0) - before0)) grew1=$(($(count eth1) - before1)) && cat said && echo "eth0 $grew0, eth1 $grew1"
}
bcast() { bring salloc -Q -N3 "$EVENSTEP_BUILD/evenstep" bcast -f "$@"; }
same() { for each in n0 n1 n2; do on_node $each cmp "$PWD/${1:-input}" "/tmp/${1:-input}" || return 1; done; }
# both: a fifth of the data, at least, by each.
both() { test "$grew0" -gt $((size * 3 / 5)) && test "$grew1" -gt $((size * 3 / 5)); }

test_expect_success 'up: three nodes in two networks of one rate' '
	testbed_up --nodes 3 --rate 20mbit --second-net 20mbit \
		--plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'it is to be said which networks are meant' '
	test_must_fail on_ctl "$EVENSTEP_BUILD/evenstep" bcast --rails input /tmp/input 2>err &&
	grep "^evenstep: --rails: no networks are meant for data: name them by --interface" err
'
test_expect_success 'without --rails one of them carries all' '
	bcast --interface eth0,eth1 input /tmp/input && same && test "$grew1" -lt $((size / 5))
'
test_expect_success 'with it each carries a part' '
	bcast --interface eth0,eth1 --rails input /tmp/input && same && both
'
test_expect_success 'a tree, too, compressed' '
	mkdir tree && cp input tree/a && seq 200000 >tree/b &&
	bcast -r --compress=lz4 --interface "eth*" --rails tree /tmp/tree && same tree/a && same tree/b && both
'
test_expect_success 'as the configuration says, and encrypted' '
	echo "encrypt = true bcast { interface = \"eth*\" rails = true }" >conf &&
	EVENSTEP_CONF=$PWD/conf bcast input /tmp/input && same && both
'
# by_fabric OPTIONS...: with the provider of FI_PROVIDER; FABRIC: evenstep was built with libfabric.
by_fabric() { bring env FI_PROVIDER="$FI_PROVIDER" salloc -Q -N3 "$EVENSTEP_BUILD/evenstep" bcast -f --interface eth0,eth1 --rails "$@" input /tmp/input && same input; }
"$EVENSTEP_BUILD/evenstep" bcast --local 1 --transport=ofi input "$PWD/first" 2>first.err
grep "built without" first.err || test_set_prereq FABRIC
test_expect_success FABRIC 'with libfabric, too: it carries all by one of them, and one line says so' '
	FI_PROVIDER=tcp by_fabric --transport=ofi && test "$grew0" -gt $((size * 2)) && test "$grew1" -lt $((size / 5)) &&
	test "$(grep -c rails said)" = 1 && grep "^evenstep: rails: libfabric carried the data, by one network of its own choice: for several give transport tcp" said
'
test_expect_success FABRIC 'where libfabric has nothing, both carry it, and that is what is said' '
	FI_PROVIDER=nosuch by_fabric --transport=ofi && both && ! grep rails said && test "$(grep -c "data goes by TCP: libfabric has no provider" said)" = 1 &&
	FI_PROVIDER=tcp by_fabric --transport=auto && both && ! grep "rails\|libfabric" said
'
test_expect_success 'srun --evenstep-bcast goes so' '
	EVENSTEP_CONF=$PWD/conf bring srun -N3 --evenstep-bcast="$PWD/input:/tmp/brought" cmp "$PWD/input" /tmp/brought && both
'
test_expect_success 'of one network it makes what it was' '
	bcast --interface eth1 --rails input /tmp/input && same && test "$grew0" -lt $((size / 5)) && test "$grew1" -gt $size
'
test_expect_success 'a second one that is slow takes what it can' '
	for each in ctl n0 n1 n2; do
		on_node $each tc qdisc replace dev eth1 root tbf rate 2mbit burst 64k latency 50ms || return 1
	done &&
	bcast --interface "eth*" --rails input /tmp/input && same && test "$grew1" -lt $((grew0 / 2))
'
came() { on_node "$1" cat /sys/class/net/"$2"/statistics/rx_bytes; } # NODE INTERFACE: bytes so far
# break_at NODE INTERFACE BYTES: once so many have come by it, as every node is sent its part by both; it
# fails if they do not.
break_at() {
	on_node "$1" timeout 60 sh -c "echo >watching
		while test \$(cat /sys/class/net/$2/statistics/rx_bytes) -lt $3; do sleep 0.01; done; ip link set $2 down"
}
test_expect_success 'one that breaks in the middle takes nobody along' '
	for each in ctl n0 n1 n2; do
		on_node $each tc qdisc replace dev eth1 root tbf rate 10mbit burst 64k latency 50ms || return 1
	done &&
	before=$(came n1 eth1) && { break_at n1 eth1 $((before + size / 20)) & breaks=$!; } && wait_for 60 test -e watching &&
	bcast --interface "eth1,eth0" --rails input /tmp/input && wait $breaks && same && ! grep "lost\|have not got" said &&
	on_node n1 cat /sys/class/net/eth1/operstate >state && grep down state
'
test_expect_success 'where one node has only one of them, the others use both' '
	for each in ctl n0 n1 n2; do
		on_node $each tc qdisc replace dev eth1 root tbf rate 20mbit burst 128k latency 50ms || return 1
	done &&
	bcast --interface "eth*" --rails input /tmp/input && same && test "$grew1" -gt $((size / 5))
'
test_done
