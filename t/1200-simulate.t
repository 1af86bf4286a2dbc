#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep simulate: what-if without a cluster'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH="$EVENSTEP_BUILD:$PATH"

small="--nodes 7 --bytes 12.5MB --rate 100mbit"

test_expect_success 'the real scheme comes near the limit, home sends the data once' '
	evenstep simulate bcast $small --json >got && cat got &&
	jq -e ".scheme == \"overlap\" and .method == \"simulated\" and .nodes == 7 and .bytes == 12500000 and
		.limit_seconds == 1 and .ratio >= 1 and .ratio < 1.05 and .home_bytes_sent == .bytes and
		.duplicate_bytes == 0 and .unfinished_nodes == 0 and .formula_seconds == null" got
'
test_expect_success 'the same seed gives the same, event by event' '
	evenstep simulate bcast $small --seed 5 --dead 1 --json >one && evenstep simulate bcast $small --seed 5 --dead 1 --json >two && test_cmp one two
'
test_expect_success 'a slow node holds the others up by little' '
	evenstep simulate bcast $small --slow 14 --json >got && cat got && jq -e ".fast_seconds < 1.15 and .seconds < 4.5 and .seconds > 3.9" got
'
test_expect_success 'nodes that die half-way: the others have all' '
	evenstep simulate bcast $small --dead 2 --json >got && cat got && jq -e ".unfinished_nodes == 0 and .seconds < 1.5" got
'
test_expect_success 'the formula of CN 102486739, on a smaller tree of two full layers, and its simulation' '
	evenstep simulate bcast --nodes 1056 --bytes 50MB --branches 32 --scheme strict --chunk 1562500 --json >got && cat got &&
	jq -e "(.formula_seconds / (50e6 / 32 * 64 * 8 / 10e9 + 50e6 * 31 / 32 * 8 / 10e9) - 1 | fabs) < 1e-6 and
		.seconds > .limit_seconds and .unfinished_nodes == 0" got
'
test_expect_success 'chain, sbcast and scatter-allgather; the last two say that they are formulas' '
	evenstep simulate bcast $small --scheme chain --json >got && jq -e ".branches == 1 and .method == \"simulated\"" got &&
	evenstep simulate bcast $small --scheme sbcast --json >got && jq -e ".method == \"formula\" and .ratio >= 7 and .events == null" got &&
	evenstep simulate bcast $small --scheme sbcast --branches 2 --json >got && jq -e ".ratio > 4.99 and .ratio < 5.01" got &&
	evenstep simulate bcast $small --scheme scatter-allgather --json >got && jq -e ".ratio >= 1.75 and .ratio < 1.76" got &&
	evenstep simulate bcast $small --scheme sbcast >got && grep -q "by its formula" got
'
test_expect_success 'text for people' '
	evenstep simulate bcast $small >got && cat got && grep -qx "overlap: 12.5 MB to 7 nodes in .* times the limit of 1.0000 s" got
'

# What | arguments | message
while IFS='|' read -r what arguments message; do
	test_expect_success "$what: exit 2" '
		test_expect_code 2 evenstep simulate $arguments >got 2>err && mentioned "^evenstep: $message" && test ! -s got
	'
done <<\END
nothing||simulate: no action: give bcast or balance
an option of one of them|--json|--json: no such option: see
something else|dance|simulate: no such action: dance: give bcast or balance
no nodes|bcast --bytes 1k|simulate bcast: --nodes is missing: give --nodes N
no bytes|bcast --nodes 3|simulate bcast: --bytes is missing: give --bytes B
no node|bcast --nodes 0 --bytes 1k|--nodes: "0" is out of range: give a whole number from 1 to 65536
too many nodes|bcast --nodes 65537 --bytes 1k|--nodes: "65537" is out of range: 
bytes that are none|bcast --nodes 3 --bytes many|--bytes: "many" is no size: give bytes from 1 to 1P, as 125k or 1MiB
a unit that is none|bcast --nodes 3 --bytes 5parsec|--bytes: "5parsec" is no size: 
no rate|bcast --nodes 3 --bytes 1k --rate 0gbit|--rate: "0gbit" is out of range: 
a rate in no unit of rates|bcast --nodes 3 --bytes 1k --rate 100mbps|--rate: "100mbps" is no rate: give bytes a second from 125 to 125T, as 125M or 100mbit
a negative latency|bcast --nodes 3 --bytes 1k --latency -1s|--latency: "-1s" is out of range: 
an unknown scheme|bcast --nodes 3 --bytes 1k --scheme magic|--scheme: "magic" is unknown: give overlap, 
a chunk over the limit|bcast --nodes 3 --bytes 1k --chunk 5m|.*chunk
more than all are slow|bcast --nodes 3 --bytes 1k --slow 101|--slow: "101" is out of range: 
faults for a formula|bcast --nodes 3 --bytes 1k --scheme sbcast --dead 1|--slow and --dead: sbcast is only a formula: 
an unknown option|bcast --magic|--magic: no such option: 
a value that is missing|bcast --nodes|--nodes: a value is missing: 
END
test_expect_success 'a full disk is told' '
	test_expect_code 1 evenstep simulate bcast $small >/dev/full 2>err && mentioned "^evenstep: cannot write: "
'
test_done
