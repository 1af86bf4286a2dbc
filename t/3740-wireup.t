#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a Slurm without mpi/pmix: everything works as with it, and whoever insists on PMIx is told'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset SLURM_JOB_ID EVENSTEP_CONF
real=$EVENSTEP_BUILD/evenstep-agent
# way NAME [MORE]: what the next commands are configured to.
way() {
	printf 'wireup = "%s"\n%s\n' "$1" "$2" >own.conf
	EVENSTEP_CONF=$PWD/own.conf
	export EVENSTEP_CONF
}
in_job() { on_ctl salloc -Q -N3 "$@"; }
run() { in_job evenstep run --metrics equal --range 0:300 "$@" -- sh -c 'exec seq {begin} $(({end} - 1))'; }
nothing_left() { wait_for 60 no_agents && wait_for 60 no_jobs; }
seq 0 299 >want

test_expect_success 'up: three nodes whose Slurm has no PMIx' '
	testbed_up --nodes 3 --no-pmix --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep" &&
	on_ctl srun --mpi=list >types 2>&1 && cat types && grep none types && ! grep pmix types
'
test_expect_success 'as it comes: run works, and says nothing of how the agents found each other' '
	run >got 2>err && test_cmp want got && cat err && ! grep -E "PMIx|TCP" err
'
test_expect_success 'wireup = "auto", likewise: PMIx is beside steps that have it' '
	way auto && run >got 2>err && test_cmp want got && cat err && ! grep -E "PMIx|TCP" err
'
test_expect_success 'wireup = "tcp": run works, and nothing is said of it' '
	way tcp && run --repeat 2 >got 2>err && cat want want >twice && test_cmp twice got && cat err && ! grep -E "PMIx|TCP" err
'
test_expect_success 'the agents are a step of no MPI, and what they run has its environment' '
	in_job evenstep run --metrics equal --range 0:3 -- env >environ && grep "^EVENSTEP_BEGIN=" environ &&
	! grep -E "^EVENSTEP_(SECRET|HOME|WIREUP|RANK|AGENTS)=|^PMIX_" environ
'
test_expect_success 'bcast: a file to all nodes, whole' '
	head -c 3000000 /dev/urandom >file && in_job evenstep bcast --verify "$PWD/file" /tmp/file &&
	for node in n0 n1 n2; do on_node $node cat /tmp/file | cmp file || return 1; done
'
# Others may be busy here, and a link that brings too little is not told: three tries.
test_expect_success 'probe: all nodes, the interconnect among them' '
	for try in 1 2 3; do
		in_job evenstep probe --fresh --nodes --json >out && jq -c ".nodes[]" out &&
		jq -e ".nodes | map(.name) == [\"n0\", \"n1\", \"n2\"] and all(.[]; .C > 0 and .I > 0)" out && return
	done; false
