#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the testbed is a Slurm cluster of unequal nodes on one machine'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
RATE=100000000 # bit/s, as asked for below

# within_pct WANT PCT GOT: an equation with a tolerance.
within_pct() {
	echo "want $1 +- $2 %, got $3"
	awk -v w="$1" -v p="$2" -v g="$3" \
		'BEGIN { exit !(g != "" && g >= w * (1 - p / 100) && g <= w * (1 + p / 100)) }'
}

# burn: share of a core that a busy process gets, in percent.
cat >burn.pl <<'END'
use Time::HiRes 'time';
my $end = time + 1.5; my $begin = time; my $used = (times)[0] + (times)[1];
1 while time < $end;
printf "%.0f\n", 100 * ((times)[0] + (times)[1] - $used) / (time - $begin);
END

# burns NODE WANT PCT: a step on it does; others may be busy here, so it has three tries.
burns() {
	for try in 1 2 3; do
		on_ctl srun -N1 -w "$1" perl burn.pl >got && within_pct "$2" "$3" "$(cat got)" && return
	done
	return 1
}

# sink and pump: 4 MB over one TCP connection; sink prints begin, end, bytes.
cat >sink.pl <<'END'
use IO::Socket::INET; use Time::HiRes 'time';
my $l = IO::Socket::INET->new(LocalPort => $ARGV[0], Listen => 1, ReuseAddr => 1) or die $!;
open my $ready, '>', "listening.$ARGV[0]" or die $!; close $ready;
my $c = $l->accept; my ($bytes, $begin, $skip, $buf) = (0, 0, 0, '');
while (my $n = sysread $c, $buf, 65536) {
	# The bucket is full at first: what it lets through is not the rate.
	if (!$begin) { $skip += $n; $begin = time if $skip > 500000; next }
	$bytes += $n;
}
printf "%.6f %.6f %d\n", $begin, time, $bytes;
END
cat >pump.pl <<'END'
use IO::Socket::INET;
my $c = IO::Socket::INET->new(PeerAddr => $ARGV[0], PeerPort => $ARGV[1]) or die $!;
my $left = 4000000;
while ($left > 0) { my $n = syswrite $c, 'x' x 65536 or die $!; $left -= $n }
END

# transfer FROM TO [FROM TO]: at once; bits a second of all together into measured.
transfer() {
	rm -f listening.* sunk.*
	on_node "$2" perl sink.pl 7000 >sunk.0 & sinks=$!
	if test $# = 4; then
		on_node "$4" perl sink.pl 7001 >sunk.1 & sinks="$sinks $!"
		wait_for 60 test -e listening.7001 || return 1
		on_node "$3" perl pump.pl "$4" 7001 & sinks="$sinks $!"
	fi
	# shellcheck disable=SC2086 # a list of numbers
	wait_for 60 test -e listening.7000 && on_node "$1" perl pump.pl "$2" 7000 &&
		wait $sinks || return 1
	cat sunk.* | awk '
		NR == 1 || $1 < begin { begin = $1 } $2 > end { end = $2 } { bytes += $3 }
		END { printf "%.0f\n", 8 * bytes / (end - begin) }' >measured
}

# keeps_to RATE FROM TO [FROM TO]: likewise three tries.
keeps_to() {
	rate=$1
	shift
	for try in 1 2 3; do
		transfer "$@" && within_pct "$rate" 25 "$(cat measured)" && return
	done
	return 1
}

test_expect_success 'up with four unequal nodes returns when they are idle' '
	testbed_up --nodes 4 --rate 100mbit --speeds 80,40,20,none &&
	on_ctl sinfo -h -N -o "%N %T" >got &&
	printf "n%d idle\n" 0 1 2 3 >want && test_cmp want got
'
test_expect_success 'each node has its own hostname, and the control node too' '
	on_ctl srun -N4 sh -c "cat /proc/sys/kernel/hostname" | sort >got &&
	printf "n%d\n" 0 1 2 3 >want && test_cmp want got &&
	echo ctl >want && on_ctl cat /proc/sys/kernel/hostname >got && test_cmp want got
