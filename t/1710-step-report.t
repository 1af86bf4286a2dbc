#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep report: what the report of a step tells, as tables, JSON and a picture'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH="$EVENSTEP_BUILD:$PATH"

# step CAUSE; node NAME USEFUL WAITING LAST NODE-SECONDS; rank NAME RANK USEFUL WAITING LAST
step() { printf '{"type":"step","job":12,"step":0,"nodes":2,"ranks":4,"parallel":0.75,"load_balance":0.8,"communication":0.9375,"elapsed":16,"useful":48,"waiting":16,"calls":900,"regions":100,"seen":100,"region_seconds":0.16,"skew":0.06,"skew_most":0.1,"worst":{"node":"n1","rank":3,"cause":"%s","longer":1,"apart":1.5,"speed":1,"last":90,"rank_seconds":14,"node_seconds":8}}\n' "$1"; }
node() { printf '{"type":"node","node":"%s","ranks":2,"parallel":0.7,"load_balance":1,"communication":1,"elapsed":16,"useful":%s,"waiting":%s,"calls":9,"last":%s,"rank_seconds":1,"node_seconds":%s,"JL":50}\n' "$@"; }
rank() { printf '{"type":"rank","node":"%s","rank":%s,"useful":%s,"waiting":%s,"calls":9,"last":%s}\n' "$@"; }
{
	step "work of rank"
	node n0 20 12 10 0.5
	node n1 25 7 90 8
	rank n0 0 10 6 4
	rank n0 1 10 6 6
	rank n1 2 10 6 0
	rank n1 3 15 1 90
} >four

test_expect_success 'the tables: each node, each rank, and who made the others wait' '
	evenstep report four >got && cat got &&
	grep -qE "^n0 +2 +20\.000 +12\.000 +0\.700 +10 +0\.500$" got && grep -qE "^n1 +3 +15\.000 +1\.000 +93\.8% +90$" got &&
	tail -n 2 got >last && cat >want <<-\END && test_cmp want last && test "$(wc -L <got)" -le 100
	100 regions in 16.00 s, parallel efficiency 0.750 = load balance 0.800 x communication 0.938
	most for n1: 8.00 node-seconds; why: work of rank 3
	END
'
test_expect_success '--json: the same in one object' '
	evenstep report --json four >got && test $(wc -l <got) = 1 &&
	jq -e ".step.job == 12 and (.nodes | map(.node) == [\"n0\", \"n1\"]) and (.ranks | map(.rank) == [0, 1, 2, 3])" got
'
test_expect_success 'of threads their number and what they wait for each other' '
	sed "1s/\"elapsed\"/\"threads\":8,\"thread_efficiency\":0.5,\"busy\":48,&/; 1s/0.75,/0.375,/" four >hybrid && evenstep report hybrid --svg hybrid.svg >got &&
	grep -x "100 regions in 16.00 s, parallel efficiency 0.375 = load balance 0.800 x communication 0.938 x threads 0.500 (8 of them)" got && grep -q "x threads 0.50" hybrid.svg
'
test_expect_success 'iterations that were found: in the table, the picture and the page' '
	sed "1s/\"skew\"/\"iterations\":33,\"iteration_regions\":3,\"iteration_seconds\":0.48,\"iteration_skew\":0.18,\"iteration_skew_most\":0.25,&/" four >loop && evenstep report loop --svg loop.svg >got && xmllint --noout loop.svg &&
	line="33 iterations of 3 regions, median 0.48 s, skew 0.18 s, at most 0.25 s" && grep -x "$line" got && grep -q "$line" loop.svg && evenstep report --html page loop && grep -q "$line" page
'
test_expect_success 'energy, where it is known, and what was saved: in the table, the page and the columns' '
	sed "1s/\"skew\"/\"energy\":\"measured\",\"joules\":97300,\"watts\":824.6,\"joules_saved\":8120,&/" four >saved && evenstep report saved >got && evenstep report --html page saved &&
	line="97.3 kJ, 824.6 W (measured), 8.12 kJ less than at the watts before limits were lowered" && grep -x "$line" got && grep -q "$line" page &&
	sed "1s/:8120/:-20/" saved >wasted && evenstep report wasted >got && grep -q "measured), 0.02 kJ more than at the watts before" got && sed "1s/,\"joules_saved\":8120//" saved >plain && evenstep report plain >got && grep -x "97.3 kJ, 824.6 W (measured)" got &&
	evenstep report --table wasted | cut -f 14 >got && printf "%s\n" step_joules_saved -20 NA >want && test_cmp want got && evenstep report --table four | cut -f 14 >got && printf "%s\n" step_joules_saved NA NA >want && test_cmp want got
