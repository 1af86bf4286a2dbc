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
	(cd mosaic && in_job -N4 evenstep graph run --metrics equal --cores 2 --deadline 5 --learn mosaic.json >../table 2>../err &&
		sha256sum -c ../sums && rm -- *.png) && tail -1 table && test "$(grep -o " n[0-3] " table | sort -u | wc -l)" = 4 &&
	said "evenstep: 55 of 55 tasks, .*" && wait_for 60 no_step && wait_for 60 no_folder n0 n1 n2 n3
'
test_expect_success "Makeflow's JSON as it is: its times are guessed, its files go from node to node" '
	mkdir makeflow && cp "$EVENSTEP_SRC/t/graphs/makeflow.json" makeflow &&
	(cd makeflow && in_job -N4 evenstep graph run --guess 0.1 --deadline 60 makeflow.json && test "$(cat sum)" = 40)
'
test_expect_success 'cores are those of the smallest node, nodes those of the job' '
	jq -n "{tasks: [range(12) | {id: ., time: 1, command: \"uname -n >n\(.)\", outputs: [\"n\(.)\"]}]}" >many.json &&
	in_job -N3 evenstep graph run --metrics equal --deadline 2 --json many.json >out 2>err && cat err && cores=$(on_node n0 nproc) &&
	jq -e "(.instances | map(.core) | max) == $cores - 1 and (.instances | map(.node) | unique | length) <= 3" out &&
	for i in $(seq 0 11); do test "$(cat n$i)" = "$(jq -r ".instances[] | select(.task == $i).node" out)" || return 1; done
'
test_expect_success 'a deadline that the job cannot meet: exit 1, says the best' '
	test_expect_code 1 in_job -N2 evenstep graph run --metrics equal --cores 2 --deadline 2 many.json 2>err &&
	said "evenstep: the deadline of 2 s cannot be met on 2 nodes of 2 cores: the fastest plan takes 3 s: give more time, nodes or cores" && wait_for 60 no_step
'
test_expect_success 'a command that only one node has: done there' '
	on_node n1 sh -c "printf \"#!/bin/sh\nuname -n >where\n\" >/tmp/only && chmod 755 /tmp/only" &&
	echo "{\"tasks\": [{\"id\": \"t\", \"time\": 1, \"command\": [\"/tmp/only\"], \"outputs\": [\"where\"]}]}" >only.json &&
	in_job -N2 -w n0,n1 evenstep graph run --metrics equal only.json >table 2>err && echo n1 >want && test_cmp want where &&
	said "evenstep: n0: task \"t\" could not be started: No such file or directory: trying again" && wait_for 60 no_folder n0 n1
'
test_expect_success 'each node is free again' 'clean_up'
test_expect_success 'nodes that the plan has no use for: named; with --release Slurm has them back at once, and the work is done' '
	jq -n "{tasks: [range(4) | {id: ., time: 3, command: \"sleep 3; uname -n >n\(.)\", outputs: [\"n\(.)\"]}]}" >few.json && rm -f n? &&
	evenstep graph plan --cores 2 --deadline 8 few.json >out && grep -E "^makespan .*: salloc -N2$" out &&
	in_job -N3 evenstep graph run --metrics equal --cores 2 --deadline 8 few.json >table 2>err &&
	said "evenstep: the plan has no use for n[0-9]: -N 2 is enough, or --release gives it back" &&
	in_job -N3 sh -c "evenstep graph run --metrics equal --cores 2 --deadline 8 --release few.json & run=\$!; sleep 3; squeue -h -j \$SLURM_JOB_ID -o %D; wait \$run" >out 2>err && cat out &&
	said "evenstep: n[0-9]: given back to Slurm" && ! mentioned "is lost" && grep -x 2 out && wait_for 60 no_folder n0 n1 n2 n3 &&
	test "$(cat n0 n1 n2 n3 | sort -u | wc -l)" = 2
