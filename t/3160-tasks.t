#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='tasks on four nodes: whatever dies, none is lost, and none is done twice but what was at hand'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF

seq 160 >each
sed "s/.*/echo & >>ran; sleep 0.2; echo &/" each >cmds
# in_job COMMAND...: in a job of all nodes, which outlives them.
in_job() { on_ctl timeout -k 5 200 salloc -Q --no-kill -N4 "$@"; }
# begin: the tasks, two at a time on each node.
begin() {
	{ in_job evenstep tasks cmds -j 2 --joblog log >out 2>err 3>&- 4>&- 5>&- & } && run=$!
}
goes_on() { in_job evenstep tasks cmds -j 2 --joblog log --resume >out 2>err; }
ran() { test -e ran && test "$(wc -l <ran)" -ge "$1"; }
nothing_left() { wait_for 120 no_agents && wait_for 120 no_jobs && wait_for 120 nodes_idle 4; }
# whole: all of it came out, in order, and each has run, and is logged.
whole() { cat err && test_cmp each out && sort -nu ran | test_cmp each - && tail -n +2 log | cut -f1 | sort -n | test_cmp each -; }
# twice N: no more than so many have run twice; runs_of N: they are of so many runs of neighbours.
twice() { sort -n ran | uniq -d | wc -l | tee twice && test "$(cat twice)" -le "$1"; }
runs_of() { sort -n ran | uniq -d | awk -v most="$1" '$1 != last + 1 { n++ } { last = $1 } END { print n + 0; exit n > most }'; }
# end_all PID...: also where one, as a child on its way to another program, is gone.
end_all() { for each; do kill -KILL "$each" 2>&-; done; }
# strike KIND WHEN: something dies when so many tasks have begun.
# shellcheck disable=SC2046 # numbers
strike() {
	wait_for 60 ran "$2" || return 1
	case $1 in
	agent) end_all $(ours -f evenstep-agent n1) ;;
	node) testbed_fault kill n2 ;;
	front) end_all $(ours evenstep) && wait_for 60 none_of evenstep && { ran 160 || echo front >>hit; } ;;
	esac || :
}
# survives KIND WHEN
survives() {
	rm -f ran log && begin && strike "$1" "$2" && { wait "$run"; code=$?; } && cat err && { grep -o "n[12] is lost" err >>hit || :; } &&
	{ test "$1" != node || testbed_fault heal n2; } && nothing_left &&
	case $1 in
	front) goes_on && whole && runs_of 8 && nothing_left ;; # what is told comes piece by piece
	*) test "$code" = 0 && whole && twice 2 ;;
	esac
}

test_expect_success 'up: four nodes' 'testbed_up --nodes 4 --rate none && wait_for 60 nodes_idle 4'
test_expect_success 'all tasks are done, on all nodes' '
	rm -f ran log && begin && wait $run && whole && twice 0 && cut -f2 log | sort -u | grep -c "^n[0-3]\$" >n && echo 4 | test_cmp - n && nothing_left
'
test_expect_success 'a node that fails all tasks at once: others do them, and all is well' '
	sed "s/^/test \$SLURMD_NODENAME != n2 || exit 1; /" cmds >hole &&
	rm -f ran log && in_job evenstep tasks hole -j 2 --joblog log >out 2>err && whole && twice 0 && ! cut -f2 log | grep n2 && nothing_left
'
test_expect_success 'tasks of 1 to 3 slots, and a node that dies: each comes out once, and no node ever has more than it has' '
	awk "{ wide = NR % 3 + 1; print \"#EVENSTEP cpus=\" wide; print \"echo +\" wide \" \$SLURMD_NODENAME >>use; echo \" \$1 \" >>ran; sleep 0.2; echo \" \$1 \"; echo -\" wide \" \$SLURMD_NODENAME >>use\" }" each >wide &&
	rm -f ran log use && { in_job evenstep tasks wide -j 3 --joblog log >out 2>err 3>&- 4>&- 5>&- & } && run=$! && wait_for 60 ran 30 && testbed_fault kill n2 && { wait "$run"; code=$?; } && testbed_fault heal n2 && test $code = 0 && whole && twice 3 &&
	awk "{ at[\$2] += \$1; if (at[\$2] > 3) exit 1 }" use && cut -d" " -f2 use | sort -u | wc -l >n && echo 4 | test_cmp - n && nothing_left
