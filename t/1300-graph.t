#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a task graph becomes a schedule, or one line tells why not'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

unset EVENSTEP_CONF SLURM_JOB_ID
PATH=$EVENSTEP_BUILD:$PATH
vectors=$EVENSTEP_SRC/t/policy/graph_vectors.json

test_expect_success 'the graphs of the vectors are files of evenstep' '
	jq .graphs.example9 "$vectors" >nine.json && test -s nine.json &&
	echo "{\"tasks\":[{\"id\":1,\"time\":2}],\"edges\":[{\"from\":1,\"to\":7,\"comm\":1}]}" >unknown.json &&
	printf "digraph { a [time=1]; b [time=2]; a -> b [comm=1]; b -> a [comm=1] }" >cycle.dot &&
	: >empty && echo "{\"tasks\":[]}" >none.json
'

test_expect_success 'a name of DOT that is not in UTF-8: exit 2, says so' '
	printf "digraph { \"a\377\" [time=1] }" >latin.dot && test_expect_code 2 evenstep graph plan latin.dot 2>err &&
	grep -qa "no id: give text in UTF-8, or an integer" err
'

test_expect_success 'a name that plays tricks on a terminal is shown, and not obeyed' '
	echo "{\"tasks\": [{\"id\": \"a\\u001b[2J\\u000ab\", \"time\": 1}]}" >tricks.json && evenstep graph plan tricks.json >out 2>err && cat out && test "$(wc -l <out)" = 3 &&
	tail -n 1 out | grep -F " a\\033[2J\\nb"
'

# Every vector by the command line: `evenstep graph plan --json`.
test_expect_success 'all 216 vectors, by the command line' '
	jq -r ".cases[] | [.dag, .options.algorithm, .options.cores, .options.threshold,
		.options.group, .options.baseline, .options.deadline // \"-\",
		.options.deadline_factor // \"-\"] | @tsv" "$vectors" >cases &&
	test "$(wc -l <cases)" = 216 &&
	jq -c ".cases[].expect | [.paths, .makespan, .energy, .candidates, .chosen_M,
		[.schedule[] | .[0] as \$p | .[1] as \$c | .[2][] | [.[0], \$p, \$c, .[1], .[2]]]]" \
		"$vectors" >want &&
	for dag in $(jq -r ".graphs | keys[]" "$vectors"); do
		jq ".graphs.$dag" "$vectors" >"$dag.json" || return 1
	done &&
	while read -r dag algorithm cores threshold group baseline deadline factor; do
		set -- --algorithm "$algorithm" --cores "$cores" --threshold "$threshold" \
			--group "$group" --baseline "$baseline" --power 10,2,5,0
		test "$deadline" = - || set -- "$@" --deadline "$deadline"
		test "$factor" = - || set -- "$@" --deadline-factor "$factor"
		test "$deadline$factor" != -- || set -- "$@" --deadline-factor 1e6
		evenstep graph plan --json "$@" "$dag.json" 2>>late || return 1
	done <cases >plans &&
	jq -c "[.paths, .makespan, .energy, .candidates, .chosen_M,
		[.instances[] | [.task, .processor, .core, .start, .finish]]]" plans >got &&
	jq -Sc . want >want.sorted && jq -Sc . got >got.sorted &&
	test_cmp want.sorted got.sorted
'
test_expect_success 'the plan of the nine tasks as a table, and drawn' '
	evenstep graph plan --cores 4 --deadline 16 --svg nine.svg nine.json >out 2>err &&
	cat out && test ! -s err && test "$(wc -l <out)" = 11 &&
	grep "^makespan 11 s, energy 328 J .*, 1 processors, 4 cores, " out &&
	test "$(grep -c "<rect" nine.svg)" = 9 && tail -1 nine.svg | grep -x "</svg>"
'
test_expect_success 'all algorithms beside the bounds' '
	evenstep graph plan --cores 2 --deadline-factor 1e6 --all --json nine.json >out &&
	jq -r ".plans[] | [.name, .processors, .makespan, .energy.total, .deadline_met] | @tsv" out >rows &&
	cat rows && test "$(wc -l <rows)" = 8 &&
	grep -x "tds	5	16	728	true" rows && grep -x "tds	1	17	308	true" rows &&
	grep -x "sequential	1	30	360	" rows && grep "^apart	9	21	" rows
'
test_expect_success 'fewer processors than paths: only what is grouped is compared' '
	evenstep graph plan --cores 1 --processors 2 --all --json nine.json >out &&
	jq -e ".plans | length == 5 and all(.[:3][]; .processors <= 2)" out
'
test_expect_success 'a deadline that nothing meets: says what is possible' '
	evenstep graph plan --cores 1 --deadline 5 --json nine.json >out 2>err && cat err &&
	grep -xE "evenstep: the deadline of 5 s cannot be met: the fastest plan takes 16 s" err &&
	jq -e ".deadline_met == false and .makespan == 16" out
