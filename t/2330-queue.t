#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='work as it comes: frames from files and pipes, first in, first out, and the lines of a file'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
# units: CMD that prints label and number of each unit.
cat >units <<'END'
#!/bin/sh
exec seq -f "$EVENSTEP_LABEL %.0f" "$1" $(($2 - 1))
END
chmod +x units
# want LABEL BEGIN END...: what units print of these frames.
want() {
	while test $# -gt 0; do
		seq -f "$1 %.0f" "$2" $(($3 - 1))
		shift 3
	done >want
}
job() { evenstep run --local 2 --metrics equal "$@" -- ./units "{begin}" "{end}"; }
ends_with_test

test_expect_success 'frames of a file: each in turn, with its label, of whatever size' '
	printf "0:20 a\n0:1 b\n5:9\n20:30   a label of words\n" >queue && want a 0 20 b 0 1 "" 5 9 "a label of words" 20 30 &&
	job --queue queue >got && test_cmp want got
'
test_expect_success 'an empty queue is no work, and no failure' '
	: >empty && job --queue empty >got 2>err && test ! -s got && said "evenstep: 0 frames in .*" && job --queue /dev/null
'
test_expect_success 'stdin, a pipe: frames are done while more may come' '
	mkfifo fifo && { job --queue - <fifo >out 2>err 3>&- 4>&- 5>&- & } && run=$! && exec 9>fifo && echo "0:5 a" >&9 &&
	want a 0 5 && wait_for 60 cmp -s want out && echo "5:9 a" >&9 && want a 0 5 a 5 9 && wait_for 60 cmp -s want out &&
	exec 9>&- && wait $run && run= && rm fifo
'
test_expect_success 'a named pipe: waits for its writer, ends with the last' '
	mkfifo fifo && behind evenstep run --local 2 --queue fifo -- ./units {begin} {end} && echo "3:8 x" >fifo && wait $run && run= &&
	want x 3 8 && test_cmp want out && rm fifo
'
test_expect_success '--follow: a file that grows; half a line is waited for' '
	printf "0:5 a\n5:" >grows && behind evenstep run --local 2 --queue grows --follow -- ./units {begin} {end} &&
	want a 0 5 && wait_for 60 cmp -s want out && printf "9 a\n" >>grows && want a 0 5 a 5 9 && wait_for 60 cmp -s want out &&
	kill -TERM $run && test_expect_code 4 wait $run && run=
'
test_expect_success '--follow: a named pipe gets one writer after the other' '
	mkfifo fifo && behind evenstep run --local 2 --queue fifo --follow -- ./units {begin} {end} && echo "0:2 a" >fifo &&
	want a 0 2 && wait_for 60 cmp -s want out && echo "0:3 b" >fifo && want a 0 2 b 0 3 && wait_for 60 cmp -s want out &&
	kill -TERM $run && test_expect_code 4 wait $run && run= && rm fifo
'
test_expect_success 'several sources, one queue, in the order of arrival' '
	mkfifo one two && behind evenstep run --local 2 --queue one --queue two -- ./units {begin} {end} && exec 8>one 9>two &&
	echo "0:2 one" >&8 && want one 0 2 && wait_for 60 cmp -s want out && echo "0:2 two" >&9 &&
	want one 0 2 two 0 2 && wait_for 60 cmp -s want out && echo "2:4 one" >&8 && want one 0 2 two 0 2 one 2 4 &&
	wait_for 60 cmp -s want out && exec 8>&- 9>&- && wait $run && run= && rm one two
'
test_expect_success 'not read far ahead: a writer of a long queue is held up' '
	mkfifo fifo && { yes "" | awk "{ print NR - 1 \":\" NR; print NR >\"written\"; fflush() }" >fifo 2>&- & } &&
	behind evenstep run --local 1 --queue fifo -- sh -c "until test -e go; do sleep 0.05; done" &&
	wait_for 60 test -s written && wait_for 60 settled written && lines=$(wc -l <written) && kill -KILL $run && { wait $run || : ; } && run= &&
	echo "$lines lines" && test "$lines" -lt 20000 && rm fifo
'
test_expect_success 'two thousand frames of one unit each' '
	seq 0 1999 | sed "s/.*/& &/" | awk "{ print \$1 \":\" \$1 + 1 }" >queue && seq 0 1999 >want &&
	evenstep run --local 2 --metrics equal --queue queue -- echo {begin} >got 2>err && test_cmp want got
