#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a task graph runs by its plan on this machine, and what fails or dies is made good'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$PWD/bin:$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp # where the nodes keep files: what is left there is ours
MARKS=$PWD/marks # what tasks say of themselves
export TMPDIR MARKS
mkdir -p "$TMPDIR" bin
unset EVENSTEP_CONF SLURM_JOB_ID

run='' agents=''
# shellcheck disable=SC2086 # numbers of processes
trap 'code=$?; end_ours $run $agents; (exit $code); die' EXIT

no_folder() { find "$TMPDIR" -mindepth 1 -name "evenstep-graph*" >left && cat left && test ! -s left; }
nothing_left() { wait_for 60 no_folder; }
fresh() { rm -rf "$MARKS" && mkdir "$MARKS"; }
times_run() { find "$MARKS" -name "$1.*" | wc -l; }

# What tasks do: leave a mark, once per name, or one for each time; ask for one; wait for one.
cat >bin/mark <<'END'
#!/bin/sh
: >"$MARKS/$1"
END
cat >bin/count <<'END'
#!/bin/sh
mktemp "$MARKS/$1.XXXXXX" >/dev/null
END
cat >bin/marked <<'END'
#!/bin/sh
exec test -e "$MARKS/$1"
END
cat >bin/await <<'END'
#!/bin/sh
until marked "$1"; do sleep 0.05; done
END
chmod +x bin/*

# A diamond: `first` makes a text, two change it, `last` joins them.  Each task leaves a mark.
cat >diamond.json <<'END'
{"tasks": [
  {"id": "first", "time": 1, "command": "count first; cat words | sort >sorted",
   "inputs": ["words"], "outputs": ["sorted"]},
  {"id": "upper", "time": 5, "command": "count upper; tr a-z A-Z <sorted >half/upper",
   "inputs": ["sorted"], "outputs": ["half/upper"]},
  {"id": "back", "time": 5, "command": ["sh", "-c", "count back; rev sorted >half/back"],
   "inputs": ["sorted"], "outputs": ["half/back"]},
  {"id": "last", "time": 1, "command": "count last; cat half/upper half/back >out/all",
   "inputs": ["half/upper", "half/back"], "outputs": ["out/all"]}],
 "edges": [
  {"from": "first", "to": "upper", "comm": 0.1}, {"from": "first", "to": "back", "comm": 0.1},
  {"from": "upper", "to": "last", "comm": 0.1}, {"from": "back", "to": "last", "comm": 0.1}]}
END
seq 1 20000 | sed 's/$/ word/' >words
sort words >sorted.want && tr '[:lower:]' '[:upper:]' <sorted.want >want && rev sorted.want >>want
spread='--group none --cores 1'

test_expect_success 'two nodes: the output is right, in a folder that is made, and nothing is left' '
	fresh && evenstep graph run --local 2 $spread --algorithm ead diamond.json >table 2>err && cat table err &&
	test_cmp want out/all && nothing_left &&
	grep -E "^planned 7\.[0-9]+ s, .* on 2 nodes; took [0-9.]+ s \(.*\), [0-9.]+ J on 2 nodes$" table &&
	test "$(grep -cE "^(first|upper|back|last) +local[01] +0( +[0-9.]+){4}$" table)" -ge 4 &&
	said "evenstep: 4 of 4 tasks, .*"
'
test_expect_success 'files went from node to node: each half was made on another' '
	awk "/^upper/ {u = \$2} /^back/ {b = \$2} END {exit u == b}" table
'
test_expect_success 'one node, one agent: the same output' '
	rm -r out && fresh && evenstep graph run --local 1 --cores 2 diamond.json >table && test_cmp want out/all && nothing_left
'
test_expect_success '--json: plan and reality, each instance with its times, and nothing else on stdout' '
	fresh && evenstep graph run --local 2 $spread --algorithm ead --json diamond.json >out.json && jq . out.json &&
	jq -e "(.planned.makespan > 7) and (.real.makespan > 0) and (.real.energy.total > 0) and
		(.instances | map(.task) | unique == [\"back\", \"first\", \"last\", \"upper\"]) and
		all(.instances[]; .finish >= .start and (.node | startswith(\"local\")))" out.json
'
test_expect_success 'a task that the plan duplicates runs on each of its places' '
	fresh && evenstep graph plan $spread --json diamond.json >plan.json &&
	jq -r ".instances[].task" plan.json | sort | uniq -c | sort -n && n=$(jq "[.instances[] | select(.task == \"first\")] | length" plan.json) &&
	test "$n" = 2 && evenstep graph run --local 2 $spread diamond.json >table && test "$(times_run first)" = 2 && test_cmp want out/all
'
test_expect_success 'large, empty and executable files arrive as they were made' '
	cat >files.json <<-\END &&
	{"tasks": [
	 {"id": 1, "time": 3, "command": "head -c 9000001 /dev/urandom >large; : >empty; printf \"#!/bin/sh\\necho ran\\n\" >tool; chmod 755 tool; sha256sum large >sum",
	  "outputs": ["large", "empty", "tool", "sum"]},
	 {"id": 2, "time": 3, "command": "sha256sum -c sum && test -e empty && test ! -s empty && ./tool >ran", "inputs": ["large", "empty", "tool", "sum"], "outputs": ["ran"]},
	 {"id": 3, "time": 3, "command": "sha256sum -c sum && ./tool >ran2; ln large copy; sed s/large/copy/ sum >sum2", "inputs": ["large", "tool", "sum"], "outputs": ["ran2", "copy", "sum2"]}],
	 "edges": [{"from": 1, "to": 2, "comm": 0}, {"from": 1, "to": 3, "comm": 0}]}
	END
	fresh &&
	evenstep graph run --local 2 $spread --algorithm ead files.json >table 2>err && cat table && echo ran >want.ran &&
	test_cmp want.ran ran && test_cmp want.ran ran2 && test "$(awk "/^[123] /{print \$2}" table | sort -u | wc -l)" = 2 &&
	sha256sum -c sum2 && nothing_left
'
test_expect_success 'what tasks print is shown with node and task, on stderr' '
	echo "{\"tasks\": [{\"id\": \"x y\", \"time\": 0, \"command\": \"echo one; echo two >&2; echo \$EVENSTEP_TASK on \$EVENSTEP_NODE\"}]}" >say.json &&
	evenstep graph run --local 1 say.json >table 2>err && said "local0: x y: one" && said "local0: x y: two" &&
	said "local0: x y: x y on local0"
'

test_expect_success 'a name that plays tricks on a terminal is shown, and not obeyed' '
	echo "{\"tasks\": [{\"id\": \"a\\u001b[2J\", \"time\": 0, \"command\": \"true\"}]}" >tricks.json &&
	evenstep graph run --local 1 tricks.json >table && grep -F "a\\033[2J " table
'

# --- small and odd graphs ---------------------------------------------------------------
test_expect_success 'one task, no files, no time' '
	echo "{\"tasks\": [{\"id\": 1, \"time\": 0, \"command\": \"true\"}]}" >one.json &&
	evenstep graph run --local 2 one.json >table && grep "^1  *local0 " table
'
test_expect_success 'tasks that do not know each other, and more of them than cores' '
	jq -n "{tasks: [range(30) | {id: ., time: 0.01, command: \"echo \(.) >f\(.)\", outputs: [\"f\(.)\"]}]}" >many.json &&
	evenstep graph run --local 3 --cores 2 many.json >table && for i in $(seq 0 29); do echo $i | cmp - f$i || return 1; done
'
test_expect_success 'a chain without files: each waits for the one before, wherever it is' '
	jq -n "{tasks: [range(12) | {id: ., time: 1, command: \"test \(.) = 0 || marked \(. - 1); mark \(.)\"}],
		edges: [range(11) | {from: ., to: (. + 1), comm: 0}]}" >chain.json && fresh &&
	evenstep graph run --local 2 --cores 1 chain.json >table && test "$(ls "$MARKS" | wc -l)" = 12
'
test_expect_success 'the nine tasks on two nodes, without files: each waits for those before it, on another node too' '
	jq ".tasks[] |= (.id as \$i | .command = ([\"true\"] + [.id as \$v | {\"1\": [], \"2\": [1], \"3\": [1], \"4\": [1], \"5\": [1], \"6\": [2], \"7\": [2],
		\"8\": [3, 4], \"9\": [5, 6, 7, 8]} | .[\"\(\$v)\"][] | \"marked \(.)\"] + [\"mark \(.id)\"] | join(\" && \")))" \
		"$EVENSTEP_SRC/contrib/graphs/nine-tasks.json" >nine.json && fresh &&
	evenstep graph run --local 2 --cores 2 --deadline 16 --retries 0 nine.json >table 2>err && cat table err &&
	test "$(ls "$MARKS" | wc -l)" = 9 && test "$(awk "/^[1-9] /{print \$2}" table | sort -u | wc -l)" = 2
'
test_expect_success 'WfFormat: program and arguments, files by id' '
	cat >wf.json <<-\END && rm -f b.txt && fresh &&
	{"name": "two", "workflow": {"specification": {"tasks": [
	  {"id": "a", "name": "a", "parents": [], "children": ["b"], "inputFiles": ["words"], "outputFiles": ["a.txt"]},
	  {"id": "b", "name": "b", "parents": ["a"], "children": [], "inputFiles": ["a.txt"], "outputFiles": ["b.txt"]}],
	  "files": [{"id": "words", "sizeInBytes": 1}, {"id": "a.txt", "sizeInBytes": 1}, {"id": "b.txt", "sizeInBytes": 1}]},
	 "execution": {"tasks": [
	  {"id": "a", "runtimeInSeconds": 1, "command": {"program": "cp", "arguments": ["words", "a.txt"]}},
	  {"id": "b", "runtimeInSeconds": 1, "command": {"program": "sh", "arguments": ["-c", "wc -l <a.txt >b.txt"]}}]}}}
	END
	evenstep graph run --local 2 --learn wf.json >table && echo 20000 >want.b && test_cmp want.b b.txt &&
	jq -e "(.workflow.execution.tasks | all(.runtimeInSeconds < 1)) and
		(.workflow.specification.files[1].sizeInBytes == $(wc -c <words))" wf.json
'

# --- learning ---------------------------------------------------------------------------
test_expect_success '--learn: times and communications as measured, all else as it was' '
	jq "(.tasks[] | select(.id == \"upper\")).command |= . + \"; sleep 0.3\"" diamond.json >learn.json && chmod 640 learn.json && fresh &&
	evenstep graph run --local 2 $spread --algorithm ead --learn learn.json >table &&
	jq -e "(.tasks[] | select(.id == \"upper\").time) as \$t | \$t > 0.3 and \$t < 5" learn.json &&
	jq -e "all(.edges[]; .comm != 0.1 and .comm >= 0)" learn.json && test "$(stat -c %a learn.json)" = 640 &&
	jq "del(.tasks[].time, .edges[].comm)" learn.json >got.rest &&
	jq "(.tasks[] | select(.id == \"upper\")).command |= . + \"; sleep 0.3\" | del(.tasks[].time, .edges[].comm)" diamond.json >want.rest &&
	test_cmp want.rest got.rest && evenstep graph plan --cores 1 learn.json >plan
'

# --- what fails --------------------------------------------------------------------------
# one COMMAND...: a graph of one task with that command, which promises `out1`.
one() { jq -n --arg c "$1" '{tasks: [{id: "t", time: 1, command: $c, outputs: ["out1"]}]}' >task.json; }
test_expect_success 'a task that fails once: tried again on its node' '
	fresh && one "count t; marked before || { mark before; echo oh >&2; exit 3; }; echo \$EVENSTEP_NODE >out1" &&
	evenstep graph run --local 2 --cores 1 task.json >table 2>err && said "evenstep: local0: task \"t\" exited with status 3: trying again" &&
	said "local0: t: oh" && echo local0 >want1 && test_cmp want1 out1 && test "$(times_run t)" = 2
'
test_expect_success 'a task that fails wherever a certain node runs it: goes elsewhere' '
	fresh && one "count t; test \$EVENSTEP_NODE = local1 && echo \$EVENSTEP_NODE >out1" &&
	evenstep graph run --local 2 --cores 1 task.json >table 2>err && echo local1 >want1 && test_cmp want1 out1 &&
	test "$(times_run t)" = 3 && nothing_left
'
test_expect_success 'a task that always fails: exit 1 after its retries, with its last words' '
	rm -f out1 && fresh && one "count t; echo nonsense >&2; exit 7" &&
	test_expect_code 1 evenstep graph run --local 2 --cores 1 task.json >table 2>err && test ! -s table &&
	said "evenstep: local1: task \"t\" exited with status 7: see its last words above" && said "local1: t: nonsense" &&
	test "$(times_run t)" = 3 && test ! -e out1 && nothing_left &&
	fresh && test_expect_code 1 evenstep graph run --local 2 --retries 0 task.json 2>err && test "$(times_run t)" = 1
'
test_expect_success 'a command that is nowhere: exit 1, not tried twice on a node' '
	jq -n "{tasks: [{id: \"t\", time: 1, command: [\"no-such-program\"]}]}" >task.json &&
	test_expect_code 1 evenstep graph run --local 2 --retries 1 task.json 2>err &&
	said "evenstep: local0: task \"t\" could not be started: No such file or directory: trying again" &&
	said "evenstep: local1: task \"t\" could not be started: No such file or directory: it printed nothing on stderr" && nothing_left
'
test_expect_success 'a task that is killed: says the signal' '
	one "kill -SEGV \$\$" && test_expect_code 1 evenstep graph run --local 1 --retries 0 task.json 2>err &&
	said "evenstep: local0: task \"t\" was killed by signal 11 \(Segmentation fault\): it printed nothing on stderr"
'
test_expect_success 'an output that is promised and not made, or no file: exit 1, names it' '
	one "echo x >other" && test_expect_code 1 evenstep graph run --local 1 --retries 0 task.json 2>err &&
	said "evenstep: local0: task \"t\" has not made its output out1: it printed nothing on stderr" &&
	one "ln -s /etc/passwd out1" && test_expect_code 1 evenstep graph run --local 1 --retries 0 task.json 2>err &&
	said "evenstep: local0: task \"t\" has not made its output out1: .*" && test ! -e out1 && nothing_left
'
test_expect_success 'an output that is a directory: exit 1 at once, with its name' '
	fresh && one "count t; mkdir out1; echo x >out1/x" && test_expect_code 1 evenstep graph run --local 2 task.json >table 2>err && cat err && test "$(times_run t)" = 1 &&
	said "evenstep: local[01]: task \"t\" has made a directory of its output out1: let it make one file of it, for example by tar" && test ! -e out1 && nothing_left
'
test_expect_success 'env, timeout and retries of a task do what they say' '
	jq -n "{tasks: [{id: \"t\", time: 1, command: \"echo \$WORD \$N >out1\", env: {WORD: \"two words; x\", N: 7}, outputs: [\"out1\"]}]}" >task.json &&
	evenstep graph run --local 1 task.json >table && echo "two words; x 7" >want1 && test_cmp want1 out1 &&
	evenstep graph import --to again.json task.json && rm out1 && evenstep graph run --local 1 again.json >table && test_cmp want1 out1 && rm out1 &&
	jq -n "{tasks: [{id: \"t\", time: 1, command: \"count t; sleep 60\", timeout: 0.2, retries: 1}]}" >task.json && fresh &&
	test_expect_code 1 evenstep graph run --local 1 --retries 5 task.json 2>err && cat err && test "$(times_run t)" = 2 &&
	said "evenstep: local0: task \"t\" was stopped after its timeout of 0.2 s: it printed nothing on stderr" &&
	jq -n "{tasks: [{id: \"t\", time: 1, command: \"count t; test \$(ls \\\"\$MARKS\\\" | wc -l) -gt 3\", retries: 3}]}" >task.json && fresh &&
	evenstep graph run --local 2 --retries 0 task.json >table 2>err && test "$(times_run t)" = 4
'
test_expect_success "Makeflow's environment: of the rule, else of its category, else of all" '
	cat >env.json <<-\END && evenstep graph run --guess 1 --local 1 env.json >table && echo "all cat rule" >want1 && test_cmp want1 out1 && echo "all all all" >want2 && test_cmp want2 out2 &&
	{"environment": {"A": "all", "B": "all", "C": "all"}, "categories": {"c": {"environment": {"B": "cat", "C": "cat"}}}, "rules": [
	 {"command": "echo $A $B $C >out1", "category": "c", "environment": {"C": "rule"}, "inputs": [], "outputs": [{"dag_name": "out1", "task_name": "out1"}]},
	 {"command": "echo $A $B $C >out2", "inputs": [], "outputs": ["out2"]}]}
	END
	jq ".rules[1].inputs = [{dag_name: \"words\", task_name: \"in\"}]" env.json >renamed.json && test_expect_code 2 evenstep graph run --guess 1 --local 1 renamed.json 2>err &&
	said "evenstep: renamed.json: task \"out2\": inputs: words is renamed to in for the task \(task_name\): give it one name, or rename it in command" &&
	jq ".rules[1].enviroment = {}" env.json >typo.json && test_expect_code 2 evenstep graph run --guess 1 --local 1 typo.json 2>err &&
	said "evenstep: typo.json: rules.1.: unknown key \"enviroment\"; did you mean \"environment\".: correct it" && evenstep graph plan --guess 1 typo.json >table
'
test_expect_success 'a deadline that nothing can meet: exit 1, says the best, and no task has run' '
	fresh && test_expect_code 1 evenstep graph run --local 2 --cores 2 --deadline 6 diamond.json >table 2>err && test ! -s table &&
	said "evenstep: the deadline of 6 s cannot be met on 2 nodes of 2 cores: the fastest plan takes 7 s: give more time, nodes or cores" &&
	test "$(times_run first)" = 0 && nothing_left
'
test_expect_success 'a folder that the nodes cannot write: exit 1' '
	test_expect_code 1 evenstep graph run --local 1 --work "$PWD/words" diamond.json 2>err &&
	said "evenstep: local0: .*/words/evenstep-graph-.*: Not a directory: see --work" &&
	test_expect_code 2 evenstep graph run --local 1 --work here diamond.json 2>err &&
	said "evenstep: --work: \"here\" is not the same everywhere: give a whole path"