'
test_expect_success 'no deadline: 1.1 times the ungrouped time, or the fastest, and says so' '
	evenstep graph plan --cores 2 --json nine.json >out 2>err && cat err &&
	said "evenstep: no deadline given: 17.6 s, 1.1 times what the graph ungrouped takes" &&
	jq -e ".deadline == 17.6 and .deadline_met and .makespan <= 17.6 and .energy.total == 308" out &&
	evenstep graph plan --cores 1 --processors 1 --json nine.json >out 2>err && cat err &&
	said "evenstep: no deadline given: 33 s, 1.1 times what the fastest plan here takes" &&
	jq -e ".deadline_met and .makespan == 30" out
'
test_expect_success 'nodes of equal speeds: the plan without speeds; of others: each task takes its time there' '
	for group in best literal guard cap; do
		evenstep graph plan --cores 2 --speeds 40,40,40 --group $group --json nine.json >alike 2>err &&
		evenstep graph plan --cores 2 --processors 3 --group $group --json nine.json >plain 2>err && cmp alike plain || return 1
	done &&
	evenstep graph plan --cores 1 --speeds 10,80,40 --deadline 30 --json nine.json >out 2>err && cat out &&
	jq -e --slurpfile nine nine.json "(\$nine[0].tasks | map({key: (.id | tostring), value: .time}) | from_entries) as \$t |
		.deadline_met and all(.instances[]; .finish - .start == \$t[.task | tostring] * [8, 1, 2][.processor])" out
'
test_expect_success 'a task of three cores has them for itself; one of much memory that memory'\''s cores' '
	printf "{\"tasks\":[{\"id\":\"a\",\"time\":1,\"cores\":3,\"memory\":\"2GiB\"},{\"id\":\"b\",\"time\":1},{\"id\":\"c\",\"time\":1}]}" >need.json &&
	printf "digraph { a [time=1,cores=3,memory=\"2GiB\"]; b [time=1]; c [time=1] }" >need.dot &&
	for file in need.json need.dot; do
		evenstep graph plan --cores 4 --processors 1 --deadline 0 --json $file >out 2>err && jq -e ".makespan == 2 and .energy.busy == 50" out &&
		evenstep graph plan --cores 5 --processors 1 --deadline 0 --json $file >out 2>err && jq -e ".makespan == 1" out &&
		evenstep graph plan --cores 5 --memory 2.2G --processors 1 --deadline 0 --json $file >out 2>err && jq -e ".makespan == 2 and .energy.busy == 70" out || return 1
	done &&
	echo "{\"tasks\":[{\"id\":1,\"time\":1,\"cores\":0}]}" >nocore.json && echo "{\"tasks\":[{\"id\":1,\"time\":1,\"memory\":\"much\"}]}" >nomemory.json
'
test_expect_success 'one task; tasks that do not know each other; tasks of no time' '
	echo "{\"tasks\":[{\"id\":\"x\",\"time\":0}]}" >one.json &&
	evenstep graph plan --cores 1 --json one.json >out && jq -e ".instances == [{task: \"x\",
		processor: 0, core: 0, start: 0, finish: 0}]" out &&
	echo "{\"tasks\":[{\"id\":1,\"time\":1},{\"id\":2,\"time\":1}]}" >two.json &&
	evenstep graph plan --cores 2 --json two.json >out && jq -e ".makespan == 1" out
'

while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2, with the reason" '
		eval "fails 2 \"\$message\" evenstep graph $arguments"
	'
