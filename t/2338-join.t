#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep join: nodes come to a run between its frames, and go'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
ends_with_test
XDG_STATE_HOME=$PWD/state
export XDG_STATE_HOME
mkdir state # nobody else makes it

# work BEGIN END: says where it is done, and takes its time until it is told.
cat >work <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE $EVENSTEP_FRAME" >>started
test -e fast || sleep "0.$(printf %03d $((($2 - $1) * 5)))"
exec seq "$1" $(($2 - 1))
END
chmod +x work
# What the last frames of the run before have cost, which is nothing, is forgotten: of it one node may get all.
forget() { rm -f state/evenstep/costs; }
# begin FRAMES OPTIONS...: a run that nodes may join, what it is called in $name.
begin() {
	forget && rm -f started fast out err
	: >started
	frames=$1 && shift
	evenstep run --local 2 --range 0:60 --repeat "$frames" "$@" -- ./work "{begin}" "{end}" >out 2>err 3>&- 4>&- &
	run=$!
	wait_for 60 grep -q "nodes may join" err && name=$(sed -n "s/^evenstep: nodes may join: evenstep join //p" err) && test "$name" = local-$run
}
ended() { wait "$run" && run= && for each in $(seq "$frames"); do seq 0 59; done >want && test_cmp want out; }
joined() { grep -q "^join" started; }
both_joined() { joined && grep -qx "evenstep: join$join-1 has joined" err; }
# refused STATUS PATTERN ARG...: evenstep join fails so, while a run writes to out and err.
refused() { (mkdir -p aside && cd aside && status=$1 pattern=$2 && shift 2 && fails "$status" "evenstep: join: $pattern" evenstep join "$@"); }
file() { echo "state/evenstep/join/$name"; }

test_expect_success 'nodes that join get their part from the next frame on; the output is that of a run without' '
	begin 400 --joinable 2 --metrics equal --report report --joblog log && test "$(stat -c "%a" "$(file)")" = 600 &&
	{ evenstep join --local 2 "$name" 2>joinerr & join=$!; } && wait_for 60 joined && : >fast && ended && wait $join &&
	said "evenstep: join$join-0 joins: it gets its part from the next frame on" && said "evenstep: join$join-1 has joined" &&
	test "$(cat joinerr)" = "evenstep: 2 nodes join $name" && test ! -e "$(file)"
'
test_expect_success 'no frame has a piece of theirs that began before they had joined' '
	test "$(grep -n "^join" started | head -n 1 | cut -d" " -f2)" -gt 0 &&
	jq -es "map(select(.type == \"frame\")) | map([.slices[] | .node | startswith(\"join\")]) | (.[0] | any | not) and (map(any) | any)" report
'
test_expect_success 'report and joblog have them by name' '
	evenstep report report >shown && grep "^join$join-0 " shown && grep "^local0 " shown && test "$(grep -c "	join$join-[01]	" log)" -gt 0
'
test_expect_success 'measured by a probe of their own, with several slots, and types of work' '
	printf "work \"other\" { command = {\"./work\", \"{begin}\", \"{end}\"} }\n" >works && rm -f started fast && : >started &&
	for each in $(seq 100); do printf "0:60 a$each\n0:60 b$each @other\n"; done >queue &&
	{ evenstep run --local 2 --joinable 1 --slots 2 --metrics cached --works works --queue queue -- ./work {begin} {end} >out 2>err 3>&- 4>&- & run=$!; } &&
	wait_for 60 grep -q "nodes may join" err && { evenstep join --local 1 local-$run 2>joinerr & join=$!; } && wait_for 60 joined &&
	: >fast && frames=200 && ended && wait $join
'
test_expect_success 'ahead: frames overlap, and the nodes come in as one more begins' '
	begin 300 --joinable 1 --metrics equal --ahead 2 && { evenstep join --local 1 "$name" 2>joinerr & join=$!; } && wait_for 60 joined &&
	: >fast && ended && wait $join
'
test_expect_success 'tasks, which are one frame: nodes that join get some of what is left' '
	forget && rm -f started fast && : >started && seq 300 | sed "s/.*/echo \$EVENSTEP_NODE & >>started; test -e fast || sleep 0.1; echo &/" >cmds &&
	{ evenstep tasks --local 2 -j 1 --joinable 2 --metrics equal cmds >out 2>err 3>&- 4>&- & run=$!; } && wait_for 60 grep -q "nodes may join" err &&
	{ evenstep join --local 2 local-$run 2>joinerr & join=$!; } && wait_for 60 joined && wait_for 60 grep -qx "evenstep: join$join-1 has joined" err && : >fast &&
	wait $run && run= && wait $join && cat err && seq 300 | test_cmp - out && cut -d" " -f2 started | sort -n >ran && seq 300 | test_cmp - ran && ! grep "next frame" err
'
test_expect_success '  which need a number of slots' '
	echo true >cmds && fails 2 "evenstep: .*--joinable: .*: give a number of slots, as in -j 8" evenstep tasks --local 1 --joinable 1 cmds
