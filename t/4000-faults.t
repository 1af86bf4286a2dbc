#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='nodes, agents and daemons that die in the middle of a frame cost no unit of the output, and nothing is left'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

# gated BEGIN END: says that it is there, and waits for a file.
cat >gated <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_FRAME" >>started
until test -e go; do sleep 0.1; done
exec seq "$1" $(($2 - 1))
END
# stuck: has a child, and neither ends by itself.
cat >stuck <<'END'
#!/bin/sh
sleep 1001 &
echo "$EVENSTEP_NODE $EVENSTEP_FRAME" >>started
wait
END
# alone: no child.  Of a step that is cancelled Slurm kills all processes; by
# proctrack/linuxproc, which the testbed has, it may miss one whose parent is
# killed at that moment.
cat >alone <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_FRAME" >>started
exec sleep 1001
END
# making BEGIN END: makes a file of its output, too; at the first frame n1 waits.
cat >making <<END
#!/bin/sh
echo "\$EVENSTEP_NODE \$EVENSTEP_FRAME" >>"$PWD/started"
test "\$EVENSTEP_NODE \$EVENSTEP_FRAME" != "n1 0" || until test -e "$PWD/go"; do sleep 0.1; done
seq -f "\$EVENSTEP_FRAME %g" "\$1" \$((\$2 - 1)) | tee "made-\$EVENSTEP_FRAME-\$1"
END
chmod +x gated stuck alone making
seq 0 399 >want
for frame in 0 1 2; do seq -f "$frame %g" 0 399; done >want_made
job=''

# Agents, commands and their children, wherever they are.
ended() { test -z "$(ours -f 'evenstep-agent|/gated |/stuck|sleep 1001')"; }
no_step() { test -z "$(on_ctl squeue -h -s -j "$job" -o %j | grep -x evenstep)"; }
no_process() {
	wait_for 120 ended || { ps -fp "$(ours -f 'evenstep-agent|/gated |/stuck|sleep 1001' | paste -sd,)"; return 1; }
}
nothing_left() {
	no_process && { wait_for 60 no_step || { on_ctl squeue -s; return 1; }; }
}
lost() { grep -qE "^evenstep: $1 is lost \(.*\): the other nodes do its part$" err; }
# A new job of all nodes, which outlives what dies of it.  Slurm keeps a step of
# which a slurmstepd was lost until its job ends: then this one takes over.
hold_job() {
	test -z "$job" || on_ctl scancel "$job"
	wait_for 120 nodes_idle 4 || { on_ctl sinfo -N; return 1; }
	job=$(on_ctl salloc --no-kill -N4 --no-shell 2>&1 | sed -n 's/.*Granted job allocation //p')
	test -n "$job"
}
# begin COMMAND...: a run in that job; its number in $run.  Sharness's descriptors
# are closed, so that prove does not wait for what a failed test leaves.
begin() {
	rm -f started go
	"$testbed" exec --name "$testbed_name" -- env --default-signal=INT,HUP \
		SLURM_JOB_ID="$job" SLURM_JOB_NUM_NODES=4 "SLURM_JOB_NODELIST=n[0-3]" "$EVENSTEP_BUILD/evenstep" run "$@" >out 2>err 3>&- 4>&- 5>&- &
	run=$!
}
begin_gated() {
	begin --metrics equal --pieces 1 --range 0:400 --report report -- "$PWD/gated" '{begin}' '{end}'
	wait_for 60 started 4
}
# The end of a run that has lost $1: whole output all the same.
ends_well() {
	: >go
	wait "$run"
	code=$?
	cat err
	test $code = 0 && test_cmp want out
}
# ends STATUS MESSAGE: likewise when it cannot end well.
ends() {
	wait "$run"
	code=$?
	echo "status $code"
	said "$2" && test $code = "$1"
}
# The report: parts that were done adjoin and are all; $1 did none of them.
report_without() {
	cat report
	jq -es --arg lost "$1" '.[0].slices | map(select(.status == 0)) | sort_by(.begin) | . as $s
		| $s[0].begin == 0 and $s[-1].end == 400 and all(.node != $lost)
		and ([range(1; length) | $s[.].begin == $s[. - 1].end] | all)
		and any(.attempt == 2)' report
}

test_expect_success 'up: four nodes, one job on all of them' '
	testbed_up --nodes 4 --speeds 40 && hold_job
'
test_expect_success 'kill -9 of an agent: its slice goes to the others, exit 0, whole output' '
	begin_gated && kill -KILL $(ours -f evenstep-agent n1) && wait_for 60 lost n1 && ends_well && report_without n1
'
test_expect_success 'nothing is left on any node' nothing_left
test_expect_success 'kill -9 of a slurmstepd: exit 0, whole output' '
	begin_gated && agent=$(ours -f evenstep-agent n2 | head -n 1) && stepd=$(ps -o ppid= -p $agent) &&
	test "$(cat /proc/$((stepd))/comm)" = slurmstepd && kill -KILL $((stepd)) && ends_well && dead $((stepd))
'
test_expect_success 'and its orphans leave, too' 'no_process && hold_job'
test_expect_success 'fault kill n2: the whole node dies; exit 0, whole output, n2 named' '
	begin_gated && testbed_fault kill n2 && wait_for 60 lost n2 && ends_well && report_without n2 && no_process
'
test_expect_success 'the node is back: the next run has all four' '
	testbed_fault heal n2 && hold_job &&
	begin_gated && ends_well && jq -es ".[0].slices | length == 4 and all(.attempt == 1)" report && nothing_left