'
# shellcheck disable=SC2015
while IFS='|' read -r what filter message; do
	test_expect_success "$what: exit 2, with the place" '
		jq "$filter" diamond.json >bad.json && test_expect_code 2 evenstep graph run --local 1 bad.json >table 2>err &&
		test ! -s table && said "evenstep: $message"
	'
done <<'END'
no tasks|{tasks: [], edges: []}|bad.json: no tasks: give at least one
a task without a command|del(.tasks[1].command)|bad.json: task "upper": command: there is none: give a line for the shell, or a list of words
an empty command|.tasks[1].command = ""|bad.json: task "upper": command: no command: .*
a command of no words|.tasks[1].command = []|bad.json: task "upper": command: no command: .*
a command with a number in it|.tasks[1].command = ["sleep", 1]|bad.json: task "upper": command: no command: .*
inputs that are no list|.tasks[1].inputs = "sorted"|bad.json: task "upper": inputs: no list: give a list of names
a name that leads out|.tasks[1].outputs = ["half/../../x"]|bad.json: task "upper": outputs: half/\.\./\.\./x: give relative names, without "\.\."
a whole path|.tasks[1].inputs = ["/etc/passwd"]|bad.json: task "upper": inputs: /etc/passwd: give relative names, without "\.\."
an input named twice|.tasks[1].inputs = ["sorted", "sorted"]|bad.json: task "upper": inputs: sorted: name it once
a file that two make|.tasks[1].outputs = ["sorted"]|bad.json: task "upper": sorted: another task makes it, too: let one task make it
a file that is input and output|.tasks[1].inputs += ["half/upper"]|bad.json: task "upper": half/upper: an input and an output: .*
a file from a task that is not waited for|.edges = .edges[1:]|bad.json: task "upper": sorted: comes from a task that it does not wait for: add an edge from the task that makes it
a key that nobody knows|.tasks[1].comand = "true"|bad.json: tasks\[1\]: unknown key "comand"; did you mean "command".: correct it
a folder to run in|.tasks[1].cwd = "half"|bad.json: tasks\[1\]: unknown key "cwd": begin its command with .cd DIR && .
an unknown key of the file|.retries = 3|bad.json: graph: unknown key "retries": leave it out, or see Graph in evenstep-report\(5\)
an unknown key of an edge|.edges[0].com = 3|bad.json: edges\[0\]: unknown key "com"; did you mean "comm".: correct it
a variable that is no text|.tasks[1].env = {"A": null}|bad.json: task "upper": env: A: give names of variables with a text each
a variable without a good name|.tasks[1].env = {"A B": "x"}|bad.json: task "upper": env: A B: give names of variables with a text each
a timeout of nothing|.tasks[1].timeout = 0|bad.json: task "upper": timeout: out of range: give seconds above 0, for example 600
retries below 0|.tasks[1].retries = -1|bad.json: task "upper": retries: out of range: give a whole number from 0 to 1000
an input that is not there|.tasks[0].inputs = ["nowhere"]|input nowhere: No such file or directory: no task makes it: start where it is
an input that is a folder|.tasks[0].inputs = ["tmp"]|input tmp: is no file: .*
END
test_expect_success 'a graph in DOT has no commands: exit 2' '
	echo "digraph { a [time=1] }" >a.dot && test_expect_code 2 evenstep graph run --local 1 a.dot 2>err &&
	said "evenstep: a.dot: has no commands: give JSON, evenstep.s own, WfCommons. or Makeflow.s"
