#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='in the last part of a frame, who has finished takes over what a slow node has not begun'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
# late BEGIN END: says who does it; local1 waits for a file each time.
cat >late <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $1 $2" >>started
test "$EVENSTEP_NODE" != local1 || until test -e go; do sleep 0.05; done
exec seq "$1" $(($2 - 1))
END
chmod +x late
ends_with_test
# others_have N: so many units were begun by others than local1.
others_have() {
	awk -v n="$1" '$1 != "local1" { sum += $3 - $2 } END { exit sum != n }' started
}
seq 0 159 >want
test_expect_success 'a node that does not get on keeps but the piece that it was sent' '
	behind_to got evenstep run --local 4 --metrics equal --range 0:160 --pieces 8 --report report -- ./late {begin} {end} && wait_for 60 others_have 155; rc=$?; : >go; wait $run && sort started && test $rc = 0 && test_cmp want got
'
test_expect_success 'the report: each unit once, of the slow node 5 of its 40' '
	cat report && jq -es ".[0].slices | (map(.end - .begin) | add) == 160
		and (map(select(.node == \"local1\") | .end - .begin) == [5])" report
'
test_expect_success 'with --pieces 1 nobody takes over' '
	rm -f started go && : >go && evenstep run --local 4 --metrics equal --range 0:160 --pieces 1 --report report -- ./late {begin} {end} >got &&
	test_cmp want got && jq -es ".[0].slices | map(.end - .begin) == [40, 40, 40, 40]" report
'
test_expect_success 'whole grains change hands' '
	behind_to got evenstep run --local 4 --metrics equal --range 0:160 --grain 5 --pieces 8 --report report -- ./late {begin} {end} && wait_for 60 others_have 155; rc=$?; : >go; wait $run && test $rc = 0 && test_cmp want got &&
	jq -es ".[0].slices | all(.begin % 5 == 0 and .end % 5 == 0)" report
'
test_expect_success 'the slow node is killed then: the others do that piece, too' '
	behind_to got evenstep run --local 4 --metrics equal --range 0:160 --pieces 8 -- ./late {begin} {end} && wait_for 60 others_have 155 && agent=$(for each in $(pgrep -P $run -x evenstep-agent); do
		tr "\\0" "\\n" </proc/$each/environ | grep -qx EVENSTEP_AGENT=local1 && echo $each; done; :) && kill -KILL $agent &&
	wait $run && test_cmp want got && others_have 160
'
test_expect_success 'after a frame with a tail the slow node gets a smaller slice' '
	rm -f started go && cat >slow <<-\END && chmod +x slow &&
	#!/bin/sh
	test "$EVENSTEP_NODE" != local1 || sleep 1
	exec seq "$1" $(($2 - 1))
	END
	evenstep run --local 4 --metrics equal --range 0:160 --pieces 8 --repeat 2 --report report -- ./slow {begin} {end} >got &&
	cat want want | test_cmp - got && jq -es "map(select(.type == \"frame\"))[1].slices
		| map(select(.node == \"local1\") | .end - .begin) | (add // 0) < 20" report
'
test_done
