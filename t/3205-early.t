#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a run begins with the nodes that are there, and others get their part when they come, if they do'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME

# The agent of n2 waits until it may come.
cat >agent <<END
#!/bin/sh
case \$SLURMD_NODENAME in
n2) until test -e "$PWD/come"; do sleep 0.1; done ;;
esac
exec "$EVENSTEP_BUILD/evenstep-agent"
END
cat >never <<END
#!/bin/sh
test \$SLURMD_NODENAME != n2 || exec sleep 4321
exec "$EVENSTEP_BUILD/evenstep-agent"
END
cat >dies <<END
#!/bin/sh
test \$SLURMD_NODENAME != n2 || exit 7
exec "$EVENSTEP_BUILD/evenstep-agent"
END
# gated BEGIN END: says where it is, and waits.
cat >gated <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE" >>started
until test -e go; do sleep 0.1; done
exec seq "$1" $(($2 - 1))
END
chmod +x agent never dies gated
for each in agent never dies; do echo "plugin { agent_path = \"$PWD/$each\" }" >$each.conf; done
# with AGENT COMMAND...: in a job whose agents are so.
with() {
	conf=$PWD/$1.conf
	shift
	on_ctl timeout -k 5 100 salloc -Q --no-kill -N4 env EVENSTEP_CONF="$conf" "$@"
}
is_there() { test -n "$(ours evenstep-agent "$1")"; }
is_awaited() { test -n "$(ours -f "/agent$" "$1")"; } # what is to be its agent waits
# fresh: no command is known, but what the nodes are.
fresh() { rm -rf come go started state && mkdir -p state/evenstep && cp nodes state/evenstep/; }
nothing_left() { wait_for 60 no_agents && wait_for 60 no_jobs; }
top_shows() { on_ctl evenstep top --once >shown && grep -E "$1" shown; }
has_begun() { test -e started && grep -qx "$1" started; }
seq 0 399 >want

