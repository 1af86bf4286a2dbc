#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep run --persistent: a program that stays alive gets its slices, and no misbehaviour of it hangs a run'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF EVENSTEP_SOCKET SLURM_JOB_ID
slices="$EVENSTEP_BUILD/t/programs/slices"

# left PID: the directories of the agents of that front end.
left() { find /dev/shm -maxdepth 2 -path "*/evenstep-$(id -u)/evenstep-$1-*"; }
run() { timeout 300 evenstep run --local 3 --metrics equal --persistent "$@"; }
# Each frame is one slice a node, so that what happens is the same each time.
whole() { run --policy static --pieces 1 --range 0:9 --repeat 3 -- "$@"; }
seq 0 8 >one
cat one one one >want

test_expect_success 'three programs, three frames: every unit once and in order' '
	run --range 0:9 --repeat 3 -- "$slices" >got 2>err && cat err && test_cmp want got
'
test_expect_success 'also where some have been measured, and ask, long before others' '
	timeout 300 evenstep run --local 3=100,50,5 --persistent --range 0:9 --repeat 3 -- "$slices" >got 2>err && cat err && test_cmp want got
'
test_expect_success 'each is started once; what it prints outside of its slices is left out' '
	cat >counted <<-END && chmod +x counted && run --range 0:9 --repeat 5 -- ./counted >got && cat want one one | test_cmp - got && test $(wc -l <starts) = 3
	#!/bin/sh
	echo x >>"$PWD/starts"
	exec "$slices"
	END
'
test_expect_success 'it knows its frame' '
	whole "$slices" frame >got && printf "%s <>\n" 0 0 0 1 1 1 2 2 2 >frames && test_cmp frames got
'
test_expect_success 'any policy may feed it, also in bundles' '
	for policy in even canon manual:size=2 rl2; do run --policy $policy --range 0:9 --repeat 3 -- "$slices" >got && test_cmp want got || return 1; done
'
test_expect_success 'a second evenstep_next() before the slice is done is refused, the run goes on' '
	whole "$slices" next >got && test_cmp want got
'
test_expect_success 'evenstep_close() may be left out at the end' '
	whole "$slices" unclosed >got && test_cmp want got
'
test_expect_success 'output beyond what a pipe holds is all there, in its place' '
	run --range 0:300000 --repeat 2 -- "$slices" >got && seq 0 299999 >large && cat large large | test_cmp - got
'
test_expect_success 'it has evenstep from its node, not from around it' '
	EVENSTEP_SOCKET=/nowhere run --range 0:9 --repeat 3 -- "$slices" >got && test_cmp want got
'
test_expect_success 'without evenstep the program runs alone, whole frames' '
	seq 0 99 >alone && { echo outside && cat alone alone && echo outside; } >want2 && "$slices" >got && test_cmp want2 got
'
test_expect_success 'a socket that is not there is an error, not a program alone' '
	test_expect_code 9 env EVENSTEP_SOCKET="$PWD/nowhere" "$slices" 2>err && mentioned "evenstep_open: No such file or directory"
'

# How | message
while IFS='|' read -r how message; do
	test_expect_success "$how: exit 1 and the reason" '
		test_expect_code 1 whole "$slices" ${how%%:*} local1 >got 2>err && mentioned "^evenstep: local1: frame [12], units 3:6: .*slices $message"
	'
done <<'END'
exit: it ends in the middle of a slice|exited with status 126: see its last words above$
fail: it fails in a slice|exited with status 3: see its last words above$
kill: it is killed in a slice|was killed by signal 9 .Killed.: 
close: it closes in the middle of a slice|exited with status 126: see its last words above$
garbage: it sends garbage|exited with status 126: see its last words above$
twice: it asks twice|exited with status 126: see its last words above$
wrong: it reports a slice that it does not have|exited with status 126: see its last words above$
END
# How | its last words
while IFS='|' read -r how message; do
	test_expect_success "$how: it is told" '
		test_expect_code 1 whole "$slices" $how local1 >got 2>err && mentioned "^local1: $message$"
	'
