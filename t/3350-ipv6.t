#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='nodes that have addresses of IPv6 only, under a Slurm with EnableIPv6'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD

head -c 3000000 /dev/urandom >input
all_have() { for each in n0 n1 n2; do on_node $each cmp "$PWD/input" /tmp/input || return 1; done; }
bcast() { on_ctl salloc -Q -N3 "$B/evenstep" bcast -f "$@" input /tmp/input 2>said && cat said && all_have && ! grep common said; }
# addresses: those of all tasks of a step, as its table has them
addresses() { jq -r '"\(.rank) \(.ip)"' got; }
cat >want <<END
0 fd00:11::1:1
1 fd00:11::1:2
2 fd00:11::1:3
END

test_expect_success 'up: three nodes, none with an address of IPv4 that others can call' '
	testbed_up --nodes 3 --rate none --ipv6 --plugin "$B/evenstep.so" --plugin-args "launcher=$(realpath "$B/evenstep")" &&
	for each in ctl n0 n1 n2; do test "$(on_node $each ip -o -4 addr show | grep -vcw lo)" = 0 || return 1; done &&
	on_ctl scontrol show config >got && grep "^CommunicationParameters *= EnableIPv6" got &&
	on_ctl srun -N1 sh -c "echo \$SLURM_LAUNCH_NODE_IPADDR" >got && grep -x fd00:11::1 got
'
test_expect_success 'a file comes to all nodes' 'bcast'
test_expect_success PMIX 'by PMIx as well' '
	printf "wireup = \"pmix\"\n" >conf && EVENSTEP_CONF=$PWD/conf bcast
'
test_expect_success 'by a network that is named: its addresses, and link-local ones, which need their interface' '
	bcast --interface fd00:11::/64 && bcast --interface fe80::/10
'
test_expect_success 'encrypted' 'printf "encrypt = true\n" >conf && EVENSTEP_CONF=$PWD/conf bcast'
test_expect_success 'a step has its file, and its table the addresses of all nodes' '
	on_ctl srun -N3 --evenstep=required --evenstep-bcast="$PWD/input:/tmp/of-step" sh -c "
		cmp \"$PWD/input\" /tmp/of-step && { test \$SLURM_PROCID != 1 || \"$B/evenstep\" conntable dump --json; }" >got 2>err
	cat got err && quiet err && addresses | test_cmp want -
'
test_expect_success 'tasks that say where they listen reach each other' '
	cc -O2 -I"$EVENSTEP_SRC/launcher/libevenstep" -o connect "$EVENSTEP_SRC/contrib/connect/connect.c" -L"$B" -levenstep &&
	on_ctl env LD_LIBRARY_PATH="$B" srun -N3 -n6 --evenstep ./connect >got 2>err; cat got err; silent err &&
	test "$(grep -c "connections to 5 others" got)" = 6 &&
	on_ctl env PYTHONPATH="$EVENSTEP_SRC/contrib/python" PYTHONDONTWRITEBYTECODE=1 srun -N3 -n3 --evenstep python3 "$EVENSTEP_SRC/contrib/python/connect.py" >got 2>err
	cat got err; silent err && test "$(grep -c "connections to 2 others" got)" = 3
'
test_expect_success 'evenstep run' '
	on_ctl salloc -Q -N3 "$B/evenstep" run --metrics equal --range 0:9 -- seq {begin} {end} >got 2>err && cat got err &&
	sort -un got >sorted && seq 0 9 | test_cmp - sorted
'
test_expect_success 'a job whose front end is on one of its nodes' '
	cat >batch.sh <<-END && on_ctl sbatch -Q -W -N3 -o "$PWD/said" batch.sh; cat said && all_have && sed -n "/^{/p" said >got && addresses | test_cmp want -
	#!/bin/sh
	"$B/evenstep" bcast -f input /tmp/input &&
	srun --evenstep=required sh -c "test \\\$SLURM_PROCID != 2 || \"$B/evenstep\" conntable dump --json"
	END
'
test_expect_success 'nothing is left' 'wait_for 60 none_of evenstep-agent && wait_for 60 none_of evenstep && wait_for 60 no_jobs'
test_expect_success 'up: beside IPv4, whose addresses Slurm takes' '
	testbed_down && testbed_up --nodes 3 --rate none --set CommunicationParameters=EnableIPv6 \
		--plugin "$B/evenstep.so" --plugin-args "launcher=$(realpath "$B/evenstep")" && bcast &&
	on_ctl srun -N3 --evenstep=required sh -c "test \$SLURM_PROCID != 1 || \"$B/evenstep\" conntable dump --json" >got 2>err && quiet err &&
	sed "s/fd00:11::1:/10.11.1./" want >want4 && addresses | test_cmp want4 -
'
test_done