'
test_expect_success 'every name resolves on every node' '
	on_ctl srun -N4 sh -c "getent ahostsv4 ctl n0 n1 n2 n3 | grep -c STREAM" >got &&
	printf "5\n5\n5\n5\n" >want && test_cmp want got
'
test_expect_success 'two tasks a node run' '
	on_ctl srun -N4 --ntasks-per-node=2 sh -c "echo \$SLURM_NODEID" | sort >got &&
	printf "%d\n" 0 0 1 1 2 2 3 3 >want && test_cmp want got
'
test_expect_success '/tmp and /dev/shm are private to each node' '
	for dir in /tmp /dev/shm; do
		on_ctl srun -N4 sh -c "echo \$SLURM_NODEID >$dir/mine" &&
		on_ctl srun -N4 sh -c "cat $dir/mine" | sort >got &&
		printf "%d\n" 0 1 2 3 >want && test_cmp want got &&
		on_ctl sh -c "ls $dir" >got && ! grep mine got || return 1
	done
'
test_expect_success 'the checkout and the work directory are shared' '
	on_ctl srun -N4 cksum "$EVENSTEP_SRC/contrib/testbed" | sort -u >got &&
	cksum "$EVENSTEP_SRC/contrib/testbed" >want && test_cmp want got &&
	on_ctl srun -N4 pwd | sort -u >got && pwd -P >want && test_cmp want got
'
test_expect_success 'a batch job runs' '
	printf "#!/bin/sh\nsrun -N4 echo here\n" >job.sh &&
	on_ctl sbatch -W -N4 -o job.out job.sh &&
	printf "here\nhere\nhere\nhere\n" >want && test_cmp want job.out
'
test_expect_success 'an allocation runs steps' '
	on_ctl salloc -Q -N4 srun true
'
test_expect_success PMIX 'PMIx is there' '
	on_ctl srun --mpi=list >got 2>&1 && grep -w pmix got &&
	on_ctl srun -N4 --mpi=pmix sh -c "echo \$PMIX_RANK" | sort >got &&
	printf "%d\n" 0 1 2 3 >want && test_cmp want got
'
test_expect_success 'another user can run a step' '
	"$testbed" exec --name "$testbed_name" --user nobody -- srun -N4 id -u >got &&
	id -u nobody >uid && cat uid uid uid uid >want && test_cmp want got
'
test_expect_success 'exec passes stdin, output and exit status through' '
	echo word | on_ctl cat >got && echo word >want && test_cmp want got &&
	test_expect_code 42 on_ctl sh -c "exit 42" &&
	test_expect_code 127 on_ctl no-such-command &&
	test_expect_code 143 on_ctl sh -c "kill -TERM \$\$"
'
test_expect_success 'exec becomes the command, so that a signal reaches it' '
	rm -f trapped &&
	"$testbed" exec --name "$testbed_name" -- \
		perl -e "\$SIG{USR1} = sub { exit 7 }; open F, q{>trapped}; close F; sleep 60" &
	pid=$! &&
	wait_for 60 test -e trapped && kill -USR1 $pid &&
	test_expect_code 7 wait $pid
'

test_expect_success 'tc shows the same rate on all nodes, ctl included, both ways' '
	for node in ctl n0 n1 n2 n3; do
		on_node $node tc qdisc show dev eth0 >got && cat got &&
		grep "tbf.* rate 100Mbit burst 128Kb" got || return 1
	done
'
test_expect_success 'bytes from the control node keep to the rate' '
	keeps_to $RATE ctl n0
'
test_expect_success 'bytes to the control node keep to the rate' '
	keeps_to $RATE n0 ctl
'
test_expect_success 'two nodes share the one link of the control node, both ways' '
	keeps_to $RATE ctl n0 ctl n1 &&
	keeps_to $RATE n0 ctl n1 ctl
'
test_expect_success 'bytes from node to node keep to the rate' '
	keeps_to $RATE n0 n3
'

test_expect_success 'a task gets the CPU share of its node, as inherited from slurmd' '
	burns n1 40 25 && burns n2 20 25
