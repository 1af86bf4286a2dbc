#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a run ends in order when the time of its job is up, or by SIGTERM, and --resume goes on'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp # what is left there is ours
export TMPDIR
mkdir -p "$TMPDIR"
unset EVENSTEP_CONF SLURM_JOB_ID SLURM_JOB_END_TIME
ends_with_test
seq 0 999 >want
# units BEGIN END: the numbers; some take a while.
cat >units <<'END'
#!/bin/sh
for unit in $(seq "$1" $(($2 - 1))); do
	test -e quick || sleep 0.2
	echo "$unit"
done
END
# gated BEGIN END: says that it is there, and waits for a file.
cat >gated <<'END'
#!/bin/sh
echo x >>started
until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
chmod +x units gated
# in_job SECONDS OPTION...: in a job that ends after so long, or did so before.
in_job() {
	limits_end=$(($(date +%s) + $1))
	shift
	rm -f err
	SLURM_JOB_END_TIME=$limits_end evenstep run --local 2 --metrics equal "$@" 2>err
}
goes_on() {
	: >quick && evenstep run --local 2 --metrics equal --range 0:1000 --journal journal --resume --gather file -- ./units "{begin}" "{end}" 2>err &&
		rm quick && cat err && test_cmp want file && nothing_left
}
nothing_left() { ls -A "$TMPDIR" >left && cat left && test ! -s left; }
fresh() { rm -f journal file started go quick; }

# --- the job's end -----------------------------------------------------------------
test_expect_success '--until-end: exit 4, what is left is told, and --resume does that and no more' '
	for seconds in 5 15 45; do # the last ones if this machine takes as long to begin
		fresh && test_expect_code 4 in_job $seconds --until-end 2 --range 0:1000 --journal journal --gather file -- ./units {begin} {end} || return 1
		! grep -q "\"slice\"" journal || break
	done &&
	said "evenstep: time is up: [1-9][0-9]+ units of frame 1 are left: --resume goes on with it" && test ! -e file &&
	left=$(sed -n "s/.*up: \([0-9]*\) units.*/\1/p" err) && test "$left" -lt 1000 && goes_on
'
test_expect_success 'a time that is up already: nothing is begun' '
	fresh && test_expect_code 4 in_job -10 --until-end 2 --range 0:1000 --repeat 3 --gather file -- sh -c "touch ran; echo {begin} {end}" &&
	said "evenstep: time is up: 1000 units of frame 1 are left, and 2 frames after it: with --journal FILE, .*" && test ! -e ran && test ! -e file
'
test_expect_success 'time enough: as without' '
	fresh && : >quick && in_job 1000000 --until-end 10m --range 0:1000 --gather file -- ./units {begin} {end} && test_cmp want file
'
test_expect_success 'what runs for longer than it may is given up, and done by the next run' '
	fresh && test_expect_code 4 in_job 3 --until-end 2 --range 0:1000 --pieces 1 --journal journal --gather file -- ./gated {begin} {end} &&
	said "evenstep: time is up: 1000 units of frame 1 are left: .*" && nothing_left
'
test_expect_success 'a queue that waits for more ends then, too' '
	fresh && : >queue && test_expect_code 4 in_job 3 --until-end 2 --queue queue --follow -- ./units {begin} {end} && said "evenstep: time is up: .*"
'
test_expect_success 'programs that stay are told, and end' '
	test_expect_code 4 in_job 4 --until-end 2 --range 0:1000 --repeat 1000000000 --persistent --gather file -- "$EVENSTEP_BUILD/t/programs/slices" &&
	mentioned "^evenstep: time is up: .*units? of frame [0-9]+ (is|are) left, and [0-9]+ frames after it" && nothing_left
'
test_expect_success 'no job, no number: exit 3 and 2' '
	test_expect_code 3 evenstep run --local 2 --until-end 10 --range 0:1 -- true 2>err && said "evenstep: --until-end: no job, .*: run it inside salloc or sbatch, .*" &&
	test_expect_code 2 evenstep run --local 2 --until-end 0 --range 0:1 -- true 2>err && said "evenstep: --until-end: .*"
'

# --- SIGTERM ------------------------------------------------------------------------
begin() { fresh && behind setsid env --default-signal=TERM evenstep run --local 2 --metrics equal --pieces 4 --range 0:1000 --journal journal --gather file "$@" -- ./gated "{begin}" "{end}" && wait_for 60 started 2; }
test_expect_success 'SIGTERM: what runs may end, nothing is begun, exit 4, and --resume goes on' '
	begin && kill -TERM $run && wait_for 60 mentioned "^evenstep: SIGTERM: nothing more is begun" && : >go &&
	test_expect_code 4 wait $run && run= && started 2 && said "evenstep: stopped by SIGTERM: [1-9][0-9]+ units of frame 1 are left: --resume .*" &&
	test "$(grep -c "\"slice\"" journal)" = 2 && : >go && evenstep run --local 2 --metrics equal --pieces 4 --range 0:1000 --journal journal --resume --gather file -- ./gated {begin} {end} && test_cmp want file
'
test_expect_success 'a second one ends it at once' '
	begin && kill -TERM $run && wait_for 60 mentioned "^evenstep: SIGTERM: nothing more is begun" && kill -TERM $run &&
	test_expect_code 143 wait $run && run= && said "evenstep: .*: nothing is left running" && nothing_left
'
test_expect_success 'commands and agents that it ends, too, have not failed' '
	begin --repeat 2 && kill -TERM $run && wait_for 60 mentioned "^evenstep: SIGTERM: nothing more is begun" &&
	kill -TERM $(pgrep -P $run -x evenstep-agent) && test_expect_code 4 wait $run && run= &&
	said "evenstep: stopped by SIGTERM: 1000 units of frame 1 are left, and 1 frame after it: .*" && nothing_left
'
test_expect_success 'where Slurm ends all agents, which leave, it is no failure either, and --resume goes on' '
	begin && kill -TERM $(pgrep -P $run -x evenstep-agent) && test_expect_code 4 wait $run && run= && mentioned "^evenstep: local1: SIGTERM: it leaves$" &&
	said "evenstep: stopped by SIGTERM: 1000 units of frame 1 are left: --resume .*" && nothing_left &&
	: >go && evenstep run --local 2 --metrics equal --range 0:1000 --journal journal --resume --gather file -- ./gated {begin} {end} && test_cmp want file
'
agents() { pgrep -d "$1" -P "$run" -x evenstep-agent; }
# first_the_commands: they have ended when the agents get theirs, which is soon enough but on a machine that sleeps:
# nothing is started between the two.
# shellcheck disable=SC2086 # numbers
first_the_commands() {
	limits_agents=$(agents " ") && limits_commands=$(pgrep -P "$(agents ,)" -x gated) && kill -TERM $limits_commands || return
	until dead $limits_commands; do :; done
	kill -TERM $limits_agents
}
test_expect_success 'commands that it reaches before their agents have not failed' '
	for time in 1 2 3 4 5; do
		begin && first_the_commands; wait $run; limits_code=$? run=; test $limits_code != 4 || break
	done && test $limits_code = 4 && said "evenstep: stopped by SIGTERM: 1000 units of frame 1 are left: --resume .*" && nothing_left
'
test_expect_success 'one that gets a SIGTERM alone has failed' '
	begin && kill -TERM $(pgrep -P $(agents ,) -x gated) && test_expect_code 1 wait $run && run= && nothing_left &&
	said "evenstep: local[01]: frame 1, units [0-9:]+: ./gated was killed by signal 15 \(Terminated\): .*"
'
test_done
