#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description="evenstep join under Slurm: another job's nodes come to a run, and go"
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
mkdir state # nobody else makes it

# work BEGIN END: says where it is done, and takes 16 ms a unit until it is told: were
# it the same for any number, one node would have all of it.  The last frames take longer:
# on a busy machine what a test has to do meanwhile may take a minute.
cat >work <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_FRAME" >>started
test -e fast || test "$EVENSTEP_FRAME" -lt 200 || sleep 1
test -e fast || sleep "0.$(printf %03d $((($2 - $1) * 16)))"
exec seq "$1" $(($2 - 1))
END
chmod +x work
job() { "$testbed" exec --name "$testbed_name" -- salloc -Q --exclusive "$@"; }
evenstep="env --default-signal=INT PATH=$EVENSTEP_BUILD:$PATH evenstep"
# What the last frames of the run before have cost, which is nothing, is forgotten: of it one node may get all.
forget() { rm -f state/evenstep/costs; }
# begin OPTIONS...: a run on n0 and n1 that nodes may join, what it is called in $name.
begin() {
	forget && rm -f started fast out err joinerr
	: >started && : >err
	# shellcheck disable=SC2086 # words
	job -w n0,n1 $evenstep run --joinable 2 --range 0:60 --repeat 300 "$@" -- "$PWD/work" "{begin}" "{end}" >out 2>err 3>&- 4>&- 5>&- &
	run=$!
	wait_for 60 grep -q "nodes may join" err && name=$(sed -n "s/^evenstep: nodes may join: evenstep join //p" err)
}
join() { # another job, of n2 and n3, joins it; its number is in other
	job -w n2,n3 sh -c "echo \$SLURM_JOB_ID >other; exec $evenstep join $name" >joinout 2>joinerr 3>&- 4>&- 5>&- &
	join=$!
}
# ended: the output is that of a run without, and nothing is left.
ended() {
	: >fast
	wait "$run" && for each in $(seq 300); do seq 0 59; done >want && test_cmp want out && wait_for 60 no_agents && wait_for 60 nodes_idle 4 &&
		test -z "$(ls state/evenstep/join)"
}
has_joined() { grep -q "^$1 " started; }
# tells FILE LINE: that is one of its lines.
tells() { cat "$1" && grep -qx "evenstep: join: $2" "$1"; }
is_lost() { grep -qE "^evenstep: $1 (has left|is lost)" err; }

test_expect_success 'up: four nodes' 'testbed_up --nodes 4'
test_expect_success "another job's nodes get their part from the next frame on, and the output is that of a run without" '
	begin --metrics probe --report report --joblog log && join && wait_for 100 has_joined n2 && wait_for 100 has_joined n3 && ended && wait $join &&
	said "evenstep: n2 has joined" && said "evenstep: n3 has joined" && quiet joinout && grep -qx "evenstep: 2 nodes join $name" joinerr
'
test_expect_success 'no frame that had begun before has anything of theirs' '
	jq -es "map(select(.type == \"frame\")) | map([.slices[].node | test(\"n[23]\")]) | (.[0] | any | not) and (map(any) | any)" report &&
	test "$(cut -f2 log | grep -c "^n[23]$")" -gt 0
'
test_expect_success 'the job that has joined is cancelled: its units are redone, and the run goes on' '
	begin --metrics equal && join && wait_for 100 has_joined n2 && wait_for 100 has_joined n3 && on_ctl scancel "$(cat other)" &&
	wait_for 60 is_lost n2 && wait_for 60 is_lost n3 && { wait $join || :; } && ended
'
test_expect_success 'kill -9 of its agents: likewise, and the join says so' '
	begin --metrics equal && join && wait_for 100 has_joined n2 && wait_for 100 has_joined n3 &&
	for each in $(ours evenstep-agent n2) $(ours evenstep-agent n3); do kill -KILL $each; done &&
	wait_for 60 is_lost n2 && wait_for 60 is_lost n3 && test_expect_code 1 wait $join &&
	grep -q "^evenstep: join: $name: the agents have ended" joinerr && ended
