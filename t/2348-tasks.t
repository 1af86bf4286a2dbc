#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='tasks: command lines and values, one process each; every one once, and how it ended'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
ends_with_test

# rows L: Seq, Exitval and Signal of a job log, in the order of the lines.
rows() { tail -n +2 "$1" | cut -f1,7,8 | sort -n; }
# ran_once FILE FIRST LAST: each of these numbers is in it once.
ran_once() { sort -n "$1" | diff - "$2"; }
# twice_in N FILE: numbers that stand in it twice are of N runs of neighbours at most.
twice_in() { sort -n "$2" | uniq -d | awk -v most="$1" '$1 != last + 1 { n++ } { last = $1 } END { print n + 0, "of", most; exit n > most }'; }

# 300 command lines: want has their statuses, printed what those print that end well.
make_lines() {
	awk 'BEGIN {
	for (i = 1; i <= 300; i++) {
		status = 0; signal = 0; does = "echo " i
		if (i == 50) { does = "exec sleep 1000"; status = -1; signal = 15 }
		else if (i == 51) { does = "trap \"\" TERM; while :; do sleep 0.1; done"; status = -1; signal = 9 }
		else if (i == 60) { does = "kill -9 $$"; signal = 9 }
		else if (i == 61) { does = "trap \"kill 0\" EXIT; exit 0"; signal = 15 }
		else if (i == 62) { does = "kill -9 0"; signal = 9 }
		else if (i == 70) { does = "no-such-program --x"; status = 127 }
		else if (i == 71) { does = "./not-executable"; status = 126 }
		else if (i == 72) { does = "if then"; status = 2 }
		else if (i % 20 == 1) { does = "exit " i % 7 + 1; status = i % 7 + 1 }
		else if (i % 20 == 2) { does = "cat; exit 0; echo never" }
		else if (i % 20 == 3) { does = "echo \"a  '"'"'$((1 + 1))'"'"'\" | tr a b" }
		else if (i % 20 == 4) { does = "cd /; leaks=1; export leaks; pwd" }
		else if (i % 20 == 5) { does = "test \"${leaks-none}\" = none && test -e cmds && echo clean" }
		else if (i % 20 == 6) { does = "echo bad " i " >&2; echo good" }
		else if (i % 20 == 7) { does = "sleep 0.0" i % 10 "; sleep 1000 & echo left" }
		else if (i % 20 == 8) { does = "printf \"%s\\\\n\" \\\\t {} {1} {{x}} \"#\" '"'"'a\"b'"'"'" }
		else if (i % 20 == 9) { does = "false | true; (exit 3) || echo other" }
		print (i == 72 ? "" : "echo " i " >>ran; ") does
		print i "\t" status "\t" signal >"want"
		if (i % 20 == 0) print "# a comment"
		if (i % 50 == 0) print ""
	} }' >cmds
}

test_expect_success '300 command lines: each runs once, however the others end' '
	make_lines && grep -vc -e "^#" -e "^\$" cmds >count && echo 300 | test_cmp - count && echo x >not-executable &&
	test_expect_code 1 evenstep tasks cmds --timeout 1 --joblog L >out 2>err && tail -n 30 err &&
	seq 300 | sed "72d" | LC_ALL=C sort >all && LC_ALL=C sort ran | test_cmp all -
'
test_expect_success '  the status of each is its own' 'rows L >got && test_cmp want got'
test_expect_success '  evenstep report tells of the job log which failed, and the slowest' '
	evenstep report L >tale && failed=$(awk "\$2 != 0 || \$3 != 0" want | wc -l) && grep "^300 tasks in .* s, $failed failed; " tale &&
	grep -E "^ +50 +-1 +15 .* exec sleep 1000" tale && sed -n "/^slowest/,/^times/p" tale | grep -E "^ +5[01] +[1-9]" && grep "^ *and [0-9]* more$" tale &&
	test_expect_code 2 evenstep report --json L 2>why && grep "^evenstep: report: L is a job log" why && head -1 L >bare && evenstep report bare | grep "no task has ended"
'
test_expect_success '  of those that end well all output is there, in their order' '
	sh -c "$(grep -vE "^#|^\$" cmds | awk "NR != 50 && NR != 51 && NR != 60 && NR != 61 && NR != 62 && NR != 72" |
		sed "s/sleep 1000 & //; s/.*/(&) <\/dev\/null/; s/>>ran/>>again/")" >whole 2>&- ; test_cmp whole out
