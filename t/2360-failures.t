#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='commands that fail: left out, found, tried again, told, and done again by a later run'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
# but BAD BEGIN END: prints the units, and fails at that one.
cat >but <<'END'
#!/bin/sh
echo "$EVENSTEP_FRAME $2 $3" >>begun
if test "$2" -le "$1" && test "$1" -lt "$3"; then
	echo "cannot do $1" >&2
	exit 3
fi
exec seq "$2" $(($3 - 1))
END
# upper: its lines in capitals; one that is "bad" it cannot.
cat >upper <<'END'
#!/bin/sh
echo x >>begun
while read -r line; do
	test "$line" != bad || exit 4
	echo "$line" | tr a-z A-Z
done
END
# flaky BEGIN END: without the file go, units from 5 to 40 hang, and those from 45 on fail.
cat >flaky <<'END'
#!/bin/sh
test -e go || test "$1" = 0 || test "$1" -ge 40 || exec sleep 60
test -e go || test "$1" -le 40 || exit 1
exec seq "$1" $(($2 - 1))
END
# second BEGIN END: fails where it has not been before.
cat >second <<'END'
#!/bin/sh
for unit in $(seq "$1" $(($2 - 1))); do
	mkdir "been-$unit" 2>&- && first=1
done
test -z "$first" || exit 7
exec seq "$1" $(($2 - 1))
END
chmod +x but upper flaky second
ends_with_test
job() { evenstep run --local 2 --metrics equal "$@"; }
# exits STATUS: how many lines of the job log have it.
exits() { awk -F'\t' -v status="$1" 'NR > 1 && $7 == status { n++ } END { print n + 0 }' log; }
# summary FILTER: of the report.
summary() { jq -es ".[-1] | .type == \"summary\" and ($1)" report; }
left_out() { grep -q '"type":"failed"' "$1"; }
seq 0 999 >whole && grep -vx 613 whole >holed

test_expect_success '--keep-going: a command that fails is left out, the rest comes in order, exit 1 and what is missing' '
	test_expect_code 1 job --range 0:1000 --keep-going --report report -- ./but 613 {begin} {end} >out 2>err &&
	said "evenstep: left out: frame 1, units [0-9]+:[0-9]+, local[01]: exited with status 3" &&
	said "evenstep: [0-9]+ units are left out: 1 command failed: with --journal FILE, --resume-failed tries again; report has all" &&
	set -- $(sed -n "s/^evenstep: left out: frame 1, units \([0-9]*\):\([0-9]*\),.*/\1 \2/p" err) &&
	test "$1" -le 613 && test 613 -lt "$2" && awk -v b="$1" -v e="$2" "\$1 < b || \$1 >= e" whole >want && test_cmp want out &&
	summary ".status == \"incomplete\" and .left_out == $2 - $1" &&
	jq -es ".[0] | .complete == false and .left_out == $2 - $1 and ([.slices[] | select(.left_out)] | length == 1 and .[0].status == 3)" report
'
test_expect_success '--bisect: one bad unit of a thousand is found, and only that is missing; nothing that went well is run again' '
	test_expect_code 1 job --range 0:1000 --bisect --keep-going --joblog log -- ./but 613 {begin} {end} >out 2>err && test_cmp holed out &&
	said "evenstep: left out: frame 1, units 613:614, local[01]: exited with status 3" &&
	said "evenstep: 1 unit is left out: 1 command failed: .*" && echo "tries that failed: $(exits 3)" && test "$(exits 3)" -le 12 &&
	awk -F"[\t:]" "NR > 1 { for (i = \$10; i < \$11; i++) { if (i in good) exit 1; if (\$7 == 0) good[i] } }" log
'
test_expect_success '--bisect alone: the run ends, and its message names the unit' '
	test_expect_code 1 job --range 0:1000 --bisect -- ./but 613 {begin} {end} >out 2>err && test -s out && grep -Fxf out holed | test_cmp - out &&
	said "evenstep: local[01]: frame 1, units 613:614: ./but exited with status 3: see its last words above"
'
test_expect_success '--bisect stops at the grain, in every frame' '
	test_expect_code 1 job --range 0:1000 --grain 8 --bisect --keep-going --repeat 2 -- ./but 613 {begin} {end} >out 2>err &&
	said "evenstep: left out: frame 1, units 608:616, .*" && said "evenstep: left out: frame 2, units 608:616, .*" &&
	said "evenstep: 16 units are left out: 2 commands failed: .*" && { seq 0 607; seq 616 999; } >once && cat once once | test_cmp - out
