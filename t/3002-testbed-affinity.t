#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='with --affinity Slurm binds tasks, and a companion step sees every CPU'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
cpus_of_self="sed -n s/^Cpus_allowed_list:.//p /proc/self/status"

if test "$(nproc)" = 1; then
	skip_all='binding shows on two CPUs or more, this machine has one'
	test_done
fi

test_expect_success 'up with task/affinity, nodes have the real CPUs' '
	testbed_up --nodes 2 --affinity &&
	on_ctl scontrol show config | grep "TaskPlugin .*task/affinity" &&
	on_ctl sinfo -h -N -o "%c" | sort -u >got && cat got &&
	slurmd -C | sed -n "s/.* CPUs=\([0-9]*\) .*/\1/p" >want && test_cmp want got
'
test_expect_success 'a task with one CPU is bound to one core' '
	on_ctl srun -N1 -n1 -c1 --cpu-bind=threads $cpus_of_self >bound && cat bound &&
	grep -xE "[0-9]+" bound
'
test_expect_success 'a companion step beside bound tasks sees every CPU of the job' '
	$cpus_of_self >all && grep -E "[-,]" all &&
	cat >job.sh <<-END &&
	srun -N2 -n2 -c1 --cpu-bind=threads sh -c "$cpus_of_self; cat fifo.\\\$SLURM_NODEID >/dev/null" >tasks &
	srun -N2 -n2 --overlap --mem=0 --cpu-bind=none $cpus_of_self >companion
	for i in 0 1; do echo >fifo.\$i; done
	wait
	END
	mkfifo fifo.0 fifo.1 &&
	on_ctl salloc -Q -N2 --exclusive sh job.sh &&
	cat all all >want && test_cmp want companion &&
	test "$(wc -l <tasks)" = 2 && ! grep -E "[-,]" tasks
'
test_expect_success '--slots cores: a slot for each core of the job, each bound to its own' '
	on_ctl salloc -Q -N2 --exclusive "$EVENSTEP_BUILD/evenstep" run --slots cores --policy manual:size=1 --range 0:$((8 * $(nproc))) -- sh -c "echo {node} {slot} \$($cpus_of_self)" >ran &&
	sort -u ran >slots && cat slots && test "$(cut -d" " -f1 slots | uniq -c | awk "{ print \$1 }" | sort -u)" = "$(cut -d" " -f2 slots | sort -nu | wc -l)" &&
	test "$(cut -d" " -f1,3 slots | sort | uniq -d)" = "" && ! cut -d" " -f3 slots | grep -E "[-,]"
'
test_expect_success 'a job with one CPU a node has one core for slots: the cpuset of the step holds' '
	on_ctl salloc -Q -N2 -n2 -c1 "$EVENSTEP_BUILD/evenstep" run --srun "-c1 --cpu-bind=threads" --slots cores --range 0:4 -- sh -c "echo {slot} \$($cpus_of_self)" >ran && cat ran &&
	! cut -d" " -f1 ran | grep -v 0 && ! cut -d" " -f2 ran | grep -E "[-,]"
'
test_expect_success 'down leaves nothing' '
	testbed_down && testbed_nothing_left $testbed_name
'
test_done
