#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what slurmctld is asked for: one question for a step, and drained nodes now and then'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

mkdir bin
for command in scontrol sattach sinfo squeue scancel sacct; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/asked"\nexec %s "$@"\n' $command "$PWD" "$(command -v $command)" >bin/$command
done
chmod +x bin/*
# in_job NODES COMMAND...: in an allocation; what it asked is in the file asked.
in_job() {
	nodes=$1
	shift
	: >asked && "$testbed" exec --name "$testbed_name" -- salloc -Q -N"$nodes" -w "n[0-$((nodes - 1))]" env "PATH=$PWD/bin:$EVENSTEP_BUILD:$PATH" "$@"
}
asked() { # LINE...: these commands, and no other
	sed 's/[0-9][0-9]*\.[0-9][0-9]*/STEP/' asked >got
	printf '%s\n' "$@" | grep -v '^$' >want
	test_cmp want got
}

test_expect_success 'up: four nodes, the plugin' '
	testbed_up --nodes 4 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$(realpath "$EVENSTEP_BUILD/evenstep")"
'
test_expect_success 'a step that has all nodes of its job: its layout' '
	in_job 4 srun --evenstep=required true && asked "sattach --layout STEP"
'
test_expect_success 'a step that has some of them: likewise' '
	in_job 4 srun -N2 -n2 -w "n[1-2]" --evenstep=required sh -c "evenstep conntable dump >table.\$SLURM_PROCID" && asked "sattach --layout STEP" &&
	test "$(sed 1d table.0 | sed "s/.* //")" = "$(printf "10.11.1.2\n10.11.1.3")"
'
test_expect_success 'bcast and run: nothing' '
	echo text >file && in_job 4 evenstep bcast file /tmp/file && asked "" &&
	in_job 4 evenstep run --metrics equal --range 0:8 -- true && asked ""
'
test_expect_success 'a run of some seconds: the nodes of its job, at the interval that is set, and not in step' '
	echo "slurm { drain_interval = 1 }" >conf && began=$(date +%s) &&
	in_job 2 env EVENSTEP_CONF="$PWD/conf" evenstep run --metrics equal --range 0:2 -- sh -c "until test \$(wc -l <asked) -ge 2; do sleep 0.1; done" && ended=$(date +%s) &&
	cat asked && test "$(sort -u asked)" = "sinfo -h -N -t drain -o %N -n n[0-1]" && test "$(wc -l <asked)" -le $((2 * (ended - began) + 2))
'
test_expect_success 'drain_interval = 0: nothing' '
	echo "slurm { drain_interval = 0 }" >conf &&
	in_job 2 env EVENSTEP_CONF="$PWD/conf" evenstep run --metrics equal --range 0:2 -- sleep 2 && asked ""
'
test_done
