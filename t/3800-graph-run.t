#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a task graph on a real Slurm: files go from node to node, a dead node costs time and nothing else'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
in_job() { on_ctl salloc -Q "$@"; }
no_step() { test -z "$(on_ctl squeue -h -s -t R -o %i)"; }
no_folder() {
	for node in "$@"; do
		on_node "$node" find /tmp -maxdepth 1 -name "evenstep-graph*"
	done >left && cat left && test ! -s left
}
# clean_up: no run goes on, no fault lasts and every node is free, so that a
# test that has failed spoils none that follow.
clean_up() {
	on_ctl scancel -u "$(id -un)"
	test -z "$run" || its_end
	test -z "$fault" || testbed_fault heal "$fault" || return 1
	fault= && wait_for 120 nodes_idle 4
}
# its_end: waits for the run in the background; its status.
its_end() {
	wait "$run"
	set -- $?
	run= && return "$1"
}
run='' fault=''

test_expect_success 'a workflow of 55 tasks on real input, done here' '
	"$EVENSTEP_SRC/contrib/graphs/mosaic" mosaic 4 400 && cd mosaic && test "$(jq ".tasks | length" mosaic.json)" = 55 &&
	evenstep graph run --local 1 --cores 2 mosaic.json >table && sha256sum mosaic.png preview.png >../sums && rm -- *.png && cd ..
'
test_expect_success 'the cluster comes up' 'testbed_up --nodes 4 --speeds 40,40,40,40'
test_expect_success 'on four nodes of two cores, each with its own /tmp: the same images' '
	(cd mosaic && in_job -N4 evenstep graph run --cores 2 --deadline 5 --learn mosaic.json >../table 2>../err &&
		sha256sum -c ../sums && rm -- *.png) && tail -1 table && test "$(grep -o " n[0-3] " table | sort -u | wc -l)" = 4 &&
	said "evenstep: 55 of 55 tasks, .*" && wait_for 60 no_step && wait_for 60 no_folder n0 n1 n2 n3
'
test_expect_success 'cores are those of the smallest node, nodes those of the job' '
	jq -n "{tasks: [range(12) | {id: ., time: 1, command: \"uname -n >n\(.)\", outputs: [\"n\(.)\"]}]}" >many.json &&
	in_job -N3 evenstep graph run --deadline 2 --json many.json >out 2>err && cat err && cores=$(on_node n0 nproc) &&
	jq -e "(.instances | map(.core) | max) == $cores - 1 and (.instances | map(.node) | unique | length) <= 3" out &&
	for i in $(seq 0 11); do test "$(cat n$i)" = "$(jq -r ".instances[] | select(.task == $i).node" out)" || return 1; done
'
test_expect_success 'a deadline that the job cannot meet: exit 1, says the best' '
	test_expect_code 1 in_job -N2 evenstep graph run --cores 2 --deadline 2 many.json 2>err &&
	said "evenstep: the deadline of 2 s cannot be met on 2 nodes of 2 cores: the fastest plan takes 3 s: give more time, nodes or cores" && wait_for 60 no_step
'
test_expect_success 'a command that only one node has: done there' '
	on_node n1 sh -c "printf \"#!/bin/sh\nuname -n >where\n\" >/tmp/only && chmod 755 /tmp/only" &&
	echo "{\"tasks\": [{\"id\": \"t\", \"time\": 1, \"command\": [\"/tmp/only\"], \"outputs\": [\"where\"]}]}" >only.json &&
	in_job -N2 -w n0,n1 evenstep graph run only.json >table 2>err && echo n1 >want && test_cmp want where &&
	said "evenstep: n0: task \"t\" could not be started: No such file or directory: trying again" && wait_for 60 no_folder n0 n1
'
test_expect_success 'each node is free again' 'clean_up'
test_expect_success 'nodes that the plan has no use for: named; with --release Slurm has them back at once, and the work is done' '
	jq -n "{tasks: [range(4) | {id: ., time: 3, command: \"sleep 3; uname -n >n\(.)\", outputs: [\"n\(.)\"]}]}" >few.json && rm -f n? &&
	evenstep graph plan --cores 2 --deadline 8 few.json >out && grep -E "^makespan .*: salloc -N2$" out &&
	in_job -N3 evenstep graph run --cores 2 --deadline 8 few.json >table 2>err &&
	said "evenstep: the plan has no use for n[0-9]: -N 2 is enough, or --release gives it back" &&
	in_job -N3 sh -c "evenstep graph run --cores 2 --deadline 8 --release few.json & run=\$!; sleep 3; squeue -h -j \$SLURM_JOB_ID -o %D; wait \$run" >out 2>err && cat out &&
	said "evenstep: n[0-9]: given back to Slurm" && ! mentioned "is lost" && grep -x 2 out && wait_for 60 no_folder n0 n1 n2 n3 &&
	test "$(cat n0 n1 n2 n3 | sort -u | wc -l)" = 2