'
test_expect_success '  stderr comes, too, and those that failed are counted and named' '
	for each in 6 26 286; do said "bad $each" >seen || return 1; done && failed=$(awk "\$2 != 0 || \$3 != 0" want | wc -l) &&
	mentioned "300 tasks in .*, $failed failed" && mentioned "^evenstep: $failed tasks failed: --resume-failed"
'
test_expect_success '  nothing that they have left is there' 'test -z "$(grep -lzsxF "HOME=$HOME" /proc/[0-9]*/environ | while read -r each; do tr "\\0" " " <"${each%environ}cmdline"; done | grep "sleep 100[0]")"'
test_expect_success '--resume runs nothing, and prints the same' '
	cp ran before && test_expect_code 1 evenstep tasks cmds --timeout 1 --resume >again 2>err && cat err && test_cmp before ran && test_cmp out again
'
test_expect_success '--resume-failed runs what has failed, and what was mended' '
	rm -f ran && sed "s/exit [1-7]\$/echo mended/; s/no-such-program --x/echo found/; s/^if then/echo 72 >>ran; echo syntax/" cmds >new && cat new >cmds &&
	test_expect_code 1 evenstep tasks cmds --timeout 1 --resume-failed >out 2>err && cat err &&
	awk "\$2 != 0 || \$3 != 0 { print \$1 }" want >failed && sort -n ran | test_cmp failed - &&
	grep -c mended out >n && echo 14 | test_cmp - n && mentioned "^evenstep: 6 tasks failed" && grep -x found out && grep -x syntax out
'
test_expect_success 'values are run likewise, whatever is in them, and what is printed is in their order' '
	evenstep run --each -- sh -c "printf \"<%s>\" \"\$1\"; echo" - {} ::: "a  b" "it'"'"'s" "\$HOME" "" "{}" "#" "*" >out &&
	printf "<%s>\n" "a  b" "it'"'"'s" "\$HOME" "" "{}" "#" "*" >whole && test_cmp whole out
'
test_expect_success 'a million values, many to a command' '
	seq 1000000 >million && evenstep run --each -X --lines million -- echo >out && tr " " "\n" <out | cmp - million
'
test_expect_success 'ten thousand, one process each' 'seq 10000 | evenstep run --each --lines - -- echo {} >out && seq 10000 | cmp - out'
test_expect_success 'lines that come by a pipe' 'printf "echo a\necho b >&2; exit 2\necho c" | test_expect_code 1 evenstep tasks - >out 2>err && printf "a\nc\n" | test_cmp - out && said b'
test_expect_success 'a task that prints 200 MB comes out whole, and the others around it' '
	{ echo echo first; echo "head -c 200000000 /dev/zero"; echo echo last; } >large && evenstep tasks large --resume >out &&
	{ echo first; head -c 200000000 /dev/zero; echo last; } | cmp - out && rm out large .evenstep-tasks/large.journal
'

# --- a run that ends early ---------------------------------------------------

seq 100 | sed "s/.*/echo & >>ran; sleep 0.05; echo &/" >slow
seq 100 >each
at_least() { test -e "$2" && test "$(wc -l <"$2")" -ge "$1"; }
no_agents_here() { for each in $(pgrep evenstep-agent); do ! grep -qzsxF "HOME=$HOME" "/proc/$each/environ" || return 1; done; }
for signal in KILL TERM INT; do
	test_expect_success "SIG$signal in the middle: --resume goes on, and nothing is lost, nor done twice but what was at hand" '
		rm -f ran && behind setsid env --default-signal=INT evenstep tasks slow -j 2 && wait_for 60 at_least 50 ran && kill -$signal -$run && { wait $run; code=$?; } &&
		wait_for 60 no_agents_here && cat err && ! lines ran 100 &&
		{ test $signal = KILL || { mentioned ": --resume goes on with it" && test $code -ge 3; }; } &&
		{ test $signal != TERM || { test $code = 4 && mentioned "stopped by SIGTERM: [0-9]* tasks are left: " && twice=0; }; } && # what is at hand ends, and counts
		cp ran first && evenstep tasks slow -j 2 --resume >out 2>err && cat err && test_cmp each out && sort -nu ran | test_cmp each - && twice_in ${twice-2} ran && unset twice
	'