'
test_expect_success '--ok-status is not for programs that stay alive' '
	fails 2 ".*--ok-status and --persistent exclude each other.*" job --range 0:5 --ok-status 0,1 --persistent -- true
'
test_expect_success 'all fail: the run ends in order, with a bounded list and a report of all' '
	test_expect_code 1 job --range 0:100 --grain 2 --bisect --keep-going --repeat 2 --report report --joblog log -- false >out 2>err && test ! -s out &&
	said "evenstep: 200 units are left out: 100 commands failed: .*; report has all" && said "evenstep: left out: 90 more" &&
	said "evenstep: further failures are not told one by one" && test "$(grep -c "left out: frame" err)" = 10 && test "$(wc -l <err)" -lt 40 &&
	summary ".status == \"incomplete\" and .left_out == 200 and .frames == 2" &&
	jq -es "map(.slices[]? | select(.left_out)) | length == 100 and all(.status == 1)" report &&
	test "$(exits 1)" -ge 100 && test "$(exits 0)" = 0 && evenstep report report >table && grep "200 units are left out" table
'
test_expect_success '--keep-going=MAX: one failure more ends the run, as without' '
	test_expect_code 1 job --range 0:10 --grain 1 --bisect --keep-going=3 --report report -- sh -c "exit 5" >out 2>err && test ! -s out &&
	said "evenstep: more than 3 commands have failed \(--keep-going=3\): the run ends" &&
	said "evenstep: local[01]: frame 1, units .*: sh exited with status 5: it printed nothing on stderr" &&
	summary ".status == \"failed\" and .left_out == 3" &&
	test_expect_code 1 job --range 0:1000 --bisect --keep-going=1 -- ./but 613 {begin} {end} >out && test_cmp holed out &&
	fails 2 ".*--keep-going: \"0\" is out of range.*" job --range 0:5 --keep-going=0 -- true
'
test_expect_success '--retries: a command that goes well only the second time is no failure' '
	job --range 0:100 --retries 1 --keep-going --joblog log -- ./second {begin} {end} >out 2>err &&
	seq 0 99 | test_cmp - out && ! grep "left out" err && test "$(exits 7)" -ge 2
'
test_expect_success 'a node that can do nothing is left alone: the others do all' '
	evenstep run --local 3 --metrics equal --range 0:90 --keep-going -- sh -c "test {node} != local1 || exit 9; sleep 0.02; exec seq {begin} \$(({end} - 1))" >out 2>err &&
	seq 0 89 | test_cmp - out && said "evenstep: local1: frame 1, .* exited with status 9: it is tried again"
'
test_expect_success '--ok-status: a grep that finds nothing is no failure, one that cannot be run is' '
	seq 100 >numbers && grep 7 numbers >want &&
	job --lines numbers --pieces 16 --ok-status 0,1 --report report --joblog log -- grep 7 >out 2>err && test_cmp want out && ! grep -i fail err &&
	job --lines numbers --ok-status 0,1 --report none --joblog log -- grep x >out && test ! -s out && test "$(exits 1)" -ge 2 && test "$(exits 0)" = 0 &&
	jq -es "(.[0].slices | length > 1 and all(.status == 1 and .ok)) and .[1].status == \"done\" and .[0].complete" none &&
	evenstep report none >table && ! grep "left out" table && grep "^1  *100 " table
'
test_expect_success '--ok-status: what it never takes for success' '
	test_expect_code 1 job --lines numbers --ok-status 0,1 -- grep 2>err && mentioned "grep exited with status 2" &&
	test_expect_code 1 job --lines numbers --ok-status 0,137 -- sh -c "kill -9 \$\$" 2>err && mentioned "killed by signal 9" &&
	test_expect_code 1 job --lines numbers --ok-status 0,126,127 -- ./nothing 2>err && mentioned "could not be started" &&
	test_expect_code 1 job --lines numbers --ok-status 1 -- true 2>err && mentioned "true exited with status 0" &&
	fails 2 "evenstep: --ok-status: \"256\" is no exit status: give numbers from 0 to 255, as 0,1" job --lines numbers --ok-status 0,256 -- true
