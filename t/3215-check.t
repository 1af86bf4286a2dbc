#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep check names each node that is not well, and why'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
conf=/tmp/evenstep-check.conf # each node has a /tmp of its own
export EVENSTEP_CONF=$conf
text='bcast { port_range = "61000-61100" }'

everywhere() { for node in ctl n0 n1 n2 n3 n4 n5 n6 n7; do on_node $node "$@" || return 1; done; }
line() { grep -xE "$1" got; }
checked() { on_ctl evenstep check "$@" >got 2>err; }

test_expect_success 'up: eight nodes, all of them are well' '
	testbed_up --nodes 8 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep" &&
	everywhere sh -c "echo \"$(echo "$text" | sed "s/\"/\\\\\"/g")\" >$conf" && { checked --all; code=$?; cat got err; test $code = 0; } &&
	line "8 of 8 nodes are well" && test "$(wc -l <got)" = 1 && quiet err
'
test_expect_success 'this node alone; in a job all of its nodes' '
	checked && line "ctl is well" && on_ctl salloc -Q -N3 evenstep check >got 2>err && line "3 of 3 nodes are well"
'
test_expect_success RULES 'six faults: six lines, exit 1' '
	printf "bcast { }\n" >other && chmod a-x other && plugin=$(cut -d" " -f2 "$(testbed_dir)/plugstack.conf") &&
	on_node n1 mount --bind "$PWD/other" "$EVENSTEP_BUILD/evenstep" && on_node n2 mount --bind /dev/null "$plugin" && on_node n3 cp "$PWD/other" $conf &&
	on_node n4 mount --bind "$PWD/other" "$EVENSTEP_BUILD/evenstep-agent" && on_ctl scontrol update nodename=n5 state=drain reason="memory error" &&
	on_node n6 ip rule add ipproto tcp dport 61000-61100 prohibit && { test_expect_code 1 checked --all; code=$?; cat got err; test $code = 0; } &&
	line "n1: evenstep could not be started there: execve.*: Permission denied" && line "n2: slurmstepd has not loaded the plugin, as on [0-9] other nodes: .*" &&
	line "n3: its configuration is not that of [0-9] other nodes: .*" && line "n4: .*/evenstep-agent: not executable: Permission denied: .*chmod 755.*" && line "n5: drain.*: memory error" &&
	line "n6: it cannot reach [0-9.]*:610[0-9]*, where the command was typed: .*" && line "2 of 8 nodes are well" && test "$(wc -l <got)" = 7 &&
	said "evenstep: 6 of 8 nodes are not well: .*"
'
test_expect_success RULES '--json has the same' '
	test_expect_code 1 checked --all --json && jq -e "[.nodes[] | select(.well | not) | .node] == [\"n1\",\"n2\",\"n3\",\"n4\",\"n5\",\"n6\"] and (.nodes | length) == 8" got
'
test_expect_success RULES 'a node that cannot be reached from here' '
	on_node n6 ip rule del ipproto tcp dport 61000-61100 prohibit && on_node n7 sh -c "ip rule add pref 90 lookup local && ip rule add pref 50 iif eth0 ipproto tcp dport 61000-61100 prohibit && ip rule del pref 0" &&
	{ test_expect_code 1 checked --nodes "n[6-7]"; code=$?; cat got err; test $code = 0; } && line "n7: it cannot be reached at [0-9.]* port 61[0-9]* from here: .*" && line "1 of 2 nodes are well"
'
test_expect_success 'a partition of default=on: that is misspelt is named, others are not' '
	part=$(on_ctl sinfo -h -o %R | head -n1) && stack=$(testbed_dir)/plugstack.conf && cp "$stack" plugstack.was &&
	sed "s/\$/ default=on:$part,no$part/" plugstack.was >"$(testbed_dir)/site.plugstack" && echo "include site.plugstack" >"$stack" && { checked --nodes n0; code=$?; cp plugstack.was "$stack"; cat got err; test $code = 0; } &&
	said "evenstep: warning: .*/site.plugstack: default=on:no$part: Slurm has no such partition: see .sinfo -o %R." && test $(grep -c "no such partition" err) = 1
'
test_expect_success 'nodes that jobs have are named, and not checked' '
	{ "$testbed" exec --name "$testbed_name" -- srun -w n0 --exclusive sleep 60 >/dev/null 2>&1 3>&- 4>&- 5>&- & running=$!; } && busy() { test "$(on_ctl sinfo -h -n n0 -o %t)" = alloc; } && wait_for 20 busy &&
	{ checked --nodes "n[0,6]"; code=$?; cat got err; test $code = 0; } && line "1 of 1 nodes are well" && said "evenstep: warning: not checked, as jobs have them: n0"; code=$?
	on_ctl scancel -u root; wait $running; test $code = 0
'
test_expect_success 'bad input: exit 2, what was expected' '
	test_expect_code 2 checked --nodes "" && said "evenstep: --nodes: no node is named: .*" && test_expect_code 2 checked --nodes nowhere && said "evenstep: --nodes nowhere: Slurm has no such node: .*" &&
	test_expect_code 2 checked --all --nodes n1 && test_expect_code 2 checked --call n1 && said "evenstep: --call: n1 is no ADDRESS:PORT: give one, as 10.0.0.1:60001"
'
test_expect_success RULES '--metrics: a file for node_exporter, as a whole' '
	checked --metrics node.prom && cat node.prom && grep -x "evenstep_node_well 1" node.prom && grep -x "evenstep_node_agents [0-9]*" node.prom && ! grep "^evenstep_node_fault{" node.prom && ! grep "^evenstep_node_faults.* [1-9]" node.prom && test $(grep -c "^evenstep_node_faults{reason=\".*\"} 0" node.prom) = 6 &&
	test_expect_code 1 on_node n4 evenstep check --json >got && jq -e ".faults | length == 1" got &&
	on_node n4 evenstep check --metrics node.prom; grep -x "evenstep_node_well 0" node.prom && grep "^evenstep_node_fault{fault=\".*evenstep-agent.*\"} 1" node.prom && grep -x "evenstep_node_faults{reason=\"agent\"} 1" node.prom
'
test_expect_success 'without Slurm: exit 3, and why' '
	test_expect_code 3 env -u EVENSTEP_CONF SLURM_CONF=/nowhere evenstep check --all 2>err && cat err && said "evenstep: sinfo: .*: see that Slurm.s commands are in PATH and slurmctld is up \(scontrol ping\)"
'
test_expect_success 'down leaves nothing' '
	for each in "$EVENSTEP_BUILD/evenstep" "$EVENSTEP_BUILD/evenstep-agent" "$plugin"; do for node in n1 n2 n4; do on_node $node umount "$each" 2>/dev/null; done; done
	on_ctl scontrol update nodename=n5 state=resume; wait_for 60 no_jobs && wait_for 60 nodes_idle 8 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
