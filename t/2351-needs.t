#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='lines of a list say what a task needs: cores, memory, a node, and how long it takes'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
ends_with_test

ran() { lines ran "$1"; }
fresh() { rm -rf ran use go .evenstep-tasks "$@"; }
# task N WIDTH: a command line that says when it takes and gives back so many cores.
task() { echo "echo +$2 \$EVENSTEP_NODE >>use; sleep 0.0$(($1 % 7 + 1)); echo $1 >>ran; echo $1; echo -$2 \$EVENSTEP_NODE >>use"; }
# never_more N: no node has ever had more than N.
never_more() { awk -v most="$1" '{ at[$2] += $1; if (at[$2] > most) { print NR ": " $2 " has " at[$2]; bad = 1 } } END { exit bad }' use; }
# seen MOST: ... and one had just as many.
seen() { awk -v most="$1" '{ at[$2] += $1; if (at[$2] == most) found = 1 } END { exit !found }' use; }

make_mixed() {
	for i in $(seq 60); do
		width=$((i * 7 % 4 + 1))
		test $width = 1 || echo "#EVENSTEP cpus=$width"
		task "$i" $width
	done
}
test_expect_success '60 tasks of 1 to 4 cores on two nodes of 4: each once, in order, and no node has more than it has' '
	fresh && make_mixed >mixed && evenstep tasks --local 2 -j 4 --joblog L mixed >out 2>err; cat err && seq 60 | test_cmp - out && sort -n ran | test_cmp out - && never_more 4 && seen 4 &&
	tail -n +2 L | wc -l >n && echo 60 | test_cmp - n && ! grep efficiency err
'
test_expect_success 'a program that knows OpenMP is told of its cores, others as before' '
	printf "#EVENSTEP cpus=3\necho \$OMP_NUM_THREADS\necho \$OMP_NUM_THREADS\n" >list && evenstep tasks -j 4 list >out && printf "3\n1\n" | test_cmp - out && OMP_NUM_THREADS=7 evenstep tasks -j 4 list >out && printf "7\n7\n" | test_cmp - out
'
test_expect_success 'what the options give is of lines that say nothing' '
	fresh && { echo "#EVENSTEP cpus=1"; task 1 1; task 2 2; task 3 2; } >list && evenstep tasks --cpus 1 list >out && seq 3 | test_cmp - out
'
test "$(lscpu -p=CORE,SOCKET 2>/dev/null | grep -v '^#' | sort -u | wc -l)" -lt 2 || test_set_prereq CORES
test_expect_success CORES 'each has its cores for itself' '
	{ for i in 1 2 3 4; do echo nproc; done; echo "#EVENSTEP cpus=2"; echo nproc; echo "#EVENSTEP exclusive"; echo nproc; } >list && evenstep tasks list >out && cat out &&
	one=$(head -n 1 out) && test "$(sed -n 5p out)" = $((2 * one)) && test "$(sed -n 6p out)" = "$(nproc)"
'
test_expect_success 'memory is counted, of what the node has' '
	printf "#EVENSTEP mem=900000G\ntrue\n" >list && { evenstep tasks list 2>err; test $? = 2; } && cat err && half=$(sed -n "s/.*give mem=\([0-9]*\)M at most.*/\1/p" err) && half=$((half * 6 / 10)) && test $half -gt 0 &&
	fresh && for i in 1 2 3 4; do echo "#EVENSTEP mem=${half}M"; task $i 1; done >list && evenstep tasks -j 4 list >out && seq 4 | test_cmp - out && never_more 1 &&
	fresh && for i in 1 2 3 4; do task $i 1; done >list && evenstep tasks --mem ${half}M list >out && seq 4 | test_cmp - out && never_more 1 && fresh && { echo "#EVENSTEP cpus=1"; cat list; } >more && evenstep tasks -j 4 --mem ${half}M more >out && seq 4 | test_cmp - out && never_more 1