'
test_expect_success 'no allocation: exit 3; options that do not go together: exit 2' '
	test_expect_code 3 evenstep graph run diamond.json 2>err &&
	said "evenstep: no allocation: run it inside salloc or sbatch, or give --local N" &&
	test_expect_code 2 evenstep graph run --resume diamond.json 2>err && said "evenstep: --resume: there is no --journal: give --journal FILE, too" &&
	test_expect_code 2 evenstep graph run --local 1 --srun -N1 diamond.json 2>err && said "evenstep: --local and --srun exclude .*" &&
	test_expect_code 2 evenstep graph run --local 1 --svg x diamond.json 2>err && said "evenstep: graph run: --svg is not for it: .*" &&
	test_expect_code 2 evenstep graph run --local 1 --retries -1 diamond.json 2>err && said "evenstep: --retries: \"-1\" is out of range: .*" &&
	test_expect_code 2 evenstep graph run --local 1 --cores 0 diamond.json 2>err && said "evenstep: --cores: \"0\" is out of range: .*" &&
	test_expect_code 2 evenstep graph run --local 1 --processors 0 diamond.json 2>err && said "evenstep: --processors: \"0\" is out of range: .*"
'

# --- journal and resume ------------------------------------------------------------------
jq '(.tasks[] | select(.id == "last")).command |= "marked go || exit 5; " + .' diamond.json >gate.json
test_expect_success 'a run that fails keeps its journal; --resume does only what is not done' '
	rm -rf out journal && fresh && test_expect_code 1 evenstep graph run --local 2 $spread --algorithm ead --journal journal gate.json 2>err &&
	said "evenstep: 3 of 4 tasks are done: go on with --resume" && test "$(times_run first)$(times_run upper)$(times_run back)" = 111 &&
	test ! -e out/all && ls "$TMPDIR" && : >"$MARKS/go" &&
	evenstep graph run --local 2 $spread --algorithm ead --journal journal --resume gate.json >table 2>err &&
	said "evenstep: 3 of 4 tasks are done already" && test_cmp want out/all &&
	test "$(times_run first)$(times_run upper)$(times_run back)$(times_run last)" = 1111 && nothing_left
