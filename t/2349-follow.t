#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a list of tasks that grows, and barriers in one: each line once, in order, and nothing before its time'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
ends_with_test

# ran N: so many tasks have said so.
ran() { lines ran "$1"; }
at_least() { test -e "$2" && test "$(wc -l <"$2")" -ge "$1"; }
# fresh LIST: an empty one, and nothing has run.
fresh() { rm -rf ran go .evenstep-tasks "$1" && : >"$1"; }
no_agents_here() { for each in $(pgrep evenstep-agent); do ! grep -qzsxF "HOME=$HOME" "/proc/$each/environ" || return 1; done; }

# --- a list that grows -------------------------------------------------------

test_expect_success 'tasks begin as their lines come, and the run ends when the list does' '
	fresh list && behind evenstep tasks --follow list && echo "echo a >>ran; echo a" | evenstep tasks --add - list && wait_for 60 ran 1 && wait_for 60 lines out 1 &&
	printf "# no task\n\necho b >>ran; echo b" >more && evenstep tasks --add more list && wait_for 60 ran 2 && kill -0 $run &&
	evenstep tasks --close list && wait $run && run= && printf "a\nb\n" | test_cmp - out && mentioned "^evenstep: 2 tasks in [0-9.]* s$"
'
test_expect_success 'one that has ended takes no more, and ends but once' '
	cp list before && fails 2 "evenstep: list: has ended: .#EVENSTEP end. is its last line: add to another list: .*" sh -c "echo echo c | evenstep tasks --add - list" &&
	evenstep tasks --close list 2>err && said "evenstep: list: has ended before" && test_cmp before list
'
test_expect_success 'it is a list like any other then' 'evenstep tasks list >out 2>err && cat err && printf "a\nb\n" | test_cmp - out'
test_expect_success 'what stands behind its end is told, and not run' '
	{ cat before; echo "echo never"; } >behind && evenstep tasks behind >out 2>err && printf "a\nb\n" | test_cmp - out && mentioned "warning: tasks: behind:[0-9]*: the list ends here, and what stands behind it is not run"
'
test_expect_success 'a task that takes long holds nothing back but the output behind it' '
	fresh list && echo "until test -e go; do sleep 0.05; done; echo 0" >list && behind evenstep tasks --follow list -j 2 --joblog L &&
	for each in $(seq 150); do echo "echo $each >>ran; echo $each"; done >lines && head -n 30 lines | while read -r each; do echo "$each" | evenstep tasks --add - list || exit 1; done &&
	wait_for 60 ran 30 && tail -n +31 lines >rest && evenstep tasks --add rest --close list && wait_for 60 ran 150 && test ! -s out && : >go && wait $run && run= && seq 0 150 | test_cmp - out &&
	tail -n +2 L | cut -f1 | sort -n >seqs && seq 151 | test_cmp - seqs
'
test_expect_success 'with --unordered not even that' '
	fresh list && echo "until test -e go; do sleep 0.05; done; echo 0" >list && behind evenstep tasks --follow list -j 2 --unordered &&
	seq -f "echo %g" 20 | evenstep tasks --add - list && wait_for 60 lines out 20 && : >go && evenstep tasks --close list && wait $run && run= && tail -n 1 out | grep -x 0
'
test_expect_success 'many add at once: each line is one task, whole' '
	fresh list && behind evenstep tasks --follow list && for each in 1 2 3 4 5 6; do
		seq -f "$(printf "%0.s " $(seq 500))echo $each-%g" 40 | evenstep tasks --add - list & adders="$adders $!"
	done && wait $adders && evenstep tasks --close list && wait $run && run= && lines list 241 &&
	for each in 1 2 3 4 5 6; do seq -f "$each-%g" 40; done | sort >all && sort out | test_cmp all -
'
test_expect_success 'a line without its newline is no task yet; with the end of the list it is' '
	fresh list && behind evenstep tasks --follow list && printf "echo a >>ran; ec" >>list && sleep 0.5 && test ! -e ran && echo "ho a" >>list && wait_for 60 ran 1 &&
	printf "echo b" >>list && evenstep tasks --close list && wait $run && run= && printf "a\nb\n" | test_cmp - out
'
test_expect_success 'the list may be a named pipe, with one writer after the other' '
	rm -f pipe ran && mkfifo pipe && behind evenstep tasks --follow pipe && echo "echo a >>ran; echo a" >pipe && wait_for 60 ran 1 && echo "echo b" | evenstep tasks --add - pipe &&
	evenstep tasks --close pipe && wait $run && run= && printf "a\nb\n" | test_cmp - out && test ! -e .evenstep-tasks/pipe.journal