'
test_expect_success 'a run that fails in its first frame reports how far it came' '
	test_expect_code 1 job --range 0:100 --report report -- sh -c ": {end}; test {begin} = 0" >out 2>err &&
	summary ".status == \"failed\" and .frames == 0" &&
	jq -es ".[0] | .type == \"frame\" and .complete == false and ([.slices[] | select(.status == 1 and .left_out)] | length == 1)" report &&
	evenstep report report >table && grep "the run failed" table &&
	evenstep report --json report | jq -e ".ended == false and .status == \"failed\"" && evenstep replay --policy even <report
'
test_expect_success '--joblog: the columns of GNU parallel, a line as each command ends' '
	job --range 0:40 --joblog log -- sh -c "echo {begin} {end} \"\$0\"" "a  b" >out && head -1 log >got &&
	printf "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\tUnits\tFrame\tText\n" | test_cmp - got &&
	awk -F"\t" "NR > 1 && (NF != 12 || \$1 != NR - 1 || \$2 !~ /^local[01]\$/ || \$3 < 1.7e9 || \$4 !~ /^ *[0-9]+\.[0-9][0-9][0-9]\$/ || \$5 != 0 || \$6 < 8 || \$7 != 0 || \$8 != 0 || \$10 !~ /^[0-9]+:[0-9]+\$/ || \$11 != 0 || \$12 != \"\") { print; bad = 1 } END { exit bad || NR < 3 }" log &&
	tail -n +2 log | cut -f9 >commands && sh commands | sort -n >again && test_cmp out again &&
	seq 9 >nine && job --lines nine --joblog log --policy manual:size=3 -- cat >out &&
	cut -f10,12 log | sort >got && printf "%s\t%s\n" 0:3 "1\\n2\\n3" 3:6 "4\\n5\\n6" 6:9 "7\\n8\\n9" Units Text | test_cmp - got && awk -F"\t" "NR > 1 { n += \$5; m += \$6 } END { exit n != 18 || m != 18 }" log
'
test_expect_success '--joblog: Seq counts the lines, also of a queue and where a run goes on; a torn line is cut off' '
	printf "0:4 a\n4:8 b\n8:12 c\n" >queue && job --queue queue --journal queued --joblog log -- echo {begin} {end} >out &&
	printf "12:16 d\n" >>queue && printf "9\tloc" >>log && job --queue queue --journal queued --resume --joblog log -- echo {begin} {end} >out &&
	tail -n +2 log | cut -f1 >got && seq "$(wc -l <got)" | test_cmp - got && grep -P "\t12:1[0-9]\t3\td\$" log &&
	echo mine >mine && fails 2 "evenstep: --joblog: mine: it is no job log: name a file that you may write" job --range 0:4 --journal other --resume --joblog mine -- true &&
	echo mine | test_cmp - mine
'
test_expect_success '--joblog that cannot be written is told before anything begins' '
	rm -f begun && fails 2 ".*--joblog: nowhere/log: No such file or directory: name a file that you may write" job --range 0:9 --joblog nowhere/log -- ./but 9 {begin} {end} &&
	fails 2 ".*--joblog: /dev/full: No space left on device: .*" job --range 0:9 --joblog /dev/full -- ./but 9 {begin} {end} && test ! -e begun
'
test_expect_success 'what was left out stays out with --resume, and is done with --resume-failed' '
	seq 200 | sed "s/.*/line&/" >clean && sed "77s/.*/bad/; 150s/.*/bad/" clean >lines && tr a-z A-Z <clean >upped &&
	sed "77d; 150d" upped >want && cat want want >twice && cat upped upped >all &&
	test_expect_code 1 job --lines lines --repeat 2 --bisect --keep-going --journal journal --joblog log -- ./upper >out 2>err && test_cmp twice out &&
	mentioned "4 lines are left out: 4 commands failed: --resume-failed tries again; log has all" && before=$(wc -l <log) &&
	rm -f begun && test_expect_code 1 job --lines lines --repeat 2 --journal journal --resume --report report --joblog log -- ./upper >out 2>err && test_cmp twice out &&
	test ! -e begun && said "evenstep: left out: frame 2, line 150, local[01]: exited with status 4 in a run before" && summary ".left_out == 4" && lines log "$before" &&
	test_expect_code 1 job --lines lines --repeat 2 --keep-going --journal journal --resume-failed --joblog log -- ./upper >out 2>err && test_cmp twice out &&
	tries=$(wc -l <begun) && test "$tries" -ge 4 && test "$tries" -le 8 && lines log $((before + tries)) && cp journal mended && cp journal fixed