'
test_expect_success 'once more: all is done already; a result that was taken away is made again' '
	evenstep graph run --local 2 --journal journal --resume gate.json >table 2>err && said "evenstep: 4 of 4 tasks are done already" &&
	test "$(times_run last)" = 1 && rm out/all && evenstep graph run --local 2 --cores 1 --journal journal --resume gate.json >table 2>err &&
	test_cmp want out/all && nothing_left
'
test_expect_success 'the folders are gone in between: what is needed is made again' '
	rm -rf out journal && fresh && test_expect_code 1 evenstep graph run --local 2 $spread --algorithm ead --journal journal gate.json 2>err &&
	rm -r "${TMPDIR:?}"/* && : >"$MARKS/go" && evenstep graph run --local 2 $spread --algorithm ead --journal journal --resume gate.json >table 2>err &&
	test_cmp want out/all && test "$(times_run first)$(times_run last)" = 21 && nothing_left
'
test_expect_success 'a journal cut in the middle of a line is as good up to there' '
	rm -rf out journal && fresh && test_expect_code 1 evenstep graph run --local 1 --cores 1 --journal journal gate.json 2>err &&
	head -c -5 journal >cut && mv cut journal && : >"$MARKS/go" &&
	evenstep graph run --local 1 --cores 1 --journal journal --resume gate.json >table 2>err && said "evenstep: 2 of 4 tasks are done already" &&
	test_cmp want out/all && test "$(times_run first)" = 1 && jq -es "length >= 5" journal
'
test_expect_success 'and so is one with a line that was changed' '
	rm -rf out journal && fresh && test_expect_code 1 evenstep graph run --local 1 --cores 1 --journal journal gate.json 2>err &&
	sed -i "3s/\"seconds\":/\"seconds\":1/" journal && : >"$MARKS/go" &&
	evenstep graph run --local 1 --cores 1 --journal journal --resume gate.json >table 2>err && cat err && said "evenstep: 1 of 4 tasks are done already" &&
	said "evenstep: journal: its last [0-9]+ bytes are incomplete and not used" && test_cmp want out/all
'
test_expect_success 'a journal that is there, of another graph, or none: exit 2' '
	test_expect_code 2 evenstep graph run --local 1 --journal journal gate.json 2>err &&
	said "evenstep: --journal: journal: is there already: give --resume to go on with it, or name another file" &&
	test_expect_code 2 evenstep graph run --local 1 --journal journal --resume diamond.json 2>err &&
	said "evenstep: --journal: journal: is of another graph, or its tasks have changed: run it anew, with another journal" &&
	cp words other && test_expect_code 2 evenstep graph run --local 1 --journal other --resume diamond.json 2>err &&
	said "evenstep: --journal: other: is no journal of evenstep: name another file" && cmp words other &&
	flock journal sh -c "evenstep graph run --local 1 --journal journal --resume gate.json" 2>err; test $? = 2 &&
	said "evenstep: --journal: journal: another run is using it: wait for it, or name another file" &&
	test_expect_code 2 evenstep graph run --local 1 --journal nowhere/journal --resume diamond.json 2>err &&
	said "evenstep: --journal: nowhere/journal: No such file or directory: .*"
'

# --- nodes that differ, tasks that need more than a core ---------------------------------
test_expect_success 'nodes of other speeds: planned so' '
	mkdir -p mixed && echo "{\"tasks\":[{\"id\":1,\"time\":1,\"command\":\"true\"},{\"id\":2,\"time\":1,\"command\":\"true\"}]}" >mixed/two.json &&
	evenstep graph run --local 2 --cores 1 --speeds 10,40 --deadline 4 --json mixed/two.json >mixed/out 2>err && cat mixed/out &&
	jq -e ".planned.makespan == 2 and (.instances | all(.processor == 1 and .planned_finish - .planned_start == 1))" mixed/out &&
	evenstep graph run --local 2=10,40 --deadline 4 --json mixed/two.json >mixed/out 2>err && jq -e "all(.instances[]; .processor == 1)" mixed/out
'
test_expect_success 'a task of two cores runs alone on them, in its turn; one of more than there are: exit 2' '
	mkdir -p wide && cat >wide/wide.json <<-\END &&
	{"tasks":[{"id":0,"time":1,"command":"cd \"$MARKS\" && mkdir a && sleep 0.1; rmdir a"},{"id":1,"time":1,"command":"cd \"$MARKS\" && mkdir b && sleep 0.1; rmdir b"},
	{"id":2,"time":1,"cores":2,"command":"cd \"$MARKS\" && mkdir c && sleep 0.1; set -- *; rmdir c; test $# = 1"},
	{"id":3,"time":1,"cores":2,"command":"cd \"$MARKS\" && mkdir d && sleep 0.1; set -- *; rmdir d; test $# = 1"}]}
	END
	fresh && evenstep graph run --local 1 --cores 2 --deadline 3 --retries 0 --json wide/wide.json >wide/out 2>wide/err && cat wide/out wide/err &&
	jq -e ".planned.makespan == 3 and (.instances | length == 4)" wide/out &&
	jq ".tasks[1].cores = 3" wide/wide.json >wide/three.json &&
	test_expect_code 2 evenstep graph run --local 1 --cores 2 wide/three.json 2>err &&
	said "evenstep: task 1: wants 3 cores, and no node has more than 2: give larger nodes, or the task fewer"
'

# --- what is believed of a run before ----------------------------------------------------
halves() { find "$TMPDIR" -path "*/store/*" -size +20k; }
# cut_run: three tasks are done, and kept.
# shellcheck disable=SC2086 # words
cut_run() { rm -rf out journal && fresh && test_expect_code 1 evenstep graph run --local 2 $spread --algorithm ead --journal journal gate.json 2>err && : >"$MARKS/go"; }
# shellcheck disable=SC2086 # words
resume() { evenstep graph run --local 2 $spread --algorithm ead --journal journal --resume gate.json >table 2>err; }
test_expect_success 'the journal has size and digest of what was made, and size and time of what was given' '
	cut_run && jq -es --arg d "$(b2sum -l 256 sorted.want | cut -d" " -f1)" --argjson n "$(wc -c <words)" \
		".[0].version == 2 and (.[0].inputs | length == 1 and .[0][0] == \$n and .[0][1] > 1e18) and
		(map(select(.task == \"first\")) | .[0].outputs == [[\$n, \$d]])" journal && resume &&
	jq -es --arg d "$(b2sum -l 256 want | cut -d" " -f1)" "map(select(.type == \"delivered\")) | .[0].made[1] == \$d" journal
'
for change in ': >"$file"' 'printf x | dd of="$file" conv=notrunc status=none' 'echo more >>"$file"'; do
	test_expect_success "what the store holds is not what was made ($change): it is made again, the output is right" '
		cut_run && test "$(halves | wc -l)" -ge 3 && halves | while read -r file; do eval "$change" || return 1; done && resume && cat err &&
		test_cmp want out/all && test "$(times_run first)$(times_run upper)$(times_run back)" = 222 && nothing_left
	'
	test_expect_success "a result that is not what was delivered ($change): told, and delivered again" '
		file=out/all && eval "$change" && resume && test_cmp want out/all && said "evenstep: out/all is not what was delivered: it is delivered again"
	'
done
for change in 'sed -i s/1/2/ words' 'touch words' 'rm words; echo other >words'; do
	test_expect_success "an input that was replaced ($change): exit 2, says which" '
		cp -p words words.was && cut_run && sleep 0.01 && eval "$change" && test_expect_code 2 resume && mv words.was words &&
		said "evenstep: --journal: journal: since it was begun an input has changed: words: run it anew, with another journal" && rm -r "${TMPDIR:?}"/*
	'
done
test_expect_success 'a journal without digests, of an evenstep of before: exit 2, says so' '
	cat >old <<-\END && test_expect_code 2 evenstep graph run --local 1 --journal old --resume gate.json 2>err &&
	{"type":"graph","graph":"0123456789abcdef","run":"0123456789abcdef","sum":"6e533791d9c16081"}
	END
	said "evenstep: --journal: old: is of version 1, of an earlier evenstep; this one reads 2: run it anew, with another journal"
'
test_expect_success 'and one of a later evenstep: both numbers' '
	cat >later <<-\END && test_expect_code 2 evenstep graph run --local 1 --journal later --resume gate.json 2>err &&
	{"type":"graph","version":3,"graph":"0123456789abcdef","run":"0123456789abcdef","sum":"90a72d1393d5aa5c"}
	END
	said "evenstep: --journal: later: is of version 3, of a later evenstep; this one reads 2: resume with that evenstep, or give another file"
'
# The first that runs the task changes what it has read and dies, so the other reads it again.
test_expect_success 'an input that changes while the run is at it: exit 1, says which' '
	echo word >changing && cat >changes.json <<-END &&
	{"tasks": [{"id": "only", "time": 1, "command": "echo more >>\"$PWD/changing\"; kill -KILL \$PPID",
	  "inputs": ["changing"], "outputs": ["copy"]}], "edges": []}
	END
	test_expect_code 1 evenstep graph run --local 2 $spread changes.json 2>err &&
	said "evenstep: input changing: has changed since the start: leave it as it is until the run is over"
'

# signal SIGNAL NAME: to the agent of that node.
signal() {
	for agent in $(pgrep -P "$run" -x evenstep-agent); do
		if tr '\0' '\n' <"/proc/$agent/environ" | grep -qx "EVENSTEP_AGENT=$2"; then
			kill "-$1" "$agent"
			return
		fi
	done
	false
}
first_is_at() { set -- "$MARKS"/at.*; test -e "$1"; }
done_are() { test "$(grep -c '"type":"done"' journal)" = "$1"; }
jq '(.tasks[] | select(.id == "first")).command |= "mark at.$EVENSTEP_NODE; await go; " + .' diamond.json >slow.json
test_expect_success 'a file that was changed between its maker and its taker is never used: it is made again' '
	rm -rf out journal && fresh && behind_to table evenstep graph run --local 2 $spread --algorithm ead --journal journal slow.json &&
	wait_for 60 first_is_at && set -- "$MARKS"/at.* && node=${1##*at.} && other=$(test $node = local0 && echo local1 || echo local0) &&
	signal STOP $other && : >"$MARKS/go" && wait_for 60 done_are 2 &&
	file=$(find "$TMPDIR" -path "*-$node/store/*" -size +20k -exec cmp -s {} sorted.want \; -print) && test -f "$file" && tr 1 2 <"$file" >new && mv new "$file" &&
	signal CONT $other && wait $run && run= && test_cmp want out/all && test "$(times_run first)" = 2 &&
	said "evenstep: $other: cannot get sorted: it is not what was made: its digest is another: trying again" && nothing_left
'
test_expect_success 'what is done is on the disk, in the store of its node, before the journal says so' '
	rm -rf out journal log && fresh && env LD_PRELOAD="$EVENSTEP_BUILD/t/programs/disk.so" DISK_LOG="$PWD/log" \
		evenstep graph run --local 1 --cores 1 --journal journal diamond.json >table && cat log &&
	awk "/^sync .*sorted$/ && !made { made = NR } /^sync .*store$/ && !stored { stored = NR } /^sync .*journal$/ && ++lines == 2 { told = NR }
		END { exit !(made && made < stored && stored < told) }" log &&
	awk "/^sync .*out\/.*(part|deleted).*/ { got = NR } /^sync .*out$/ { named = NR } /^sync .*journal$/ { told = NR }
		END { exit !(got && got < named && named < told) }" log