'
test_expect_success 'the CPU-bandwidth period is 10 ms' '
	folder=$(cat "$(testbed_dir)/cgroup")/n1 &&
	cat "$folder"/cpu.max "$folder"/cpu.cfs_period_us 2>&- >got; cat got &&
	grep -wE "10000" got
'

test_expect_success 'fault rate changes one link, both ways' '
	testbed_fault rate n2 20mbit &&
	on_node n2 tc qdisc show dev eth0 | grep " rate 20Mbit burst 128Kb" &&
	keeps_to 20000000 n2 ctl &&
	keeps_to 20000000 ctl n2 &&
	keeps_to $RATE ctl n1 &&
	testbed_fault rate n2 none &&
	on_node n2 tc qdisc show dev eth0 >got && test -s got && ! grep tbf got
'
test_expect_success 'fault speed changes one node, also below the smallest quota of a period' '
	testbed_fault speed n3 60 && burns n3 60 25 &&
	testbed_fault speed n3 5 && burns n3 5 40 &&
	testbed_fault speed n3 none && burns n3 100 80 && burns n1 40 25
'

test_expect_success 'two testbeds are up at once' '
	first=$testbed_name && testbed_use $first-b &&
	testbed_up --nodes 2 --rate none --period 100ms --speeds 30 &&
	wait_for 60 nodes_idle 2 && on_ctl srun -N2 true &&
	on_node n0 tc qdisc show dev eth0 >got && test -s got && ! grep tbf got &&
	testbed_use $first && wait_for 60 nodes_idle 4 && on_ctl srun -N4 true
'
test_expect_success 'another period, and one speed for all, are as asked for' '
	folder=$(cat "$(testbed_dir)-b/cgroup")/n1 &&
	cat "$folder"/cpu.max "$folder"/cpu.cfs_*_us 2>&- | xargs -n1 | sort -n >got; cat got &&
	grep -x 30000 got && grep -x 100000 got
'
test_expect_success 'a name that is up already is refused, and stays up' '
	test_expect_code 1 testbed_up 2>err &&
	grep "^testbed: $testbed_name is up already.*: use .*down --name $testbed_name" err &&
	wait_for 60 nodes_idle 4
'
# A plugin that says which arguments it was given, in a folder with a blank.
cat >said.c <<'END'
#include <slurm/spank.h>
SPANK_PLUGIN(said, 1)
int slurm_spank_init(spank_t spank, int argc, char **argv)
{
	if (spank_context() == S_CTX_LOCAL)
		for (int i = 0; i < argc; i++)
			slurm_info("said: %s", argv[i]);
	return 0;
}
END
mkdir -p "a folder" && echo "# empty" >"a folder/site.conf"
test_expect_success 'a plugin gets its arguments and its config, also from a path with a blank' '
	cc -shared -fPIC -o "a folder/said.so" said.c &&
	testbed_use $first-c &&
	testbed_up --nodes 1 --plugin "a folder/said.so" --plugin-args "x=1 y=2" --conf "a folder/site.conf" &&
	on_ctl srun true 2>err && sed -n "s/.*said: //p" err >got && cat err &&
	sed -n 1,2p got >args && printf "x=1\ny=2\n" >want && test_cmp want args &&
	config=$(sed -n "3s/^config=//p" got) && on_ctl cat "$config" >got &&
	test_cmp "a folder/site.conf" got && testbed_down && testbed_use $first
'
test_expect_success 'a line of slurm.conf can be added or replaced' '
	testbed_use $first-c &&
	testbed_up --nodes 1 --cpus 8 --set KillWait=5 --set SrunPortRange=61000-61100 &&
	on_ctl scontrol show config >got && grep "^KillWait .*= 5 sec" got &&
	grep "^SrunPortRange .*= 61000-61100" got &&
	on_ctl sinfo -h -o %c >got && echo 8 >want && test_cmp want got &&
	testbed_down && testbed_use $first
