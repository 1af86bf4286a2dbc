#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='where each job has a /tmp and a /dev/shm of its own (job_container/tmpfs)

A job sees no checkout in /tmp there, so all that runs in one lies in a folder
in /var/tmp.'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

user=daemon # any user but root
bin=$(mktemp -d /var/tmp/evenstep-private.XXXXXX) && chmod 755 "$bin"
trap 'testbed_code=$?; testbed_end; rm -rf "$bin"; (exit $testbed_code); die' EXIT
cp "$EVENSTEP_BUILD/evenstep" "$EVENSTEP_BUILD/evenstep-agent" "$EVENSTEP_BUILD/evenstep-power" "$EVENSTEP_BUILD/evenstep.so" "$EVENSTEP_BUILD/libevenstep-mpi.so" "$bin"
run=$(testbed_dir)

as_user() { "$testbed" exec --name "$testbed_name" --user $user -- "$@"; }
hold_job() {
	job=$(as_user salloc -N2 -n4 --chdir=/ --no-shell 2>&1 | sed -n 's/.*Granted job allocation //p')
	test -n "$job"
}
step() { as_user timeout 300 srun "--jobid=$job" --chdir=/ "$@"; }
# hidden: what the job has in its own /dev/shm, and what the node has in its.
hidden() { step -N2 -n2 ls -A /dev/shm; }
seen() {
	for node in n0 n1; do on_node $node ls -A /dev/shm || return 1; done
}
no_file() { hidden >left && seen >>left && cat left && test ! -s left; }
nothing_left() { wait_for 60 no_file; }
count() { grep -cE "$1" "$2"; }
# launcher: one that says that all is ready, and has brought nothing.
launcher() {
	printf '#!/bin/sh\necho ready\ncat >/dev/null\n' >"$bin/launcher" && chmod 755 "$bin/launcher" &&
		echo "optional $bin/evenstep.so launcher=$bin/launcher" >"$run/plugstack.conf"
}

test_expect_success 'up: two nodes with job_container/tmpfs, and a job of a user' '
	testbed_up --nodes 2 --private-tmp --plugin "$bin/evenstep.so" --plugin-args "launcher=$bin/evenstep" && hold_job
'
test_expect_success 'the job does not see what its nodes have in /tmp and /dev/shm, nor they what it has' '
	for node in n0 n1; do on_node $node touch /tmp/theirs /dev/shm/theirs || return 1; done &&
	step -N2 -n2 sh -c "ls -A /tmp /dev/shm; touch /tmp/ours /dev/shm/ours" >got && cat got && grep -x /dev/shm: got && ! grep theirs got &&
	for node in n0 n1; do on_node $node ls -A /tmp /dev/shm >got && grep theirs got && ! grep ours got && on_node $node rm /tmp/theirs /dev/shm/theirs || return 1; done &&
	step -N2 -n2 rm /tmp/ours /dev/shm/ours
'
for how in --evenstep --evenstep=required; do
	test_expect_success "srun $how: every task sees its table and its share" '
		step -n4 --ntasks-per-node=2 $how sh -c "test -s \$EVENSTEP_DIR/metrics.json && test -S \$EVENSTEP_SOCKET &&
			$bin/evenstep conntable lookup \$SLURM_PROCID --json && env" >got 2>err &&
		cat got err && test $(count "^EVENSTEP_NODE_COUNT=2$" got) = 4 && test $(count "^EVENSTEP_SHARE=0[.]" got) = 4 &&
		for rank in 0 1 2 3; do sed -n "s/^{/&/p" got | jq -se "any(.rank == $rank)" || return 1; done && silent err
	'
	test_expect_success "nothing is left of it, in the job or on the nodes ($how)" nothing_left
done
test_expect_success 'what srun has told the plugin is not for the tasks' '
	step -N2 -n2 --evenstep env >got && grep ^EVENSTEP_SHARE got && ! grep SLURM_EVENSTEP got
'
test_expect_success '--evenstep-bcast: into the /tmp of the job' '
	echo brought >$bin/file && step -N2 -n2 --evenstep-bcast=$bin/file:/tmp/brought cat /tmp/brought >got &&
	printf "brought\nbrought\n" >want && test_cmp want got && step -N2 -n2 rm /tmp/brought
'
test_expect_success 'evenstep run in such a job' '
	as_user env SLURM_JOB_ID=$job SLURM_JOB_NUM_NODES=2 sh -c "cd / && exec $bin/evenstep run --metrics equal --range 0:100 -- seq {begin} {end}" >got 2>err &&
	cat err && sort -nu got >numbers && seq 0 100 >want && test_cmp want numbers && nothing_left
'
test_expect_success 'what an agent that was killed has left in the job goes with its step' '
	step -N2 -n2 --evenstep sh -c "ls \$EVENSTEP_DIR/env && for each in /proc/[0-9]*/exe; do
		case \$(readlink \$each) in $bin/evenstep-agent) each=\${each%/exe} && kill -KILL \${each#/proc/} ;; esac; done" >got 2>err
	cat got err && test $(count "/[0-9]+[.][0-9]+/env$" got) = 2 && nothing_left
'
test_expect_success 'what a step of before has left stays, and its owner reads on' '
	step -N2 -n2 mkdir -p -m 700 /dev/shm/evenstep-$(id -u $user)/other &&
	step -N2 -n2 --evenstep true && hidden >got && sort -u got >one && echo "evenstep-$(id -u $user)" >want && test_cmp want one &&
	step -N2 -n2 rm -r /dev/shm/evenstep-$(id -u $user)
'
test_expect_success 'nothing was brought, though it was promised: one line a node, and the step' '
	launcher && step -n4 --ntasks-per-node=2 --evenstep echo ran >got 2>err && cat got err && test $(count "^ran$" got) = 4 &&
	test $(count "evenstep: /dev/shm/evenstep-$(id -u $user)/$job[.][0-9]+/env is left out: it is not there" err) = 2 && test $(count evenstep: err) = 2
'
test_expect_success 'the same, and --evenstep=required: no step, exit 1' '
	test_expect_code 1 step -n4 --ntasks-per-node=2 --evenstep=required echo ran >got 2>err && cat err && test ! -s got &&
	test $(count "env is left out: it is not there.*; the step is not started \(--evenstep=required\)$" err) = 2
'
test_expect_success 'steps within such a step, and steps that do not ask, hear nothing of it' '
	step -N2 -n2 echo ran >got 2>err && test $(count ran got) = 2 && quiet err &&
	step -N1 -n1 -w n0 --evenstep sh -c "srun --overlap -N1 -n1 --chdir=/ echo within" >got 2>err && cat err && grep -x within got &&
	test $(count evenstep: err) = 1
'
test_expect_success 'down leaves nothing' '
	as_user scancel $job && wait_for 60 nodes_idle 2 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