'

# --- what dies ---------------------------------------------------------------------------
jq '(.tasks[] | select(.id == "last")).command |= "mark at.$EVENSTEP_NODE; await go; " + .' diamond.json >wait.json
at_last() { set -- "$MARKS"/at.*; test -e "$1"; }
agents_are() { agents=$(pgrep -P "$run" -x evenstep-agent) && test "$(echo "$agents" | wc -l)" = "$1"; }
# kill_node NAME: the agent of that node.
kill_node() {
	for agent in $agents; do
		if tr '\0' '\n' <"/proc/$agent/environ" | grep -qx "EVENSTEP_AGENT=$1"; then
			kill -KILL "$agent"
			return
		fi
	done
	false
}
test_expect_success 'the node that runs the last task is killed: what only it had is made again, the output is the same' '
	rm -rf out && fresh && behind_to table evenstep graph run --local 3 $spread --algorithm ead wait.json && wait_for 60 at_last && agents_are 3 &&
	set -- "$MARKS"/at.* && kill_node "${1##*at.}" && wait_for 60 grep -q "is lost" err && : >"$MARKS/go" && wait $run && run= &&
	test_cmp want out/all && cat table && said "evenstep: ${1##*at.} is lost \(.*\): the other nodes do its part" &&
	said "evenstep: [1-4] tasks? (is|are) placed anew: all is done after about [0-9.]+ s" && nothing_left
