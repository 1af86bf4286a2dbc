#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='files go to nodes that share no folder with us, and come from there: --bcast, --workdir tmp, --return'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

# tool BEGIN END HERE: a file of these units, in a folder that is new; n2 waits for HERE/go, all while there is HERE/hold.
cat >tool <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE" >>"$3/started"
while test -e "$3/hold" || { test "$EVENSTEP_NODE" = n2 && ! test -e "$3/go"; }; do sleep 0.1; done
mkdir r && seq "$1" $(($2 - 1)) >"r/$1"
END
chmod +x tool
# begin OPTIONS...: four nodes, 90 units; the run's number in $run.
begin() {
	rm -rf started go hold out err r
	"$testbed" exec --name "$testbed_name" -- salloc -Q --no-kill -N4 env "PATH=$EVENSTEP_BUILD:$PATH" \
		evenstep run --metrics equal --range 0:90 --bcast tool:/tmp/tool --workdir tmp --return "r/{begin}" "$@" -- /tmp/tool "{begin}" "{end}" "$PWD" >out 2>err 3>&- 4>&- 5>&- &
	run=$!
}
seq 0 89 >all
whole() { sort -n r/* | test_cmp all - && test -z "$(find r -name ".*")"; }
begun() { grep -qx "$1" started; } # NODE
nothing_left() { wait_for 60 no_agents && wait_for 60 nodes_idle 4 && none_on_nodes 'ls -d /tmp/evenstep-run-*'; }

test_expect_success 'up: four nodes' 'testbed_up --nodes 4 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep"'
test_expect_success 'the program is on no node, and runs on all; its files come here, and nothing stays there' '
	! test -e /tmp/tool && begin && : >go && wait $run && whole && begun n0 && begun n1 && begun n2 && ! test -e /tmp/tool && on_node n1 test -x /tmp/tool && nothing_left
'
# own OPTION... -- COMMAND...: with /tmp/own of this host in LD_LIBRARY_PATH.
own() {
	on_ctl salloc -Q -N4 env "PATH=$EVENSTEP_BUILD:$PATH" LD_LIBRARY_PATH=/tmp/own evenstep run --metrics equal --range 0:8 --pieces 1 --ok-status 42 --workdir tmp "$@" >out 2>err
}
test_expect_success '--exec and --libs: neither the program nor its library is on any node' '
	echo "int inner(void) { return 42; }" >inner.c && echo "int inner(void); int main(void) { return inner(); }" >app.c &&
	cc -shared -fPIC -Wl,-soname,libinner.so.1 -o libinner.so.1 inner.c && cc -o app app.c libinner.so.1 &&
	on_ctl sh -c "mkdir /tmp/own && mv app libinner.so.1 /tmp/own" && none_on_nodes "ls -d /tmp/own" &&
	own --exec /tmp/app --libs -- /tmp/own/app "{begin}" "{end}" && on_node n2 sh -c "test -x /tmp/app && ls /tmp/app_libs" >libs && grep -qx libinner.so.1 libs &&
	test_expect_code 1 own --exec /tmp/alone -- /tmp/own/app "{begin}" "{end}" && mentioned "libinner.so.1: cannot open shared object file" &&
	mentioned "/tmp/alone exited with status 127" && nothing_left
'
test_expect_success 'an agent is killed in the middle: each file is there once, and whole' '
	begin && wait_for 60 begun n2 && kill -KILL $(ours evenstep-agent n2) &&
	wait_for 60 grep -q "n2 is lost" err && : >go && wait $run && whole
'
test_expect_success 'what it has left on its node, the next run there removes' '
	on_node n2 sh -c "touch -d \"2 minutes ago\" /tmp/evenstep-run-*" && begin && : >go && wait $run && whole && nothing_left
'
test_expect_success 'a node that is cut off and comes back gets no work, as it may have lost the files' '
	begin && wait_for 60 begun n2 && : >hold && testbed_fault cut n2 && wait_for 60 grep -q "n2 is lost" err && testbed_fault heal n2 &&
	wait_for 60 grep -qx "evenstep: n2 is back, without the files of --bcast: it is not taken in" err && rm hold started && wait $run && whole && ! grep -x n2 started && nothing_left
'
test_expect_success 'a node that has no room for the file: exit 1, and no command has run' '
	on_node n1 sh -c "rm -f /tmp/tool && mkdir -p /tmp/tool/x" && begin; test_expect_code 1 wait $run && ! test -e started &&
	said "evenstep: n1: /tmp/tool: .*" && said "evenstep: --bcast: tool:/tmp/tool: 1 of 4 nodes have not got it: see the lines above" && on_node n1 rm -r /tmp/tool && nothing_left
'
# --- the room for several inputs -------------------------------------------------
received() { on_node n0 cat /sys/class/net/eth0/statistics/rx_bytes; }
# brings 'COMMAND' SUFFIX A:B...: by `evenstep run` or srun, to all; then n0 has got so many bytes in $bytes.
brings() {
	before=$(received)
	case $1 in
	run) on_ctl salloc -Q -N4 env "PATH=$EVENSTEP_BUILD:$PATH" evenstep run --metrics equal --range 0:8 ${2:+--bcast "$2"} ${3:+--bcast "$3"} ${4:+"$4"} -- echo ran "{begin}" "{end}" >out 2>err ;;
	srun) on_ctl srun -N4 --evenstep-probe=off ${2:+--evenstep-bcast="$2"} ${3:+--evenstep-bcast="$3"} ${4:+"$4"} echo ran >out 2>err ;;
	esac
	code=$? && cat err && bytes=$(($(received) - before)) && return $code
}
# refused 'COMMAND' ...: n1 is named, nothing is sent, no command runs, and nothing stands anywhere.
refused() {
	test_expect_code 1 brings "$@" && grep -qE "evenstep: n1: /tmp/small/b: No space left on device: [0-9.]+ [kM]B more are needed" err &&
		grep -qE "1 of 4 nodes have not got .*: see the lines above; none of it was sent" err && test "$bytes" -lt 1000000 && ! grep ran out && none_on_nodes "ls -A /tmp/small | grep ."
}
test_expect_success 'n1 has a disk for either of two inputs' '
	for n in 0 1 2 3; do on_node n$n mkdir /tmp/small || return 1; done && on_node n1 mount -t tmpfs -o size=4m none /tmp/small &&
	head -c 3000000 /dev/urandom >large && head -c 800000 large >small && mkdir folder && cp large folder/file &&
	echo "static char pad[2500000] = {1}; int inner(void) { return pad[0]; }" >inner.c &&
	echo "int inner(void); static volatile char pad[2500000] = {1}; int main(void) { return inner() + pad[1] - 1; }" >app.c &&
	cc -shared -fPIC -Wl,-soname,libinner.so.1 -o libinner.so.1 inner.c && cc -o app app.c libinner.so.1 -Wl,-rpath,"$PWD"
'
for command in run srun; do
	libs=--libs && test $command = run || libs=--evenstep-libs
	test_expect_success "$command: together they do not fit: the node is named with what it lacks, before the first byte" '
		refused $command large:/tmp/small/a large:/tmp/small/b && refused $command large:/tmp/small/a folder:/tmp/small/b &&
		refused $command folder:/tmp/small/a folder:/tmp/small/b
	'
	test_expect_success "$command: nor does a program with its libraries" 'refused $command app:/tmp/small/b "" $libs'
	test_expect_success "$command: where they do all nodes have them" '
		brings $command large:/tmp/small/a small:/tmp/small/b && grep ran out && for n in 0 1 2 3; do
			on_node n$n cat /tmp/small/a | cmp - large && on_node n$n cat /tmp/small/b | cmp - small && on_node n$n rm -r /tmp/small/a /tmp/small/b || return 1
		done && none_on_nodes "ls -A /tmp/small | grep ."
	'
done
test_expect_success 'down: nothing is left' 'testbed_down && testbed_nothing_left $testbed_name'
test_done