done <<'END'
exit|evenstep: it ended without evenstep_close\(\)
fail|slices: my last words
close|evenstep: it closed before its slice was done
garbage|evenstep: it sent what libevenstep does not send
twice|evenstep: it asked for a slice before the one at hand was done
wrong|evenstep: it reported a slice that it does not have
late|slices: on my way out
END
test_expect_success 'with --retries the slice is done by others, and the program started anew' '
	for how in exit fail kill close garbage twice wrong; do
		run --range 0:9 --repeat 3 --retries 1 -- "$slices" $how local1 >got 2>err && cat err && test_cmp want got || return 1
	done
'
test_expect_success 'with --keep-going what it fails at is left out, and the program started anew' '
	for how in exit fail kill; do
		test_expect_code 1 run --range 0:9 --repeat 3 --policy static --keep-going -- "$slices" $how local1 >got 2>err &&
		out=$(sed -n "s/^evenstep: \([0-9]*\) units* .* left out: .*/\1/p" err) && cat err && test "$out" -gt 0 &&
		test "$(grep -vc outside got)" = $((27 - out)) || return 1
	done
'
test_expect_success 'with --bisect only the unit that kills it is left out; with a grain, only that' '
	test_expect_code 1 run --range 0:1000 --bisect --keep-going -- "$slices" unit-613 >got 2>err && cat err && seq 0 999 | grep -vx 613 | test_cmp - got &&
	mentioned "^evenstep: left out: frame 1, units 613:614, local[012]: was killed by signal 9 .Killed.$" && mentioned "^evenstep: 1 unit is left out: 1 command failed: " &&
	test_expect_code 1 run --range 0:1000 --grain 8 --bisect --keep-going --retries 1 -- "$slices" unit-613 >got 2>err && cat err && ! grep "1 failure in a row" err &&
	{ seq 0 607; seq 616 999; } | test_cmp - got && mentioned "^evenstep: left out: frame 1, units 608:616, "
'
test_expect_success 'in every frame, while the rest of each is done by programs that were started anew' '
	test_expect_code 1 run --range 0:60 --repeat 3 --bisect --keep-going -- "$slices" unit-13 >got 2>err && cat err && seq 0 59 | grep -vx 13 >holed && cat holed holed holed | test_cmp - got &&
	test "$(grep -c "^evenstep: left out: frame [123], units 13:14, " err)" = 3
'
test_expect_success '--bisect alone: the run ends, and its message names the unit' '
	test_expect_code 1 run --range 0:1000 --bisect -- "$slices" unit-613 >got 2>err && cat err && mentioned "^evenstep: local[012]: frame 1, units 613:614: .*slices was killed by signal 9 .Killed.: "
'
test_expect_success 'it ends before its first slice: exit 1, and what it should do' '
	test_expect_code 1 whole "$slices" early local1 >got 2>err && mentioned "^local1: slices: not my day$" &&
	mentioned "^evenstep: local1: .*slices ended with status 4 before it asked for a slice: call evenstep_open\(\) and evenstep_next\(\) in it, or leave --persistent out$" &&
	test_expect_code 1 whole true 2>err && mentioned "^evenstep: local[012]: true ended with status 0 before it asked for a slice: "
'
test_expect_success 'of another version: it is not welcome' '
	test_expect_code 1 whole "$slices" version local1 2>err && mentioned "^local1: evenstep: its libevenstep speaks version 3, this agent up to 2$"
'
test_expect_success 'a program that is not there: exit 1, and the reason' '
	test_expect_code 1 whole nowhere/at-all 2>err && mentioned "^local[012]: No such file or directory$" && mentioned "^evenstep: local[012]: nowhere/at-all ended with status 127 before it asked for a slice: "
'
test_expect_success 'it fails at its end: exit 1, but all units are out' '
	test_expect_code 1 whole "$slices" late local1 >got 2>err && test_cmp want got && mentioned "^evenstep: local1: .*slices ended with status 5: see its last words above$"