'
test_expect_success 'GPUs: each task has its own, one of which nothing is said has none, and more than there are is refused' '
	fresh && for i in 1 2 3 4 5 6; do echo "#EVENSTEP gpus=2"; echo "for g in \$(echo \$CUDA_VISIBLE_DEVICES | tr , \" \"); do mkdir gpu\$g || echo \$g >>twice; done; sleep 0.1; echo \$CUDA_VISIBLE_DEVICES >>ran; for g in \$(echo \$CUDA_VISIBLE_DEVICES | tr , \" \"); do rmdir gpu\$g; done"; done >list && echo "echo none:\$CUDA_VISIBLE_DEVICES" >>list &&
	CUDA_VISIBLE_DEVICES=0,1,2,3,4 evenstep tasks -j 4 list >out && cat ran && test ! -e twice && grep -xE "[0-4],[0-4]" ran | wc -l >n && echo 6 | test_cmp - n && echo none: | test_cmp - out &&
	rm ran && test_expect_code 2 env CUDA_VISIBLE_DEVICES=0 evenstep tasks -j 4 list 2>err && said "evenstep: tasks: list:1: gpus=2 is more than any node with such cores has for the job: local0 has 1: give gpus=1 at most" && test ! -e ran &&
	printf "#EVENSTEP cpus=1\necho \$CUDA_VISIBLE_DEVICES\necho \$CUDA_VISIBLE_DEVICES\n" >list && CUDA_VISIBLE_DEVICES=3,4 evenstep tasks -j 4 list >out && printf "3,4\n3,4\n" | test_cmp - out && CUDA_VISIBLE_DEVICES=3,4 evenstep tasks --gpus 1 list >out && sort out >got && printf "3\n4\n" | test_cmp - got
'
test_expect_success 'exclusive: alone on the node, by a line and by the option' '
	fresh && for i in 1 2 3 4 5 6 7 8; do test $((i % 3)) != 0 || echo "#EVENSTEP exclusive"; task $i $((i % 3 == 0 ? 4 : 1)); done >list && evenstep tasks -j 4 list >out && seq 8 | test_cmp - out && never_more 4 &&
	fresh && for i in 1 2 3 4; do task $i 1; done >list && evenstep tasks --exclusive list >out && seq 4 | test_cmp - out && never_more 1 &&
	fresh && { task 1 1; task 2 1; echo "#EVENSTEP cpus=1"; task 3 1; } >list && evenstep tasks --exclusive list >out && seq 3 | test_cmp - out && never_more 2
'

# --- how long ----------------------------------------------------------------

test_expect_success 'those that take longest begin first, and what they print stays in order' '
	fresh && printf "echo 1 >>ran; echo 1\n#EVENSTEP time=90\necho 2 >>ran; echo 2\n#EVENSTEP time=1h\necho 3 >>ran; echo 3\necho 4 >>ran; echo 4\n" >list && evenstep tasks -j 1 list >out && seq 4 | test_cmp - out && printf "3\n2\n1\n4\n" | test_cmp - ran &&
	fresh && evenstep tasks -j 1 --time 2m list >out && printf "3\n1\n4\n2\n" | test_cmp - ran
'
test_expect_success 'but none before a barrier in front of it; and it is no limit' '
	fresh && printf "echo 1 >>ran\n#EVENSTEP time=0.001\nsleep 0.1; echo 2 >>ran\n#EVENSTEP barrier\necho 3 >>ran\n#EVENSTEP time=90\necho 4 >>ran\n" >list && evenstep tasks -j 1 list && printf "2\n1\n4\n3\n" | test_cmp - ran
'

# --- what goes wrong ---------------------------------------------------------

test_expect_success 'what is more than any node has is refused before anything begins' '
	fresh && printf "echo x >>ran\n#EVENSTEP cpus=5\necho x >>ran\n" >list && test_expect_code 2 evenstep tasks -j 4 list 2>err && said "evenstep: tasks: list:2: cpus=5 is more than any node has: local0, the largest, has 4: give cpus=4 at most" && test ! -e ran
'
test_expect_success 'so is what no task can need' '
	for each in cpus=0 cpus=5000 cpus=x cpus= mem=0 mem=2x time=-1 time=soon cpu=2 Exclusive "cpus=1 gpus=0" gpus=65; do
		printf "echo x\n#EVENSTEP %s\necho y\n" "$each" >list && fails 2 "evenstep: tasks: list:2: \".*\" is .*: give .*" evenstep tasks list || return 1
	done
'
test_expect_success 'and options that count otherwise' '
	echo "echo x" >list && fails 2 "evenstep: --time: no line says .*: leave it out; --timeout SECONDS is a limit of a task, .*" evenstep tasks --time 10 list &&
	printf "#EVENSTEP cpus=1\necho x\n" >list && for each in --speculate --slots=sockets --slots=gpus; do
		fails 2 "evenstep: .*: line 1 of list says what a task needs, .*: leave one of them out" evenstep tasks "$each" list || return 1
	done && fails 2 "evenstep: --shuf: tasks: list:1 says what a task needs, .*" evenstep tasks --shuf list
