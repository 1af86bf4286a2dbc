#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a second user on the cluster can neither read, feed nor stop what is not theirs'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF

cat >gated <<'END'
#!/bin/sh
echo "$EVENSTEP_NODE" >>started
until test -e go; do sleep 0.1; done
exec seq "$1" $(($2 - 1))
END
chmod +x gated
seq 0 399 >want

# stranger HOW ADDRESS PORT: connects and tries; prints how many bytes it was
# told before the other end hung up.  The handshake is that of handshake.h:
# HELLO (for PURPOSE as CALLER, to CALLEE), CHALLENGE (12 + 64 bytes), PROOF.
cat >stranger <<'END'
use strict; use IO::Socket::INET;
my ($how, $address, $port, @parties) = @ARGV;
my $s = IO::Socket::INET->new(PeerAddr => $address, PeerPort => $port, Timeout => 60) or die "no connection: $!\n";
sub message { my ($type, $body) = @_; pack('a4 n n N', 'EVS2', $type, 0, length $body) . $body }
my $nonce = join '', map { chr int rand 256 } 1 .. 32;
my $hello = pack('N3', @parties) . $nonce;
my %try = (
	garbage => sub { 'GET / HTTP/1.0' . "\r\n" x 5000 },
	huge    => sub { pack('a4 n n N', 'EVS2', 1, 0, 0xffffffff) . 'x' x 100000 },
	skip    => sub { message(16, 'x' x 64) },                       # no handshake at all
	short   => sub { message(1, substr $nonce, 1) },
	nobody  => sub { message(1, pack('N3', 9, @parties[1, 2]) . $nonce) },
	hello   => sub { message(1, $hello) . message(3, "\0" x 32) },  # and a guess
	mirror  => sub { message(1, $hello) },                          # answered with its own challenge
	twice   => sub { message(1, $hello) . message(1, $hello) },
);
$SIG{PIPE} = 'IGNORE'; $SIG{ALRM} = sub { die "it did not hang up\n" }; alarm 120;
syswrite $s, $try{$how}->();
my ($told, $buf) = ('', '');
while (sysread $s, $buf, 65536) {
	$told .= $buf;
	# What the listener has proved itself with is no proof of ours.
	syswrite $s, message(3, substr $told, 44, 32) if $how eq 'mirror' && length $told == 76;
}
print length $told, "\n";
END
# (The kernel keeps the port of a dead front end while it sends its last words again, and a minute more: not here.)
# relay PORT ADDRESS MESH-PORT: in the place of a front end that has gone, takes the call of an agent, passes its
# handshake on to ADDRESS MESH-PORT, and then tells the agent to run a command.  Prints how far it came.
cat >relay <<'END'
use strict; use IO::Socket::INET;
my ($port, $address, $mesh) = @ARGV;
my ($l, $tries); # the dead one's last words may still hold it for a while
until ($l = IO::Socket::INET->new(LocalPort => $port, Listen => 9, ReuseAddr => 1)) {
	die "no port: $!\n" if ++$tries > 400; select undef, undef, undef, 0.1;
}
open my $ready, '>', "/tmp/relay.ready" or die $!;
sub get { # one message, whole; undef: hung up
	my ($s, $m) = (@_, '');
	while (length $m < 12 || length $m < 12 + unpack 'N', substr $m, 8, 4) {
		my $want = length $m < 12 ? 12 : 12 + unpack 'N', substr $m, 8, 4;
		sysread $s, my $part, $want - length $m or return undef;
		$m .= $part;
	}
	$m;
}
sub text { pack 'N/a', $_[0] }
$SIG{PIPE} = 'IGNORE'; $SIG{ALRM} = sub { print "nobody called\n"; exit }; alarm 120;
my $agent = $l->accept or die $!;
my $hello = get($agent) // do { print "no hello\n"; exit };
my $other = IO::Socket::INET->new(PeerAddr => $address, PeerPort => $mesh, Timeout => 60) or die "no mesh: $!\n";
syswrite $other, $hello;
my $challenge = get($other) // do { print "the mesh refuses the hello\n"; exit };
syswrite $agent, $challenge;
my $proof = get($agent) // do { print "the agent refuses the challenge\n"; exit };
close $other;
my $magic = substr $hello, 0, 4;
sub message { my ($type, $body) = @_; pack('a4 n n N', $magic, $type, 0, length $body) . $body }
my @command = ('sh', '-c', 'id >/tmp/taken-over');
syswrite $agent, message(24, text('/') . pack('N N', 0, scalar @command) . join '', map { text($_) } @command);
syswrite $agent, message(25, pack('Q> Q> Q> Q>', 1, 1, 0, 1) . text(''));
print "told the agent what to run\n";
1 while get($agent);
END
# crowd N ADDRESS PORT NAME: N connections that say nothing, until a file is there.
cat >crowd <<'END'
use strict; use IO::Socket::INET;
my ($n, $address, $port, $name) = @ARGV;
my @s = map { IO::Socket::INET->new(PeerAddr => $address, PeerPort => $port, Timeout => 60) or die "no connection: $!\n" } 1 .. $n;
open my $ready, '>', "/tmp/crowd.$name" or die $!;
alarm 300; select undef, undef, undef, 0.05 until -e '/tmp/enough';
END

