#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a job that Slurm suspends goes on when it is resumed: no deadline has run meanwhile'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
job() { on_ctl squeue -h -o %i; }
is() { test "$(on_ctl squeue -h -o %T)" = "$1"; }
# gated BEGIN END: waits for the file go.
cat >gated <<'END'
#!/bin/sh
echo >>started
until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
chmod +x gated
seq 0 29 >want
# stand_still: the job is suspended for 16 s, and the commands may end when it goes on.
stand_still() {
	wait_for 60 started 2 && id=$(job) && on_ctl scontrol suspend "$id" && wait_for 60 is SUSPENDED &&
		sleep 16 && : >go && on_ctl scontrol resume "$id"
}

test_expect_success 'the cluster comes up' 'testbed_up --nodes 2'
test_expect_success 'salloc: nodes suspended for 16 s, --timeout 10: the run ends well, nothing is done twice' '
	rm -f started go && { on_ctl salloc -Q -N2 evenstep run --metrics equal --pieces 1 --range 0:30 --timeout 10 -- "$PWD/gated" "{begin}" "{end}" >out 2>err & } &&
	run=$! && stand_still && wait $run && test_cmp want out && started 2 && wait_for 60 no_jobs &&
	said "evenstep: no node answers, but all are there: the job is suspended, and waited for"
'
test_expect_success 'sbatch: the front end is suspended, too' '
	rm -f started go out err && printf "#!/bin/sh\ncd \"%s\" || exit 9\nevenstep run --metrics equal --pieces 1 --range 0:30 --timeout 10 -- ./gated {begin} {end} >out 2>err\necho \$? >code\n" "$PWD" >script &&
	on_ctl sbatch -N2 -o /dev/null script && stand_still && wait_for 60 test -s code && cat err && test "$(cat code)" = 0 && test_cmp want out && started 2 &&
	wait_for 60 no_jobs
'
# comes NODE: some of the file has.
comes() { on_node "$1" awk '/eth0:/ { sub(/.*:/, ""); bytes = $1 } END { exit bytes < 10000000 }' /proc/net/dev; }
test_expect_success 'bcast: suspended for 16 s in the middle, the file is whole on every node' '
	head -c 100000000 /dev/urandom >big && testbed_fault rate n0 40mbit && testbed_fault rate n1 40mbit &&
	{ on_ctl salloc -Q -N2 evenstep bcast big /tmp/big >out 2>err & } && run=$! && wait_for 120 comes n0 && wait_for 120 comes n1 && id=$(job) && on_ctl scontrol suspend "$id" &&
	wait_for 60 is SUSPENDED && sleep 16 && on_ctl scontrol resume "$id" && wait $run && sum=$(sha256sum <big) &&
	for node in n0 n1; do test "$(on_node $node sha256sum /tmp/big | cut -c1-64)" = "${sum%% *}" || return 1; done
'
test_expect_success 'it goes down' 'testbed_down'
test_done