'
test_expect_success 'graph run: files go from node to node' '
	jq -n "{tasks: ([range(6) | {id: \"a\(.)\", time: 1, command: \"seq \(.) 9 >a\(.)\", outputs: [\"a\(.)\"]}]
		+ [{id: \"end\", time: 1, command: \"cat a? >end\", inputs: [range(6) | \"a\(.)\"], outputs: [\"end\"]}]),
		edges: [range(6) | {from: \"a\(.)\", to: \"end\", comm: 1}]}" >graph.json &&
	in_job evenstep graph run --metrics equal --cores 1 --deadline 4.5 graph.json >table 2>err; rc=$?; cat table err; test $rc = 0 &&
	test "$(grep -o " n[0-2] " table | sort -u | wc -l)" = 3 &&
	for i in 0 1 2 3 4 5; do seq $i 9; done >end.want && test_cmp end.want end
'
test_expect_success 'srun --evenstep: shares, metrics and a connection table that knows all' '
	on_ctl srun -N3 --evenstep=required sh -c "evenstep conntable dump \$EVENSTEP_DIR/conntable >/dev/null && echo \$EVENSTEP_SHARE" >got 2>err &&
	cat got err && quiet err && awk "{ sum += \$1 } END { exit !(NR == 3 && sum > 0.9999 && sum < 1.0001) }" got
'
test_expect_success 'a step on some of the nodes of a job: its agents are those' '
	in_job sh -c "srun -N2 -w n1,n2 --overlap --evenstep=required sh -c \"uname -n; test \\\$EVENSTEP_NODE_COUNT = 2\"" >got 2>err && cat got err &&
	sort got >names && printf "n1\nn2\n" >pair && test_cmp pair names
'
test_expect_success 'wireup = "pmix": exit 3, says what is missing and what to do' '
	way pmix && test_expect_code 3 run >got 2>err && test ! -s got &&
	said "evenstep: Slurm has no PMIx for the agents: srun: error: .*pmix.*: install its mpi/pmix plugin, or set wireup = \"auto\" in evenstep.conf"
'
test_expect_success 'likewise under srun: a step that requires evenstep does not start' '
	test_expect_code 1 on_ctl srun -N3 --evenstep=required touch "$PWD/touched" 2>err && cat err && test ! -e touched &&
	grep "evenstep: Slurm has no PMIx for the agents: .*: install its mpi/pmix plugin, or" err && nothing_left
'
# An agent that is killed at its node while others are still to come, of a run that waits for all (t/3205-early.t: one that does not).
cat >dying <<END
#!/bin/sh
case \$SLURMD_NODENAME in
n1) test -e "$PWD/died" || { test -e "$PWD/always" || : >"$PWD/died"; (sleep 1; kill -9 \$\$) 2>&- & } ;;
n2) test -e "$PWD/late" || { test -e "$PWD/always" || : >"$PWD/late"; sleep 3; } ;;
esac
exec $real
END
chmod +x dying
test_expect_success 'an agent that is killed while the others come: they are started once more at once, every unit once' '
	way tcp "plugin { agent_path = \"$PWD/dying\" }" && begin=$(date +%s) && run --pieces 4 >got 2>err && took=$(($(date +%s) - begin)) &&
	test_cmp want got && said "evenstep: warning: n1 was lost during the start \(.*\): starting them once more" &&
	echo "$took s" && test $took -lt 30 && nothing_left
'
test_expect_success 'one that is killed each time: exit 3, which it was, and nothing is left' '
	: >always && rm -f died late && test_expect_code 3 run --pieces 4 >got 2>err && test ! -s got &&
	said "evenstep: n1 was lost during the start: .*: see that node.s slurmd log" && nothing_left
'
test_expect_success 'a node that dies in the middle of a run: its part is done by the others' '
	way tcp && rm -f started go && { on_ctl salloc -Q --no-kill -N3 evenstep run --metrics equal --pieces 1 --range 0:300 -- \
		sh -c "echo \$EVENSTEP_NODE >>started; until test -e go; do sleep 0.1; done; exec seq {begin} \$(({end} - 1))" >got 2>err & } && run=$! &&
	wait_for 60 grep -qx n2 started && testbed_fault kill n2 && wait_for 60 grep -q "n2 is lost" err && : >go && wait $run && test_cmp want got
'
test_expect_success 'down leaves nothing' 'testbed_down && testbed_nothing_left $testbed_name'

# --- a Slurm that has it -----------------------------------------------------------
# sruns COMMAND...: in ./sruns, those of this testbed while it waits for ./go on three nodes.
until_go="until test -e go; do sleep 0.1; done"
sruns() {
	wait_for 60 no_agents && rm -f go && { "$@" >got 2>err & } && step=$! && wait_for 60 agents_on 3 &&
	for each in $(ours srun); do xargs -0 <"/proc/$each/cmdline"; done >sruns
	: >go; wait "$step"; code=$?; cat sruns err; return "$code"
}
agents_on() { test "$(ours evenstep-agent | wc -w)" -ge "$1"; }
test_expect_success PMIX 'wireup = "pmix" where Slurm has it: run, bcast and srun --evenstep, by PMIx' '
	testbed_up --nodes 3 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep" &&
	way pmix && run >got 2>err && test_cmp want got && cat err && ! grep -E "PMIx|TCP" err &&
	in_job evenstep bcast -f --verify "$PWD/file" /tmp/file && for node in n0 n1 n2; do on_node $node cat /tmp/file | cmp file || return 1; done &&
	in_job sh -c "evenstep run --metrics equal --range 0:3 -- sleep 5 & sleep 3; pgrep -a srun; wait" >srun 2>&1; cat srun && grep -e "--mpi=pmix" srun &&
	on_ctl srun -N3 --evenstep=required sh -c "evenstep conntable dump \$EVENSTEP_DIR/conntable" >got 2>err && cat err && test "$(wc -l <got)" -ge 9
'
test_expect_success PMIX 'wireup = "auto": run by TCP' '
	way auto && run >got 2>err && test_cmp want got && cat err && ! grep -E "PMIx|TCP" err &&
	sruns in_job evenstep run --metrics equal --range 0:3 -- sh -c "$until_go" && grep -e "--mpi=none " sruns && ! grep -e "--mpi=pmix" sruns
'
test_expect_success PMIX 'as it comes: the agents of a step with PMIx by PMIx, of one without by TCP' '
	unset EVENSTEP_CONF && sruns on_ctl srun -N3 --mpi=pmix --evenstep=required sh -c "$until_go" && grep -e "--overlap --mpi=pmix " sruns &&
	sruns on_ctl env SLURM_MPI_TYPE=pmix srun -N3 --evenstep=required sh -c "$until_go" && grep -e "--overlap --mpi=pmix " sruns &&
	sruns on_ctl srun -N3 --evenstep=required sh -c "$until_go" && grep -e "--overlap --mpi=none " sruns && ! grep -e "--mpi=pmix" sruns &&
	on_ctl srun -N3 --mpi=pmix --evenstep=required sh -c "evenstep conntable dump \$EVENSTEP_DIR/conntable" >got 2>err && cat err && quiet err && test "$(wc -l <got)" -ge 9
'
test_expect_success PMIX 'an agent that PMIx has lost: one line, and TCP' '
	rm -f died late always && way auto "plugin { agent_path = \"$PWD/dying\" }" &&
	on_ctl srun -N3 --mpi=pmix --evenstep=required echo ran >got 2>err && cat err && test "$(grep -c ran got)" = 3 &&
	said "evenstep: warning: .*: starting them once more, to wire up over TCP and not by PMIx .wireup = .tcp. in evenstep.conf does so at once." && test "$(grep -c evenstep: err)" = 1 && nothing_left
'
# As an agent that hangs in PMIx_Init ends, by its alarm.
cat >stuck <<END
#!/bin/sh
test \$EVENSTEP_WIREUP = tcp || { sleep 1; kill -ALRM \$\$; }
exec $real
END
chmod +x stuck
test_expect_success PMIX 'agents that hang in PMIx: one line when the first has ended, and TCP' '
	way auto "plugin { agent_path = \"$PWD/stuck\" }" && on_ctl srun -N3 --mpi=pmix --evenstep=required echo ran >got 2>err && cat err &&
	test "$(grep -c ran got)" = 3 && said "evenstep: warning: .*Alarm clock.*: starting them once more, to wire up over TCP and not by PMIx .wireup = .tcp. in evenstep.conf does so at once." &&
	test "$(grep -c evenstep: err)" = 1 && nothing_left
'
test_expect_success PMIX 'down leaves nothing, likewise' 'testbed_down && testbed_nothing_left $testbed_name'
test_done