'
test_expect_success 'each node is free after that, too' 'clean_up'
# Two chains that meet; each second task waits for a file before it goes on.
marks=$PWD/marks
cat >chains.json <<END
{"tasks": [
 {"id": "a1", "time": 2, "command": "yes a | head -c 500000 >a1", "outputs": ["a1"]},
 {"id": "b1", "time": 2, "command": "yes b | head -c 400000 >b1", "outputs": ["b1"]},
 {"id": "a2", "time": 2, "command": ": >'$marks/a2.'\$EVENSTEP_NODE; until test -e '$marks/go'; do sleep 0.05; done; cat a1 a1 >a2", "inputs": ["a1"], "outputs": ["a2"]},
 {"id": "b2", "time": 2, "command": ": >'$marks/b2.'\$EVENSTEP_NODE; until test -e '$marks/go'; do sleep 0.05; done; cat b1 b1 >b2", "inputs": ["b1"], "outputs": ["b2"]},
 {"id": "end", "time": 1, "command": "cat a2 b2 >end", "inputs": ["a2", "b2"], "outputs": ["end"]}],
 "edges": [{"from": "a1", "to": "a2", "comm": 1}, {"from": "b1", "to": "b2", "comm": 1},
  {"from": "a2", "to": "end", "comm": 1}, {"from": "b2", "to": "end", "comm": 1}]}
END
for each in 'a 500000' 'a 500000' 'b 400000' 'b 400000'; do yes "${each% *}" | head -c "${each#* }"; done >end.want
both_wait() { test -e "$marks"/a2.* && test -e "$marks"/b2.*; }
# Each of these names its nodes: a job that follows another gets others while
# those of the first are still COMPLETING, and what a run has left on a node is
# found again on that node only.
test_expect_success 'the node of one task is killed in the middle: its chain is done again elsewhere, the output is the same' '
	test_when_finished clean_up && rm -rf marks && mkdir marks &&
	{ in_job -N3 -w n0,n1,n2 evenstep graph run --cores 1 --deadline 6.5 chains.json >table 2>err & } && run=$! &&
	wait_for 120 both_wait && set -- marks/a2.* && node=${1##*.} && fault=$node && testbed_fault kill "$node" &&
	wait_for 120 grep -q "$node is lost" err &&
	: >marks/go && its_end && cat err table && cmp end.want end && said "evenstep: $node is lost \(.*\): the other nodes do its part" &&
	! grep -E "^(a2|end) +$node " table
'
in_journal() { in_job -N3 -w n0,n1,n2 sh -c 'echo $$ >pid; exec evenstep graph run --cores 1 --journal journal "$@"' sh "$@"; }
test_expect_success 'it is back; a run that is killed goes on by its journal, and what the nodes have is not made again' '
	test_when_finished clean_up && rm -rf marks end journal && mkdir marks &&
	on_node "$node" sh -c "touch -d \"2 minutes ago\" /tmp/evenstep-graph*" &&
	{ in_journal --deadline 6.5 chains.json >table 2>err & } &&
	run=$! && wait_for 120 both_wait && kill -TERM "$(cat pid)"; its_end; cat err &&
	said "evenstep: 2 of 5 tasks are done: go on with --resume" && : >marks/go && wait_for 120 nodes_idle 4 &&
	in_journal --resume chains.json >table 2>err && cat err &&
	said "evenstep: 2 of 5 tasks are done already" && cmp end.want end && ! grep -E "^[ab]1 " table && wait_for 60 no_folder n0 n1 n2 n3
'
# Two that wait, and six that follow them.
jq -n --arg m "'$marks'" '[range(2) | {id: "h\(.)", time: 1,
		command: ": >\($m)/at.$EVENSTEP_NODE; until test -e \($m)/go; do sleep 0.05; done"}] as $h |
	{tasks: ($h + [range(6) | {id: "t\(.)", time: 1, command: "uname -n >by\(.)", outputs: ["by\(.)"]}]),
	edges: [$h[].id as $u | range(6) | {from: $u, to: "t\(.)", comm: 0.1}]}' >back.json
two_wait() { test "$(find "$marks" -name "at.*" | wc -l)" = 2; }
test_expect_success 'a node whose link is cut, and healed: it is taken in again, and gets its part of what has not begun' '
	test_when_finished clean_up && rm -rf marks && mkdir marks &&
	{ in_job -N2 -w n0,n1 evenstep graph run --cores 1 --algorithm ead --threshold -100 --deadline 4.2 back.json >table 2>err & } && run=$! &&
	wait_for 120 two_wait && set -- marks/at.* && node=${1##*.} && fault=$node && testbed_fault cut "$node" &&
	wait_for 120 grep -q "$node is lost" err &&
	testbed_fault heal "$node" && wait_for 120 grep -qx "evenstep: $node is back" err &&
	wait_for 120 sh -c "test \$(grep -c \"placed anew\" err) = 2" && : >marks/go && its_end && cat err table &&
	cat by? >by && test "$(sort by | uniq -c | awk "{print \$1}" | tr "\n" " ")" = "3 3 " && grep -qx "$node" by && wait_for 60 no_folder n0 n1
'
test_expect_success 'down leaves nothing' '
	testbed_down && testbed_nothing_left $testbed_name
'
test_done