'
test_expect_success 'and what the other nodes had is gone, too: they say so, and all is made again' '
	rm -rf out && fresh && behind_to table evenstep graph run --local 3 $spread --algorithm ead wait.json && wait_for 60 at_last && agents_are 3 &&
	set -- "$MARKS"/at.* && node=${1##*at.} && find "$TMPDIR" -path "*/store/*" -delete && kill_node "$node" &&
	wait_for 60 grep -q "is lost" err && : >"$MARKS/go" && wait $run && run= && cat err && test_cmp want out/all &&
	said "evenstep: local[0-2]: cannot get (sorted|half/upper|half/back): No such file or directory: trying again" && nothing_left
'
test_expect_success 'Ctrl-C: exit 130, no task goes on, nothing is left' '
	rm -rf out && fresh && behind_to table env --default-signal=INT evenstep graph run --local 2 $spread wait.json && wait_for 60 at_last && agents_are 2 &&
	kill -INT $run && test_expect_code 130 wait $run && wait_for 60 dead $agents && nothing_left && run=
'
test_expect_success 'kill -9 of evenstep with a journal: --resume goes on' '
	rm -rf out journal && fresh && behind_to table evenstep graph run --local 2 $spread --algorithm ead --journal journal wait.json && wait_for 60 at_last &&
	agents_are 2 && kill -KILL $run && test_expect_code 137 wait $run; wait_for 60 dead $agents && run= &&
	: >"$MARKS/go" && evenstep graph run --local 2 $spread --algorithm ead --journal journal --resume wait.json >table 2>err &&
	said "evenstep: 3 of 4 tasks are done already" && test_cmp want out/all && test "$(times_run first)" = 1 && nothing_left
'
test_expect_success 'where Slurm ends all agents: exit 4, and --resume goes on' '
	rm -rf out journal && fresh && behind_to table evenstep graph run --local 2 $spread --algorithm ead --journal journal wait.json && wait_for 60 at_last &&
	agents_are 2 && kill -TERM $agents && test_expect_code 4 wait $run; wait_for 60 dead $agents && run= &&
	said "evenstep: stopped by SIGTERM: --resume goes on with it" && : >"$MARKS/go" &&
	evenstep graph run --local 2 $spread --algorithm ead --journal journal --resume wait.json >table 2>err && test_cmp want out/all && nothing_left
'
test_expect_success 'a result and --learn by a link: that stays, and the file is where it leads to' '
	mkdir -p linked/far && cd linked && echo "{\"tasks\": [{\"id\": 1, \"time\": 1, \"command\": \"echo new >out\", \"outputs\": [\"out\"]}]}" >far/graph && chmod 640 far/graph &&
	ln -s far/graph graph && ln -s far/out out && echo old >far/out && evenstep graph run --local 1 --learn graph 2>err; code=$?; cat err; cd .. && test $code = 0 &&
	test -L linked/out && test "$(cat linked/far/out)" = new && test -L linked/graph && test "$(jq ".tasks[0].time < 1" linked/far/graph)" = true && test "$(stat -c %a linked/far/graph)" = 640
'
test_expect_success 'a result where a pipe is: refused before work begins' '
	cd linked && rm out && mkfifo out && { test_expect_code 2 evenstep graph run --local 1 graph 2>err; code=$?; cd ..; test $code = 0; } && test -p linked/out &&
	cp linked/err err && said "evenstep: output out: is there, and no regular file: move it away"
'
test_done