'
test_expect_success 'or standard input, which ends it' '
	{ echo "echo a >>ran"; wait_for 60 ran 1 && echo "echo b >>ran"; printf "echo c"; } | { rm -f ran; evenstep tasks --follow - >out; } && echo c | test_cmp - out && ran 2
'
test_expect_success 'or values of one command' '
	fresh list && echo "a  b" >list && behind evenstep run --each --lines list --follow -- echo {} && wait_for 60 lines out 1 && echo c >>list && evenstep tasks --close list && wait $run && run= && printf "a  b\nc\n" | test_cmp - out
'
test_expect_success 'an empty one is done when it ends' 'fresh list && evenstep tasks --close list && evenstep tasks --follow list >out 2>err && mentioned "^evenstep: 0 tasks in" && test ! -s out'
test_expect_success 'failures are told with their lines, and --halt ends the run' '
	fresh list && behind evenstep tasks --follow list && printf "exit 3\necho a\n" | evenstep tasks --add - list && echo "exit 4" | evenstep tasks --add - --close list && test_expect_code 1 wait $run && run= &&
	mentioned "^evenstep: 3 tasks in .* s, 2 failed$" && mentioned "failed: list:1: exit 3: " && mentioned "failed: list:3: exit 4: " && echo a | test_cmp - out &&
	fresh list && behind evenstep tasks --follow list --halt soon,fail=1 && echo "exit 3" >>list && test_expect_code 1 wait $run && run= && mentioned "1 task has failed, and --halt"
'
test_expect_success '--results has a folder for each' '
	fresh list && behind evenstep tasks --follow list --results R && echo "echo a" | evenstep tasks --add - list && wait_for 60 test -s "R/1/echo a/stdout" && echo "echo b" | evenstep tasks --add - --close list && wait $run && run= &&
	echo b | test_cmp - "R/1/echo b/stdout"
'
test_expect_success 'top says so far' '
	fresh list && echo "until test -e go; do sleep 0.05; done" >list && behind evenstep tasks --follow list && echo "echo a" >>list && wait_for 60 sh -c "evenstep top --once >top 2>&1; cat top; grep \"/2 tasks so far\" top" &&
	: >go && evenstep tasks --close list && wait $run && run=
'

test_expect_success 'of short tasks many are sent at once; what is behind one that proves long goes elsewhere' '
	fresh list && rm -f go && behind evenstep tasks --local 1 -j 2 --follow list && seq 400 | sed "s/.*/echo & >>ran; echo &/" | evenstep tasks --add - list && wait_for 60 ran 400 &&
	{ echo "until test -e go; do sleep 0.05; done; echo 401"; seq 402 600 | sed "s/.*/echo & >>ran; echo &/"; } | evenstep tasks --add - list && wait_for 60 ran 599 && : >go && evenstep tasks --close list && wait $run && run= &&
	seq 600 | test_cmp - out && sort -n ran | uniq -d | test_cmp /dev/null - && jq -r "select(.type == \"slice\" and .end - .begin > 2) | .begin" .evenstep-tasks/list.journal >many && test -s many
'

test_expect_success 'what ended before a long one in the same piece counts at once: output, job log, failures' '
	fresh list && rm -f go L && behind evenstep tasks --local 1 -j 1 --follow list --joblog L && seq 400 | sed "s/.*/echo & >>ran; echo &/" | evenstep tasks --add - list && wait_for 60 ran 400 &&
	{ echo "echo 401"; echo "echo why >&2; exit 3"; echo "echo 403"; echo "until test -e go; do sleep 0.05; done; echo 404"; } | evenstep tasks --add - list &&
	wait_for 60 lines L 404 && wait_for 60 lines out 402 && grep -x why err && cut -f1,7 L | grep -x "402	3" && : >go && evenstep tasks --close list && test_expect_code 1 wait $run && run= &&
	{ seq 401; seq 403 404; } | test_cmp - out && lines L 405
'
test_expect_success 'one that ends as it proves long has ended well' '
	fresh list && behind evenstep tasks --local 1 -j 1 --follow list --joblog M && seq 400 | sed "s/.*/echo & >>ran; echo &/" | evenstep tasks --add - list && wait_for 60 ran 400 &&
	for each in 04 05 06 07 08 09 10 11; do echo "echo before"; echo "sleep 0.43; echo at; sleep 0.$each; echo $each"; done >lines && evenstep tasks --add lines --close list && { wait $run; code=$?; run=; tail -n 5 err; test $code = 0; } &&
	{ seq 400; sh lines; } | test_cmp - out && lines M 417
