#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what commands cost: a start that grows tenfold in the middle of a run, or that waits longer on one node'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
XDG_STATE_HOME=$PWD/state && export XDG_STATE_HOME && mkdir state
# grows BEGIN END: 5 ms a unit and 60 ms to start; from the middle of the third frame on 600 ms.
cat >grows <<'END'
#!/bin/sh
test "$EVENSTEP_FRAME" -lt 2 || test "$EVENSTEP_FRAME" = 2 && test "$1" -lt 100 || sleep 0.54
sleep "$(awk "BEGIN { print 0.06 + 0.005 * ($2 - $1) }")"
exec seq "$1" $(($2 - 1))
END
chmod +x grows
# start FROM TO: the median of the starts, in seconds, with which pieces of these frames were made.
start() {
	jq -es "[.[] | select(.type == \"frame\" and .frame >= $1 and .frame < $2) | .slices[].start] | sort | .[length / 2 | floor]" report
}

test_expect_success 'its output is whole and in order' '
	evenstep run --local 2 --metrics equal --range 0:200 --repeat 7 --report report -- ./grows {begin} {end} >out 2>err &&
	for frame in 1 2 3 4 5 6 7; do seq 0 199; done >want && test_cmp want out
'
test_expect_success 'the later frames are cut by the longer start' '
	start 1 3 >before && start 4 7 >after && jq -en "$(cat after) > 0.3 and $(cat after) > $(cat before)"
'
test_expect_success 'and the next run knows it from its first frame' '
	evenstep run --local 2 --metrics equal --range 0:200 --report report -- ./grows {begin} {end} >out 2>err &&
	start 0 1 >next && jq -en "$(cat next) > 0.3"
'
# lags BEGIN END NODE: 5 ms a unit and 50 ms to start; on one node 800 ms.
cat >lags <<'END'
#!/bin/sh
start=0.05; test "$3" != local1 || start=0.8
sleep "$(awk "BEGIN { print $start + 0.005 * ($2 - $1) }")"
exec seq "$1" $(($2 - 1))
END
chmod +x lags
# last_start FILE: how long starts took on local1, and then on the others at most, in the last frame.
last_start() { jq -es "[.[] | select(.type == \"frame\")] | last.slices | [(map(select(.node == \"local1\").start) | max), (map(select(.node != \"local1\").start) | max)]" "$1"; }
test_expect_success 'a start that waits longer on one node is found there, and told from a slow node' '
	evenstep run --local 3 --metrics equal --range 0:600 --repeat 6 --ahead 0 --report report -- ./lags {begin} {end} {node} >out 2>err &&
	for frame in 1 2 3 4 5 6; do seq 0 599; done >want && test_cmp want out &&
	last_start report >starts && cat starts && jq -e ".[0] > 0.6 and .[0] < 1.1 and .[1] < 0.3" starts
'
test_expect_success 'and the next run knows it' '
	tail -n 1 state/evenstep/costs | jq -e "(.lag | keys) == [\"local1\"] and .lag.local1 > 0.5" &&
	evenstep run --local 3 --metrics equal --range 0:600 --report report -- ./lags {begin} {end} {node} >out 2>err &&
	last_start report >starts && cat starts && jq -e ".[0] > 0.6 and .[1] < 0.3" starts
'
# burns: 0.3 s of CPU time for the piece of one unit, none but a shell's for the other.
cat >burns <<'END'
#!/bin/sh
if test "$1" = 0; then exec perl -e '1 while (times)[0] + (times)[1] < 0.3'; else sleep 0.3; fi
END
chmod +x burns
test_expect_success 'a report tells the CPU time of each piece, and of what it has waited for' '
	evenstep run --local 2 --metrics equal --range 0:2 --pieces 1 --report report -- ./burns {begin} >out 2>err &&
	jq -es "[.[] | select(.type == \"frame\") | .slices[]] | sort_by(.begin) | .[0].cpu > 0.1 and .[1].cpu < 0.1" report
'
# of_line KEY: in the newest line of the costs.
of_line() { tail -n 1 "$XDG_STATE_HOME/evenstep/costs" | jq -c ".$1"; }
by_speeds() { evenstep run --local 4=80,40,20,10 --range 0:100 "$@" -- sh -c "exec perl -e '1 while (times)[0] + (times)[1] < 0.004 * ({end} - {begin})'" >out 2>err || { cat err; return 1; }; }
test_expect_success 'how speeds follow those that were measured is kept, for runs that are told them so, and passed on by one that is not' '
	by_speeds && cat err && of_line exponent && jq -en "$(of_line exponent) > 0.25 and $(of_line exponent) < 2 and $(of_line loose) > 0" &&
	of_line by | grep "^\"probe C.* node 1\"$" && { of_line exponent && of_line by; } >first && by_speeds --metrics equal && { of_line exponent && of_line by; } | test_cmp first - &&
	by_speeds --slots 2 && of_line by | grep "^\"probe C.* slots 2\"$"
'
test_done