'
test_expect_success 'a frame of 2^62 units' '
	echo "0:4611686018427387904" >queue && evenstep run --local 2 --queue queue -- echo {begin} {end} >got &&
	sed -n "1s/ .*//p;\$s/.* //p" got >ends && printf "0\n4611686018427387904\n" | test_cmp - ends
'

# --- with a journal ------------------------------------------------------------
test_expect_success 'a queue from a file, killed, resumed: what undisturbed runs do; none twice' '
	printf "0:20 a\n0:20 b\n100:120 c\n0:4 d\n" >queue && want a 0 20 b 0 20 c 100 120 d 0 4 && rm -f go &&
	cat >gated <<-\END && chmod +x gated &&
	#!/bin/sh
	test "$1" -lt 100 || until test -e go; do sleep 0.05; done
	exec ./units "$1" "$2"
	END
	behind evenstep run --local 2 --queue queue --journal journal --gather file -- ./gated {begin} {end} &&
	wait_for 60 grep -q "^evenstep: frame 2: " err && kill -KILL $run && test_expect_code 137 wait $run && run= && : >go &&
	evenstep run --local 2 --queue queue --journal journal --resume --gather file -- ./gated {begin} {end} && test_cmp want file
'
test_expect_success 'frames that were added meanwhile are done, too' '
	echo "4:6 d" >>queue && evenstep run --local 2 --queue queue --journal journal --resume --gather file -- ./gated {begin} {end} &&
	want a 0 20 b 0 20 c 100 120 d 0 6 && test_cmp want file
'
test_expect_success 'a pipe goes on with what comes; what was read before is not lost' '
	rm -f go journal && mkfifo fifo && behind evenstep run --local 2 --queue fifo --journal journal -- ./gated {begin} {end} &&
	printf "0:5 a\n100:105 b\n0:5 c\n" >fifo && wait_for 60 grep -q "\"label\":\"c\"" journal && kill -KILL $run &&
	test_expect_code 137 wait $run && behind evenstep run --local 2 --queue fifo --journal journal --resume -- ./gated {begin} {end} && : >go &&
	echo "5:7 c" >fifo && wait $run && run= && want a 0 5 b 100 105 c 0 7 && test_cmp want out && rm fifo
'
test_expect_success 'a label of any bytes is kept, too, and the queue may be called so' '
	odd=$(printf "a\377") && echo "0:2 $odd" >"$odd" && echo "2:4 b" >>"$odd" && rm -f journal &&
	evenstep run --local 1 --queue "$odd" --journal journal -- echo {begin} {end} {label} >got && grep -qa "$odd" got &&
	evenstep run --local 1 --queue "$odd" --journal journal --resume -- echo {begin} {end} {label} >again && test_cmp got again && cp "$odd" "$odd$odd" &&
	test_expect_code 2 evenstep run --local 1 --queue "$odd$odd" --journal journal --resume -- echo {begin} {end} {label} 2>err &&
	said "evenstep: --journal: journal: is of another work: xxh3 [0-9a-f]*: give what it was begun with, or another file"
'
# told LABEL BEGIN: a unit fails where the label is bad; which labels were at work is told.
cat >told <<'END'
#!/bin/sh
echo "$EVENSTEP_LABEL" >>started
test "$EVENSTEP_LABEL" != bad || exit 1
exec ./units "$1" "$2"
END
chmod +x told
mended() { rm -f started && evenstep run --local 2 --metrics equal --queue queue --journal journal --gather file "$@" -- ./told "{begin}" "{end}" 2>err; }
# at_work LABEL...: these and no others were.
at_work() {
	sort -u started >labels
	printf "%s\n" "$@" | test_cmp - labels
}
test_expect_success 'a line that was mended: its frame is done again, also without --resume-failed, and no other' '
	rm -f journal && printf "0:4 a\n0:4 bad\n0:4 c\n" >queue && test_expect_code 1 mended --keep-going && want a 0 4 c 0 4 && test_cmp want file &&
	printf "0:4 a\n0:4 b\n0:4 c\n" >queue && mended --resume && at_work b && want a 0 4 b 0 4 c 0 4 && test_cmp want file &&
	said "evenstep: queue: 1 line changed, or gone, since the journal has read it: what was done of it does not count any more" &&
	mended --resume && test_cmp want file && test ! -e started && test_must_fail grep "does not count" err
'
test_expect_success 'so is one with other units; with --resume-failed, too' '
	printf "2:5 a\n0:4 b\n0:4 c\n" >queue && mended --resume-failed && at_work a && want a 2 5 b 0 4 c 0 4 && test_cmp want file
