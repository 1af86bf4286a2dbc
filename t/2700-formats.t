#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what scripts read is what the manual says: every key is in evenstep-report(5)'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
unset EVENSTEP_CONF SLURM_JOB_ID
PATH=$EVENSTEP_BUILD:$PATH
export XDG_STATE_HOME="$PWD/state"
mkdir state
cp "$EVENSTEP_SRC/launcher/evenstep-report.5" formats

# documented KEY FILE: the manual has every key of the JSON objects in it, KEY among them.
documented() {
	jq -r '.. | objects | keys[]' "$2" | sort -u >keys && grep -qx "$1" keys &&
		while read -r key; do grep -qE "\"$key\"|^\.(It )?Ic (.* )?$key( |\$)" formats || { echo "missing: $key" && return 1; }; done <keys
}

test_expect_success 'there is a section to look in' '
	test "$(wc -l <formats)" -gt 100
'
test_expect_success 'the report and the journal of a run, its history, and evenstep report --json' '
	evenstep run --local 2 --metrics probe --range 0:40 --report report --journal journal -- echo >out &&
	documented slices report && documented rank_by report && documented sum journal && documented bytes journal &&
	documented rate state/evenstep/history && documented burn state/evenstep/costs && evenstep report --json report >told && documented busy_seconds told &&
	evenstep run --local 2 --metrics probe --range 0:40 --report report -- echo >out && documented costs_before report
'
test_expect_success 'a node that had no work is named, and why: by --dry-run, at the end, in the report' '
	evenstep run --local 3 --metrics equal --range 0:2 --reads-env --dry-run -- true >plan && grep -x "# local2: nothing: there are fewer units than slots" plan &&
	evenstep run --local 3 --metrics equal --range 0:2 --reads-env --report idle -- true 2>err && mentioned "^evenstep: local2 had no work: there are fewer units than slots$" && documented why idle &&
	jq -es ".[0].idle == [{node: \"local2\", why: \"few_units\"}]" idle && evenstep report idle >told && grep -E "^local2 +0 +0.0%.* there are fewer units than slots$" told &&
	evenstep report --json idle >told && documented idle told
'
test_expect_success 'a run from a queue has its frames in the journal' '
	echo 0:10 >queue && evenstep run --local 1 --metrics equal --queue queue --journal queued -- echo >out &&
	documented source queued
'
test_expect_success 'evenstep probe --json and evenstep plan --json' '
	evenstep probe --json >probed && jq ".details |= [.[]]" probed >no-names && documented outliers no-names && documented spread no-names &&
	evenstep plan --metrics probed --range 0:10 --json >planned && documented JL planned && documented elements planned
'
test_expect_success 'the example of a graph is one, plans, runs, and has a journal' '
	sed -n "/own format:/,/^\.Ed/p" formats | sed "1,2d;\$d" >first.json && jq -e ".tasks[0].outputs == [\"out\"]" first.json &&
	jq ".tasks += [{id: 2, time: 1, command: \"wc -l <out >lines\", inputs: [\"out\"], outputs: [\"lines\"]}]" first.json >graph.json &&
	echo b >in && evenstep graph plan --json graph.json >planned && documented candidates planned &&
	evenstep graph run --local 1 --json --journal graph.journal graph.json >ran && documented planned_start ran &&
	documented outputs graph.journal && test "$(cat lines)" = 1
'
test_expect_success 'the example of a trace is one, in all its lines' '
	sed -n "/^\.Ss Trace/,/^\.Ed/p" formats | grep -v "^\." | sed -n "/^{/,\$p" | tr -d "\n" | sed "s/}/}\n/g" >trace && cat trace &&
	evenstep replay --policy rl <trace >sizes && test "$(wc -l <sizes)" = "$(wc -l <trace)" && test "$(wc -l <sizes)" = 7 && documented sizes sizes
'
test_expect_success 'the example of a metrics file is one' '
	grep -m1 "^{\"nodes\":\[{\"name\":\"n0\",\"C\":1.5" formats >metrics.json && evenstep plan --metrics metrics.json --range 0:10 --json >planned &&
	jq -e ".nodes[0].end == 10" planned
'
test_expect_success 'evenstep bcast --json, and evenstep simulate --json of each kind' '
	evenstep bcast --local 2 --json in "$PWD/out.{node}" >done.json && jq ".node_seconds |= [.[]]" done.json >no-names && documented node_seconds no-names &&
	evenstep bcast --local 2 --force --report done in "$PWD/out.{node}" && documented failed done && evenstep probe --local 2 --elements C --report done >got && documented counted done &&
	evenstep graph run --local 1 --report done graph.json >got && documented processor done &&
	evenstep simulate bcast --nodes 4 --bytes 1MB --json >simulated && documented unfinished_nodes simulated &&
	evenstep simulate balance --speeds 80,40 --frames 3 --json >simulated && jq "del(.parameters[])" simulated >no-names && documented first_efficiency no-names &&
	evenstep simulate balance --power --work 1,1.6 --json >simulated && documented to_ideal simulated
'
test_expect_success 'evenstep conntable --json' '
	sed -n "/\"{s:I, s:I, s:i/,/tcp_port/p" "$EVENSTEP_SRC/launcher/command/conntable.c" | grep -o "\"[a-z_]*\"," | tr -d "\"," >names && test "$(wc -l <names)" -ge 10 &&
	while read -r key; do grep -q "\"$key\"" formats || { echo "missing: $key" && return 1; }; done <names
'
test_expect_success 'evenstep top names every one of its metrics there' '
	test_expect_code 3 evenstep top --once --metrics-file gauges 4294967295 && sed -n "s/^# TYPE \([a-z_]*\) [a-z]*$/\1/p" gauges >names && test "$(wc -l <names)" -gt 30 &&
	while read -r name; do grep -qw "$name" formats || { echo "missing: $name" && return 1; }; done <names
'
test_done
