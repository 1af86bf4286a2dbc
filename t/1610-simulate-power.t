#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep simulate balance --power: what steering power would do, at any size'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH="$EVENSTEP_BUILD:$PATH"

four="--power --work 1,1,1,1.6"

test_expect_success 'a node with more work than the others gets more, within the same total' '
	evenstep simulate balance $four --json >got && cat got &&
	jq -s -e "length == 20 and .[0].to_ideal > 1.39 and .[-1].to_ideal < 1.03 and .[-1].waiting < .[0].waiting / 5 and .[-1].changed == 0 and
		all(.limits | add | . - 160 | fabs < 1e-6) and (.[-1].limits | .[3] > 54 and max == .[3])" got
'
test_expect_success 'boost gives to the slowest only' '
	evenstep simulate balance $four --variant boost --json >got && jq -s -e ".[0].changed == 4 and .[-1].to_ideal < 1.03" got
'
test_expect_success 'save: the same time, and less energy by what those who wait do not need, within 5 %' '
	evenstep simulate balance $four --variant save --limit 100 --floor 30 --idle 20 --exponent 0.3333333 --json >got && jq -s -e "
		[.[].seconds] as \$s | (\$s | max) < 1.001 * \$s[0] and all(.limits | max <= 100) and .[-1].limits[3] == 100 and
		(.[0].energy - .[-1].energy) / (1.6 * 3 * 0.8 * (1 - pow(1 / 1.6; 3))) > 0.95 and (.[0].energy - .[-1].energy) / (1.6 * 3 * 0.8 * (1 - pow(1 / 1.6; 3))) <= 1" got &&
	evenstep simulate balance $four --variant save --limit 100 --floor 30 --idle 20 --sleep --json >got && jq -s -e ".[-1].energy <= .[0].energy * 1.001" got
'
test_expect_success 'floors and ceilings hold' '
	evenstep simulate balance $four --floor 38 --ceiling 45 --json >got && jq -s -e "all(.limits | min >= 38 and max <= 45) and .[-1].limits[3] == 45" got
'
test_expect_success 'noise: the same seed gives the same' '
	evenstep simulate balance $four --noise 0.02 --seed 3 --json >one && evenstep simulate balance $four --noise 0.02 --seed 3 --json >two && test_cmp one two &&
	evenstep simulate balance $four --noise 0.02 --seed 4 --json >three && ! cmp -s one three
'
test_expect_success 'as many nodes as nobody has' '
	evenstep simulate balance --power --work 1,1.1,1.2,1.3 --nodes 16384 --regions 30 >got && cat got && tail -n 1 got | awk "{ exit !(\$3 < 1.05 && \$6 == 0) }"
'
levels="--power --levels core,socket,node,rack --work 1,1,1,1.6 --nodes 64 --uneven 0.05 --json"
test_expect_success 'level by level: each level alone helps, all together most; the sum stays' '
	evenstep simulate balance $levels --rack 8 --bound 0 --regions 12 >got && tail -n 1 got &&
	jq -s -e "length == 60 and all(.power | . - 64 * 64 * 40 | fabs < 1e-6) and all(.racks | length == 8) and
		(map(select(.region == 11)) | .[4].to_ideal as \$all | map(.levels | join(\",\")) == [\"core\", \"socket\", \"node\", \"rack\", \"core,socket,node,rack\"] and
			\$all < 1.05 and all(.[0:4][]; .to_ideal > \$all)) and
		(map(select(.region == 0)) | map(.to_ideal) | max == min)" got
'
test_expect_success 'one level is shown alone, of nodes that have as many cores: it begins as these do, before steps are taken ahead, and comes as far' '
	evenstep simulate balance --power --levels node --work 1,1,1,1.6 --cores 1 --sockets 1 --json >got && evenstep simulate balance $four --json >flat &&
	jq -s -e "length == 20" got && for each in got flat; do
		jq .to_ideal $each | head -n 2 >$each.begin && tail -n 1 $each | jq -e ".to_ideal < 1.005" || return 1
	done && test_cmp flat.begin got.begin
'
test_expect_success 'no rack has more than its budget' '
	evenstep simulate balance $levels --rack 8 --regions 5 --work 1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2 >got && jq -s -e "map(.racks | max) | max > 8 * 64 * 44" got &&
	evenstep simulate balance $levels --rack 8 --regions 5 --work 1,1,1,1,1,1,1,1,2,2,2,2,2,2,2,2 --budget 44 >got &&
	jq -s -e "all(.racks | max <= 8 * 64 * 44 + 1e-6) and (map(.racks | max) | max > 8 * 64 * 43)" got &&
	evenstep simulate balance $levels --rack 8 --regions 1 --budget 30 >got && jq -s -e "all(.power == 64 * 64 * 30)" got
'
test_expect_success 'the CPU time of a step is told, to people as well' '
	evenstep simulate balance --power --levels core,rack --work 1,2 --regions 3 >got && cat got &&
	head -n 1 got | grep -qx "2 nodes of 2 x 32 cores, 2 a rack: 128 cores" && test "$(grep -cE "^core,rack +[0-2] .* [0-9]+\.[0-9]$" got)" = 3
'
test_expect_success '--help tells every option' '
	evenstep simulate balance --power --help >got &&
	for option in work nodes variant limit floor ceiling idle sleep exponent noise bound band gain regions seed json levels cores sockets rack uneven budget; do grep -qE "^  --$option( |$)" got || return 1; done
'
# What | arguments | message
while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2" '
		test_expect_code 2 evenstep simulate balance --power $arguments >got 2>err && mentioned "^evenstep: $message" && test ! -s got
	'
done <<\END
no work||simulate balance --power: --work is missing: give --work W1,W2,...
work that is none|--work 1,x|--work: "x" is no number: 
a node without work|--work 1,0|--work: "0" is out of range: 
a comma too many|--work 1,|--work: "" is no number: 
more work than nodes|--work 1,2,3 --nodes 2|--work: has 3 for 2 nodes: 
an unknown variant|--work 1 --variant best|--variant: "best" is unknown: give pair, boost or save
a limit below the floor|--work 1 --limit 5|--limit: 5% is not between 8% and 100%: 
what is idle above the floor|--work 1 --idle 20|--idle: 20% is not below the floor of 8%: 
a gain of 0|--work 1 --gain 0|--gain: "0" is out of range: 
an exponent of 0|--work 1 --exponent 0|--exponent: "0" is out of range: 
no regions|--work 1 --regions 0|--regions: "0" is out of range: 
a word too many|--work 1 fast|simulate balance --power: unexpected argument "fast": 
a level that is none|--work 1 --levels core,row|--levels: "row" is unknown: give some of core, socket, node and rack
no level|--work 1 --levels ,|--levels: "" is unknown: 
a rack without levels|--work 1 --rack 4|--rack: there is no --levels: 
cores that do not divide|--work 1 --levels core --cores 5|--cores: 5 cores are not as many on each of 2 sockets: 
too many cores|--work 1 --nodes 65536 --levels core --cores 65536|--cores: more than 16777216 cores in all: 
levels that save|--work 1 --levels core --variant save|--levels: there is none for --variant save: give pair or boost
levels that sleep|--work 1 --levels core --sleep|--levels and --sleep exclude each other: 
a budget below the floors|--work 1 --levels core --budget 7|--budget: 7% is below the floors of a rack: 
an option of the other simulation|--work 1 --pieces 4|--pieces: no such option: 
END
test_done