'
test_expect_success 'SIGINT to the join: its nodes leave, and its job is free at once' '
	begin --metrics equal && join && wait_for 100 has_joined n2 && wait_for 100 has_joined n3 && for each in $(ours -f "evenstep join $name"); do
		test "$(cat /proc/$each/comm)" != evenstep || kill -INT $each; done; wait_for 60 grep -qx "evenstep: n2 has left: the other nodes do its part" err &&
	{ wait $join || :; } && wait_for 60 nodes_idle 2 && ended && grep -q "the run goes on without these nodes" joinerr
'
test_expect_success 'its nodes cannot join twice, nor those that the run began with' '
	begin --metrics equal && join && wait_for 100 has_joined n2 &&
	test_expect_code 3 "$testbed" exec --name "$testbed_name" -- env SLURM_JOB_ID="$(cat other)" SLURM_JOB_NODELIST="n[2-3]" $evenstep join $name 2>twice &&
	tells twice "$name: n2 is in the run already: give --nodelist with those that are new" &&
	test_expect_code 3 "$testbed" exec --name "$testbed_name" -- env SLURM_JOB_ID="$(cat other)" SLURM_JOB_NODELIST="n[0-1]" $evenstep join "${name%.*}" 2>twice &&
	tells twice "$name: n0 is in the run already: give --nodelist with those that are new"
'
test_expect_success 'one of --local does not join it, nor what is no job' '
	test_expect_code 3 on_ctl $evenstep join --local 1 $name 2>local && tells local "$name: the run.s nodes are Slurm.s: run it inside salloc or sbatch, without --local" &&
	test_expect_code 3 on_ctl env -u SLURM_JOB_ID $evenstep join $name 2>local && tells local "no allocation: run it inside salloc or sbatch"
'
test_expect_success 'another user cannot: the file is closed to him, and his own is none' '
	cp "state/evenstep/join/$name" copy && chmod 600 copy && chmod 755 . state state/evenstep && chmod 711 state/evenstep/join && cp "$EVENSTEP_BUILD/evenstep" here &&
	test_expect_code 3 setpriv --reuid 65534 --clear-groups ./here join --local 1 ./copy 2>theirs && grep -q "^evenstep: join: ./copy: Permission denied: " theirs &&
	test_expect_code 3 setpriv --reuid 65534 --clear-groups ./here join --local 1 $name 2>theirs && grep -q "^evenstep: join: no run $name takes nodes in: " theirs &&
	chown 65534 copy && test_expect_code 3 ./here join --local 1 ./copy 2>theirs && tells theirs "./copy is another user.s: join a run of your own" &&
	ended && wait $join
'
test_expect_success 'a run that is over' '
	test_expect_code 3 on_ctl env SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n2 $evenstep join $name 2>over && grep -q "^evenstep: join: no run $name takes nodes in: it is over" over
'
cat >grown <<'END'
#!/bin/sh
# One job: a run on two of its nodes, and then the others, as if they were new.
evenstep run --srun "-N2 -w n0,n1" --joinable 2 --metrics equal --range 0:60 --repeat 300 -- "$PWD/work" {begin} {end} >out 2>err &
run=$!
until grep -q "nodes may join" err; do sleep 0.1; done
name=$(sed -n "s/^evenstep: nodes may join: evenstep join //p" err)
evenstep join "$name" 2>all
echo $? >>all
evenstep join --nodelist n[2-3] "$name" 2>new &
join=$!
wait $run && wait $join
END
test_expect_success 'a job that has grown: --nodelist has the nodes that are new' '
	forget && rm -f started fast out && : >started && : >err && chmod +x grown && { job -N4 env "PATH=$EVENSTEP_BUILD:$PATH" ./grown >grownout 2>&1 3>&- 4>&- 5>&- & run=$!; } &&
	wait_for 100 has_joined n3 && wait_for 100 has_joined n2 && ended && cat all new && grep -q "n0 is in the run already" all && tail -n 1 all | grep -qx 3 && grep -q "2 nodes join" new
'
test_expect_success 'down, and nothing is left' 'testbed_down'
test_done
