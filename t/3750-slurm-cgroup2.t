#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='cgroup v2 as Slurm itself makes it: the group of a step is found, limited and put back

Only where there is no version 1 and no other Slurm; a virtual machine, say,
with init in a group of its own: Slurm takes the tree from /proc/1/cgroup.'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
slice=$root/system.slice
if test "$(cut -d: -f1,2 /proc/1/cgroup)" != 0: || ! grep -qsw cpu "$root/cgroup.controllers" || ls -d "$slice"/*slurmstepd.scope >/dev/null 2>&1; then
	skip_all='this needs cgroup v2 only, with the controller cpu, and no Slurm of its own'
	test_done
fi
# Slurm's own processes there are in none of the testbed's groups.
sweep() {
	exec 7>&-
	testbed_end
	find "$slice" -path "*slurmstepd.scope/*" -name cgroup.procs -exec cat {} + 2>&- | while read -r each; do kill -KILL "$each"; done
	wait_for 60 swept
}
swept() {
	find "$slice" -depth -path "*slurmstepd.scope*" -type d -exec rmdir {} \; 2>&-
	! ls -d "$slice"/*slurmstepd.scope >swept 2>&1
}
trap 'code=$?; sweep; (exit $code); die' EXIT
run=$(testbed_dir)

test_expect_success 'up: a node whose slurmd has cgroup/v2, by proctrack and task' '
	mkdir -p "$slice" &&
	testbed_up --nodes 1 --cpus 2 --rate none --plugin "$B/evenstep.so" --plugin-args "launcher=$(realpath "$B/evenstep") config=$run/power.conf" &&
	printf "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nCgroupAutomount=yes\n" >"$run/cgroup.conf" &&
	sed -i "s,^ProctrackType=.*,ProctrackType=proctrack/cgroup,; s,^TaskPlugin=.*,TaskPlugin=task/cgroup," "$run/slurm.conf" &&
	kill "$(cat "$run/node/n0/slurmd.pid")" && wait_for 60 test ! -e "$run/node/n0/slurmd.pid" &&
	{ on_node n0 slurmd -D -N n0 >slurmd.log 2>&1 7>&- & } && wait_for 60 test -e "$run/node/n0/slurmd.pid" &&
	wait_for 60 nodes_idle 1 && on_ctl srun cat /proc/self/cgroup >own; cat slurmd.log own; grep -qxE "0::/system.slice/(n0_)?slurmstepd.scope/[^/]+/step_0/user/task_[^/]+" own
'
test_expect_success 'a step: evenstep-power holds its group, and no other, to half of the CPU time' '
	printf "power { actuator = \"cgroup\" cap = 0.5 floor = 0.1 }\n" >conf && mkfifo in &&
	{ on_ctl srun sh -c "echo \$\$ \$SLURM_JOB_ID >task && exec sleep 1000" 7>&- & } && wait_for 60 test -s task && read -r task job <task &&
	group=$(find "$slice" -path "*slurmstepd.scope/*/step_0" -type d) && test -n "$group" && cat "$group/cpu.max" && test "$(cat "$group/cpu.max")" = "max 100000" &&
	{ "$B/evenstep-power" --job "$job" --step 0 --uid 0 --config conf --state "$PWD/state" <in >answers 2>err & } && exec 7>in && echo "$task" >&7 &&
	wait_for 60 test -s answers; cat answers err; test ! -s err && cat "$group/cpu.max" && grep -qx "[1-9][0-9]* 10000" "$group/cpu.max" &&
	test "$(find "$slice" -name cpu.max -exec grep -L max {} +)" = "$group/cpu.max"
'
test_expect_success 'and puts it back' '
	exec 7>&- && wait_for 60 grep -qsx "max 100000" "$group/cpu.max" && on_ctl scancel "$job"
'
test_expect_success 'slurmstepd starts it by the plugin: it finds the group of the step, too' '
	cp conf "$run/power.conf" && on_ctl srun --evenstep-power=pair sh -c "echo ran" >out 2>err; cat out err; grep -qx ran out && ! grep -e cgroup: -e "actuator is off" err
'
test_done