'
test_expect_success '--release in a batch script: the node that the script stands on stays, the job ends well' '
	rm -f n? done.* && cat >batch.sh <<-END &&
	#!/bin/sh
	evenstep graph run --metrics equal --cores 2 --deadline 8 --release few.json >table.batch & run=\$!
	sleep 3; squeue -h -j \$SLURM_JOB_ID -o %D >nodes.batch; scontrol show job \$SLURM_JOB_ID >job.batch; wait \$run; echo \$? >rc.batch
	END
	on_ctl sbatch -Q --wait -N3 -D "$PWD" -o err batch.sh && cat err nodes.batch && echo 0 >want && test_cmp want rc.batch &&
	said "evenstep: n[0-9]: given back to Slurm" && ! mentioned "is lost" && grep -x 2 nodes.batch &&
	host=$(sed -n "s/.*BatchHost=//p" job.batch) && ! said "evenstep: $host: given back to Slurm" && test "$(ls n0 n1 n2 n3 | wc -l)" = 4
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
	{ in_job -N3 -w n0,n1,n2 evenstep graph run --metrics equal --cores 1 --deadline 6.5 chains.json >table 2>err & } && run=$! &&
	wait_for 120 both_wait && set -- marks/a2.* && node=${1##*.} && fault=$node && testbed_fault kill "$node" &&
	wait_for 120 grep -q "$node is lost" err &&
	: >marks/go && its_end && cat err table && cmp end.want end && said "evenstep: $node is lost \(.*\): the other nodes do its part" &&
	! grep -E "^(a2|end) +$node " table
'
in_journal() { in_job -N3 -w n0,n1,n2 sh -c 'echo $$ >pid; exec evenstep graph run --metrics equal --cores 1 --journal journal "$@"' sh "$@"; }
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
	{ in_job -N2 -w n0,n1 evenstep graph run --metrics equal --cores 1 --algorithm ead --threshold -100 --deadline 4.2 back.json >table 2>err & } && run=$! &&
	wait_for 120 two_wait && set -- marks/at.* && node=${1##*.} && fault=$node && testbed_fault cut "$node" &&
	wait_for 120 grep -q "$node is lost" err &&
	testbed_fault heal "$node" && wait_for 120 grep -qx "evenstep: $node is back" err &&
	wait_for 120 sh -c "test \$(grep -c \"placed anew\" err) = 2" && : >marks/go && its_end && cat err table &&
	cat by? >by && test "$(sort by | uniq -c | awk "{print \$1}" | tr "\n" " ")" = "3 3 " && grep -qx "$node" by && wait_for 60 no_folder n0 n1
'
# Two chains on nodes of other speeds.  What a node keeps of itself says how fast it is.
printf 'probe { cache = "%s/cache" }\n' "$PWD" >own.conf
jq -n '{tasks: [range(6) | {id: ., time: 0.2, command: "true"}]}' >six.json
qualified() { in_job -N2 -w n0,n2 env EVENSTEP_CONF="$PWD/own.conf" evenstep graph run --cores 1 --deadline 10 --json "$@" six.json >out 2>err; code=$?; cat err; return $code; }
knows() { # knows NODE C: root has measured it, and this came out
	on_node "$1" env SLURMD_NODENAME="$1" EVENSTEP_CONF="$PWD/own.conf" PATH="$PATH" evenstep probe >probed &&
		jq ".elements.C.value = $2" "cache/$1.json" >edited && cat edited >"cache/$1.json"
}
test_expect_success 'nodes of 40 and 10 percent: a probe tells, and the plan is made for it' '
	test_when_finished "testbed_fault speed n2 40" && testbed_fault speed n2 10 && qualified --metrics probe &&
	said "evenstep: the nodes differ: a core of n2 does 0.[0-9]+ of one of n0" && part=$(sed -n "s/.* n2 does \(0.[0-9]*\) of .*/\1/p" err) &&
	awk -v part="$part" "BEGIN { exit !(part > 0.1 && part < 0.6) }"
'
test_expect_success 'by default the site'\''s cache tells; --metrics equal and --speeds do without' '
	knows n0 8 && knows n2 2 && qualified --group heft && said "evenstep: the nodes differ: a core of n2 does 0.25 of one of n0" &&
	jq -c "[.planned.makespan, [.instances[] | [.node, .planned_finish - .planned_start]]]" out &&
	jq -e "all(.instances[]; (.planned_finish - .planned_start - (if .node == \"n2\" then 0.8 else 0.2 end)) | fabs < 0.0001)" out &&
	qualified --metrics equal && ! mentioned differ && qualified --speeds 1,1 && ! mentioned differ &&
	test_expect_code 2 qualified --speeds 1,1,1 && said "evenstep: --speeds: 3 for 2 nodes: give one for each node"
'
test_expect_success 'equal nodes: the plan is that of equal ones, to the last instance' '
	knows n2 7 && qualified && ! mentioned differ && jq -c "[.planned, ([.instances[] | [.task, .node, .core, .planned_start]] | sort)]" out >want &&
	qualified --metrics equal && jq -c "[.planned, ([.instances[] | [.task, .node, .core, .planned_start]] | sort)]" out >got && test_cmp want got
'
cat >bound.json <<'END'
{"tasks": [
 {"id": "one", "time": 2, "command": "grep Cpus_allowed_list /proc/self/status; sleep 1; nproc >one", "outputs": ["one"]},
 {"id": "two", "time": 2, "command": "grep Cpus_allowed_list /proc/self/status; sleep 1; nproc >two", "outputs": ["two"]},
 {"id": "wide", "time": 2, "cores": CORES, "command": "nproc >wide", "outputs": ["wide"]}]}
END
test_expect_success 'a task is bound to its cores: two at once do not share any, one of all cores has them all' '
	cores=$(on_node n0 nproc) && sed -i "s/CORES/$cores/" bound.json &&
	if test "$cores" -lt 2; then echo "# one core: nothing to tell apart"; else
	in_job -N1 evenstep graph run --deadline 100 bound.json >table 2>err && cat table err && echo "$cores" >want && test_cmp want wide && test "$(cat one two)" = "1
1" && sed -n "s/.*: \(one\|two\): Cpus_allowed_list:[[:space:]]*/\1 /p" err | sort >lists && cat lists && test "$(wc -l <lists)" = 2 &&
	test "$(awk "{print \$2}" lists | sort -u | wc -l)" = "$(awk "/^(one|two) / {print \$3}" table | sort -u | wc -l)"; fi
'
test_expect_success 'a task that wants more memory, or more cores, than any node has: exit 2, says what there is' '
	echo "{\"tasks\": [{\"id\": \"t\", \"time\": 1, \"memory\": \"900TiB\", \"command\": \"true\"}]}" >large.json &&
	test_expect_code 2 in_job -N2 evenstep graph run --metrics equal large.json 2>err && cat err &&
	said "evenstep: task .t.: wants 9.896e\+05 GB of memory with 1 cores, and no node has more than [0-9.]+ GB and [0-9]+ cores: give larger nodes, or the task less" &&
	sed "s/.memory.: .900TiB./\"cores\": 5000/" large.json >wide.json && test_expect_code 2 in_job -N2 evenstep graph run --metrics equal wide.json 2>err &&
	said "evenstep: task .t.: wants 5000 cores, and no node has more than [0-9]+: give larger nodes, or the task fewer"
'
test_expect_success 'two tasks that want most of the memory of a node do not run at once' '
	test_expect_code 2 in_job -N1 evenstep graph run large.json 2>err && most=$(sed -n "s/.* no node has more than \([0-9.]*\) GB.*/\1/p" err) &&
	jq -n --argjson most "$most" "{tasks: [range(2) | {id: ., time: 1, memory: ((\$most * 0.6e9) | floor), command: \"mkdir '\''$PWD/alone'\'' && sleep 0.3 && rmdir '\''$PWD/alone'\''\"}]}" >halves.json &&
	in_job -N1 evenstep graph run --deadline 100 --retries 0 halves.json && test ! -e alone
'
test_expect_success 'down leaves nothing' '
	testbed_down && testbed_nothing_left $testbed_name
'
test_done