'
# What the front end has of others is in its job log: "log" tells when they have come.
# slow HOW: its line; line 108 "fails" once all before it and 200 in all have come, or line 1 "hangs".
cat >slow <<'END'
#!/bin/sh
read -r line
is_late() { awk -F'\t' 'NR > 1 && $12 < 108 { n++ } END { exit n != 107 || NR <= 200 }' log; }
case $1-$line in
fails-108) until is_late; do sleep 0.05; done; exit 3 ;;
hangs-1) exec sleep 600 ;;
esac
echo "$line"
END
# upper2: its lines, but fails at line 300, when the first have come.
cat >upper2 <<'END'
#!/bin/sh
cat
test "$EVENSTEP_END" != 300 || { until grep -q "	0:" log; do sleep 0.05; done; exit 5; }
END
chmod +x slow upper2
by_one() { job --slots 3 --policy manual:size=1 --joblog log --lines lines "$@"; }
one_each() { rm -f file file.rest && seq 300 >lines && by_one "$@"; }
test_expect_success 'one failure of 300 ends the run: what is before it is in FILE, what came after it in FILE.rest, and what is missing is named' '
	test_expect_code 1 one_each --gather file -- ./slow fails 2>err && seq 107 | test_cmp - file &&
	test "$(wc -l <file.rest)" -ge 93 && seq 109 300 >after && grep -Fxf file.rest after | test_cmp - file.rest &&
	said "evenstep: local[01]: frame 1, line 108: ./slow exited with status 3: it printed nothing on stderr" &&
	said "evenstep: file: lines 1 to 107 are kept, lines? 108.* (is|are) missing; what came after (it|the first of these) is in file.rest"
'
test_expect_success 'a FILE.rest that is there stays, and what cannot be written is said' '
	cp file.rest before && test_expect_code 1 by_one --gather file -- ./slow fails 2>err && test_cmp before file.rest && test -s file.rest.2 &&
	mentioned "; what came after .* is in file.rest.2$" && test_expect_code 1 job --joblog log --lines lines -- ./upper2 >/dev/full 2>err && said "evenstep: standard output: No space left on device: what is done of the rest is lost"
'
test_expect_success 'without FILE it is printed, in order; with a journal it is there, and --resume-failed prints all once' '
	test_expect_code 1 one_each -- ./slow fails >out 2>err && seq 300 | grep -vx 108 >but108 && test "$(wc -l <out)" -ge 200 && grep -Fxf out but108 | test_cmp - out &&
	said "evenstep: standard output: lines 1 to 107 are printed, lines? 108.* (is|are) missing; what came after .* is printed, too" &&
	test_expect_code 1 one_each --journal held --gather file -- ./slow fails 2>err && seq 107 | test_cmp - file && test ! -e file.rest &&
	said "evenstep: file: lines 1 to 107 are kept, .*; what came after .* is in held" && said "evenstep: what is done is kept in held: --resume goes on with it" &&
	sed -i "108s/.*/8/" lines && job --slots 3 --policy manual:size=1 --lines lines --journal held --resume --gather file -- ./slow fails && test_cmp lines file
'
test_expect_success 'a signal while the first line hangs: the others are kept' '
	rm -f file file.rest log && seq 100 >lines && all_but_two() { test "$(wc -l <log)" -gt 98; } && # the other is behind it
	behind evenstep run --local 2 --metrics equal --policy manual:size=1 --lines lines --joblog log --gather file -- ./slow hangs && wait_for 60 test -e log && wait_for 60 all_but_two &&
	kill -HUP $run && test_expect_code 129 wait $run && run= && test ! -e file && test "$(wc -l <file.rest)" -ge 98 &&
	seq 2 100 >after && grep -Fxf file.rest after | test_cmp - file.rest &&
	said "evenstep: file: lines? 1.* (is|are) missing; what came after (it|the first of these) is in file.rest"
'
test_expect_success 'a line that was mended is done by --resume, and only what has it; the output is that of a clean run' '
	sed "150s/.*/bad/" clean >lines && rm -f begun && sed 150d upped >want && cat want want >once &&
	test_expect_code 1 job --lines lines --repeat 2 --journal mended --resume -- ./upper >out 2>err && test_cmp once out && lines begun 2 &&
	cp clean lines && rm -f begun && job --lines lines --repeat 2 --journal mended --resume --gather file -- ./upper 2>err && test_cmp all file && lines begun 2 &&
	rm -f begun && job --lines lines --repeat 2 --journal mended --resume-failed -- ./upper >out && test_cmp all out && test ! -e begun
