#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='graphs of Snakemake, Nextflow and Makeflow, with the times of their reports'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

unset EVENSTEP_CONF SLURM_JOB_ID
PATH=$EVENSTEP_BUILD:$PATH
cp -r "$EVENSTEP_SRC/t/graphs/." .

test_expect_success "Snakemake's --dag: a job has the benchmark of its rule and wildcards, its own or inherited" '
	evenstep graph import --times benchmarks --to snake.json snakemake.dot >out && cat out &&
	grep -x "format    Snakemake.s --dag" out &&
	grep -x "tasks     8: 5 with a time of their own, 2 guessed: the mean of all, 1 that do nothing" out &&
	grep -x "done      1 tasks, says the file; they count as to be done" out &&
	grep -x "ignored   1 times of no task of the graph, first that of \"trim.tsv\"" out &&
	jq -c "[.tasks[] | {(.id): .time}] | add" snake.json >times && cat times &&
	jq -e ". == {all: 0, count: 4, \"sort sample=north\": 2, \"sort sample=south\": 3,
		\"map sample=north\": 9, \"map sample=south\": 12, index: 6, \"plot_map sample=north\": 6}" times &&
	jq -e ".edges | length == 9" snake.json
'
test_expect_success "Snakemake's benchmarks as JSON lines: the same times, also where they name rule and wildcards" '
	cp -r benchmarks jsonl && find jsonl -type f >files && while read -r f; do
		awk -F"\t" "NR > 1 {printf \"{\\\"s\\\": %s, \\\"h:m:s\\\": \\\"x\\\"}\\n\", \$1}" $f >${f%.*}.jsonl && rm $f || return 1
	done <files && cat jsonl/*.jsonl && evenstep graph import --times benchmarks --to by_tsv.json snakemake.dot >out && evenstep graph import --times jsonl --to by_jsonl.json snakemake.dot >out &&
	jq "[.tasks[] | [.id, .time]]" by_tsv.json >want && jq "[.tasks[] | [.id, .time]]" by_jsonl.json >got && test_cmp want got &&
	echo "{\"s\": 77, \"threads\": 2, \"rule_name\": \"map\", \"wildcards\": {\"sample\": \"south\"}}" >named.jsonl && evenstep graph import --guess 1 --times named.jsonl --to named.json snakemake.dot >out && cat out &&
	jq -e "[.tasks[] | select(.id == \"map sample=south\")] | map(.time, .cores) == [77, 2]" named.json &&
	echo "{\"x\": 1}" >other.jsonl && fails 2 "evenstep: --times: other.jsonl: line 1: s is no time: give Snakemake.s benchmark, with seconds as \"s\"" evenstep graph import --times other.jsonl snakemake.dot
'
test_expect_success "Nextflow's -with-dag: tasks are those of the trace, waiting by tag or for all" '
	evenstep graph import --times trace.txt --to flow.json nextflow.dot >out && cat out &&
	grep -x "format    Nextflow.s -with-dag" out &&
	grep -x "tasks     5: 4 with a time of their own, 1 guessed: the mean of those alike" out &&
	grep -x "edges     6: 0 with communication, 2 between tasks of a tag, 4 from all .*" out &&
	grep -x "ignored   1 tries that failed" out &&
	grep -x "ignored   1 times of no task .* \"OTHER:STEP (1)\"" out &&
	jq -e "[.tasks[] | select(.id == \"SURVEY:CLEAN (east)\")] == [{id: \"SURVEY:CLEAN (east)\", time: 63, memory: 1610612736}]" flow.json &&
	jq -e "any(.edges[]; .from == \"SURVEY:CLEAN (east)\" and .to == \"SURVEY:FLATTEN (east)\") and
		(any(.edges[]; .from == \"SURVEY:CLEAN (east)\" and .to == \"SURVEY:FLATTEN (west)\") | not) and
		any(.edges[]; .from == \"SURVEY:CLEAN (west)\" and .to == \"SURVEY:JOIN\")" flow.json
'
test_expect_success 'names that play tricks on a terminal are shown, and not obeyed' '
	printf "digraph { \"a\033[2J\" [time=1] }" >tricks.dot && sed "s/OTHER:STEP/OTHER:$(printf "\033[2J")STEP/" trace.txt >tricks.txt &&
	evenstep graph import tricks.dot >out && cat out && grep -F "commands  none: " out && test_must_fail grep "$(printf "\033")" out &&
	evenstep graph import --times tricks.txt nextflow.dot >out && grep -F "\"OTHER:\\033[2JSTEP (1)\"" out
'
test_expect_success 'a process is named with its workflows, or without' '
	sed "s/SURVEY://" trace.txt >short && evenstep graph import --times short --json nextflow.dot >out &&
	jq -e ".tasks == 5 and .times.own == 4" out
'
test_expect_success "Makeflow's JSON, with the times of its log" '
	evenstep graph import --times makeflow.log --to make.json makeflow.json >out && cat out &&
	grep -x "format    Makeflow.s JSON" out && grep -x "ignored   1 tries that failed" out &&
	grep -x "commands  4: graph run can run it" out &&
	jq -e "[.tasks[] | [.id, .time, .cores // 1]] == [[\"numbers\", 2.5, 1], [\"low\", 2, 2], [\"high\", 2, 2], [\"sum\", 3, 1]]" make.json
'
test_expect_success 'what import writes is planned as the file itself, and imported again' '
	for pair in "benchmarks snakemake.dot snake.json" "trace.txt nextflow.dot flow.json" "makeflow.log makeflow.json make.json"; do
		set -- $pair &&
		evenstep graph plan --cores 2 --times $1 --json $2 >direct 2>err &&
		evenstep graph plan --cores 2 --json $3 >by_file 2>err && cmp direct by_file &&
		evenstep graph import --to again.json $3 >out && cmp $3 again.json && grep "^format    evenstep.s own$" out || return 1
	done
'
test_expect_success "Makeflow's JSON runs as it is, and as it was imported" '
	mkdir -p as_is imported && cp makeflow.json as_is && cp make.json imported &&
	(cd as_is && evenstep graph run --local 1 --cores 2 --guess 0.1 makeflow.json 2>&1 && test "$(cat sum)" = 40) &&
	(cd imported && evenstep graph run --local 1 --cores 2 --deadline 60 make.json 2>&1 && test "$(cat sum)" = 40)
'
test_expect_success 'a time that is nowhere is guessed; without communication it is --ccr times the mean' '
	evenstep graph import --guess 7 --ccr 0.5 --json --to guessed.json snakemake.dot >out &&
	jq -e ".times == {own: 0, alike: 0, given: 7, mean: 0, nothing: 1} and .communications == 9" out &&
	jq -e "all(.tasks[1:][]; .time == 7) and all(.edges[]; .comm == 7 * 7 / 8 / 2)" guessed.json
'
test_expect_success "WfCommons' before 1.5: tasks or jobs with their files beside them, parents by id or by name" '
	cat >old.json <<-\END &&
	{"schemaVersion": "1.2", "workflow": {"makespan": 3, "jobs": [
	 {"name": "a_1", "type": "compute", "runtime": 2, "cores": 2, "memory": 1000, "files": [{"link": "output", "name": "x", "size": 250000}]},
	 {"name": "b_1", "type": "compute", "runtime": 3.5, "parents": ["a_1"], "files": [{"link": "input", "name": "x", "size": 250000}]}]}}
	END
	evenstep graph import --to new.json old.json >out && cat out && grep -x "format    WfCommons. WfFormat" out &&
	jq -c "[.tasks[] | [.id, .time, .cores, .memory]], [.edges[] | [.from, .to, .comm]]" new.json >got &&
	printf "%s\n" "[[\"a_1\",2,2,1000000],[\"b_1\",3.5,null,null]]" "[[\"a_1\",\"b_1\",2]]" >want && sed "s/[.]0\>//g" got | test_cmp want - &&
	jq ".workflow |= (.tasks = (.jobs | map(.id = \"ID-\" + .name | .runtimeInSeconds = .runtime | .files[].sizeInBytes = 250000000 | del(.runtime, .files[].size))) | del(.jobs)) | .workflow.tasks[].command = {program: \"true\", arguments: []}" old.json >mid.json &&
	evenstep graph import --to new.json mid.json >out && cat out && grep -x "commands  2: graph run can run it" out && jq -e ".edges | map([.from, .to, .comm]) == [[\"ID-a_1\", \"ID-b_1\", 2]]" new.json
'
test_expect_success 'other formats, too, say what they are' '
	printf "2\n0 0 0\n1 6 1 0\n2 2 2 0 1\n3 0 2 1 2\n" >small.stg && printf "digraph { a [time=1] }" >own.dot && printf "digraph { a [time=1]; a -> b }" >plain.dot &&
	evenstep graph import small.stg >out && grep -x "format    Standard Task Graph" out &&
	evenstep graph import own.dot >out && grep -x "format    Graphviz DOT" out && grep -x "commands  none: own.dot: has no commands" out &&
	evenstep graph import --guess 3 --ccr 2 --to plain.json plain.dot >out && grep -x "tasks     2: 1 with a time of their own, 1 guessed: --guess" out &&
	jq -e "[.tasks[].time, .edges[0].comm] == [1, 3, 6]" plain.json
'

sed '$d' trace.txt | sed '$s/	[^	]*	[^	]*$//' >cut.txt
printf 'name\tstatus\trealtime\nNOBODY (1)\tCOMPLETED\t3s\n' >stranger.txt
sed 's/v5 -> v4;/v5 -> v4; v4 -> v1;/' nextflow.dot >cycle.dot
sed 's/\t5 -> 3/\t5 -> 3\n\t0 -> 6/' snakemake.dot >cycle-snake.dot
head -c 500 snakemake.dot >cut.dot
head -c 200 makeflow.json >cut.json
mkdir empty
printf 'flowchart TB\n a --> b\n' >mermaid && printf 'graph LR\n a --> b\n' >mermaid2 && printf -- '---\ntitle: x\n---\nflowchart LR\n' >words
printf '<html>\ndigraph {\n</html>\n' >page && printf 'all: a\n\tcat a\n' >Makefile && gzip -c snakemake.dot >dot.gz && printf 'x\0y' >bytes
test_expect_success 'lines of a log before the digraph are skipped' '
	evenstep graph import --times benchmarks --json snakemake.dot >want && for first in "Building DAG of jobs..." "[Fri Nov 27 19:00:00 2026] 2 rules" "2026-11-27 building"; do
		(echo "$first"; echo more; cat snakemake.dot) >logged.dot && evenstep graph import --times benchmarks --json logged.dot >got && test_cmp want got || return 1
	done
'

while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2, with the reason" '
		eval "fails 2 \"\$message\" evenstep graph $arguments"
	'
done <<'END_OF_TABLE'
no times at all|plan snakemake.dot|evenstep: snakemake.dot: tasks: no time of any is known: give --times REPORT, or --guess SECONDS
a trace that names no task of the graph|plan --times stranger.txt nextflow.dot|evenstep: nextflow.dot: the trace names no process of the graph: give the trace of a run of this graph
a trace that ends within a line|import --times cut.txt nextflow.dot|evenstep: --times: cut.txt: line 7: it ends too early: give the whole report
a node of plain DOT without a time|import plain.dot|evenstep: plain.dot: node "b" \[time\]: no time: give it \[time=SECONDS\], --guess SECONDS for all that have none, or with --times the trace of Nextflow
a cycle of processes|import --times trace.txt cycle.dot|evenstep: cycle.dot: task "SURVEY:.*" waits for itself: a task graph has no cycles
a cycle of jobs|import --guess 1 cycle-snake.dot|evenstep: cycle-snake.dot: task ".*" waits for itself: a task graph has no cycles
a graph that ends within a line|import --guess 1 cut.dot|evenstep: cut.dot: DOT: syntax error.*
rules that end within a line|import --guess 1 cut.json|evenstep: cut.json:.*: give JSON that is whole
a report that is not there|import --times nowhere nextflow.dot|evenstep: --times: nowhere: No such file or directory: give a report that can be read
a folder without benchmarks|import --times empty snakemake.dot|evenstep: --times: empty: no benchmark is in it: give the folder of Snakemake.s benchmarks
a report of nothing known|import --times makeflow.json nextflow.dot|evenstep: --times: makeflow.json: line 1: no report that is known: .*
a Mermaid diagram|plan mermaid|evenstep: mermaid: is a Mermaid diagram: give Graphviz DOT, .*
a Mermaid diagram that begins with graph|plan mermaid2|evenstep: mermaid2: is a Mermaid diagram: give Graphviz DOT, .*
a page|plan page|evenstep: page: is HTML or XML: give JSON, or what .snakemake --dag. or .nextflow -with-dag FILE.dot. writes
a Makefile|plan Makefile|evenstep: Makefile: is a Makefile: give the rules as Makeflow.s JSON
words|plan words|evenstep: words: is no graph: it is neither JSON nor a digraph of Graphviz: give JSON, .*
a graph that is compressed|plan dot.gz|evenstep: dot.gz: is compressed by gzip: give what .gzip -dc. unpacks
bytes|plan bytes|evenstep: bytes: is no text: a byte 0 is in it: give a text
a guess of nothing|import --guess 0 snakemake.dot|evenstep: --guess: "0" is out of range: .*
a file to write, for a plan|plan --to x snakemake.dot|evenstep: graph plan: --to is not for it: see .*
END_OF_TABLE
test_expect_success 'a file that cannot be written, a full disk: exit 1' '
	test_expect_code 1 evenstep graph import --guess 1 --to nowhere/x snakemake.dot >out 2>err && cat err &&
	grep -xE "evenstep: --to: nowhere/x: No such file or directory: name a file that you may write" err &&
	test_expect_code 1 evenstep graph import --guess 1 --to /dev/full snakemake.dot >out 2>err && grep -xE "evenstep: --to: /dev/full: No space left on device: .*" err &&
	test_expect_code 1 evenstep graph import --guess 1 snakemake.dot >/dev/full 2>err && grep -xE "evenstep: cannot write: free some space" err
'
test_expect_success 'a graph from stdin, and to stdout: nothing else is there' '
	evenstep graph import --guess 1 --to want snakemake.dot && evenstep graph import --guess 1 --to - - <snakemake.dot >got && test_cmp want got &&
	evenstep graph plan - <got && evenstep graph plan --svg - - <got >svg && head -n 1 svg | grep "^<svg" && tail -n 1 svg | grep "^</svg>$"
'
test_expect_success '--to, --svg: a link stays, and the file behind it keeps its mode' '
	mkdir far && echo old >far/graph && echo old >far/svg && chmod 640 far/* && ln -s far/graph link && ln -s far/svg link.svg &&
	evenstep graph import --guess 1 --to link snakemake.dot && test_cmp want far/graph && evenstep graph plan --svg link.svg link && grep "^</svg>$" far/svg &&
	test -L link && test -L link.svg && test "$(stat -c %a far/*)" = "$(printf "640\n640")"
'
test_done
