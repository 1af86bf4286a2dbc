#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='time that the nodes were stopped is no silence: no deadline runs while they stand still'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
# gated BEGIN END: waits for the file go.
cat >gated <<'END'
#!/bin/sh
echo >>started
until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
chmod +x gated
run='' agents=''
# shellcheck disable=SC2086 # numbers of processes
trap 'code=$?; end_ours $run $agents; (exit $code); die' EXIT
# begin OPTIONS...: a run on two nodes, whose commands wait.
begin() {
	rm -f started go
	evenstep run --local 2 --metrics equal --pieces 1 --range 0:30 "$@" -- ./gated "{begin}" "{end}" >out 2>err 3>&- 4>&- 5>&- &
	run=$!
	wait_for 60 started 2 && agents=$(pgrep -P "$run" -x evenstep-agent | xargs)
}
end() { wait "$run" && run='' && agents='' && seq 0 29 >want && test_cmp want out; }

# shellcheck disable=SC2086 # numbers of processes
{
	test_expect_success 'all nodes stopped for 14 s, --timeout 8: they are waited for, and nothing is done twice' '
		begin --timeout 8 && kill -STOP $agents && sleep 14 && : >go && kill -CONT $agents && end && started 2 &&
		said "evenstep: no node answers, but all are there: the job is suspended, and waited for"
	'
	test_expect_success 'a shorter stop: the limit has moved by it, before the command goes on' '
		begin --timeout 8 && kill -STOP $agents && sleep 12 && kill -CONT $agents && sleep 1 && : >go && end
	'
	test_expect_success 'a command that hangs after the stop still is ended: the limit has only moved' '
		begin --timeout 3 && kill -STOP $agents && sleep 5 && kill -CONT $agents && test_expect_code 1 wait $run && run= agents= &&
		said "evenstep: local[01]: units [0-9]+:[0-9]+ still run after 3 s"
	'
	test_expect_success 'one node that alone is stopped hangs: others do its part' '
		begin --timeout 6 --retries 3 && set -- $agents && kill -STOP $1 && : >go && wait_for 60 grep -q "still run after 6 s" err && wait_for 60 started 3 &&
		kill -CONT $1 && end
	'
	test_expect_success 'the front end stopped with its nodes: its own time has not run either' '
		begin --timeout 8 && kill -STOP $run $agents && sleep 12 && kill -CONT $agents $run && sleep 1 && : >go && end && started 2
	'
}
test_done