test_expect_success 'up: four nodes' 'testbed_up --nodes 4 --rate none'
test_expect_success 'of which nothing is known, so all are waited for; then it is' '
	mkdir state && : >go && { with agent evenstep run --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! &&
	wait_for 60 is_there n0 && sleep 1 && test ! -e started && : >come && wait $run && test_cmp want got && cp state/evenstep/nodes nodes
'
for metrics in "" "--metrics equal"; do
	test_expect_success "$metrics three nodes begin, the fourth gets its part when it comes, and all comes out once" '
		fresh && { with agent evenstep run $metrics --range 0:400 --report report -- ./gated {begin} {end} >got 2>err & } && run=$! &&
		wait_for 60 has_begun n0 && wait_for 60 has_begun n1 && wait_for 60 has_begun n3 && ! has_begun n2 && : >come &&
		wait_for 60 has_begun n2 && : >go && wait $run && cat err && test_cmp want got && ! grep -E "lost|warning|back" err &&
		jq -es ".[0].report.nodes | map(.node) == [\"n0\", \"n1\", \"n2\", \"n3\"]" report && nothing_left
	'
done
test_expect_success 'each is known to have been measured, also that one' '
	fresh && { with agent evenstep run --range 0:400 --report report -- ./gated {begin} {end} >got 2>err & } && run=$! &&
	wait_for 60 has_begun n0 && : >come && wait_for 60 has_begun n2 && : >go && wait $run && test_cmp want got &&
	jq -es ".[0].report.nodes | map(.probe.C.value > 0) == [true, true, true, true]" report
'
test_expect_success 'metrics.json has all nodes then, on each of them' '
	fresh && { with agent evenstep run --range 0:4000 --repeat 2 -- sh -c "./gated {begin} {end}; jq -c \"[.nodes[].name]\" \$EVENSTEP_DIR/metrics.json >>names.{frame}.{node}" >got 2>err & } && run=$! &&
	for each in n0 n1 n3; do wait_for 60 has_begun $each || return 1; done && : >come && wait_for 60 has_begun n2 && : >go && wait $run && cat names.* && test "$(cat names.1.* | sort -u)" = "[\"n0\",\"n1\",\"n2\",\"n3\"]"
'
test_expect_success 'what the job has measured, of the fourth, too, spares the next run the probe' '
	fresh && { with agent sh -c "evenstep run --range 0:400 -- ./gated {begin} {end} && exec evenstep run --range 0:4 --report report -- sleep 1" >got 2>err & } && run=$! &&
	wait_for 60 has_begun n0 && : >come && wait_for 60 has_begun n2 && : >go && wait $run && test_cmp want got &&
	jq -es ".[0].report.nodes | map(select(.cached)) | length >= 3" report # one that is first knows not who shares its machine
'
test_expect_success 'a frame of which nothing is left waits for nobody: the run ends before it comes, and nothing is left' '
	fresh && { with never evenstep run --range 0:400 --repeat 3 -- ./gated {begin} {end} >got 2>err & } && run=$! &&
	for each in n0 n1 n3; do wait_for 60 has_begun $each || return 1; done && : >go && wait $run && cat err &&
	cat want want want | test_cmp - got && ! has_begun n2 && nothing_left && test -z "$(ours -f "^sleep 4321")"
'
test_expect_success 'and says which node had not come' '
	grep "1 of 4 nodes had not come when all was over: n2: see sinfo" err
'
test_expect_success 'one whose agent dies at once: the others do its part' '
	fresh && : >go && with dies evenstep run --range 0:400 --repeat 3 -- ./gated {begin} {end} >got 2>err && cat err && cat want want want | test_cmp - got && nothing_left
'
test_expect_success 'one whose agent has ended is lost, by name, while the others work' '
	fresh && { with dies evenstep run --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! && wait_for 60 has_begun n0 &&
	wait_for 14 top_shows "n2 +lost" && wait_for 60 grep -q "n2 is lost (its agent has ended: Exited with exit code 7)" err && : >go && wait $run && cat err && test_cmp want got && nothing_left
'
test_expect_success 'one that comes after that is taken in, and told what all are' '
	fresh && { with agent evenstep run --range 0:400 -- sh -c "./gated {begin} {end}; test {node} != n2 || cp \$EVENSTEP_DIR/metrics.json told" >got 2>err & } && run=$! && wait_for 60 has_begun n0 &&
	wait_for 60 grep -q "node-3-of-4 is lost" err && : >come && wait_for 60 has_begun n2 && : >go && wait $run && cat err && test_cmp want got && jq -e ".nodes | map(.name) == [\"n0\", \"n1\", \"n2\", \"n3\"]" told
'
test_expect_success 'one that is killed while another is awaited: the rest do all' '
	fresh && { with agent evenstep run --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! && wait_for 60 has_begun n0 && wait_for 60 has_begun n1 &&
	kill -KILL $(ours evenstep-agent n1) && wait_for 60 grep -q "n1 is lost" err && : >come && wait_for 60 has_begun n2 && : >go && wait $run && test_cmp want got && nothing_left
'
test_expect_success 'all that were there are killed: the one that comes does all' '
	fresh && { with agent evenstep run --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! && wait_for 60 has_begun n0 && wait_for 60 has_begun n1 && wait_for 60 has_begun n3 &&
	for each in n0 n1 n3; do kill -KILL $(ours evenstep-agent $each); done && : >come && wait_for 60 grep -q "n3 is lost" err && : >go && wait $run; code=$?; cat err; test $code = 0 && test_cmp want got && nothing_left
'
test_expect_success 'it is killed while it is awaited, and the others end' '
	fresh && { with agent evenstep run --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! && wait_for 60 has_begun n0 &&
	wait_for 60 is_awaited n2 && kill -KILL $(ours -f "/agent$" n2) && : >go && wait $run && test_cmp want got && nothing_left
'
test_expect_success 'interrupted while it is awaited: nothing is left' '
	fresh && { with never env --default-signal=INT evenstep run --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! && wait_for 60 has_begun n0 &&
	kill -INT $(ours -f "^evenstep run") && { wait $run; cat err; } && grep "nothing is left running" err && nothing_left && test -z "$(ours -f "^sleep 4321")"
'
# What needs to know all nodes first.
for option in "--bcast gated:/tmp/brought" "--pieces 4" "--policy static" "--policy manual:size=100" "--slots 2" "--power pair" "--keep-going" "--profile network"; do
	test_expect_success "with $option all are waited for" '
		fresh && { with agent evenstep run $option --range 0:400 -- ./gated {begin} {end} >got 2>err & } && run=$! &&
		wait_for 60 is_there n0 && sleep 1 && test ! -e started && : >go && : >come && wait $run; code=$?; cat err; test $code = 0 && test_cmp want got
	'
done
test_expect_success 'down leaves nothing' 'testbed_down && testbed_nothing_left $testbed_name'
test_done
