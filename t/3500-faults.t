#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='nodes that fail, hang, drain, are cut off and come back: each unit of the output once all the same'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
echo 'slurm { drain_interval = 2 }' >conf
EVENSTEP_CONF=$PWD/conf
export EVENSTEP_CONF

# gated BEGIN END: says that it is there; n2 waits for a file.
cat >gated <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_FRAME" >>started
test "$EVENSTEP_NODE" != n2 || until test -e go; do sleep 0.1; done
sleep 0.1
exec seq "$1" $(($2 - 1))
END
chmod +x gated
# With a file of metrics a run waits for all nodes, see run_early_may().
echo '{"nodes":[{"name":"n0","C":1},{"name":"n1","C":1},{"name":"n2","C":1},{"name":"n3","C":1}]}' >equal.json
# begin OPTIONS...: four nodes, frames of 160 units, until told; the run's number in $run.
begin() {
	rm -f started go out err
	"$testbed" exec --name "$testbed_name" -- salloc -Q --no-kill -N4 env "PATH=$EVENSTEP_BUILD:$PATH" \
		evenstep run --metrics "$PWD/equal.json" --range 0:160 --report report "$@" >out 2>err 3>&- 4>&- 5>&- &
	run=$!
}
frames() { # N: what N frames print
	for each in $(seq "$1"); do seq 0 159; done >want
}
begun() { grep -qx "$1 $2" started; } # NODE FRAME
nothing_left() { wait_for 60 no_agents && wait_for 60 nodes_idle 4; }

test_expect_success 'up: four nodes' 'testbed_up --nodes 4'
test_expect_success 'a node that is cut off in the middle of a frame: the others do its part' '
	begin --repeat 400 --gather file -- "$PWD/gated" {begin} {end} && wait_for 60 begun n2 0 && testbed_fault cut n2 &&
	wait_for 60 grep -q "n2 is lost" err
'
test_expect_success 'its link is healed: it is measured again, and gets its part of the next frames' '
	testbed_fault heal n2 && : >go && wait_for 60 grep -qx "evenstep: n2 is back" err && : >started &&
	wait_for 60 grep -q "^n2 " started
'
test_expect_success 'scontrol drain: a node finishes what it is at and leaves; the run goes on without it' '
	on_ctl scontrol update NodeName=n1 State=DRAIN Reason=test && wait_for 60 grep -qx "evenstep: n1 has left" err &&
	said "evenstep: n1 drains: it leaves, and the other nodes do its part" && ! grep "n1 is lost" err
'
test_expect_success 'kill -9 of the front end of all that, and --resume on the nodes that are there: the output of an undisturbed run' '
	on_ctl scontrol update NodeName=n1 State=RESUME &&
	for each in $(pgrep -x evenstep); do
		grep -qzsxF "EVENSTEP_TESTBED=$testbed_name" /proc/$each/environ && kill -KILL $each
	done; wait $run; nothing_left && frames 3 && : >go &&
	"$testbed" exec --name "$testbed_name" -- salloc -Q -N4 env "PATH=$EVENSTEP_BUILD:$PATH" \
		evenstep run --metrics equal --range 0:160 --repeat 3 --journal journal -- ./gated {begin} {end} >out && test_cmp want out &&
	truncate -s -1000 journal && "$testbed" exec --name "$testbed_name" -- salloc -Q -N2 env "PATH=$EVENSTEP_BUILD:$PATH" \
		evenstep run --metrics equal --range 0:160 --repeat 3 --journal journal --resume -- ./gated {begin} {end} >out && test_cmp want out
'
test_expect_success 'a command that hangs on one node: ended after --timeout, its part done by others, and the node is back' '
	begin --repeat 2 --timeout 8 -- "$PWD/gated" {begin} {end} && wait_for 60 grep -q "n2 is cut off" err && : >go && wait $run &&
	frames 2 && test_cmp want out && said "evenstep: n2: units [0-9]+:[0-9]+ still run after 8 s" && nothing_left
'
test_expect_success '--speculate: where a node hangs, the others do its pieces as well, and nothing of it stays' '
	begin --repeat 2 --speculate -- "$PWD/gated" {begin} {end} && wait $run && begun n2 0 && frames 2 && test_cmp want out &&
	jq -es "[.[].slices[]? | select(.beaten)] | any(.node == \"n2\" and .status == -1)" report && nothing_left
'
# With one piece a node and frame, n3 has two to fail at, however quick the others are.
test_expect_success 'a node whose commands fail: --retries 2 gives its part to the others, and says so' '
	begin --repeat 2 --retries 2 --policy static --pieces 1 -- sh -c "test \$EVENSTEP_NODE != n3 || exit 5; exec seq {begin} \$(({end} - 1))" && wait $run &&
	frames 2 && test_cmp want out && said "evenstep: n3: frame 1, units [0-9]+:[0-9]+: sh exited with status 5: it is tried again" &&
	said "evenstep: n3: 2 failures in a row: it gets nothing more" && nothing_left
'
test_expect_success 'a command that fails everywhere: exit 1 after --retries, not before' '
	begin --retries 3 -- sh -c "echo x >>tries; exit 5" && test_expect_code 1 wait $run &&
	said "evenstep: n[0-3]: frame 1, units [0-9]+:[0-9]+: sh exited with status 5: it printed nothing on stderr" &&
	test "$(wc -l <tries)" -ge 4 && nothing_left
'
test_expect_success 'a whole node dies: its part is done by the others' '
	begin --repeat 2 -- "$PWD/gated" {begin} {end} && wait_for 60 begun n2 0 && testbed_fault kill n2 && wait_for 60 grep -q "n2 is lost" err &&
	wait $run; frames 2 && test_cmp want out
'
test_expect_success 'down leaves nothing' '
	testbed_down && testbed_nothing_left $testbed_name
'
test_done