as_nobody() { # NODE COMMAND...
	node=$1
	shift
	"$testbed" exec --name "$testbed_name" --on "$node" --user nobody -- "$@"
}
# port_of NODE PID: where it listens itself; Slurm leaks listeners of its own to what it starts.
port_of() {
	on_node "$1" ss -Hltnp | grep -vE "slurm|srun|salloc" |
		sed -n "s/^[^:]*:\([0-9]*\) .*\"evenstep[^\"]*\",pid=$2,.*/\1/p"
}
# places NODE: the addresses at which evenstep listens there.
places() {
	on_node "$1" ss -Hltnp | grep -vE "slurm|srun|salloc" |
		sed -n 's/^[A-Z]* *[0-9]* *[0-9]* *\([^ ]*\):[0-9]* .*(("evenstep.*/\1/p' | sort -u
}
hold_job() {
	job=$(on_ctl salloc -N2 --no-shell 2>&1 | sed -n 's/.*Granted job allocation //p')
	test -n "$job"
}
begin_gated() {
	rm -f started go
	"$testbed" exec --name "$testbed_name" -- env SLURM_JOB_ID="$job" SLURM_JOB_NUM_NODES=2 "$EVENSTEP_BUILD/evenstep" \
		run --metrics equal --range 0:400 -- "$PWD/gated" '{begin}' '{end}' >out 2>err 3>&- 4>&- 5>&- &
	run=$!
	wait_for 60 started 2 && home=$(port_of ctl $run) &&
		n1=$(ours -f '/evenstep-agent' n1 | while read -r pid; do port_of n1 "$pid"; done | head -n 1) &&
		echo "front end at $home, agent on n1 at $n1" && test -n "$home" && test -n "$n1"
}
ends_well() {
	: >go
	wait "$run"
	code=$?
	cat err
	test $code = 0 && test_cmp want out && wait_for 60 no_agents
}

test_expect_success 'up: two nodes with the plugin, one job' '
	testbed_up --nodes 2 --plugin "$EVENSTEP_BUILD/evenstep.so" --plugin-args "launcher=$EVENSTEP_BUILD/evenstep" && cp "$(testbed_dir)/plugstack.conf" . && hold_job
'
test_expect_success 'a run of root, in the middle of a frame' begin_gated
test_expect_success 'an agent listens at the address of its node only' '
	on_node n1 ip -o -4 addr show dev eth0 | sed "s/.*inet \([0-9.]*\).*/\1/" >its && places n1 >got && cat got && test -s its && test_cmp its got
