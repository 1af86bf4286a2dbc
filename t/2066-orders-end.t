#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='that all agents are to leave, or to stay for the next command, goes down their tree, also past those that are stopped or killed'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
PATH=$EVENSTEP_BUILD:$PATH
EVENSTEP_CONF=$PWD/conf
TREE_TEST=$$
export EVENSTEP_CONF TREE_TEST
: >conf
trap 'code=$?; kill -CONT $(agents) 2>&-; kill $(agents) 2>&-; (exit $code); die' EXIT

# The agents of this test; agents NAME…: those of these nodes.
cat >agents <<'E2'
#!/bin/sh
for agent in $(pgrep -x evenstep-agent | sed 's|.*|/proc/&/environ|' | xargs -r grep -lzsx "TREE_TEST=$TREE_TEST"); do
	pid=${agent#/proc/} && pid=${pid%/environ}
	test $# -gt 0 || echo "$pid"
	for name; do ! grep -qzsx "EVENSTEP_AGENT=$name" "$agent" || echo "$pid"; done
done
E2
chmod +x agents
agents() { test ! -x "$SHARNESS_TRASH_DIRECTORY/agents" || "$SHARNESS_TRASH_DIRECTORY/agents"; }
none() { test -z "$(agents)"; }
# after N: messages of the front end alone to N agents, once the run has printed its last line.
after() {
	strace -e trace=sendto,write -o calls evenstep run --local "$1" --metrics equal --range 0:1 --pieces 1 -- echo end >printed &&
		awk '/^write\(1, "end/ { n = 0; end = 1 } /^sendto/ { n++ } END { print end ? n : "none" }' calls
}
# by_few: 64 agents are told by 8 messages, or some more.  Who does not take an order within 0.6 s has it from the front
# end, as is right: where this machine has so much to do that many are late it is looked at again, until most are not.
by_few() {
	for try in $(seq 20); do
		n=$(after 64) && echo "$n messages" && test "$n" -ge 8 || return
		test "$n" -gt 12 || return 0
	done
	return 1
}
# strike SIGNAL: each of 24 nodes does its unit, then the agent of local0, in whose part of the tree are local8 to local15,
# has that signal.
cat >strike <<'E2'
#!/bin/sh
>done.$EVENSTEP_NODE
test "$EVENSTEP_NODE" = local1 || exit 0
for i in $(seq 300); do test ! -e done.local0 || break; sleep 0.1; done
sleep 0.5
./agents local8 local9 local10 local11 local12 local13 local14 local15 >below
./agents local0 >agent
mv agent struck
kill -$1 "$(cat struck)"
E2
chmod +x strike
# one_of: does one of those below live?
one_of() {
	while read -r agent; do ! test -d "/proc/$agent" || return 0; done <below
	return 1
}
# watch: for how many tenths of seconds those below live on after the run's last command (100 until they take silence
# for the end); is the one struck still there?
watch() {
	wait_for 60 test -s struck
	from=$(date +%s%N)
	for i in $(seq 200); do one_of || break; sleep 0.1; done
	echo "$((($(date +%s%N) - from) / 100000000))" >lived
	! test -d "/proc/$(cat struck)" || : >still
}
# begin: without agents that a test which failed has left: they are taken for its own.
# shellcheck disable=SC2046 # numbers
begin() { rm -f done.* struck below lived still && { none || { kill $(agents) && wait_for 60 none; }; }; }

if command -v strace >/dev/null && strace true 2>&-; then test_set_prereq STRACE; fi

test_expect_success STRACE '64 agents are told by 8 messages to leave' '
	by_few && none
'
test_expect_success STRACE 'and by as many to stay' '
	echo "agents { linger = 60 }" >conf && by_few &&
	agents >first && test "$(wc -l <first)" = 64 &&
	evenstep run --local 64 --metrics equal --range 0:64 --pieces 1 -- true && agents >second && test_cmp first second &&
	: >conf && kill $(agents) && wait_for 60 none
'
test_expect_success 'those below one that is stopped leave all the same, soon' '
	begin && { watch & watch=$!; } && evenstep run --local 24 --metrics equal --policy static --range 0:24 --pieces 1 -- ./strike STOP && wait $watch &&
	cat lived && test -e still && wait_for 60 none
'
test_expect_success 'so do those below one that is killed' '
	begin && { watch & watch=$!; } && { evenstep run --local 24 --metrics equal --policy static --range 0:24 --pieces 1 -- ./strike KILL || :; } && wait $watch &&
	cat lived && test "$(cat lived)" -le 90 && wait_for 60 none
'
test_expect_success 'with one that is stopped they do not stay for the next command, and do not remain' '
	echo "agents { linger = 60 }" >conf && begin && evenstep run --local 24 --metrics equal --policy static --range 0:24 --pieces 1 -- ./strike STOP &&
	wait_for 60 none && : >conf
'
test_expect_success 'one that goes on in time stays with them, and the next command has them all' '
	echo "agents { linger = 60 }" >conf && begin && { { wait_for 60 test -s struck && sleep 2 && kill -CONT $(cat struck); } & } &&
	evenstep run --local 24 --metrics equal --policy static --range 0:24 --pieces 1 -- ./strike STOP && agents >first && test "$(wc -l <first)" = 24 &&
	evenstep run --local 24 --metrics equal --policy static --range 0:24 --pieces 1 -- true && agents >second && test_cmp first second &&
	kill $(agents) && wait_for 60 none
'
test_done
