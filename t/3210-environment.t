#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what the user has set for srun does not bend the step of the agents: each node has one'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

# in_job COMMAND...: in an allocation of both nodes.
in_job() { "$testbed" exec --name "$testbed_name" -- salloc -Q -N2 -c2 env "PATH=$EVENSTEP_BUILD:$PATH" "$@"; }
there() { # NODE: the file that was sent
	on_node "$1" cmp "$PWD/input" /tmp/input && on_node "$1" rm /tmp/input
}
printf '%s\n' n0 n0 >hosts
seq 10000 >input

# Each bends a step of srun, or has it refused; all at once, too.
cat >settings <<END
SLURM_HOSTFILE=$PWD/hosts
SLURM_ARBITRARY_NODELIST=n0,n0
SLURM_ACCOUNT=nobody
SLURM_BCAST=/tmp/else
SLURM_BURST_BUFFER=x
SLURM_CONSTRAINT=fast
SLURM_CORE_SPEC=1
SLURM_CPU_BIND=map_cpu:63
SLURM_CPUS_PER_GPU=7
SLURM_CPUS_PER_TASK=64
SLURM_CPU_FREQ_REQ=low
SLURM_DEBUG=5
SLURM_DELAY_BOOT=9
SLURM_DEPENDENCY=after:1
SLURM_DISTRIBUTION=arbitrary
SLURM_EXCLUSIVE=1
SLURM_EXPORT_ENV=NONE
SLURM_GPUS=9
SLURM_GRES=gpu:9
SLURM_STEP_GRES=gpu:9
SLURM_HINT=compute_bound
SLURM_IMMEDIATE=1
SLURM_MEM_PER_NODE=999999
SLURM_MPI_TYPE=none
SLURM_MULTI_PROG=1
SLURM_NETWORK=sn_all
SLURM_NNODES=1
SLURM_NPROCS=1
SLURM_NTASKS=1
SLURM_NTASKS_PER_NODE=2
SLURM_OPEN_MODE=x
SLURM_PARTITION=nosuch
SLURM_PROFILE=all
SLURM_PROLOG=/bin/false
SLURM_QOS=nosuch
SLURM_REMOTE_CWD=/nosuch
SLURM_RESERVATION=nosuch
SLURM_RESV_PORTS=9
SLURM_SIGNAL=KILL@1
SLURM_SPREAD_JOB=1
SLURM_TASK_PROLOG=/nosuch
SLURM_TEST_EXEC=1
SLURM_THREADS=1
SLURM_THREADS_PER_CORE=9
SLURM_THREAD_SPEC=1
SLURM_TIMELIMIT=x
SLURM_USE_MIN_NODES=1
SLURM_WCKEY=x
SLURM_WORKING_DIR=/nosuch
SRUN_CONTAINER=/nosuch
SRUN_CPUS_PER_TASK=64
SRUN_EXPORT_ENV=NONE
END

test_expect_success 'up: two nodes' 'testbed_up --nodes 2'
test_expect_success 'a host file that names one node twice: a file comes to both' '
	in_job env SLURM_HOSTFILE="$PWD/hosts" evenstep bcast input /tmp/input && there n0 && there n1
'
test_expect_success 'fifty settings of srun at once: likewise' '
	test "$(wc -l <settings)" -gt 50 &&
	in_job xargs -d "\n" -a settings sh -c "exec env \"\$@\" evenstep bcast input /tmp/input" sh && there n0 && there n1
'
test_expect_success 'a step with --evenstep whose own host file names n0 twice: both nodes have an agent, and each task the table' '
	testbed_down && testbed_up --nodes 2 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$(realpath "$EVENSTEP_BUILD/evenstep")" &&
	echo n1 >>hosts && in_job env SLURM_HOSTFILE="$PWD/hosts" srun --evenstep=required -n3 -c1 evenstep conntable dump >table; cat table &&
	test "$(grep -c " 10.11.1.1 *$" table) $(grep -c " 10.11.1.2 *$" table)" = "6 3"
'
test_expect_success 'settings of squeue, and ends of children that are ignored: the end of the job is known' '
	in_job env --ignore-signal=CHLD SQUEUE_STATES=PD SQUEUE_FORMAT=%i evenstep run --metrics equal --until-end 30 --range 0:2 -- true 2>err &&
	cat err && ! grep "knows no end" err
'
test_expect_success 'the commands still know which job it is' '
	in_job env SLURM_ARRAY_TASK_ID=17 evenstep run --metrics equal --range 0:2 -- sh -c "echo \$SLURM_JOB_ID \$SLURM_JOB_NODELIST \$SLURM_ARRAY_TASK_ID \$SLURM_SUBMIT_DIR" >out &&
	cat out && test "$(grep -cx "[1-9][0-9]* n\[0-1\] 17 $PWD" out)" = 2
'
cat >long <<'END'
#!/bin/sh
exec awk 'BEGIN { for (k = 0; k < 40000000; k++) x += k }'
END
chmod +x long
# one_used COMMAND...: its commands each use one CPU, and longer than a second in all.
one_used() { "$@" --metrics equal --policy static --range 0:2 -- ./long "{begin}" "{end}" 2>err && cat err && grep "1 frame in" err && grep "1 was used" err; }
test_expect_success 'commands that use one CPU of several that the job has on a node: the end says so, and what to give' '
	one_used in_job evenstep run && grep -x "evenstep: n0 has 2 CPUs of this job, 1 was used (likewise on 1 more node): --slots cores starts a command on each core" err
'
test_expect_success 'but not where the job has one there, or one command a node is what was asked for' '
	! one_used in_job evenstep run --slots 1 && grep "1 frame in" err &&
	! one_used "$testbed" exec --name "$testbed_name" -- salloc -Q -N2 -n2 -c1 "$EVENSTEP_BUILD/evenstep" run && grep "1 frame in" err
'
test_expect_success 'two agents on one node, by --srun: not begun, and said in one line' '
	test_expect_code 3 in_job evenstep run --metrics equal --srun "-N1 -n2 --ntasks-per-node=2" --range 0:2 -- touch begun 2>err; cat err &&
	test "$(grep -vcE "^evenstep: warning: " err)" = 1 && said "evenstep: two of the 2 agents are on n0: let srun start one task a node \(see --srun\)" && test ! -e begun
'
test_done