'
test_expect_success 'a task that fails gives its cores back, and is tried again with as many' '
	fresh && { for i in 1 2 3; do echo "#EVENSTEP cpus=4"; echo "test -e go$i || { : >go$i; exit 3; }; echo $i"; done; } >list && evenstep tasks --local 2 -j 4 --retries 1 list >out && seq 3 | test_cmp - out && rm -f go1 go2 &&
	test_expect_code 1 evenstep tasks --local 2 -j 4 list >out && echo 3 | test_cmp - out && evenstep tasks --local 2 -j 4 --resume-failed list >out && seq 3 | test_cmp - out
'
at_least() { test -e "$2" && test "$(wc -l <"$2")" -ge "$1"; }
no_agents_here() { for each in $(pgrep evenstep-agent); do ! grep -qzsxF "HOME=$HOME" "/proc/$each/environ" || return 1; done; }
test_expect_success 'a run that is killed goes on, and nothing is lost, nor done twice but what was at hand' '
	fresh && make_mixed >mixed && behind evenstep tasks --local 2 -j 4 mixed && wait_for 60 at_least 20 ran && kill -KILL $run && { wait $run; run=; } && wait_for 60 no_agents_here && : >use &&
	evenstep tasks --local 2 -j 4 --resume mixed >out 2>err; cat err && seq 60 | test_cmp - out && sort -nu ran | test_cmp out - && sort -n ran | uniq -d | wc -l >twice && test "$(cat twice)" -le 8 && never_more 4
'
test_expect_success 'a node that is lost: the other does what it had' '
	fresh && make_mixed >mixed && behind evenstep tasks --local 2 -j 4 mixed && wait_for 60 at_least 10 ran &&
	for each in $(pgrep -P $run evenstep-agent); do kill -KILL $each; break; done && { wait $run; code=$?; run=; } && cat err && test $code = 0 && seq 60 | test_cmp - out
'

test_expect_success 'a line that speaks of no task is told' '
	printf "echo x\n#EVENSTEP cpus=1\n" >list && evenstep tasks list >out 2>err && mentioned "^evenstep: warning: tasks: list:2: no command line follows what this line says$" && echo "#EVENSTEP end" >>list && evenstep tasks list >out 2>err && mentioned "warning: tasks: list:2: no command"
'

# --- a list that grows -------------------------------------------------------

test_expect_success 'needs come with their lines, also by --add' '
	fresh list && : >list && behind evenstep tasks --local 2 -j 4 --follow list && task 1 1 >>list && wait_for 60 ran 1 && { echo "#EVENSTEP cpus=3 mem=1M time=10m"; task 2 3; echo "#EVENSTEP exclusive"; task 3 4; task 4 1; } >more && evenstep tasks --add more list && wait_for 60 ran 4 &&
	make_mixed | sed "s/echo \([0-9]*\) >>ran; echo/echo 1\1 >>ran; echo/" | evenstep tasks --add - --close list && wait $run && run= && ran 64 && never_more 4 && seen 4 && grep -x "#EVENSTEP cpus=3 mem=1000000 time=600.000" list
'
test_expect_success 'a wide one gets its node, however many narrow ones come before it and after it' '
	fresh list && { for i in $(seq 20); do task $i 1; done; echo "#EVENSTEP cpus=4"; echo "wc -l <ran >before; echo 21 >>ran"; for i in $(seq 22 400); do echo "echo $i >>ran"; done; } >list && behind evenstep tasks -j 4 --follow list && wait_for 60 test -s before && evenstep tasks --close list && wait $run && run= &&
	cat before && test "$(cat before)" -lt 30
'
test_expect_success 'one that no node can ever have ends the list, when what stands before it is done' '
	fresh list && : >list && behind evenstep tasks -j 4 --follow list && task 1 1 >>list && wait_for 60 ran 1 && { task 2 1; echo "#EVENSTEP cpus=5"; task 3 5; } >>list && test_expect_code 2 wait $run && run= && mentioned "list:3: cpus=5 is more than any node has" && seq 2 | test_cmp - out
'
test_done
