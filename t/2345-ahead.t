#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='frames ahead: nobody waits for the last node of a frame, and all comes out in order'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
# late BEGIN END: says who does what; at the first frame local1 waits for a file.
cat >late <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_FRAME $1 $2" >>started
test "$EVENSTEP_NODE $EVENSTEP_FRAME" != "local1 0" || until test -e go; do sleep 0.05; done
test ! -e "bad$EVENSTEP_FRAME" || exit 7
seq -f "$EVENSTEP_FRAME %g" "$1" $(($2 - 1))
END
chmod +x late
ends_with_test
# begun FRAME UNITS: so many units of it were begun.
begun() { test -e started && awk -v f="$1" -v n="$2" '$2 == f { sum += $4 - $3 } END { exit sum != n }' started; }
# ahead of local1, which keeps its 40 units of frame 0: frames 1 and 2 are done by the others.
are_ahead() { begun 0 160 && begun 1 160 && begun 2 160; }
agent() {
	for each in $(pgrep -P "$run" -x evenstep-agent); do
		tr "\\0" "\\n" <"/proc/$each/environ" | grep -qx "EVENSTEP_AGENT=$1" && echo "$each"
	done
	:
}
job='evenstep run --local 4 --metrics equal --policy static --pieces 1 --range 0:160 --repeat 6'
for frame in 0 1 2 3 4 5; do seq -f "$frame %g" 0 159; done >want

test_expect_success 'two frames ahead: the others do all of them while one keeps the first from its end' '
	behind_to got $job --ahead 2 --report report -- ./late {begin} {end} && wait_for 60 are_ahead
'
test_expect_success 'no third one is begun, and nothing comes out before its turn' '
	kill -0 $run && test ! -s got && ! grep -E "^local[0-9] [3-5] " started
'
test_expect_success 'then all comes out in order, as without' '
	: >go && wait $run && run= && test_cmp want got && $job -- ./late {begin} {end} >got && test_cmp want got
'
test_expect_success 'the report: frames in order, each unit once' '
	jq -es "map(select(.type == \"frame\")) | map(.frame) == [0, 1, 2, 3, 4, 5]
		and all(.slices | map(select(.status == 0) | .end - .begin) | add == 160)" report
'
test_expect_success 'without --ahead no other frame is begun' '
	behind_to got $job -- ./late {begin} {end} && wait_for 60 begun 0 160 && wait_for 60 test "$(wc -l <started)" = 4 && ! grep -vE "^local[0-9] 0 " started &&
	: >go && wait $run && run= && test_cmp want got
'
test_expect_success 'an agent is killed that keeps the first frame, while others are ahead' '
	behind_to got $job --ahead 2 -- ./late {begin} {end} && wait_for 60 are_ahead && kill -KILL $(agent local1) &&
	wait $run && run= && test_cmp want got
'
# kept FILE N: the journal has slices of so many units.
kept() {
	test -s "$1" && test "$(sed -n '/"type":"slice"/s/.*"begin":\([0-9]*\),"end":\([0-9]*\).*/\1 \2/p' "$1" | awk '{ n += $2 - $1 } END { print n + 0 }')" = "$2"
}
test_expect_success 'the front end is killed with three frames at work; --resume does only what is left' '
	behind_to got $job --ahead 2 --journal journal -- ./late {begin} {end} && wait_for 60 kept journal 440 &&
	kill -KILL $run && test_expect_code 137 wait $run && run= && test ! -s got &&
	rm -f started && : >go && $job --ahead 2 --journal journal --resume -- ./late {begin} {end} >got && test_cmp want got &&
	begun 0 40 && begun 1 0 && begun 2 0 && begun 3 160
'
test_expect_success 'a command that fails at a later frame: the message names that' '
	rm -f started go && : >bad1 && test_expect_code 1 $job --ahead 2 -- ./late {begin} {end} >got 2>err && rm bad1 &&
	mentioned "local[0-9]: frame 2, units [0-9]*:[0-9]*: ./late exited with status 7" && ! grep -x "0 40" got &&
	grep -Fxf got want | test_cmp - got && said "evenstep: standard output: .* of frame 1.* are missing, and so is what follows frame [23].*"
