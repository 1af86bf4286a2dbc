#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='hundreds of agents on one machine: they start a few at a time, do frames, know what was measured, and leave nothing'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp # what is left there is ours
export TMPDIR
mkdir -p "$TMPDIR"
unset EVENSTEP_CONF SLURM_JOB_ID
agents=200

# An agent that says that it was started, and goes on when it may.
cat >slow-agent <<'END'
#!/bin/sh
echo $$ >>"$STARTED"
until test -e "$STARTED.go"; do sleep 0.1; done
exec evenstep-agent
END
chmod +x slow-agent
echo "plugin { agent_path = \"$PWD/slow-agent\" }" >slow.conf
STARTED=$PWD/started
export STARTED
ahead=$(($(nproc) * 4))
test $ahead -ge 16 || ahead=16
lines_are() { test -e "$1" && test "$(wc -l <"$1")" -ge "$2"; }

test_expect_success 'no more agents are on their way than the machine has use for' '
	EVENSTEP_CONF=slow.conf evenstep run --local $agents --metrics equal --range 0:$agents --pieces 1 \
		-- echo {node} {begin} {end} >got 2>err & front=$!
	wait_for 60 lines_are started $ahead && wait_for 60 settled started &&
	first=$(wc -l <started) && touch started.go && wait $front && cat err && echo "$first at first" &&
	if test $ahead -lt $agents; then test "$first" = $ahead; fi
'
test_expect_success 'all come in the end, and each does its part' '
	test "$(wc -l <started)" = $agents && test "$(cut -d" " -f2 got | sort -n | uniq | wc -l)" = $agents
'
test_expect_success "$agents agents do 20 frames: every unit once, in order" '
	evenstep run --local $agents --metrics equal --policy static --range 0:$agents --repeat 20 --pieces 1 \
		--gather got --reads-env -- echo {begin} 2>err || { cat err; false; } &&
	for frame in $(seq 20); do seq 0 $((agents - 1)); done >want && test_cmp want got
'
test_expect_success 'metrics.json is the same for all before their commands run' '
	evenstep run --local $agents --metrics equal --range 0:$agents --pieces 1 \
		-- sh -c "sha256sum <\$EVENSTEP_DIR/metrics.json; stat -Lc %a \$EVENSTEP_DIR/metrics.json; jq \".nodes | length\" \$EVENSTEP_DIR/metrics.json" >got &&
	sort got | uniq -c | sort -n >counted && cat counted && test "$(wc -l <counted)" = 3 &&
	test "$(awk "{ print \$1 }" counted | sort -u)" = $agents && grep -q "^ *$agents $agents\$" counted && grep -q "^ *$agents 600\$" counted
'
test_expect_success 'a persistent program has it when it starts' '
	evenstep run --local 4 --metrics equal --range 0:8 --persistent -- sh -c "test -s \$EVENSTEP_DIR/metrics.json && echo there >>programs; exec \"$EVENSTEP_BUILD/t/programs/slices\"" >got 2>err;
	cat err; test "$(sort programs | uniq -c | tr -s " ")" = " 4 there"
'
test_expect_success 'an interrupted start of many leaves no agent' '
	rm -f started.go started && { EVENSTEP_CONF=slow.conf evenstep run --local $agents --metrics equal --range 0:$agents \
		-- true 2>err & front=$!; } && wait_for 60 lines_are started 16 && touch started.go && wait_for 60 lines_are started 40 &&
	kill -TERM $front; wait $front; test $? = 4 &&
	while read -r pid; do wait_for 60 dead "$pid" || { echo "$pid"; return 1; }; done <started
'
test_expect_success 'a low limit of open files is raised for evenstep itself, and not for the commands' '
	(ulimit -Sn 64 && evenstep run --local 70 --metrics equal --range 0:70 --gather got -- sh -c "ulimit -Sn") &&
	sort -u got >each && echo 64 | test_cmp - each
'
test_expect_success 'nothing is left in TMPDIR' '
	find "$TMPDIR" -mindepth 1 >left && cat left && test ! -s left
'
test_done
