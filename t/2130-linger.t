#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='agents { linger }: the agents stay for the next command'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
EVENSTEP_CONF=$PWD/conf
LINGER_TEST=$$
export EVENSTEP_CONF LINGER_TEST
trap 'code=$?; kill $(agents) 2>&-; (exit $code); die' EXIT

# agents: the ids of those that were started here, on one line.
agents() {
	for agent in $(pgrep -x evenstep-agent); do
		! grep -qzsx "LINGER_TEST=$LINGER_TEST" "/proc/$agent/environ" || echo "$agent"
	done | sort | paste -sd" " -
}
no_agents() { test -z "$(agents)"; }
# record: the file that says where they wait.
record() { find "/dev/shm/evenstep-$(id -u)"*/linger-0-* -name agents -newer mark; }
no_record() { test -z "$(record 2>&-)"; }
nothing_left() { wait_for 60 no_agents && wait_for 60 no_record; }
stay() { echo "agents { linger = $1 }" >conf; }
node_names() { evenstep run --local 3 --metrics equal --range 0:3 -- sh -c 'echo $EVENSTEP_NODE' | sort -u | paste -sd" " -; }

test_expect_success 'setup' '
	echo content >file && mkdir -p dst/local0 dst/local1 dst/local2 && : >mark && sleep 0.05
'
test_expect_success 'as it comes they leave' '
	: >conf && evenstep bcast --local 3 file "dst/{node}/x" && nothing_left
'
test_expect_success 'they stay, their place for the user alone, and the next command has them' '
	stay 600 && evenstep bcast -f --local 3 file "dst/{node}/x" && agents >first && test "$(wc -w <first)" = 3 &&
	test "$(stat -c "%a %U" "$(record)" "$(dirname "$(record)")")" = "600 $(id -un)
700 $(id -un)" &&
	echo other >file && evenstep bcast -f --local 3 file "dst/{node}/x" && agents >second && test_cmp first second &&
	for node in 0 1 2; do cmp file dst/local$node/x || return 1; done
'
# bytes: those of all files beside the record, in hexadecimal digits.
bytes() { find "$(dirname "$(record)")" -type f -exec cat {} + | od -An -v -tx1 | tr -d " \n"; }
test_expect_success 'the secret is in no file, but with the agents' '
	tr "\0" "\n" <"/proc/$(agents | cut -d" " -f1)/environ" | sed -n "s/^EVENSTEP_SECRET=//p" >secret &&
	test "$(tr -d "\n" <secret | wc -c)" = 64 && bytes >found && test -s found && ! grep -q "$(cat secret)" found
'
test_expect_success 'run has them, too, and probe' '
	test "$(node_names)" = "local0 local1 local2" && agents >second && test_cmp first second &&
	evenstep probe --local 3 --elements C --json >got && agents >second && test_cmp first second
'
test_expect_success 'another environment, folder or number: others' '
	MY=own node_names >got && test "$(agents | wc -w)" = 6 && (cd dst && node_names >got) && test "$(agents | wc -w)" = 9 &&
	evenstep run --local 2 --metrics equal --range 0:2 true && test "$(agents | wc -w)" = 11 && node_names >got && test "$(agents | wc -w)" = 11
'
test_expect_success 'two commands at once: one has them, one has its own, which leave' '
	rm -f began && { evenstep run --local 3 --metrics equal --range 0:3 -- sh -c ">began; sleep 1" & run=$!; } && wait_for 60 test -e began &&
	node_names >got && wait $run && test "$(cat got)" = "local0 local1 local2"
'
test_expect_success 'one of them is gone: the next command starts others' '
	kill $(agents) && wait_for 60 no_agents && node_names >got && kill -9 $(agents | cut -d" " -f1) && node_names >got &&
	test "$(cat got)" = "local0 local1 local2"
'
test_expect_success 'what is no record: others' '
	kill $(agents) && nothing_left && node_names >got && echo xyz >"$(record)" && test "$(node_names)" = "local0 local1 local2" &&
	test "$(agents | wc -w)" = 6
'
test_expect_success 'a front end that is killed at its work: its agents end' '
	kill $(agents) && nothing_left && stay 3 && node_names >got && rm -f began &&
	{ evenstep run --local 3 --metrics equal --range 0:3 -- sh -c ">began; exec sleep 600" & run=$!; } && wait_for 60 test -e began && kill -9 $run && nothing_left
'
test_expect_success 'they end by themselves, and nothing is left' '
	stay 1 && node_names >got && test "$(cat got)" = "local0 local1 local2" && nothing_left
'

test_done