'
# --- a run that ends early ---------------------------------------------------

for signal in KILL TERM INT; do
	test_expect_success "SIG$signal: --resume goes on with what is there and what comes, and nothing is lost, nor done twice but what was at hand" '
		fresh list && seq 20 | sed "s/.*/echo & >>ran; sleep 0.05; echo &/" >list && behind setsid env --default-signal=INT evenstep tasks --follow list -j 2 && wait_for 60 at_least 5 ran && seq 21 40 | sed "s/.*/echo & >>ran; sleep 0.05; echo &/" | evenstep tasks --add - list &&
		wait_for 60 at_least 25 ran && kill -$signal -$run && { wait $run; code=$?; run=; } && wait_for 60 no_agents_here && cat err && test $code -ge 3 && seq 41 50 | sed "s/.*/echo & >>ran; echo &/" | evenstep tasks --add - list &&
		behind evenstep tasks --follow list -j 2 --resume && wait_for 60 at_least 50 ran && seq 51 60 | sed "s/.*/echo & >>ran; echo &/" | evenstep tasks --add - --close list && wait $run && run= && seq 60 | test_cmp - out &&
		seq 60 >all && sort -nu ran | test_cmp all - && sort -n ran | uniq -d >twice && if test $signal != TERM; then awk "\$1 != last + 1 { n++ } { last = \$1 } END { exit n > 2 }" twice; else test "$(wc -l <twice)" -le 2; fi
	'
done
test_expect_success 'one that has nothing to do ends with SIGTERM, too, and what it has printed comes again' '
	fresh list && echo "echo a >>ran; echo a" >list && behind evenstep tasks --follow list && wait_for 60 lines out 1 && kill -TERM $run && test_expect_code 4 wait $run && run= &&
	behind evenstep tasks --follow list --resume && echo "echo b" | evenstep tasks --add - --close list && wait $run && run= && printf "a\nb\n" | test_cmp - out && ran 1
'
test_expect_success 'a task that has failed is left, and done again with --resume-failed' '
	fresh list && printf "test -e go && echo a\necho b >>ran; echo b\n" >list && behind evenstep tasks --follow list && wait_for 60 ran 1 && sleep 0.2 && kill -TERM $run && test_expect_code 4 wait $run && run= && : >mended &&
	sed -i "s/-e go/-e mended/" list && behind evenstep tasks --follow list --resume-failed && evenstep tasks --close list && wait $run && run= && printf "a\nb\n" | test_cmp - out && ran 1
'

# --- barriers ----------------------------------------------------------------

test_expect_success 'what stands before a barrier is done before anything behind it begins' '
	fresh list && { seq 6 | sed "s/.*/sleep 0.1; echo & >>ran; echo &/"; echo "#EVENSTEP barrier"; echo "wc -l <ran; echo 7"; echo "#DISBATCH BARRIER"; echo "#EVENSTEP barrier"; echo "echo 8"; echo "#EVENSTEP barrier"; } >list &&
	evenstep tasks list -j 4 --joblog L --report report >out 2>err && cat err && printf "%s\n" 1 2 3 4 5 6 6 7 8 | test_cmp - out && mentioned "^evenstep: 8 tasks in" && tail -n +2 L | cut -f1 | tail -n 2 >last && printf "7\n8\n" | test_cmp - last
'
test_expect_success 'failures before it end nothing, unless --halt says so' '
	printf "exit 3\n#EVENSTEP barrier\necho b\n" >list && test_expect_code 1 evenstep tasks list >out 2>err && echo b | test_cmp - out && mentioned "failed: list:1: exit 3" && test_expect_code 1 evenstep tasks list --halt soon,fail=1 >out 2>err && test ! -s out
'
test_expect_success '--resume begins behind those that are done' '
	fresh list && printf "echo a >>ran; echo a\n#EVENSTEP barrier\ntest -e go && echo b\n#EVENSTEP barrier\necho c >>ran; echo c\n" >list && test_expect_code 1 evenstep tasks list --halt soon,fail=1 >out 2>err && echo a | test_cmp - out && ran 1 &&
	: >go && evenstep tasks list --resume-failed >out 2>err && printf "a\nb\nc\n" | test_cmp - out && ran 2
