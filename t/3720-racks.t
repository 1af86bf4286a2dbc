#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the racks of a step, by the topology that Slurm is told of: how they stand in evenstep top, and that their power keeps to its budget'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
conf=$(testbed_dir)/power.conf # a path without a space, as the next: arguments of the plugin
bin=$(testbed_dir)/bin
top() { on_ctl "$B/evenstep" top "$@" 2>&4; }
knows_racks() { top --once >got && grep -qE "^rack s1: speed/s of 2: min [0-9]" got && grep -qE "^rack s2: speed/s of 2: min [0-9]" got; }

# slurmctld waits for its topology.conf; the directory comes with the testbed.
test_expect_success 'up: four nodes on two switches' '
	{ testbed_up --nodes 4 --speeds 40 --set TopologyPlugin=topology/tree --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" & up=$!; } &&
	wait_for 60 test -d "$(testbed_dir)" && mkdir "$bin" && ln -s "$B/evenstep" "$B/evenstep-power" "$bin" &&
	printf "power {\n actuator = \"cgroup\"\n cap = 0.5\n floor = 0.25\n budget \"s2\" {\n most = 0.42\n }\n}\n" >"$conf" && printf "SwitchName=s1 Nodes=n[0-1]\nSwitchName=s2 Nodes=n[2-3]\nSwitchName=s0 Switches=s[1-2]\n" >"$(testbed_dir)/topology.conf" && wait $up &&
	mpicc -O1 -I"$EVENSTEP_SRC" -o regions "$EVENSTEP_SRC/t/programs/regions.c" -L"$B" -Wl,-rpath,"$B" -levenstep
'
test_expect_success 'a step on both: a line a rack, and one of the step, for which its racks stand' '
	{ "$testbed" exec --name "$testbed_name" -- srun -N4 --mpi=pmix --evenstep ./regions 100000 50 1,1,1,1.6 >out 2>err 3>&- 4>&- 5>&- & step=$!; } && wait_for 120 knows_racks; rc=$?; cat got err; test $rc = 0 &&
	grep -qE "^all: speed/s of 2: min [0-9.]+ mean [0-9.]+ median [0-9.]+$" got
'
test_expect_success 'Prometheus reads them, too' '
	top --once --metrics-file "$PWD/prom" >got && cat prom && for how in min mean median variance deviation; do
		grep -qE "^evenstep_group_speed\{kind=\"step\",jobid=\"[0-9]+\",step=\"0\",pid=\"[0-9]+\",rack=\"s2\",aggregate=\"$how\"\} [0-9]" prom && grep -qE "rack=\"\",aggregate=\"$how\"\} [0-9]" prom || return 1
	done
'
# Every node begins with 0.2 of a CPU; the one that comes last would be given 0.28, its rack 0.45.
rack_limit() { awk "/^evenstep_limit\{.*node=\"n[23]\"/ { sum += \$NF; last = \$NF } END { print sum, last }" prom; }
rack_is_full() { top --once --metrics-file "$PWD/prom" >got && rack_limit >rack && awk '{ exit !($1 > 415000 && $2 > 225000) }' rack; }
keeps_budget() { rack_limit >rack && awk '{ exit !($1 <= 420000) }' rack; }
test_expect_success 'steered, the rack with the node that comes last is given more, but not more than its budget' '
	on_ctl scancel -u root && { wait $step || true; } && wait_for 60 nodes_idle 4 &&
	{ "$testbed" exec --name "$testbed_name" -- srun -N4 --mpi=pmix --evenstep-power=pair ./regions 100000 50 1,1,1,1.6 >out 2>err 3>&- 4>&- 5>&- & step=$!; } &&
	{ wait_for 120 rack_is_full; rc=$?; cat got err rack; test $rc = 0; } &&
	for i in 1 2 3 4 5; do keeps_budget && top --once --metrics-file "$PWD/prom" >got || return 1; done
'
test_expect_success 'down leaves nothing' '
	on_ctl scancel -u root && { wait $step || true; } && wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
