#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='cgroup v2: the CPU time of a step in the groups that Slurm makes, limited and put back'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
B=$EVENSTEP_BUILD
unset EVENSTEP_CONF
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if test "$(id -u)" != 0 || ! grep -qsw cpu "$root/cgroup.controllers"; then
	skip_all='this needs root, and a cgroup v2 with the controller cpu'
	test_done
fi
top=$root/evenstep-test-$$ job=$$ step=3
group=$top/job_$job/step_$step
had_cpu=$(grep -cw cpu "$root/cgroup.subtree_control")
task=''
sweep() {
	exec 7>&-
	test -z "$task" || { kill -KILL "$task" && wait "$task"; }
	rmdir "$group/user/task_0" "$group/user" "$group" "$top/job_$job" "$top"
	test "$had_cpu" != 0 || echo -cpu >"$root/cgroup.subtree_control"
} 2>&-
trap 'code=$?; sweep; (exit $code); die' EXIT
trap 'exit 143' TERM
limit_is() { test "$(cat "$group/cpu.max")" = "$1"; }
throttled() { test "$(sed -n 's/^nr_throttled //p' "$group/cpu.stat")" -gt "$1"; }

test_expect_success 'a task as Slurm places it: job, step, user, task' '
	echo +cpu >"$root/cgroup.subtree_control" && mkdir -p "$group/user/task_0" && for each in "$top" "$top/job_$job" "$group" "$group/user"; do echo +cpu >"$each/cgroup.subtree_control" || return 1; done &&
	{ taskset -c "$(taskset -cp $$ | sed "s/.*: //;s/[-,].*//")" sh -c "while :; do :; done" & task=$!; } && echo $task >"$group/user/task_0/cgroup.procs"
'
test_expect_success 'the step begins with half of a CPU, and the task is held to it' '
	printf "power { actuator = \"cgroup\" cap = 0.5 floor = 0.1 }\n" >conf && mkfifo in && { "$B/evenstep-power" --job $job --step $step --uid 0 --config conf --state "$PWD/state" <in >answers 2>err & } && exec 7>in && echo $task >&7 &&
	wait_for 60 limit_is "5000 10000" && wait_for 60 throttled 3 && cat "$group/cpu.stat" && test -s answers && test ! -s err && ls state
'
test_expect_success 'no group of ours is made, and none of Slurm'"'"'s but the step'"'"'s is touched' '
	test "$(find "$top" -name "evenstep-power*")" = "" && for each in "$group/user" "$group/user/task_0" "$top/job_$job"; do test "$(cat "$each/cpu.max")" = "max 100000" || return 1; done
'
test_expect_success 'kill -9 of evenstep-power, and --restore as by an epilog: the limit is as it was' '
	limit_is "5000 10000" && kill -KILL "$(pgrep -f "evenstep-power --job $job --step $step ")" && "$B/evenstep-power" --restore --state "$PWD/state" && limit_is "max 100000" && test "$(ls state)" = ""
'
test_expect_success 'the end of a step: likewise' '
	exec 7>&- && { "$B/evenstep-power" --job $job --step $step --uid 0 --config conf --state "$PWD/state" <in >answers 2>err & } && exec 7>in && echo $task >&7 && wait_for 60 limit_is "5000 10000" && exec 7>&- &&
	wait_for 60 limit_is "max 100000"
'
test_done