'
test_expect_success 'one that is put in later moves nothing that is done' '
	fresh list && printf "echo a >>ran; echo a\necho b >>ran; echo b\n" >list && evenstep tasks list -j 1 --halt never >out && printf "echo a >>ran; echo a\n#EVENSTEP barrier\necho b >>ran; echo b\n#EVENSTEP barrier\necho c >>ran; echo c\n" >list &&
	evenstep tasks list --resume >out 2>err && cat err && printf "a\nb\nc\n" | test_cmp - out && sort -u ran >each && printf "a\nb\nc\n" | test_cmp - each
'
test_expect_success 'in a list that grows, too' '
	fresh list && behind evenstep tasks --follow list -j 2 && printf "until test -e go; do sleep 0.05; done; echo a >>ran\n#EVENSTEP barrier\necho b >>ran\n" | evenstep tasks --add - list && sleep 0.5 && test ! -e ran && : >go && wait_for 60 ran 2 &&
	printf "#EVENSTEP barrier\necho c >>ran\n" | evenstep tasks --add - list && wait_for 60 ran 3 && evenstep tasks --close list && wait $run && run= && printf "a\nb\nc\n" | test_cmp - ran
'
test_expect_success 'an instruction that nobody knows is refused, in a list that grows when what stands before it is done' '
	printf "echo a\n#EVENSTEP nodes=4\n" >list && fails 2 "evenstep: tasks: list:2: \"nodes=4\" is an instruction that the list cannot have: .*" evenstep tasks list &&
	fails 2 "evenstep: --add: list:2: \"nodes=4\" is an instruction.*" evenstep tasks --add list list &&
	fresh list && behind evenstep tasks --follow list && printf "echo a\n" >>list && wait_for 60 lines out 1 && printf "echo b\n#EVENSTEP nodes=4\necho c\n" >>list && test_expect_code 2 wait $run && run= && printf "a\nb\n" | test_cmp - out && mentioned "list:3: \"nodes=4\" is an instruction"
'

# --- what cannot be ----------------------------------------------------------

test_expect_success 'a file that becomes shorter, or another one, is named' '
	fresh list && printf "echo a >>ran\n" >list && behind evenstep tasks --follow list && wait_for 60 ran 1 && : >list && test_expect_code 1 wait $run && run= && mentioned "^evenstep: tasks: list: has become shorter: lines 1 to 1 are of what it was: add lines" &&
	fresh list && printf "echo a >>ran\n" >list && behind evenstep tasks --follow list && wait_for 60 ran 1 && cp list new && mv new list && test_expect_code 1 wait $run && run= && mentioned "^evenstep: tasks: list: was replaced by another file: "
'
test_expect_success 'options that need the whole list are refused' '
	fresh list && for each in --shuf -0 --halt=soon,fail=10%; do fails 2 "evenstep: --follow and .*: leave one of them out" evenstep tasks --follow "$each" list || return 1; done &&
	for each in -X "-N 2" "--header 1" "--colsep ,"; do fails 2 "evenstep: --follow and .*: leave one of them out" evenstep run --each --lines list --follow $each -- echo {} || return 1; done &&
	fails 2 "evenstep: --follow: one file is followed: .*" evenstep run --each --follow --lines list -- echo {} ::: a && fails 2 "evenstep: --shuf: tasks: bar has a barrier.*" sh -c "printf \"echo a\n#EVENSTEP barrier\necho b\n\" >bar; evenstep tasks --shuf bar" &&
	mkfifo line && fails 2 "evenstep: --follow: line is no file, so .*" evenstep tasks --follow --resume line
'
test_expect_success 'so are lists that are not there, and lines that are none' '
	fails 2 "evenstep: none: No such file.*" sh -c "echo echo a | evenstep tasks --add - none" && test ! -e none && fails 2 "evenstep: line: no run follows this pipe.*" evenstep tasks --close line &&
	fails 2 "evenstep: --add: none: No such file.*" evenstep tasks --add none list && printf "a\0b\n" >nul && fails 2 "evenstep: --add: nul:1: has a NUL.*" evenstep tasks --add nul list && test ! -s list &&
	gzip -c bar >packed && fails 2 "evenstep: tasks: packed: is .*, and cannot be followed: .*" evenstep tasks --follow packed &&
	fails 2 "evenstep: --close: .*" evenstep run --close --range 0:2 -- true
'
test_expect_success 'where there is no room nothing is added' '
	if unshare -m mount -t tmpfs none . 2>&-; then mkdir -p small && unshare -m sh -c "mount -t tmpfs -o size=64k none small && echo echo a >small/list && seq -f \"echo %012g\" 20000 | { evenstep tasks --add - small/list; test \$? = 1; } && cat small/list" >out 2>err &&
		echo echo a | test_cmp - out && mentioned "small/list: No space left on device: nothing was added"; fi
'
test_done