'
test_expect_success 'SIGINT: its nodes leave, and the others do their part; nothing of theirs stays' '
	begin 400 --joinable 2 --metrics equal && { env --default-signal=INT evenstep join --local 2 "$name" 2>joinerr & join=$!; } && wait_for 60 both_joined &&
	kill -INT $join && test_expect_code 130 wait $join && tail -n 1 joinerr | grep -qx "evenstep: Interrupt: the run goes on without these nodes" &&
	wait_for 60 grep -qx "evenstep: join$join-1 has left: the other nodes do its part" err && : >fast && ended
'
test_expect_success 'kill -9 of the join and of an agent: what they had is done by others' '
	begin 400 --joinable 2 --metrics equal && { evenstep join --local 2 "$name" 2>joinerr & join=$!; } && wait_for 60 both_joined &&
	kill -KILL $join && test_expect_code 137 wait $join; wait_for 60 grep -q "join$join-1 is lost" err && : >fast && ended
'
test_expect_success 'more may join when others have gone, while there are seats' '
	begin 400 --joinable 2 --metrics equal && { evenstep join --local 1 "$name" 2>joinerr & join=$!; } && wait_for 60 joined &&
	kill -TERM $join && test_expect_code 143 wait $join; { evenstep join --local 1 "$name" 2>joinerr & join=$!; } && wait_for 60 grep -q "join$join-0 has joined" err &&
	refused 3 "$name: 1 node more cannot join: the run has 2 seats: give the run a larger --joinable" --local 1 "$name" &&
	: >fast && ended && wait $join
'
test_expect_success 'a wrong key, and one that others may read' '
	begin 400 --joinable 2 --metrics equal && cp "$(file)" copy && chmod 600 copy && refused 3 ".*no file.*" --local 1 ../ &&
	jq -c ".key = \"$(seq -s "" 100 | cut -c 1-64)\"" copy >wrong && chmod 600 wrong &&
	refused 3 "$name does not accept this key: take the key of the run as it is now" --local 1 ../wrong &&
	chmod 644 copy && refused 3 "others may read or change the key in ../copy: chmod 600" --local 1 ../copy &&
	for bad in "" "{}" "[1]" "{\"evenstep\":1}"; do
		echo "$bad" >broken && chmod 600 broken && refused 3 "../broken is no file of a run: .*" --local 1 ../broken || return 1
	done
'
test_expect_success 'an evenstep of another release is refused, with both numbers' '
	version=$(evenstep -V | sed "s/evenstep //") && other=$(echo "$version" | tr 0-8 1-9) && mkdir half &&
	perl -pe "BEGIN { (\$from, \$to) = splice @ARGV, 0, 2 } s/\Q\$from\E\0/\$to\0/g" "$version" "$other" "$EVENSTEP_BUILD/evenstep" >half/evenstep && chmod +x half/evenstep &&
	PATH=$PWD/half:$PATH refused 3 "$name: this evenstep is $other \(protocol [0-9]+\), the run.s is $version \(protocol [0-9]+\): join with the same version" --local 1 "$name"
'
test_expect_success 'the run ends in an order of its own: join ends well; of one that has died it says so' '
	chmod 600 copy && { evenstep join --local 1 ./copy 2>joinerr & join=$!; } && wait_for 60 joined && kill -KILL $run && wait $join
	test $? = 1 && grep -qx "evenstep: join: $name is lost: .*: see what it says itself" joinerr
'
test_expect_success 'a run that is over, and one that is not there' '
	refused 3 "$name is over: see .evenstep top. for those at work" --local 1 ../copy && run= &&
	rm -f "$(file)" && refused 3 "no run $name takes nodes in: it is over, has no --joinable, .*" --local 1 "$name" &&
	refused 3 "no run 1234567 takes nodes in: .*" --local 1 1234567 &&
	refused 3 "no run \.\. takes nodes in: .*" --local 1 .. &&
	refused 3 "/no/such: No such file or directory: .*" --local 1 /no/such &&
	fails 2 "evenstep: join: .*RUN.*" evenstep join --local 1
'
test_expect_success 'a run with two on one number is not guessed' '
	mkdir -p state/evenstep/join && for step in 1 2; do cp copy state/evenstep/join/77.$step || return 1; done &&
	refused 3 "job 77 has 2 runs: give JOB.STEP, as it says itself" --local 1 77 && rm state/evenstep/join/77.2 &&
	refused 3 "$name is over: .*" --local 1 77 && rm state/evenstep/join/77.1
'
test_expect_success 'what cannot be joined says so' '
	echo "{\"nodes\":[{\"name\":\"local0\",\"C\":1}]}" >metrics && : >file &&
	for option in "--bcast file:/tmp/x" --persistent "--meter cpu" "--power pair" --dry-run "--slots cores" "--metrics metrics"; do
		fails 2 "evenstep: .*--joinable.*" evenstep run --local 1 --joinable 1 $option --range 0:2 -- true || return 1
	done
'
test_expect_success 'without a place for its key the run does not begin' '
	XDG_STATE_HOME=/dev/null fails 3 "evenstep: --joinable: the run.s key cannot be kept in your state folder: .*" evenstep run --local 1 --joinable 1 --metrics equal --range 0:1 -- echo {begin}
'
test_done
