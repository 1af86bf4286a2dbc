#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='jobs with a time limit: a run ends before it, goes back into the queue, and goes on'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

# units BEGIN END: ten a second; while there is a file "hold" those from 40 on wait.
cat >units <<'END'
#!/bin/sh
for unit in $(seq "$1" $(($2 - 1))); do
	test "$unit" -lt 40 || while test -e hold; do sleep 0.1; done
	sleep 0.1
	echo "$unit"
done
END
chmod +x units
# submit SECONDS UNITS [OPTION...]: a job of a minute, of which so many seconds are not for work.
submit() {
	submit_end=$1 submit_units=$2 && shift 2 && seq 0 "$((submit_units - 1))" >want &&
		on_ctl env "PATH=$EVENSTEP_BUILD:$PATH" UNTIL_END="$submit_end" sbatch -N 2 -t 1 -o log --parsable "$@" "$EVENSTEP_SRC/contrib/requeue" \
			--metrics equal --range "0:$submit_units" -- "$PWD/units" "{begin}" "{end}" >id && job=$(cat id)
}
state() { on_ctl scontrol show job "$job" | grep -q "$1"; }
log() { cat log && grep -qE "$1" log; }
has_done() { grep -q '"slice"' "journal.$job"; }
# Slurm lets a job that was requeued wait for two minutes.  Before all of its first run
# is over it would take that one's end for the second one's, and a node refuses the job
# in the second in which it was taken from it ("Job credential revoked").
has_ended() { state JobState=PENDING && none_of slurmstepd && test "$(on_ctl sinfo -h -o %T | sort -u)" = idle; }
at_once() { sleep 2 && on_ctl scontrol update JobId="$job" StartTime=now; }
# done_at_last: however often it has to be begun again.
done_at_last() { test -e "output.$job" || { ! has_ended || at_once; false; }; }

# Jobs in "urgent" take nodes away from those in the others: Slurm requeues what is in "main", and
# cancels what is in "graceful", half a minute after it has said so.
test_expect_success 'up: two nodes, and preemption' '
	testbed_up --nodes 2 --set PreemptType=preempt/partition_prio --set PreemptMode=REQUEUE --set "PartitionName=urgent Nodes=ALL PriorityTier=10" \
		--set "PartitionName=graceful Nodes=ALL PreemptMode=CANCEL GraceTime=30"
'
test_expect_success 'the time of a job is up: it is requeued with what it has done' '
	submit 53 240 && wait_for 120 state "JobState=PENDING.*BeginTime" && wait_for 60 log "^evenstep: time is up: [0-9]+ units of frame 1 are left: --resume goes on with it" &&
	test ! -e "output.$job" && test "$(grep -c "\"slice\"" "journal.$job")" -gt 1
'
test_expect_success 'it goes on, and the output is that of a run without a limit' '
	wait_for 60 has_ended && wait_for 120 done_at_last; cat log;
	test_cmp want "output.$job" && wait_for 60 state COMPLETED && log "^evenstep: 1 frame in "
'
test_expect_success 'a limit that is raised meanwhile holds' '
	rm -f log && submit 54 160 && wait_for 60 state RUNNING && on_ctl scontrol update JobId=$job TimeLimit=10 &&
	wait_for 120 state COMPLETED && test_cmp want "output.$job" && ! log "time is up"
'
# is_over: it has ended well; Slurm 24.11 calls one PREEMPTED that was to be cancelled and has run again since.
is_over() { state "JobState=COMPLETED\|JobState=PREEMPTED" && state "ExitCode=0:0"; }
# goes_on: it has ended in mid-run, in order; when it has its nodes again it ends as if it had kept them.
goes_on() {
	wait_for 60 has_ended && wait_for 60 none_of units &&
		log "^evenstep: stopped by SIGTERM: [1-9][0-9]* units of frame 1 are left: --resume goes on with it" && before=$(grep -c "\"slice\"" "journal.$job") && rm hold &&
		wait_for 120 done_at_last && test_cmp want "output.$job" && wait_for 60 is_over && test "$before" -lt "$(grep -c "\"slice\"" "journal.$job")"
}
# urgent: a job that needs all of both nodes, and ends at once.
urgent() { on_ctl sbatch -W -N 2 --exclusive -p urgent -o urgent --wrap "echo ran" && grep -x ran urgent; }
test_expect_success 'taken away in mid-run and requeued: it goes on where it was' '
	rm -f log && : >hold && submit 1 80 && wait_for 60 has_done && on_ctl scontrol requeue $job && goes_on
'
test_expect_success 'so it does after preemption, where Slurm requeues it' '
	rm -f log && : >hold && submit 5 80 -t 10 && wait_for 60 has_done && urgent && goes_on
'
test_expect_success 'where Slurm would cancel it the script sees exit 4 in the time of grace, and requeues it' '
	rm -f log && : >hold && submit 5 80 -t 10 -p graceful && wait_for 60 has_done && urgent && goes_on
'
# cancelled OPTION...: a run in a job of its own.
cancelled() { on_ctl env "PATH=$EVENSTEP_BUILD:$PATH" salloc -Q -N2 evenstep run --metrics equal --range 0:80 --journal journal.0 --gather file "$@" -- ./units "{begin}" "{end}" 2>err; }
test_expect_success 'a job that is cancelled in mid-run: exit 4, nothing is left, and --resume goes on in the next one' '
	seq 0 79 >want && : >hold && { cancelled & } && job=0 && wait_for 60 has_done && on_ctl scancel $(on_ctl squeue -h -o %i) && { wait $!; test $? = 4; } &&
	said "evenstep: stopped by SIGTERM: [1-9][0-9]* units of frame 1 are left: --resume goes on with it" && test ! -e file &&
	wait_for 60 none_of units && wait_for 60 no_agents && wait_for 60 no_jobs && rm hold && cancelled --resume && test_cmp want file
'
test_expect_success 'a limit that leaves no time: nothing is begun' '
	rm -f log && on_ctl env "PATH=$EVENSTEP_BUILD:$PATH" salloc -Q -N2 -t 1 evenstep run --metrics equal --until-end 100 --range 0:10 -- \
		sh -c "touch ran-{begin}; : {end}" 2>err; test $? = 4 && said "evenstep: time is up: 10 units of frame 1 are left: .*" && ! ls | grep ran-
'
test_done