done
test_expect_success 'Ctrl-C when all but the first are done: those are kept' '
	{ echo "until test -e go; do sleep 0.05; done; echo 1 >>ran; echo 1"; tail -n +2 slow; } >first && rm -f ran &&
	behind setsid env --default-signal=INT evenstep tasks first -j 2 && wait_for 60 at_least 90 ran && sleep 0.3 && kill -INT -$run && { wait $run; wait_for 60 no_agents_here; } && cat err &&
	: >go && cp ran before && evenstep tasks first -j 2 --resume >out 2>err && test_cmp each out && sort -nu ran | test_cmp each - && twice_in 2 ran
'

# --- the journal beside it ---------------------------------------------------

test_expect_success 'a second run begins anew, and the journal of the one before is kept aside' '
	echo "echo x >>ran" >one && rm -f ran && evenstep tasks one && cp .evenstep-tasks/one.journal before && evenstep tasks one && lines ran 2 && cmp before .evenstep-tasks/one.journal.old
'
test_expect_success 'but not of one that is at work' '
	echo "echo x >>started; until test -e go; do sleep 0.05; done" >held && behind evenstep tasks held && wait_for 60 started 1 &&
	test_expect_code 2 evenstep tasks held 2>again && cat again && grep "held.journal: another run is using it" again &&
	: >go && wait $run && lines started 1 && evenstep tasks held --resume && lines started 1
'
test_expect_success 'where there can be none the run goes on, and says so' '
	mkdir -p sub && echo "echo x" >sub/one && echo >sub/.evenstep-tasks && evenstep tasks sub/one >out 2>err && echo x | test_cmp - out && mentioned "warning: no journal of this run beside sub/one: "
'
! unshare -m mount -t tmpfs none . 2>&- || test_set_prereq MOUNT
test_expect_success MOUNT 'as in a folder that is mounted read-only' '
	rm -rf sub/.evenstep-tasks && unshare -m sh -c "mount --bind sub sub && mount -o remount,ro,bind sub && evenstep tasks sub/one" >out 2>err && echo x | test_cmp - out &&
	mentioned "warning: no journal of this run beside sub/one: Read-only" && test ! -e sub/.evenstep-tasks
'

# --- a list that was edited ----------------------------------------------------

# edited LINES: what ran again, and that all is printed as the list has it now.
edited() {
	test_expect_code 0 evenstep tasks --local 2 -j 1 edit --resume >out 2>err && cat err && printf "%s\n" "$@" >want && sort -n ran | test_cmp want - &&
	sed -n "s/^echo .* >>ran; echo //p" edit | test_cmp - out && : >ran
}
test_expect_success 'lines that have changed run again, and no other' '
	seq 60 | sed "s/.*/echo & >>ran; echo out &/" >edit && evenstep tasks --local 2 -j 1 edit >out && : >ran &&
	sed -i "s/out 20\$/new 20/; s/out 41\$/new 41/" edit && edited 20 41 && mentioned "^evenstep: edit: 2 lines have changed since: they run again$" &&
	printf "" >want && evenstep tasks edit --resume >again 2>err && cat err && test_cmp out again && test ! -s ran && ! grep changed err
'
test_expect_success '  nor do those that stand elsewhere since' '
	sed -i -e "1i # a comment" -e "5d" -e "10i echo 1000 >>ran; echo in between" edit && edited 1000 && mentioned "edit: 1 line has changed since: it runs again" &&
	sort -r edit >other && cat other >edit && printf "echo 1001 >>ran; echo more\n" >>edit && edited 1001 && ! grep changed err
'
test_expect_success '  nor after a barrier that is new; a line that stands there twice has run once' '
	sed -i "30i #EVENSTEP barrier" edit && sed -i "40s/.*/#EVENSTEP barrier/" edit && tail -n 1 edit >last && cat last >>edit && edited 1001