'
test_expect_success 'fault cut n3: silence is noticed within some 10 s; exit 0, whole output, n3 named' '
	begin_gated && testbed_fault cut n3 && wait_for 60 lost n3 && ends_well && report_without n3
'
test_expect_success 'nothing is left when the link is healed, also not on the node that was cut off' '
	testbed_fault heal n3 && no_process && hold_job
'
test_expect_success 'three of four nodes lost, one after the other: the last does it all' '
	begin_gated && for node in n0 n1 n3; do
		kill -KILL $(ours -f evenstep-agent $node) && wait_for 60 lost $node || return 1
	done && ends_well && jq -es ".[0].slices | map(select(.status == 0) | .node) | unique == [\"n2\"]" report && nothing_left
'
test_expect_success 'all of them: exit 3, says that no node is left' '
	begin_gated && { kill -KILL $(ours -f evenstep-agent) || echo "one had ended"; } && test_expect_code 3 wait $run &&
	said "evenstep: no node is left to work: .*" && nothing_left
'
test_expect_success 'a node lost between the frames of a long run: each frame is whole' '
	begin --range 0:400 --repeat 40 --policy even -- sh -c "test {frame} -lt 9 || echo x >>started; test {frame} -lt 20 || until test -e go; do sleep 0.1; done; exec seq {begin} \$(({end} - 1))" &&
	wait_for 60 test -e started && kill -KILL $(ours -f evenstep-agent n0) && wait_for 60 lost n0 && : >go && wait $run &&
	for frame in 1 2 3 4 5 6 7 8 9 10; do cat want want want want; done >all && test_cmp all out && nothing_left
'
# All that a run may have at once: slots, frames ahead, files that come back.
begin_making() {
	begin --metrics equal --policy static --pieces 1 --slots 2 --ahead 2 --workdir tmp --return 'made-{frame}-{begin}' \
		--range 0:400 --repeat 3 "$@" -- "$PWD/making" '{begin}' '{end}'
}
is_ahead() { grep -q ' 2$' started; }
test_expect_success 'kill -9 of an agent with two slots, while others are two frames ahead and return files' '
	begin_making && wait_for 60 is_ahead && kill -KILL $(ours -f evenstep-agent n1) && wait_for 60 lost n1 && : >go && wait $run &&
	test_cmp want_made out && sort -n -k 1,1 -k 2,2 made-* | test_cmp want_made - && rm made-* && nothing_left
'
kept_ahead() { test -e journal && grep -q "\"type\":\"slice\",\"frame\":2" journal; }
test_expect_success 'kill -9 of the front end then; --resume: the output and the files of an undisturbed run' '
	begin_making --journal journal && wait_for 60 kept_ahead && kill -KILL $run && test_expect_code 137 wait $run && nothing_left &&
	begin_making --journal journal --resume && : >go && wait $run && test_cmp want_made out &&
	jq -r "select(.type == \"slice\") | \"made-\\(.frame)-\\(.begin)\"" journal | xargs sort -n -k 1,1 -k 2,2 | test_cmp want_made - && nothing_left
'
test_expect_success 'a slow link (1 Mbit/s): the output is exact' '
	testbed_fault rate n1 1mbit && seq 0 79999 >many &&
	begin --policy static --range 0:80000 -- sh -c "exec seq {begin} \$(({end} - 1))" && wait $run && cmp many out &&
	testbed_fault rate n1 100mbit && nothing_left
'
for signal in INT:130 HUP:129; do
	test_expect_success "SIG${signal%:*} stops the commands on all nodes" '
		begin --range 0:400 -- "$PWD/stuck" && wait_for 60 started 4 && kill -${signal%:*} $run &&
		ends ${signal#*:} "evenstep: .*: nothing is left running" && nothing_left
	'
done
test_expect_success 'kill -9 of the front end: nothing lingers on any node' '
	begin --range 0:400 -- "$PWD/stuck" && wait_for 60 started 4 && kill -KILL $run &&
	test_expect_code 137 wait $run && nothing_left
'
test_expect_success 'kill -9 of the front end while the agents start: likewise' '
	begin --range 0:400 -- "$PWD/stuck" && wait_for 60 sh -c "pgrep -P $run -x srun" && kill -KILL $run &&
	test_expect_code 137 wait $run && nothing_left
'
# Slurm signals the commands, too: what is heard of first, of an agent that was
# told to leave or has gone or of a command, is the reason that is told.
ends_by_scancel() {
	wait "$run"
	code=$?
	case $code in
	1) said "evenstep: n[0-3]: frame 1, .* was killed by signal (9|15) .*" ;;
	3) said "evenstep: no node is left to work: .*" ;;
	4) said "evenstep: stopped by SIGTERM: .*" ;;
	*) cat err && echo "status $code" && false ;;
	esac
}
test_expect_success 'scancel of the step: ends with the reason, not 0' '
	begin --range 0:400 -- "$PWD/alone" && wait_for 60 started 4 &&
	on_ctl scancel $(on_ctl squeue -h -s -j $job -o "%i %j" | sed -n "s/ evenstep$//p") &&
	ends_by_scancel && ! grep "once more" err && nothing_left
'
test_expect_success 'scancel of the whole job: likewise' '
	begin --range 0:400 -- "$PWD/alone" && wait_for 60 started 4 && on_ctl scancel $job && ends_by_scancel && nothing_left
'
test_expect_success 'the daemons have lived through it, down leaves nothing' '
	wait_for 60 nodes_idle 4 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