'
test_expect_success '--resume-failed after all was mended: as if nothing had been' '
	cp clean lines && rm -f begun && job --lines lines --repeat 2 --journal fixed --resume-failed -- ./upper >out && test_cmp all out && lines begun 4
'
test_expect_success '--resume where a good line was changed, lines were added or taken away: as a clean run' '
	for edit in "100s/.*/another/" 180d "50a more" "\$a last" "1,150d"; do
		sed -i "$edit" lines && job --lines lines --repeat 2 --journal fixed --resume -- ./upper >out &&
		tr a-z A-Z <lines >want && cat want want | test_cmp - out || return 1
	done &&
	cp clean lines && job --lines lines --repeat 2 --journal fixed --resume -- ./upper >out && test_cmp all out
'
test_expect_success 'lines that are added behind half a grain: pieces still begin at grains' '
	for lines in 95 120; do
		seq $lines >lines && job --lines lines --grain 10 --journal grains --resume --joblog log -- sh -c "cat; : from {begin}" >out && test_cmp lines out || return 1
	done &&
	sed -n "s/.*from \([0-9]*\).*/\1/p" log >begins && cat begins && test "$(wc -l <begins)" -gt 2 && ! grep -v "0\$" begins
'
test_expect_success 'commands that hang, each time, are left out, and no node with them' '
	test_expect_code 1 job --range 0:6 --policy manual:size=1 --timeout 2 --retries 1 --keep-going --joblog log -- \
		sh -c "case {begin} in 1 | 2 | 4) exec sleep 60 ;; esac; seq {begin} \$(({end} - 1))" >out 2>err && ! grep -E "lost|given up" err &&
	{ echo 0; echo 3; echo 5; } >want && test_cmp want out && test "$(exits -1)" = 6 &&
	said "evenstep: left out: frame 1, units 4:5, local[01]: still ran after 2 s" && said "evenstep: 3 units are left out: 3 commands failed: .*"
'
test_expect_success 'another work is refused still' '
	fails 2 ".*--journal: fixed: is of another command: .*" job --lines lines --repeat 2 --journal fixed --resume -- cat &&
	fails 2 ".*--journal: fixed: is of another work: .*" job --lines lines --repeat 3 --journal fixed --resume -- ./upper
'
# parent BEGIN END: on local0 it has a child that would go on, and a daemon, and waits.
cat >parent <<'END'
#!/bin/sh
if test "$EVENSTEP_NODE" = local0; then
	sh -c 'echo $$ >child; exec sleep 600' &
	setsid sh -c 'echo $$ >daemon; exec sleep 600' &
	wait
fi
exec seq "$1" $(($2 - 1))
END
chmod +x parent
# Whoever starts us may ignore the ends of his children; we do not.
for as in "" "env --ignore-signal=CHLD"; do
test_expect_success "an agent is killed: what its command has started goes with it, but no daemon${as:+ ($as)}" '
	rm -f child daemon && seq 0 19 >want.parent && behind $as evenstep run --local 2 --metrics equal --policy static --range 0:20 -- ./parent {begin} {end} && wait_for 60 test -s child && wait_for 60 test -s daemon &&
	for agent in $(pgrep -P "$run" -x evenstep-agent); do
		! tr "\0" "\n" <"/proc/$agent/environ" | grep -qx EVENSTEP_AGENT=local0 || kill -KILL "$agent" || return 1
	done && wait_for 60 dead "$(cat child)"; code=$?; dead "$(cat daemon)"; lives=$?; kill "$(cat daemon)" "$(cat child)" 2>&-
	wait $run && run= && test $code = 0 && test $lives = 1 && test_cmp want.parent out
'
done
test_expect_success 'the front end is killed while commands fail: --resume-failed brings all' '
	behind evenstep run --local 2 --metrics equal --policy static --range 0:80 --grain 5 --pieces 8 --keep-going --journal cut -- ./flaky {begin} {end} &&
	{ wait_for 60 left_out cut || { cat err; false; }; } && kill -KILL $run && test_expect_code 137 wait $run && run= &&
	: >go && job --policy static --range 0:80 --grain 5 --journal cut --resume-failed -- ./flaky {begin} {end} >out && seq 0 79 | test_cmp - out
'
test_done