'
test_expect_success '  where the number of a task is in its command it runs again' '
	printf "%s\n" a b c >values && evenstep run --local 1 -j 1 --each --lines values --journal J -- sh -c "echo {#} {} | tee -a numbered" >out && printf "%s\n" a x b c >values &&
	rm numbered && evenstep run --local 1 -j 1 --each --lines values --journal J --resume -- sh -c "echo {#} {} | tee -a numbered" >out 2>err && cat err && printf "%s\n" "2 x" "3 b" "4 c" | test_cmp - numbered &&
	{ echo "1 a"; cat numbered; } | test_cmp - out && mentioned ": 2 tasks have changed since: they run again"
'
test_expect_success '  one that was mended runs again by --resume, others that failed by --resume-failed' '
	printf "%s\n" "exit 3" "echo a" "exit 4" >bad && test_expect_code 1 evenstep tasks bad >out && sed -i "1s/.*/echo mended/" bad &&
	test_expect_code 1 evenstep tasks bad --resume --joblog M >out 2>err && cat err && printf "mended\na\n" | test_cmp - out && test "$(tail -n +2 M | cut -f1)" = 1
'

# --- memory ------------------------------------------------------------------
# A control group of 150 MiB: two tasks of 100 MiB do not fit.
group=/sys/fs/cgroup/memory/evenstep-test-$$
if mkdir "$group" 2>/dev/null && echo 150m >"$group/memory.limit_in_bytes"; then
	test_set_prereq GROUP
fi
# in_group COMMAND...
in_group() { sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"; }
cat >eat <<'END'
my $text = "";
vec($text, $ARGV[0] * 1048576, 8) = 1;
sleep 1;
print "$ARGV[0]\n";
END
test_expect_success GROUP 'killed for want of memory: named, and run again alone' '
	in_group evenstep run --local 1 --metrics equal --slots 2 --each --joblog log -- perl eat {} ::: 100 101 >out 2>err; code=$?; cat err && test $code = 0 && printf "100\n101\n" | test_cmp - out &&
	mentioned "evenstep: killed for want of memory: run again, alone on this node" && tail -n +2 log | cut -f11 | sort -n | tail -1 >n && echo 2 | test_cmp - n
'
test_expect_success GROUP 'one that is too large alone, too, has failed, and is said to be' '
	in_group evenstep run --local 1 --metrics equal --slots 2 --each -- perl eat {} ::: 10 300 >out 2>err; code=$?; cat err && test $code = 1 && echo 10 | test_cmp - out &&
	mentioned "failed: .*was killed for want of memory, alone on its node, too"
'
rmdir "$group" 2>/dev/null || :

# --- what is no list of tasks ------------------------------------------------

test_expect_success 'a file that is not there, a folder, an empty one and a program are refused' '
	: >empty && fails 2 "evenstep: tasks: /no/such: No such file.*" evenstep tasks /no/such &&
	fails 2 "evenstep: tasks: sub: is a directory.*" evenstep tasks sub &&
	fails 2 "evenstep: tasks: empty: no tasks.*" evenstep tasks empty &&
	fails 2 "evenstep: tasks: .*/evenstep:1: has a NUL.*" evenstep tasks "$EVENSTEP_BUILD/evenstep"
'
test_expect_success 'an instruction of disBatch, which other programs would follow, is not passed over' '
	printf "echo a\n#DISBATCH PREFIX x\necho b\n" >bar && fails 2 "evenstep: tasks: bar:2: is an instruction that the list cannot have: .*" evenstep tasks bar &&
	printf "#EVENSTEP nodes=4\necho a\n" >bar && fails 2 "evenstep: tasks: bar:1: \"nodes=4\" is an instruction.*" evenstep tasks bar &&
	printf "# DISBATCH\n #x\necho a\n" >bar && evenstep tasks bar >out 2>err && echo a | test_cmp - out
'
test_expect_success 'so is a line that no program can get' '
	{ echo echo a; head -c 1000000 /dev/zero | tr "\\0" x; echo; } >long && fails 2 "evenstep: tasks: long:2: 1000000 bytes, and an argument has 131071 at most.*" evenstep tasks long
'
test_expect_success 'values that are too many for a program fail, and no other' '
	head -c 120000 /dev/zero | tr "\\0" x >word && { echo a; cat word; echo; echo b; } >words &&
	test_expect_code 1 evenstep run --each --lines words -- echo {} {} $(for each in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do echo {}; done) 2>err >out && cat err && lines out 2 && mentioned "rgument list too long"
'

test_done