'
# How:bytes that a stranger is told at most: none, or the challenge, which tells nothing.
for each in garbage:0 huge:0 skip:0 short:0 nobody:0 hello:76 mirror:76 twice:76; do
	test_expect_success "a stranger (${each%:*}) is told ${each#*:} bytes at most, by the front end and by an agent, and hung up on" '
		for place in "ctl $home 1 0 4294967295" "n1 $n1 2 0 1"; do
			as_nobody n0 perl -e "$(cat stranger)" ${each%:*} $place >got 2>refused; cat got refused
			test ! -s refused && test "$(cat got)" -le ${each#*:} &&
				{ test ${each%:*} != mirror || grep -x 76 got; } || return 1
		done && kill -0 $run
	'
done
test_expect_success 'the secret is in no command line, nor in what Slurm tells of the job' '
	agent=$(ours -f /evenstep-agent n1 | head -n 1) &&
	secret=$(tr "\0" "\n" </proc/$agent/environ | sed -n "s/^EVENSTEP_SECRET=//p") && test ${#secret} = 64 &&
	test -e /proc/$agent/cmdline && ! grep -lsa "$secret" /proc/[0-9]*/cmdline &&
	on_ctl scontrol show job $job >told && on_ctl scontrol show step $job >>told && grep "JobId=$job" told && ! grep "$secret" told
'
test_expect_success 'nor can another user read it where it is, nor a command of the run' '
	test_must_fail as_nobody n1 cat /proc/$agent/environ >got 2>refused && grep "Permission denied" refused && test ! -s got &&
	for each in $(ours -f "/gated 0"); do
		tr "\0" "\n" </proc/$each/environ >environ && grep "^EVENSTEP_BEGIN=" environ && ! grep "$secret" environ || return 1
	done
'
test_expect_success PMIX 'an agent with another secret is not taken in, and the run does not know' '
	test_expect_code 3 timeout 300 "$testbed" exec --name "$testbed_name" -- srun --jobid=$job --overlap --mpi=pmix -N1 -n1 -w n0 \
		env EVENSTEP_SECRET=$(echo "$secret" | tr 0-9a-f 1-9a-f0) EVENSTEP_FRONT_END=:"$home" EVENSTEP_PORTS=0-0 \
		"$EVENSTEP_BUILD/evenstep-agent" 2>err2 && cat err2 && grep "evenstep-agent: n0: no front end at .*:$home: " err2
'
test_expect_success 'through all this the run goes on: exit 0, whole output, not a word' '
	: >before && sed "/frame/d; /evenstep: ideal/d" err >words && test_cmp before words && ends_well
'
# crowds NAME ADDRESS PORT: 1800 of them, there when it returns.
crowds() {
	for half in 1 2; do
		as_nobody n0 perl -e "$(cat crowd)" 900 "$2" "$3" "$1$half" 3>&- 4>&- 5>&- &
		crowds="$crowds $!"
		wait_for 60 on_node n0 test -e "/tmp/crowd.$1$half" || return 1
	done
}
test_expect_success 'crowds of 1800 that say nothing, at the front end and at an agent, stop nothing, without a word' '
	begin_gated && crowds home ctl "$home" && crowds agent n1 "$n1" && ends_well; code=$?
	as_nobody n0 touch /tmp/enough; wait $crowds && test $code = 0 && : >before && sed "/frame/d; /evenstep: ideal/d; /of the time/d" err >words && test_cmp before words
'
# new_job: in place of one whose node was cut off, which Slurm may have ended.
new_job() { on_ctl scancel "$job" && wait_for 120 nodes_idle 2 && hold_job; }
# The front end dies, and before it its srun and the shepherd of that, which would have Slurm end the agent before it calls.
attack() {
	new_job && begin_gated && as_nobody ctl rm -f /tmp/relay.ready && srun=$(pgrep -P "$run") && shepherd=$(pgrep -P "$srun") &&
		on_ctl sysctl -w net.ipv4.tcp_orphan_retries=1 net.ipv4.tcp_max_tw_buckets=0 && testbed_fault cut n1 &&
		kill -STOP "$run" && kill -KILL "$shepherd" "$srun" "$run"
	wait "$run"
	as_nobody ctl perl -e "$(cat relay)" "$home" n1 "$n1" >relayed 2>&1 3>&- 4>&- 5>&- &
	relay=$!
	wait_for 60 on_ctl test -e /tmp/relay.ready && testbed_fault heal n1 && wait $relay
	cat relayed
}
test_expect_success 'a stranger in the place of a dead front end, with the words of another agent, is not taken for it' '
	attack && echo "the mesh refuses the hello" | test_cmp - relayed && on_node n1 sh -c "test ! -e /tmp/taken-over"
'
test_expect_success 'and the agent leaves within its minute' 'wait_for 120 no_agents && new_job'

# The step directory in /dev/shm.
test_expect_success 'another user can neither list nor read the step directory of a step' '
	rm -f started && cat >look <<-\END && chmod +x look &&
	#!/bin/sh
	echo "$EVENSTEP_DIR" >started
	until test -e go; do sleep 0.1; done
	END
	rm -f go && "$testbed" exec --name "$testbed_name" -- srun --jobid=$job -N1 -n1 -w n1 --evenstep "$PWD/look" >out 2>err 3>&- 4>&- 5>&- & step=$!
	wait_for 60 started 1 && dir=$(cat started) && on_node n1 test -e "$dir/env" &&
	for each in "$dir" "$(dirname "$dir")" "$dir/env" "$dir/metrics.json"; do
		test_must_fail as_nobody n1 sh -c "ls \"$each\"/ || cat \"$each\"" >got 2>refused && grep "Permission denied" refused && test ! -s got || return 1
	done; code=$?; : >go; wait $step && test $code = 0
'
# on n1: a trap where evenstep would put the directory of root
while IFS='|' read -r what trap; do
	trap="rm -rf /dev/shm/evenstep-0* /tmp/target; mkdir -m 777 /tmp/target; echo mine >/tmp/target/env; $trap"
	test_expect_success "$what in its place: the step has evenstep all the same, and nothing is touched" '
		on_node n1 sh -ec "$trap" &&
		on_ctl srun --jobid=$job -N2 --evenstep=required sh -c "test -s \$EVENSTEP_DIR/metrics.json && test -S \$EVENSTEP_SOCKET && echo ran" >got 2>err && cat got err &&
		printf "ran\nran\n" >two && test_cmp two got && quiet err &&
		on_node n1 sh -c "ls -A /tmp/target && cat /tmp/target/env" >got && printf "env\nmine\n" >two && test_cmp two got &&
		{ on_node n1 sh -c "ls -d /dev/shm/evenstep-0.* /dev/shm/evenstep-0/*.*" >got 2>err; test ! -s got; }
	'
	test_expect_success "$what in its place: evenstep run where no plugin is, and run --local" '
		echo >"$(testbed_dir)/plugstack.conf" && on_node n1 sh -ec "$trap" && printf "ran\nran\n" >two &&
		on_ctl env SLURM_JOB_ID="$job" SLURM_JOB_NUM_NODES=2 "$EVENSTEP_BUILD/evenstep" run --metrics probe --range 0:8 --pieces 1 -- sh -c "test -s \$EVENSTEP_DIR/metrics.json && echo ran" >got 2>err &&
		cat got err && test_cmp two got &&
		on_node n1 "$EVENSTEP_BUILD/evenstep" run --local 2 --metrics probe --range 0:8 --pieces 1 -- sh -c "test -s \$EVENSTEP_DIR/metrics.json && echo ran" >got 2>err && cat got err && test_cmp two got &&
		wait_for 60 no_agents && { on_node n1 sh -c "ls -d /dev/shm/evenstep-0.*" >got 2>err; test ! -s got; }; code=$?
		cp plugstack.conf "$(testbed_dir)/plugstack.conf" && test $code = 0
	'
done <<'END'
a symbolic link of another user|ln -s /tmp/target /dev/shm/evenstep-0; chown -h nobody /dev/shm/evenstep-0
a directory of another user|mkdir -m 777 /dev/shm/evenstep-0; chown nobody /dev/shm/evenstep-0
a directory that all may write|mkdir /dev/shm/evenstep-0; chmod 777 /dev/shm/evenstep-0
a file|echo >/dev/shm/evenstep-0
END
# Its front end and an agent may both want the directory of a step, and must not make one each.
test_expect_success 'run --local whose front end is slow to make a directory: metrics.json is where commands look' '
	cat >slow.c <<-\END && compile -shared -fPIC -o slow.so slow.c &&
	#define _GNU_SOURCE
	#include <errno.h>
	#include <string.h>
	#include <sys/syscall.h>
	#include <sys/types.h>
	#include <unistd.h>
	int mkdirat(int at, const char *name, mode_t mode)
	{
		if (strcmp(program_invocation_short_name, "evenstep") == 0)
			usleep(500000);
		return (int)syscall(SYS_mkdirat, at, name, mode);
	}
	END
	on_node n1 sh -ec "rm -rf /dev/shm/evenstep-0*; ln -s /tmp/target /dev/shm/evenstep-0; chown -h nobody /dev/shm/evenstep-0" &&
	on_node n1 env LD_PRELOAD="$PWD/slow.so" "$EVENSTEP_BUILD/evenstep" run --local 2 --metrics probe --range 0:8 --pieces 1 -- sh -c "test -s \$EVENSTEP_DIR/metrics.json && echo ran" >got 2>err; code=$?
	cat got err; test $code = 0 && printf "ran\nran\n" >two && test_cmp two got
'
test_expect_success 'with these away all is well again' '
	on_node n1 sh -c "rm -rf /dev/shm/evenstep-0*" && on_ctl srun --jobid=$job -N2 --evenstep sh -c "test -e \$EVENSTEP_DIR/env" 2>err && quiet err
'
cat >hides <<'END'
#!/bin/sh
# Of this job: the machine may have other agents.
for agent in $(pgrep -f /evenstep-agent); do
	tr '\0' '\n' <"/proc/$agent/environ" >"$0.env" && grep -qx "SLURM_JOB_ID=$SLURM_JOB_ID" "$0.env" && grep EVENSTEP_ENCRYPT "$0.env"
done
END
chmod +x hides
test_expect_success 'encrypt = on reaches the agents of a step, too' '
	echo "encrypt = on" >hidden.conf && on_ctl env EVENSTEP_CONF="$PWD/hidden.conf" \
		srun --jobid=$job -N1 -n1 -w n1 --evenstep=required "$PWD/hides" >got 2>err; cat got err; grep -x EVENSTEP_ENCRYPT=1 got
'
# Root's evenstep-power, which notes here that it was started.
bin=$(testbed_dir)/bin
noted=$(testbed_dir)/noted
test_expect_success 'a job of another user, of one CPU' '
	on_ctl scancel $job && wait_for 120 nodes_idle 2 && mkdir "$bin" && ln -s "$EVENSTEP_BUILD/evenstep" "$EVENSTEP_BUILD/evenstep-agent" "$bin" && : >"$noted" &&
	printf "#!/bin/sh\necho \"\$*\" >>\"%s\"\nexec \"%s\" \"\$@\"\n" "$noted" "$EVENSTEP_BUILD/evenstep-power" >"$bin/evenstep-power" && chmod 755 "$bin/evenstep-power" &&
	sed "s,launcher=[^ ]*,launcher=$bin/evenstep," plugstack.conf >"$(testbed_dir)/plugstack.conf" &&
	job=$(as_nobody ctl salloc -N1 -n1 -w n0 --chdir=/ --no-shell 2>&1 | sed -n "s/.*Granted job allocation //p") && test -n "$job"
'
while IFS='|' read -r what variables; do
	test_expect_success "$what, in 40 steps at once: no evenstep-power starts" '
		as_nobody ctl env $variables job=$job sh -c "
			for i in \$(seq 40); do srun -Q --jobid=\$job --overlap -N1 -n1 --chdir=/ echo ran & done; wait" >got 2>err; cat err
		test $(grep -c ran got) = 40 && test_cmp /dev/null "$noted"
	'
done <<'END'
marks of evenstep's agents|EVENSTEP_COMPANION=1 EVENSTEP_GUARD=1 EVENSTEP_ENERGY=1
options by the environment of tasks|_SLURM_SPANK_OPTION_evenstep_evenstep_agents=limits _SLURM_SPANK_OPTION_evenstep_evenstep_power=pair _SLURM_SPANK_OPTION_evenstep_evenstep_report=
END
test_expect_success 'an option of srun: one starts, for that step of that user' '
	as_nobody ctl srun -Q --jobid=$job --overlap -N1 -n1 --chdir=/ --evenstep-power=pair echo ran >got 2>err; cat got err "$noted"; grep -x ran got &&
	test $(wc -l <"$noted") = 1 && grep -E "^--job $job --step [0-9]+ --uid $(id -u nobody) " "$noted"
'
test_expect_success '12 steps at once that ask for it: 8 have one, the others say why, and all run' '
	on_node n0 rm -f /tmp/go && { as_nobody ctl env job=$job sh -c "
		for i in \$(seq 12); do srun -Q --jobid=\$job --overlap -N1 -n1 --chdir=/ --evenstep-agents=limits sh -c \"echo ran; until test -e /tmp/go; do sleep 0.2; done\" & done; wait" >got 2>err & } && run=$! &&
	all_run() { test $(grep -c ran got) = 12; } && wait_for 100 all_run && on_node n0 touch /tmp/go && wait $run && cat err && all_run &&
	test $(grep -cE "evenstep: no limits are set on this node: 8 steps of user $(id -u nobody) have one on n0, and no more may: wait until one of them has ended" err) = 4
'
test_expect_success 'evenstep run: one that sets nothing starts beside its agent, and its commands have no option of it' '
	: >"$noted" && as_nobody ctl env -C / SLURM_JOB_ID=$job SLURM_JOB_NUM_NODES=1 "$EVENSTEP_BUILD/evenstep" run --metrics equal --range 0:1 --report /dev/null -- env >got 2>err; cat err "$noted"; grep EVENSTEP_BEGIN=0 got &&
	! grep -E "_SPANK_|EVENSTEP_(COMPANION|PLUGIN)=" got && test $(wc -l <"$noted") = 1 && grep -E "^--job $job --step [0-9]+ --uid $(id -u nobody) .*--energy$" "$noted"
'
test_expect_success 'a mark that was left in the environment does not switch off what a step requires' '
	as_nobody ctl env EVENSTEP_COMPANION=1 srun -Q --jobid=$job --overlap -N1 -n1 --chdir=/ --evenstep=required sh -c "test -s \$EVENSTEP_DIR/metrics.json && echo ran" >got 2>err; cat got err; grep -x ran got
'
test_expect_success 'ports honour SrunPortRange' '
	on_ctl scancel $job && testbed_down && testbed_up --nodes 2 --set SrunPortRange=61000-61099 && hold_job && begin_gated &&
	test "$home" -ge 61000 && test "$home" -le 61099 && test "$n1" -ge 61000 && test "$n1" -le 61099 && ends_well
'
test_expect_success 'down leaves nothing' '
	testbed_down && testbed_nothing_left $testbed_name
'
test_done