'
test_expect_success 'a checkout that lies in /tmp is seen by the nodes, /tmp is private still' '
	clone=$(mktemp -d /tmp/evenstep-clone.XXXXXX) && mkdir $clone/contrib &&
	other=$(mktemp -d /tmp/evenstep-clone.XXXXXX) &&
	cp "$testbed" $clone/contrib && echo shared >$clone/file && testbed_use $first-c &&
	$clone/contrib/testbed up --name $testbed_name --nodes 2 &&
	(cd $clone && on_ctl srun -N2 sh -c "cat file && ls -d /tmp/evenstep-clone.*") >got &&
	printf "%s\n" $clone $clone shared shared >want && sort got >sorted && test_cmp want sorted &&
	testbed_down && testbed_nothing_left $testbed_name && testbed_use $first &&
	echo shared >want && test_cmp want $clone/file; code=$?
	rm -rf "$clone" "$other"; return $code
'
test_expect_success 'down of one leaves the other alone' '
	testbed_down && testbed_nothing_left $first &&
	testbed_use $first-b && wait_for 60 nodes_idle 2 && on_ctl srun -N2 true &&
	testbed_use $first
'
test_expect_success 'down of nothing says so and is no error' '
	testbed_down >got && echo "testbed: nothing of $testbed_name is up" >want && test_cmp want got
'

# name, arguments, message: all are usage errors, and nothing is made
test_expect_success 'bad usage exits 2, says what and how to mend' '
	while IFS="|" read -r args message; do
		test_expect_code 2 sh -c "\"\$0\" $args" "$testbed" 2>err </dev/null &&
		grep "^testbed: $message.*: " err || { cat err; echo "case: $args"; return 1; }
	done <<-END
	|no command
	upp|unknown command .upp.
	up --nodes 0|bad --nodes .0.
	up --nodes 251|bad --nodes .251.
	up --nodes|--nodes has no value
	up --node 3|unknown argument .--node.
	up --name ../x|bad name ...\/x.
	up --rate fast|bad rate .fast.
	up --speeds 80,fast,20,10|bad speed .fast.
	up --speeds 0|bad speed .0.
	up --speeds 80,40|2 speeds for 4 nodes
	up --period 1s|bad --period .1s.
	up --cpus 0|bad --cpus .0.
	up --cpus 4 --affinity|--cpus with --affinity
	up --plugin no/such.so|no file .no/such.so.
	up --conf no/such.conf|no file .no/such.conf.
	up --plugin-args x=1|--conf and --plugin-args are for a plugin
	up --set nonsense|bad --set .nonsense.
	up --suite|--suite has no value
	up --suite ../x|bad --suite ...\/x.
	exec --name $testbed_name|exec has no command
	exec --on|--on has no value
	fault|unknown fault
	fault melt n2|unknown fault .melt.
	fault cut|fault cut takes NODE
	fault rate n2|fault rate takes NODE and a value
	fault speed n2 fast|bad speed .fast.
	fault rate n2 fast|bad rate .fast.
	down now|unknown argument .now.
	END
'
test_expect_success 'exec and fault without a testbed say how to start one' '
	test_expect_code 1 on_ctl true 2>err && grep "^testbed: $testbed_name is not up: start it with " err &&
	test_expect_code 1 testbed_fault cut n0 2>err && grep "^testbed: $testbed_name is not up: start it with " err
'
test_expect_success 'an unknown node and an unknown user are named' '
	testbed_use $first-b &&
	test_expect_code 2 on_node n2 true 2>err &&
	grep "^testbed: no node .n2. in $first-b: it has ctl n0 n1$" err &&
	test_expect_code 2 "$testbed" exec --name $first-b --user no-such-user true 2>err &&
	grep "^testbed: no user .no-such-user.: " err
'
test_expect_success 'without root it exits 3 and says why' '
	for args in up down "exec true" "fault cut n0"; do
		test_expect_code 3 setpriv --reuid 65534 --clear-groups bash -s -- $args 2>err <"$testbed" ||
			{ cat err; return 1; }
		grep "^testbed: not root: " err || return 1
	done
'
test_expect_success 'help names every option' '
	"$testbed" --help >got &&
	for word in up exec fault down --name --nodes --rate --speeds --cpus --period --affinity --slurmdbd --no-pmix --private-tmp --loopback-names --plugin --plugin-args --conf --set --on --user; do
		grep -we "$word" got >line || { echo "no $word"; return 1; }
	done
'
test_done
