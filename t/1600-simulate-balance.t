#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep simulate balance: how evenly a policy would have unequal nodes finish'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH="$EVENSTEP_BUILD:$PATH"

four="--speeds 80,40,20,10 --pieces 1" # whole slices, unless a test says otherwise

test_expect_success 'nodes whose speeds are known finish together, at the ideal time' '
	evenstep simulate balance $four --json >got && cat got &&
	jq -e ".policy == \"even\" and .nodes == 4 and .frames == 20 and .units == 1500 and .first_efficiency > 0.999 and
		.ratio > 0.999 and .ratio < 1.001 and (.ideal_seconds - 200 | fabs) < 1e-6 and .[\"frames_to_0.9\"] == 0 and (.efficiencies | length) == 20" got
'
test_expect_success 'those whose are not begin alike; static slices stay so, even ones do not' '
	evenstep simulate balance $four --metrics equal --policy static,even --json >got && cat got &&
	jq -s -e "length == 2 and (.[0].ratio - 3.75 | fabs) < 0.01 and .[0][\"frames_to_0.9\"] == null and (.[1].efficiencies[0] - .[0].efficiencies[0] | fabs) < 1e-9 and
		.[1][\"frames_to_0.9\"] == 1 and .[1].efficiencies[19] > 0.95" got
'
test_expect_success 'a policy may have parameters of its own among several' '
	evenstep simulate balance $four --policy canon:step=5,worst=2,manual:size=3,even --json >got &&
	jq -s -e "[.[].policy] == [\"canon\", \"manual\", \"even\"] and .[0].parameters.step == 5 and .[0].parameters.worst == 2 and .[1].parameters.size == 3" got
'
test_expect_success 'bundles of one unit: two messages each' '
	evenstep simulate balance $four --policy manual --frames 2 --units 150 --json >got && jq -e ".messages == 600 and .ratio < 1.1" got
'
test_expect_success 'a node slows down: the frame suffers; in pieces the others take over' '
	evenstep simulate balance $four --change 8:0:40 --json >whole && evenstep simulate balance --speeds 80,40,20,10 --pieces 16 --change 8:0:40 --json >pieces &&
	jq -s -e ".[0].efficiencies[8] < 0.85 and .[1].efficiencies[8] > 0.9 and .[0].units_taken_over == 0 and .[1].units_taken_over > 0 and .[0].efficiencies[10] > 0.95 and
		(.[0].ideal_seconds - (8 * 10 + 12 * 1500 / 110) | fabs) < 1e-6" whole pieces
'
test_expect_success 'changes may come in any order, more than one for a node' '
	evenstep simulate balance $four --change 9:1:80 --change 3:1:20 --change 6:1:40 --json >one && evenstep simulate balance $four --change 3:1:20 --change 6:1:40 --change 9:1:80 --json >two &&
	test_cmp one two && jq -e "(.ideal_seconds - (3 * 10 + 3 * 1500 / 130 + 3 * 10 + 11 * 1500 / 190) | fabs) < 1e-6" one
'
test_expect_success 'noise costs; the same seed gives the same, another something else' '
	evenstep simulate balance $four --noise 0.1 --seed 4 --json >one && evenstep simulate balance $four --noise 10% --seed 4 --json >two && evenstep simulate balance $four --noise 10% --seed 5 --json >three &&
	test_cmp one two && ! cmp -s one three && jq -e ".ratio > 1.02" one
'
test_expect_success 'speeds are repeated over the nodes, as many as nobody has' '
	evenstep simulate balance $four --nodes 16384 --json >got && jq -e ".nodes == 16384 and .units == 6144000 and .efficiency > 0.95" got
'
test_expect_success 'frames ahead: sooner, with fewer starts, beside all of them as one' '
	for ahead in 0 2; do evenstep simulate balance --speeds 80,40,20,10 --frames 6 --startup 0.5 --ahead $ahead --json || return 1; done >got &&
	jq -se "map(.ideal_seconds) == [60.5, 60.5] and .[1].ratio < .[0].ratio and .[1].ratio >= 1 and .[1].starts < 0.7 * .[0].starts and map(.ahead) == [0, 2]" got &&
	evenstep simulate balance --speeds 80,40,20,10 --frames 6 --startup 0.5 --ahead 2 >got && cat got && grep -qx "4 nodes, 6 frames of 1500 units, 2 ahead" got && grep -qE "^even +6[0-9]\.[0-9]+ s +60\.50 s +1\.[0-9]+ +[0-9]+$" got
'
test_expect_success 'a start that waits longer on one node is told from a slow node' '
	evenstep simulate balance --speeds 80,40,20,10 --frames 12 --startup 2,0.05,0.05,0.05 --noise 0.02 --json >got &&
	jq -e "(.ideal_seconds - 12 * (1500 + 2 * 80 + 0.05 * 70) / 150 | fabs) < 0.001 and (.efficiencies[6:] | add / 6) > 0.94" got
'
test_expect_success 'text for people: a line a policy' '
	evenstep simulate balance $four --policy even,static >got && cat got && grep -qx "4 nodes, 20 frames of 1500 units" got && grep -qE "^even +1\.000 +1\.000 +0 +1\.000 " got && grep -qE "^static .* never " got
'
# slice NODE BEGIN END SECONDS, frame NUMBER SLICES
slice() { printf "{\"node\":\"%s\",\"begin\":%s,\"end\":%s,\"seconds\":%s,\"attempt\":1,\"status\":0}" "$@"; }
frame() { printf "{\"type\":\"frame\",\"frame\":%s,\"slices\":[%s],\"first\":1,\"last\":2,\"efficiency\":1,\"adjusted\":false}\n" "$@"; }
{
	frame 0 "$(slice a 0 60 1),$(slice b 60 80 1)"
	frame 1 "$(slice a 0 80 2),$(slice c 80 90 1)"
	frame 2 "$(slice a 0 60 1),$(slice b 60 70 1)"
} >two
frame 0 "" >idle
test_expect_success '--trace: the nodes of a real run, as fast as they were, frame by frame' '
	evenstep simulate balance --trace two --json >got && cat got && evenstep simulate balance --speeds 60,20,10 --change 1:0:40 --change 2:0:60 --change 2:1:10 --frames 3 --units 80 --json >want &&
	test_cmp want got && jq -e "(.ideal_seconds - (80 / 90 + 80 / 70 + 80 / 80) | fabs) < 1e-9" got
'
test_expect_success 'it may be longer or have other frames than the run' '
	evenstep simulate balance --trace two --frames 5 --units 1000 --json >got && jq -e ".frames == 5 and .units == 1000" got
'
test_expect_success 'what evenstep run reports is such a trace' '
	evenstep run --local 2 --range 0:10 --repeat 3 --report mine -- true && evenstep simulate balance --trace mine --policy static,even --json >got && jq -se "length == 2 and all(.nodes == 2 and .frames == 3 and .units == 10)" got
'
test_expect_success 'and what it journals' '
	evenstep run --local 2 --metrics equal --range 0:10 --repeat 3 --report mine --journal journal -- true && evenstep simulate balance --trace mine --json >want && evenstep simulate balance --trace journal --json >got && test_cmp want got
'
test_expect_success 'where slices of several frames are mixed, as by --resume: each frame is there once' '
	{ head -1 journal && for frame in 2 0 1; do grep "\"slice\".*\"frame\":$frame,.*\"begin\":0," journal; done && grep "\"slice\"" journal | grep -v "\"begin\":0,"; } >mixed &&
	test "$(grep -c "\"slice\"" mixed)" = "$(grep -c "\"slice\"" journal)" && evenstep report --json mixed >got && jq -e "[.frames[] | .units] == [10, 10, 10]" got
'
test_expect_success '--help tells every option' '
	evenstep simulate balance --help >got && evenstep simulate --help | grep -q balance &&
	for option in speeds trace nodes change policy metrics noise startup startup-kind delay frames units grain pieces threshold seed json; do grep -qE "^  --$option( |$)" got || return 1; done
'

# What | arguments | message
while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2" '
		test_expect_code 2 evenstep simulate balance $arguments >got 2>err && mentioned "^evenstep: $message" && test ! -s got
	'
done <<\END
no speeds|--nodes 4|simulate balance: no nodes: give --speeds S1,S2,... or --trace FILE
no speed|--speeds 80,0|--speeds: "0" is out of range: give numbers from
a speed that is none|--speeds 80,fast,20|--speeds: "fast" is no number: 
a comma too many|--speeds 80,|--speeds: "" is no number: 
no node|--speeds 80 --nodes 0|--nodes: "0" is out of range: give a whole number from 1 to 65536
too many nodes|--speeds 80 --nodes 65537|--nodes: "65537" is out of range: 
more speeds than nodes|--speeds 80,40,20 --nodes 2|--speeds: has 3 for 2 nodes: 
an unknown policy|--speeds 80 --policy even,bogus|--policy: "bogus" is unknown: give one of: even
a policy's parameter out of range|--speeds 80 --policy even,canon:step=0|--policy: canon: step: "0" is out of range: give
a parameter of no policy|--speeds 80 --policy step=5|--policy: "step=5" is unknown: 
unknown metrics|--speeds 80 --metrics guess|--metrics: "guess" is unknown: give probe or equal
too much noise|--speeds 80 --noise 101%|--noise: "101%" is out of range: give 0 to 1, or 0% to 100%
noise that is none|--speeds 80 --noise much|--noise: "much" is no number: 
a negative start|--speeds 80 --startup -1|--startup: "-1" is out of range: give
more starts than nodes|--speeds 80 --startup 1,2|--startup: has 2 for 1 nodes: 
starts that work, of each node|--speeds 80,40 --startup 1,2 --startup-kind cpu|--startup: a start that works is one number: give one number, of the fastest node
no frames|--speeds 80 --frames 0|--frames: "0" is out of range: give a whole number from 1 to 1000000
no units|--speeds 80 --units 0|--units: "0" is out of range: 
no grain|--speeds 80 --grain 0|--grain: "0" is out of range: 
no pieces|--speeds 80 --pieces 0|--pieces: "0" is out of range: 
a threshold that is none|--speeds 80 --threshold often|--threshold: "often" is no threshold: give seconds, or percent with a %, or auto
a change of nobody|--speeds 80,40 --change 3:2:10|--change: there is no node 2 among 2: 
a change that is none|--speeds 80,40 --change 3:1|--change: "3:1" is no change: give FRAME:NODE:SPEED, as 8:0:40
a change to a halt|--speeds 80,40 --change 3:1:0|--change: "3:1:0" is no change: 
a change too many|--speeds 80,40 --change 3:1:5:7|--change: "3:1:5:7" is no change: 
a seed that is none|--speeds 80 --seed x|--seed: "x" is no whole number: 
a trace that is not there|--trace nowhere|--trace: nowhere: No such file or directory: 
a trace and speeds|--trace two --speeds 80|--trace and --speeds exclude each other: give one of them
a trace and nodes|--trace two --nodes 8|--trace and --nodes exclude each other: 
frames ahead, too many|--speeds 80 --ahead 101|--ahead: "101" is out of range: 
frames ahead of a policy that adjusts|--speeds 80 --ahead 2 --policy canon|--ahead: the frames of canon are not cut as one: give --policy even, or no --ahead
frames ahead and a change|--speeds 80 --ahead 2 --change 1:0:5|--ahead and --change exclude each other: 
a trace and a change|--trace two --change 1:0:5|--trace and --change exclude each other: 
a trace of nothing|--trace idle|--trace: idle: no node has done anything: 
a word too many|--speeds 80 fast|simulate balance: unexpected argument "fast": 
an unknown option|--speeds 80 --magic|--magic: no such option: 
a value that is missing|--speeds|--speeds: a value is missing: 
END
test_expect_success 'a full disk is told' '
	test_expect_code 1 evenstep simulate balance $four >/dev/full 2>err && mentioned "^evenstep: cannot write: "
'
test_done