done <<'END'
no action||evenstep: graph: no action: give plan, run or import
an unknown action|draw nine.json|evenstep: graph: no such action: draw: give plan, run or import
no graph|plan|evenstep: graph: no GRAPH: see `evenstep graph --help`
two graphs|plan nine.json nine.json|evenstep: graph: unexpected argument "nine.json" behind "nine.json": give .*
a file that is not there|plan nowhere.json|evenstep: nowhere.json: No such file or directory: give a file that can be read
a folder|plan .|evenstep: .: Is a directory: give a file that can be read
an empty file|plan empty|evenstep: empty: is empty: give a graph
a graph without tasks|plan none.json|evenstep: none.json: no tasks: give at least one
an edge to nowhere|plan unknown.json|evenstep: unknown.json: edges\[0\].to: no task "7": name a task that is in the file
a cycle|plan cycle.dot|evenstep: cycle.dot: task "[ab]" waits for itself: a task graph has no cycles
no core|plan --cores 0 nine.json|evenstep: --cores: "0" is out of range: give a whole number from 1 to 16777216
no processor|plan --processors 0 nine.json|evenstep: --processors: "0" is out of range: .*
more cores than can be counted|plan --cores 16777216 nine.json|evenstep: --cores: 16777216 for each path are above 16777216 in all: give fewer cores
too few processors|plan --group none --processors 4 nine.json|evenstep: --processors: 4 are too few for the paths, ungrouped: give more, or --group best
a speed of nothing|plan --speeds 80,0 nine.json|evenstep: --speeds: "0" is out of range: give numbers from .*
speeds too far apart|plan --cores 1 --speeds 1000000,1 nine.json|evenstep: --speeds: one is less than a 10000-th of another, or too slow for the graph: leave the slowest out
more cores than a node has|plan --cores 2 need.json|evenstep: task "a": wants 3 cores, and no node has more than 2: give larger nodes, or the task fewer
more memory than a node has|plan --cores 4 --memory 1G need.json|evenstep: task "a": wants 2.147 GB of memory with 3 cores, and no node has more than 1 GB and 4 cores: give larger nodes, or the task less
no core at all|plan nocore.json|evenstep: nocore.json: tasks\[0\]: no number of cores: give cores from 1 to 65536
memory that is none|plan nomemory.json|evenstep: nomemory.json: tasks\[0\]: no size of memory: give bytes, as 2000000000 or "2GB"
an unknown algorithm|plan --algorithm heft nine.json|evenstep: --algorithm: "heft" is unknown: give tds, ead or pebd
an unknown grouping|plan --group all nine.json|evenstep: --group: "all" is unknown: give best, literal, guard, cap, none, heft or list
an unknown baseline|plan --baseline x nine.json|evenstep: --baseline: "x" is unknown: give spread or pack
three powers|plan --power 1,2,3 nine.json|evenstep: --power: not four numbers: give BUSY,IDLE,LINK,BASE in watts
five powers|plan --power 1,2,3,4,5 nine.json|evenstep: --power: more than 4 numbers: .*
three powers|plan --power 1,2,3 nine.json|evenstep: --power: not four numbers: give BUSY,IDLE,LINK,BASE in watts
a negative power|plan --power 1,-2,3,4 nine.json|evenstep: --power: "-2" is out of range: give numbers from 0 to .*
a deadline that is none|plan --deadline soon nine.json|evenstep: --deadline: "soon" is no time: give seconds from 0 to 1000000000, as 90, 1.5h or 20us
two deadlines|plan --deadline 5 --deadline-factor 2 nine.json|evenstep: --deadline and --deadline-factor exclude each other: give one of them
a drawing of all|plan --all --svg x nine.json|evenstep: --all and --svg exclude each other: give one of them
an option without its value|plan nine.json --cores|evenstep: --cores: a value is missing: give --cores K
an option of run|plan --resume nine.json|evenstep: graph plan: --resume is not for it: see .*
an unknown option|plan --colour nine.json|evenstep: --colour: no such option: see .*
END
test_expect_success 'a drawing that cannot be written, a full disk: exit 1' '
	test_expect_code 1 evenstep graph plan --svg nowhere/x nine.json 2>err && cat err &&
	grep -xE "evenstep: --svg: nowhere/x: No such file or directory: name a file that you may write" err &&
	test_expect_code 1 evenstep graph plan nine.json >/dev/full 2>err &&
	grep -xE "evenstep: cannot write: free some space" err
'
test_expect_success 'the energy model comes from the configuration; --power goes before it' '
	echo "energy { busy = 20 idle = 4 link = 10 base = 1 }" >energy.conf &&
	EVENSTEP_CONF=energy.conf evenstep graph plan --cores 4 --json nine.json >by_conf &&
	evenstep graph plan --cores 4 --power 20,4,10,1 --json nine.json >by_option && test_cmp by_option by_conf &&
	evenstep graph plan --cores 4 --json nine.json >built_in && test_expect_code 1 cmp built_in by_conf &&
	EVENSTEP_CONF=energy.conf evenstep graph plan --cores 4 --power 10,2,5,0 --json nine.json >again &&
	test_cmp built_in again
'
test_expect_success 'watts that runs have learnt go before the configuration, --power before them' '
	jq ".watts = {points: 4, busy: 20, idle: 4, sums: [1, 0.5, 2, 22, 18]}" nine.json >learnt.json &&
	evenstep graph plan --cores 4 --power 20,4,5,0 --json nine.json >by_option && evenstep graph plan --cores 4 --json learnt.json >by_file &&
	test_cmp by_option by_file && evenstep graph plan --cores 4 --power 10,2,5,0 --json learnt.json >by_option &&
	evenstep graph plan --cores 4 --json nine.json >built_in && test_cmp built_in by_option
'
test_expect_success 'too few points learnt: the configuration; watts that no run has measured: exit 2' '
	jq ".watts = {points: 2, sums: [1, 0, 1, 20, 4]}" nine.json >few.json && evenstep graph plan --cores 4 --json few.json >got && test_cmp built_in got &&
	for watts in "7" "{points: 4}" "{points: -1, sums: [1,1,1,1,1]}" "{points: 4, sums: [1,1,1,1]}" "{points: 4, sums: [1,1,1,1,\"x\"]}" "{points: 1, sums: [5,1,1,1,1]}" "{points: 4, sums: [1,1,1,1,-1]}"; do
		jq ".watts = $watts" nine.json >bad.json && test_expect_code 2 evenstep graph plan bad.json >out 2>err && test ! -s out &&
		said "evenstep: bad.json: watts: are not what runs have measured: take it out: --learn writes it anew" || return 1
	done
'
test_expect_success '--help tells every option' '
	evenstep graph --help >out 2>err && test ! -s err && grep "^usage: evenstep graph plan" out &&
	for option in algorithm threshold group baseline cores processors deadline deadline-factor \
		power rate ccr all svg json retries journal resume learn work srun local; do
		grep -e "^  --$option " out || return 1
	done
'
test_done
