#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='data goes by the fastest network that nodes have in common, and by Slurm'\''s where they have none'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

size=4000000
head -c $size /dev/urandom >input

# sent NODE INTERFACE: bytes so far.
sent() { on_node "$1" cat /sys/class/net/"$2"/statistics/tx_bytes; }
received() { on_node "$1" cat /sys/class/net/eth0/statistics/rx_bytes; } # NODE
# bcast OPTIONS...: from ctl to all nodes; grew0 and grew1 are what ctl and n0 have sent by eth0 and eth1.
bcast() {
	before0=$(($(sent ctl eth0) + $(sent n0 eth0))) before1=$(($(sent ctl eth1) + $(sent n0 eth1))) &&
		on_ctl salloc -Q -N3 "$EVENSTEP_BUILD/evenstep" bcast -f "$@" input /tmp/input 2>said &&
		grew0=$(($(sent ctl eth0) + $(sent n0 eth0) - before0)) grew1=$(($(sent ctl eth1) + $(sent n0 eth1) - before1)) &&
		cat said && echo "eth0 $grew0, eth1 $grew1" &&
		for each in n0 n1 n2; do on_node $each cmp "$PWD/input" /tmp/input || return 1; done
}
# by_second: all of the data, by the second network.
by_second() { test "$grew1" -gt $size && test "$grew0" -lt $((size / 4)); }

test_expect_success 'up: three nodes, with a second network that is ten times as fast' '
	testbed_up --nodes 3 --second-net 1gbit
'
test_expect_success 'without being told, data goes by the network of Slurm' '
	bcast && test "$grew0" -gt $size && test "$grew1" -lt $((size / 4))
'
test_expect_success 'told by name, it goes by the second, and nothing is said of it' '
	bcast --interface "ib*,eth1" && by_second && ! grep network said
'
test_expect_success 'as the configuration says: a network of IPv6' '
	echo "bcast { interface = \"fd00:12::/64\" }" >conf && EVENSTEP_CONF=$PWD/conf bcast && by_second
'
test_expect_success 'and link-local addresses, which need their interface' '
	wait_for 20 sh -c "! \"$testbed\" exec --name $testbed_name --on n0 -- ip -6 addr show dev eth1 tentative | grep -q fe80" &&
	bcast --interface fe80::/10 && by_second
'
test_expect_success 'where a call by it fails, data goes by the network of Slurm' '
	for each in 10.12.0.1 10.12.1.2 10.12.1.3; do on_node n0 ip route add unreachable $each/32 || return 1; done &&
	before=$(received n0) && bcast --interface eth1 && test "$(received n0)" -gt $((before + size)) &&
	for each in 10.12.0.1 10.12.1.2 10.12.1.3; do on_node n0 ip route del unreachable $each/32 || return 1; done
'
test_expect_success 'a node that lacks it is named in one line, and has the file' '
	on_node n2 ip link set eth1 down &&
	bcast --interface eth1 && test "$(grep -c network said)" = 1 && grep "^evenstep: no network of \"eth1\" in common: n2;" said &&
	test "$grew1" -gt $((size / 2))
'
cat >gated <<'END'
#!/bin/sh
echo >>started
until test -e go; do sleep 0.1; done
END
chmod +x gated
# own NODE INTERFACE: its address of IPv4 there.
own() { on_node "$1" ip -o -4 addr show dev "$2" | sed 's/.*inet \([0-9.]*\).*/\1/'; }
test_expect_success 'agents listen in both networks, and nowhere else' '
	echo "bcast { interface = \"eth1\" }" >conf && rm -f go started && {
		EVENSTEP_CONF=$PWD/conf on_ctl salloc -Q -N3 "$EVENSTEP_BUILD/evenstep" run --metrics equal --range 0:3 -- "$PWD/gated" "{begin}" "{end}" 2>said 3>&- 4>&- &
		run=$!
	} && wait_for 60 started 3 && on_node n0 ss -Hltnp | grep "((\"evenstep-agent" | grep -v slurm >got; code=$?; : >go; wait $run || code=1
	cat said got; test $code = 0 && grep -F " $(own n0 eth0):" got && grep -F " $(own n0 eth1):" got &&
	! grep -E " (\*|0\.0\.0\.0|\[::\]):[0-9]+ .*:\*" got
'
test_done