'
test_expect_success 'lines taken away are no work any more; others may take their place later' '
	printf "2:5 a\n" >queue && mended --resume && test ! -e started && want a 2 5 && test_cmp want file &&
	said "evenstep: queue: 2 lines changed, or gone, since the journal has read them: .*" &&
	printf "2:5 a\n7:9 d\n0:1 e\n0:1 f\n" >queue && mended --resume && at_work d e f && want a 2 5 d 7 9 e 0 1 f 0 1 && test_cmp want file &&
	mended --resume && test ! -e started && test_cmp want file
'
test_expect_success 'one that was taken away may come back behind another one' '
	cp journal kept && cp queue whole && printf "2:5 a\n" >queue && mended --resume && printf "2:5 a\n1:3 y\n7:9 d\n" >queue && mended --resume && at_work d y &&
	want a 2 5 y 1 3 d 7 9 && test_cmp want file && mv kept journal && mv whole queue
'
test_expect_success 'one taken out of the middle, or put in: what was done of those behind it is not given up' '
	cp queue whole && for lines in "2:5 a\n0:1 e\n0:1 f\n" "1:2 x\n2:5 a\n7:9 d\n0:1 e\n0:1 f\n"; do
		printf "$lines" >queue && test_expect_code 2 mended --resume && test ! -e started &&
		said "evenstep: queue:[12]: lines have moved since the journal has read them: mend each line in its place, and add others at the end" || return 1
	done && mv whole queue && mended --resume && test ! -e started && want a 2 5 d 7 9 e 0 1 f 0 1 && test_cmp want file
'
test_expect_success 'a mended line that is bad, too: exit 2, and what was done still counts' '
	cp queue good && printf "2:6 a\nbad\n0:1 e\n0:1 f\n" >queue && test_expect_code 2 mended --resume && said "evenstep: queue:2: \"bad\" is no range: .*" &&
	cp good queue && mended --resume && test ! -e started && test_cmp want file
'
test_expect_success 'several files, one of them mended behind more lines than are read ahead' '
	seq 100 | sed "s/.*/&:& long/" | awk -F: "{ print \$1 - 1 \":\" \$2 }" >long && printf "0:2 x\n0:2 y\n" >short && rm -f journal &&
	many() { rm -f started && evenstep run --local 2 --metrics equal --ahead 0 --queue long --queue short --journal journal --gather file "$@" -- ./told {begin} {end} 2>err; } &&
	many && printf "0:2 x\n0:3 z\n" >short && many --resume && at_work z && want long 0 100 x 0 2 z 0 3 && sort want >sorted && sort file | test_cmp sorted -
'
test_expect_success '--follow: lines taken away, and others that come while it runs' '
	rm -f journal && printf "0:4 a\n0:4 b\n" >queue && mended && printf "0:4 a\n" >queue &&
	behind evenstep run --local 2 --queue queue --follow --journal journal --resume -- ./told {begin} {end} && want a 0 4 && wait_for 60 cmp -s want out &&
	echo "0:2 c" >>queue && want a 0 4 c 0 2 && wait_for 60 cmp -s want out && kill -TERM $run && test_expect_code 4 wait $run && run= &&
	mended --resume && test ! -e started && test_cmp want file
'
test_expect_success 'a journal whose frames came from a pipe: a file of other lines in its place is refused' '
	rm -f journal && printf "0:20 a\n0:20 b\n" | evenstep run --local 2 --queue - --journal journal -- true && printf "0:20 a\n0:21 b\n" >queue &&
	test_expect_code 2 evenstep run --local 2 --queue - --journal journal --resume -- true <queue 2>err &&
	said "evenstep: stdin:2: is not what the journal has read there: give the file of before"
'
test_expect_success 'a bad line, the first of all: the report tells that the run has failed; a queue that is not there leaves it' '
	echo bad >bad && test_expect_code 2 job --queue bad --report report && jq -es "length == 1 and .[0].type == \"summary\" and .[0].status == \"failed\"" report &&
	cp report before && test_expect_code 2 job --queue nowhere --report report && test_cmp before report
'

# --- lines ---------------------------------------------------------------------
test_expect_success '--lines: a line is a unit, and comes by stdin to who has it' '
	seq -f "line %.0f" 5000 >lines && evenstep run --local 3 --lines lines -- cat >got && cmp lines got &&
	evenstep run --local 3 --lines lines -- sh -c "test \$(wc -l) = {count} && echo {begin} {end}" >got && cat got &&
	sed -n "\$s/.* //p" got >last && echo 5000 | test_cmp - last