'
test_expect_success 'a bad line of a queue is told when the frames before it have come out' '
	: >go && printf "0:160 a\n0:160 b\nnonsense\n" >queue && test_expect_code 2 evenstep run --local 4 --ahead 2 --queue queue -- ./late {begin} {end} >got 2>err &&
	head -n 320 want | test_cmp - got && mentioned "queue:3: "
'
test_expect_success 'frames of a pipe begin as they come' '
	rm -f started && mkfifo pipe && behind_to got timeout 100 evenstep run --local 4 --ahead 3 --queue pipe -- ./late {begin} {end} && : >go && {
		echo 0:160 a && wait_for 60 begun 0 160 && echo 0:160 b && wait_for 60 begun 1 160 && echo 0:160 c
	} >pipe && wait $run && run= && head -n 480 want | test_cmp - got
'
test_expect_success 'lines of a queue are works of their own: frames are ahead by default, and the run is told with all that it took' '
	for frame in a b c d e f; do echo "0:160 $frame"; done >queue && rm -f go started && XDG_STATE_HOME=$PWD/queued && export XDG_STATE_HOME && mkdir -p queued &&
	behind_to got evenstep run --local 4 --metrics equal --queue queue --report report -- ./late {begin} {end} && wait_for 60 test -e started &&
	wait_for 60 grep -q "^local[0-9] 2 " started && sleep 1 && : >go && wait $run && run= && test_cmp want got &&
	grep "^evenstep: frame 6: after [0-9.]* s, efficiency so far 0" err &&
	jq -es "map(select(.type == \"summary\")) | .[0] | .efficiency < 1 and .ideal > 0
		and ((.ideal + ([.rest[]] | add)) / .ideal * .efficiency - 1 | fabs < 0.01)" report && unset XDG_STATE_HOME &&
	jq -es "(map(select(.type == \"frame\").equal_parts) | add) as \$frames | .[-1].equal_parts - \$frames | fabs < 1e-6" report
'
test_expect_success 'but with --ahead 0 one is done before the next begins' '
	rm -f go started && behind_to got evenstep run --local 4 --metrics equal --queue queue --ahead 0 -- ./late {begin} {end} &&
	wait_for 60 test -e started && wait_for 60 begun 0 160 && ! grep -vE "^local[0-9] 0 " started && : >go && wait $run && run= && test_cmp want got
'
test_expect_success 'bundles: the same output' '
	: >go && evenstep run --local 4 --metrics equal --policy rl2 --range 0:160 --repeat 6 --ahead 2 -- ./late {begin} {end} >got && test_cmp want got
'
test_expect_success 'a program that stays alive does one frame after the other' '
	test_expect_code 2 evenstep run --local 2 --persistent --ahead 1 --range 0:2 -- true 2>err &&
	said "evenstep: --ahead: a program that stays alive .*: leave one of them out" &&
	test_expect_code 2 evenstep run --local 2 --ahead 101 --range 0:2 -- true 2>err && mentioned "^evenstep: --ahead: .101. is out of range"
'
cat >starts <<'END'
#!/bin/sh
sleep 0.5
seq -f "$EVENSTEP_FRAME %g" "$1" $(($2 - 1))
awk -v n="$(($2 - $1))" 'BEGIN { system("sleep " n * 0.005) }'
END
chmod +x starts
# pieces REPORT: how many were begun.
pieces() { jq -s "[.[] | select(.type == \"frame\") | .slices | length] | add" "$1"; }
test_expect_success 'what pieces cost is known: three frames are cut as one, and each node starts once or twice' '
	XDG_STATE_HOME=$PWD/state && export XDG_STATE_HOME && mkdir -p state &&
	job="evenstep run --local 4 --metrics equal --range 0:160 --repeat 3" && head -n 480 want >all &&
	$job -- ./starts {begin} {end} >got && test_cmp all got &&
	$job --report one -- ./starts {begin} {end} >got && test_cmp all got &&
	$job --ahead 2 --report ahead -- ./starts {begin} {end} >got && test_cmp all got &&
	pieces one && pieces ahead && test "$(pieces ahead)" -lt 12 && test "$(pieces one)" -ge 12
'
test_done