'
test_expect_success 'that is heard each time, though it asks for a slice just before' '
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do test_expect_code 1 whole "$slices" late local1 2>err || return 1; done
'
for how in open never; do
	test_expect_success "it never asks for a slice ($how): a line says so, --timeout gives its node up" '
		run --range 0:9 --repeat 3 --timeout 11 -- "$slices" $how local1 >got 2>err && test_cmp want got &&
		mentioned "^evenstep: waiting for the program on local1 to call evenstep_next\(\)$" && mentioned "^evenstep: local1 is cut off, as --timeout says: the other nodes do its part$"
	'
done
test_expect_success 'an agent is killed: its program goes with it, the others do its part' '
	cat >deadly <<-END && chmod +x deadly && run --range 0:9 --repeat 3 -- ./deadly >got 2>err && cat err && test_cmp want got && mentioned "^evenstep: local1 is lost "
	#!/bin/sh
	test "\$EVENSTEP_NODE" != local1 || { echo \$\$ >deadly.pid; kill -KILL \$PPID; sleep 100; }
	exec "$slices"
	END
	pid=$(cat deadly.pid) && wait_for 60 dead $pid
'
test_expect_success '--lines: each gets those of its slice, and no others' '
	seq -f "line %.0f" 5000 >lines && run --lines lines --repeat 2 -- "$slices" lines >got && cat lines lines | cmp - got
'
test_expect_success 'records, and a header: likewise' '
	awk "BEGIN { for (i = 0; i < 99; i++) print \">\" i \"\\nACGT\\nACGT\" }" >fasta && run --lines fasta --recstart ">" -- "$slices" lines >got && cmp fasta got &&
	run --lines lines --header 1 --policy static --pieces 1 -- "$slices" lines >got && test "$(grep -cx "line 1" got)" = 3 && grep -vx "line 1" got >rest && sed 1d lines | cmp - rest
'
test_expect_success 'where there are none, it is told so' '
	test_expect_code 1 run --range 0:9 -- "$slices" lines 2>err && mentioned "evenstep_lines: No such file or directory"
'
programs() { test "$(pgrep -cf "^$slices open")" = "$1"; } # N of them run
test_expect_success 'interrupted: no program is left' '
	behind env --default-signal=INT evenstep run --local 2 --metrics equal --persistent --range 0:9 -- "$slices" open && wait_for 60 programs 2 &&
	kill -INT $run && test_expect_code 130 wait $run && mentioned "^evenstep: Interrupt: nothing is left running$" && wait_for 60 programs 0
'
# Not where it is missing, nor where the library wants a sanitizer in the process.
python3 -c "import ctypes; ctypes.CDLL('$EVENSTEP_BUILD/libevenstep.so.0')" 2>&- && test_set_prereq PYTHON
test_expect_success PYTHON 'from Python' '
	PYTHONDONTWRITEBYTECODE=1 run --range 0:9 --repeat 3 -- python3 "$EVENSTEP_SRC/contrib/python/squares.py" >got && awk "{ print \$1 * \$1 }" want | test_cmp - got
'
test_expect_success PYTHON 'and its lines' '
	cat >copy.py <<-\END &&
	import evenstep
	for _ in evenstep.slices():
	    with evenstep.lines() as lines:
	        print("".join(lines), end="")
	END
	PYTHONPATH="$EVENSTEP_SRC/contrib/python" PYTHONDONTWRITEBYTECODE=1 run --lines lines -- python3 copy.py >got && cmp lines got
'
for how in well exit garbage late; do
	test_expect_success "nothing is left in /dev/shm ($how)" '
		evenstep run --local 3 --metrics equal --persistent --range 0:9 --repeat 3 -- "$slices" $how local1 >got 2>err &
		pid=$!; wait $pid; left $pid >dirs; cat err dirs; test -s err && test ! -s dirs
	'
done
test_expect_success 'nor is of an agent that was killed' '
	evenstep run --local 3 --metrics equal --persistent --range 0:9 --repeat 3 -- ./deadly >got 2>err &
	pid=$!; wait $pid; left $pid >dirs; cat err dirs; mentioned "^evenstep: local1 is lost " && test ! -s dirs
'
test_done