'
test_expect_success 'a last line without its newline, empty lines, long lines, and bytes of all kinds' '
	{ printf "\n\n\001\000\377\n"; head -c 300000 /dev/zero | tr "\\0" x; printf "\nend"; } >lines &&
	evenstep run --local 2 --lines lines --pieces 1 -- cat >got && cmp lines got
'
test_expect_success 'several frames of them, in bundles, and an agent killed: every line once a frame' '
	seq 200 >lines && cat lines lines >want && rm -f go started &&
	behind evenstep run --local 3 --lines lines --repeat 2 --policy manual:size=9 -- sh -c "echo x >>started; until test -e go; do sleep 0.05; done; cat" &&
	wait_for 60 sh -c "test \"\$(wc -l <started)\" -ge 3" && kill -KILL $(pgrep -P $run -x evenstep-agent | head -n 1) &&
	wait_for 60 grep -q "is lost" err && : >go && wait $run && run= && test_cmp want out
'
test_expect_success 'lines and a journal: resumed, also when the file has changed, but not by other records' '
	rm -f journal && evenstep run --local 2 --lines lines --journal journal -- cat >got && cmp lines got && truncate -s -200 journal &&
	evenstep run --local 2 --lines lines --journal journal --resume -- cat >got && cmp lines got && echo more >>lines &&
	evenstep run --local 2 --lines lines --journal journal --resume -- cat >got && cmp lines got &&
	test_expect_code 2 evenstep run --local 2 --lines lines --record 3 --journal journal --resume -- cat 2>err &&
	said "evenstep: --journal: journal: is of another work: lines repeat 1 grain 1: .*"
'

# --- bad input -----------------------------------------------------------------
while IFS='|' read -r text message; do
	test_expect_success "a queue of \"$text\": exit 2, says where and why" '
		printf %b "$text" >bad && test_expect_code 2 job --queue bad >got 2>err && said "evenstep: $message"
	'
done <<'END'
5:5\n|bad:1: 5:5 is empty: give a begin below the end
0:4\n4:9\n9:8\n|bad:3: 9:8 is reversed: give a begin below the end
0:4\nx:9\n|bad:2: "x:9" is no range: give BEGIN:END, whole numbers
7\n|bad:1: "7" is no range: give BEGIN:END, whole numbers
0:4.5\n|bad:1: "0:4.5" is no range: give BEGIN:END, whole numbers
\n|bad:1: "" is no range: give BEGIN:END, whole numbers
-1:4\n|bad:1: "-1:4" is no range: give BEGIN:END, whole numbers
0:9223372036854775808\n|bad:1: 0:9223372036854775808 is out of range: give an END below 2\^63
0:10\n5:15\n|bad:2: 5:15 overlaps line 1 of bad: give frames apart, or labels of their own
0:10 a\n0:10 b\n9:11 a\n|bad:3: 9:11 overlaps line 1 of bad: give frames apart, or labels of their own
0:10\n20:3|bad:2: ends in the middle of a line: end each line with a newline
0:1\00002\n|bad:1: has a NUL: give text
END
test_expect_success 'the frames before a bad line are done, and gathered' '
	printf "0:4 a\n0:4 b\nbad\n" >bad && want a 0 4 b 0 4 && rm -f file && test_expect_code 2 job --queue bad --gather file 2>err &&
	said "evenstep: bad:3: \"bad\" is no range: give BEGIN:END, whole numbers" && said "evenstep: 2 whole frames are kept in file" && test_cmp want file
'
test_expect_success 'a label too long, and a line' '
	{ printf "0:4 "; head -c 256 /dev/zero | tr "\\0" x; echo; } >bad && test_expect_code 2 job --queue bad 2>err &&
	said "evenstep: bad:1: its label is too long: give 255 bytes at most" &&
	head -c 5000 /dev/zero | tr "\\0" 1 >bad && test_expect_code 2 job --queue bad 2>err && said "evenstep: bad:1: is too long: .*"
'
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, says why" '
		test_expect_code 2 evenstep run --local 2 $options -- true >got 2>err && test ! -s got && said "evenstep: $message"
	'
done <<'END'
--queue nowhere|--queue: nowhere: No such file or directory: name a file that you may read
--queue .|--queue: .: Is a directory: name a file
--queue queue --repeat 2|--queue and --repeat exclude each other: give one of them
--queue queue --range 0:4|--range and --queue exclude each other: give one of them
--follow --range 0:4|--follow: there is no --queue or --each: give --queue FILE\|-, too
--lines nowhere|--lines: nowhere: No such file or directory: name a file of lines that you may read
--lines empty|--lines: empty: is empty: name a file of lines
--lines .|--lines: .: is no regular file: name a file of lines, or give - for standard input
END
test_done