'
test_expect_success 'nor does it spoil a program that is missing there' '
	mkdir -p bin && cat >bin/prog <<-\EOF && chmod +x bin/prog &&
	#!/bin/sh
	echo $1 >>ran
	sleep 0.2
	echo $1
	EOF
	rm -f ran && in_job evenstep run --each -j 2 --lines each -- sh -c "test \$SLURMD_NODENAME = n2 || exec bin/prog {}; exec bin/none" >out 2>err; code=$?; cat err && test $code = 0 && test_cmp each out && twice 0 && nothing_left
'
for round in $(seq "${ROUNDS:-10}"); do
	case $((round % 5)) in
	0) kind=node ;;
	1 | 3) kind=agent ;;
	*) kind=front ;;
	esac
	when=$(shuf -i 1-140 -n 1)
	test_expect_success "$round: $kind dies when $when tasks have begun: nothing is lost, nor done twice but what was at hand" 'survives $kind $when'
done
test_expect_success '  of each kind some have died while tasks were at work' '
	sort hit | uniq -c && grep -q "n1 is lost" hit && grep -q "n2 is lost" hit && grep -q front hit
'
end_lines() { seq 121 160 | sed "s/.*/echo & >>ran; sleep 0.2; echo &/" | evenstep tasks --add - --close list; }
test_expect_success 'a list that grows, and an agent that dies: nothing is lost, nor done twice but what was at hand' '
	rm -f ran log && head -n 60 cmds >list && { in_job evenstep tasks --follow list -j 2 --joblog log >out 2>err 3>&- 4>&- 5>&- & } && run=$! && wait_for 60 ran 40 && tail -n +61 cmds | head -n 60 | evenstep tasks --add - list &&
	wait_for 60 ran 70 && end_all $(ours -f evenstep-agent n1) && end_lines && { wait $run; code=$?; } && cat err && test $code = 0 && whole && twice 2 && nothing_left
'
test_expect_success 'and one of which the front end dies: --resume goes on' '
	rm -f ran log && head -n 120 cmds >list && { in_job evenstep tasks --follow list -j 2 --joblog log >out 2>err 3>&- 4>&- 5>&- & } && run=$! && wait_for 60 ran 60 && end_all $(ours evenstep) && wait_for 60 none_of evenstep && { wait $run; nothing_left; } && end_lines &&
	in_job evenstep tasks --follow list -j 2 --joblog log --resume >out 2>err && whole && runs_of 8 && nothing_left
'
test_expect_success 'SIGTERM: what is done is kept, exit 4, and --resume goes on' '
	rm -f ran log && begin && wait_for 60 ran 60 && kill -TERM $(ours evenstep) && { wait $run; code=$?; } && cat err && test $code = 4 && ! ran 160 &&
	mentioned "stopped by SIGTERM: [0-9]* tasks are left: --resume goes on with it" && nothing_left && goes_on && whole && twice 0 && nothing_left
'
test_expect_success 'the time limit: exit 4 before it, and --resume goes on' '
	sed "s/sleep 0.2/sleep 1/" cmds >slow && rm -f ran log &&
	test_expect_code 4 on_ctl salloc -Q -N4 -t 1 evenstep tasks slow -j 2 --until-end 50 --joblog log >out 2>err && cat err && ! ran 160 && mentioned ": --resume goes on with it" &&
	nothing_left && in_job evenstep tasks slow -j 2 --joblog log --resume >out 2>err && whole && twice 0
'

test_done