'
test_expect_success 'a node whose agent was lost is marked in the table, the picture, the page and the columns' '
	sed "/\"node\":\"n0\"/s/\"useful\"/\"lost\":6.25,&/" four >lost && evenstep report lost --svg lost.svg >got && cat got && xmllint --noout lost.svg &&
	test $(grep -c "^n0 .* lost after 6.25 s$" got) = 3 && test $(grep -c "lost after" got) = 3 && test $(grep -c ">lost<" lost.svg) = 2 && grep -q "last in 4  lost after 6.25 s" lost.svg &&
	evenstep report --html page lost && grep -q "n0 (lost after 6.25 s)" page && evenstep report --table lost | cut -f 15 >got && printf "%s\n" lost_s 6.25 NA >want && test_cmp want got &&
	sed "s/6.25/-1/" lost >odd && test_expect_code 2 evenstep report odd
'
boxes() { grep -c "<rect" "$1"; } # two of them are the legend
test_expect_success '--svg: a bar of useful and of waiting time for each rank; who is late is marked' '
	evenstep report four --svg rank.svg >got && xmllint --noout rank.svg && test $(boxes rank.svg) = $((2 * 4 + 2)) &&
	grep -q "n1, 3" rank.svg && test $(grep -c "#d62728" rank.svg) = 2
'
test_expect_success '--html and --table: the same in a page and in columns' '
	evenstep report --html page four && grep -q "parallel efficiency = load balance 0.80" page && grep -q "The others waited most for n1: 8.00 node-seconds; why: work of rank" page && grep -q "<svg viewBox" page &&
	evenstep report --table four >got && test $(wc -l <got) = 3 && sed -n 3p got | cut -f 2-8,11 | tr "\t" " " >row && echo "12 0 n1 2 25 7 0.7 50" >want && test_cmp want row
'
test_expect_success 'without ranks, and with too many of them, there is a bar for each node' '
	grep -v "\"rank\",\"node" four >nodes && evenstep report nodes --svg nodes.svg >got && test $(boxes nodes.svg) = $((2 * 2 + 2)) &&
	{ cat nodes && for i in $(seq 65); do rank n0 $i 10 6 4; done; } >many && evenstep report many --svg many.svg >got && test $(boxes many.svg) = $((2 * 2 + 2))
'
test_expect_success 'times of 0 are drawn, too; nobody is marked where nobody is late' '
	{ step none && node n0 0 0 0 0; } >zero && evenstep report zero --svg zero.svg >got && xmllint --noout zero.svg && test $(grep -c "#d62728" zero.svg) = 0
'
# What | file of which | sed makes a bad one | line
while IFS='|' read -r what edit line; do
	test_expect_success "$what is refused" '
		sed -e "$edit" four >bad && test_expect_code 2 evenstep report bad >got 2>err && cat err && test ! -s got &&
		grep -qE "^evenstep: report: bad: line $line is none of a step.s report, or is not whole: give the file of srun" err
	'
done <<'END'
a line that is torn|3s/,"waiting.*//|3
a name that plays tricks on a terminal|2s/"n0"/"\\u001b[2J"/|2
a number below 0|4s/"useful":10/"useful":-10/|4
a number that is none|4s/"useful":10/"useful":"10"/|4
iterations of a number below 0|1s/"elapsed"/"iterations":-1,&/|1
a saving that is no number|1s/"elapsed"/"energy":"slurm","joules":1,"watts":1,"joules_saved":"much",&/|1
energy without joules|1s/"elapsed"/"energy":"slurm",&/|1
threads of a number below 0|1s/"elapsed"/"threads":-1,&/|1
a second step|2s/"node"/"step"/|2
a step without its worst|1s/"cause"/"because"/|1
a node without a name|2s/"node":"n0",//|2
END
test_expect_success 'nodes that are missing, and frames, which it has none of' '
	sed 1q four >bad && test_expect_code 2 evenstep report bad 2>err && grep -q "bad: line 1 is none of" err &&
	test_expect_code 2 evenstep report four --svg x.svg --frames 0:1 2>err && grep -q "^evenstep: --frames: the report of a step has no frames: leave it out" err
'
test_expect_success 'a line of a later version is left alone' '
	{ cat four && echo "{\"type\":\"joules\"}"; } >later && evenstep report four >want && evenstep report later >got && test_cmp want got
'
test_expect_success 'a picture that cannot be written, a full disk' '
	test_expect_code 1 evenstep report four --svg /nowhere/x 2>err && grep -q "/nowhere/x" err &&
	test_expect_code 1 evenstep report four >/dev/full 2>err && cat err
'
test_done
