#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what commands cost: a start that grows fifteenfold in the middle of a run, or waits longer on one node'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
XDG_STATE_HOME=$PWD/state && export XDG_STATE_HOME && mkdir state
# grows BEGIN END: 5 ms a unit and 0.1 s to start; from the middle of the third frame on 1.5 s.
# On a machine with ten times as much to do as it can a process itself takes tenths of a second
# to begin, and chance is as large: what is looked for is several times that.
cat >grows <<'END'
#!/usr/bin/perl
my ($begin, $end) = @ARGV;
my $frame = $ENV{EVENSTEP_FRAME};
my $start = $frame < 2 || ($frame == 2 && $begin < 100) ? 0.1 : 1.5;
select undef, undef, undef, $start + 0.005 * ($end - $begin);
print "$_\n" for $begin .. $end - 1;
END
chmod +x grows
# start FROM TO: the median of the starts, in seconds, with which pieces of these frames were made.
start() {
	jq -es "[.[] | select(.type == \"frame\" and .frame >= $1 and .frame < $2) | .slices[].start] | sort | .[length / 2 | floor]" report
}
# first: the units of the very first piece.
first() { jq -es "[.[] | select(.type == \"frame\" and .frame == 0) | .slices[] | select(.begin == 0).end][0]" report; }
# of_line WHAT: in the newest line of the costs.
of_line() { tail -n 1 "$XDG_STATE_HOME/evenstep/costs" | jq -c ".$1"; }

# learn: a run that begins without costs; learned: and cuts its later frames by the longer start.
# The first frames tell how much is chance: if something else has stopped this machine for long
# just then, more than these seven frames is needed to believe a change, and all is begun anew.
learn() {
	rm -rf state/evenstep && evenstep run --local 2 --metrics equal --range 0:200 --repeat 7 --report report -- ./grows "{begin}" "{end}" >out 2>err
}
learned() {
	start 1 3 >before && start 4 7 >after && of_line "wait + .burn" >kept && cat before after kept &&
		jq -en "$(cat after) > 0.75 and $(cat after) > $(cat before) and $(cat kept) > 0.75"
}
test_expect_success 'its output is whole and in order' '
	learn && for frame in 1 2 3 4 5 6 7; do seq 0 199; done >want && test_cmp want out
'
test_expect_success 'the later frames are cut by the longer start, and it is kept' '
	learned || { learn && learned; } || { learn && learned; }
'
test_expect_success 'the next run need not begin with a small piece to learn it' '
	first >tried &&
	evenstep run --local 2 --metrics equal --range 0:200 --report report -- ./grows {begin} {end} >out 2>err &&
	first >known && cat tried known && test "$(cat known)" -gt "$(cat tried)"
'
# lags BEGIN END NODE: 5 ms a unit and 0.1 s to start; on one node 1.6 s.
cat >lags <<'END'
#!/usr/bin/perl
my ($begin, $end, $node) = @ARGV;
select undef, undef, undef, ($node eq "local1" ? 1.6 : 0.1) + 0.005 * ($end - $begin);
print "$_\n" for $begin .. $end - 1;
END
chmod +x lags
# lag FRAMES: a run of so many; found: what starts took in the last one on local1, and at most on
# the others, is told as it is, and kept.
lag() { evenstep run --local 3 --metrics equal --range 0:1200 --repeat "$1" --ahead 0 --report report -- ./lags '{begin}' '{end}' '{node}' >out 2>err; }
last_start() { jq -es "[.[] | select(.type == \"frame\")] | last.slices | [(map(select(.node == \"local1\").start) | max), (map(select(.node != \"local1\").start) | max)]" report; }
found() { last_start >starts && cat starts && of_line lag && jq -e ".[0] > 1 and .[0] < 2.5 and .[1] < 0.6" starts && of_line lag | jq -e "keys == [\"local1\"] and .local1 > 1 and .local1 < 2.5"; }
lag_is_learned() { rm -rf state/evenstep && lag 6 && found; }
test_expect_success 'a start that waits longer on one node is found there, told from a slow node, and kept' '
	lag_is_learned || lag_is_learned || lag_is_learned
'
test_expect_success 'and the next run knows it from its first frame' '
	lag 1 && seq 0 1199 | test_cmp - out && last_start >starts && cat starts && jq -e ".[0] > 1 and .[1] < 0.6" starts
'
# burns: 0.3 s of CPU time for the piece of one unit, none but a shell's for the other.
cat >burns <<'END'
#!/bin/sh
if test "$1" = 0; then exec perl -e '1 while (times)[0] + (times)[1] < 0.3'; else sleep 0.3; fi
END
chmod +x burns
test_expect_success 'a report tells the CPU time of each piece, and of what it has waited for' '
	evenstep run --local 2 --metrics equal --range 0:2 --pieces 1 --report report -- ./burns {begin} {end} >out 2>err &&
	jq -es "[.[] | select(.type == \"frame\") | .slices[]] | sort_by(.begin) | .[0].cpu > 0.1 and .[1].cpu < 0.1" report
'
by_speeds() { evenstep run --local 4=80,40,20,10 --range 0:100 "$@" -- sh -c "exec perl -e '1 while (times)[0] + (times)[1] < 0.004 * ({end} - {begin})'" >out 2>err || { cat err; return 1; }; }
test_expect_success 'how speeds follow those that were measured is kept, for runs that are told them so, and passed on by one that is not' '
	by_speeds && cat err && of_line exponent && jq -en "$(of_line exponent) > 0.25 and $(of_line exponent) < 2 and $(of_line loose) > 0" &&
	of_line by | grep "^\"probe C.* node 1\"$" && { of_line exponent && of_line by; } >first && by_speeds --metrics equal && { of_line exponent && of_line by; } | test_cmp first - &&
	by_speeds --slots 2 && of_line by | grep "^\"probe C.* slots 2\"$"
'
test_done
