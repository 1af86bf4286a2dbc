#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='the plugin in srun, sbatch, salloc and slurmstepd, whatever its launcher does

The launchers here are stand-ins that fail, or that only say how they were
called; the steps that evenstep really looks after have a test of their own.'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"

run=$(testbed_dir) # all files that plugstack.conf names: no blank in it
user=daemon        # any user but root

# plugstack KEYWORD ARGUMENT...: from now on, for the commands and the steps.
plugstack() {
	keyword=$1
	shift
	echo "$keyword $plugin $*" >"$run/plugstack.conf"
}

# launcher: one that does what stdin says, after it has noted who called it.
launcher() {
	{
		echo '#!/bin/sh'
		echo "note() { echo \"\$*\" >>$run/noted; }"
		# bring JOB STEP: what the agents would, where it is root that asks
		echo "bring() { for n in n0 n1; do" \
			"d=/proc/\$(cat $run/node/\$n/keeper)/root/dev/shm/evenstep-0/\$1.\$2;" \
			"mkdir -p -m 700 \$d && echo EVENSTEP_SHARE=0.5 >\$d/env; done 2>/dev/null; }"
		# shellcheck disable=SC2016
		echo 'note start $PPID $$ "$*"'
		cat
	} >"$run/launcher.new" && chmod 755 "$run/launcher.new" &&
		mv "$run/launcher.new" "$run/launcher" && rm -f "$run/noted" &&
		: >"$run/noted" && chmod 666 "$run/noted"
}
good_launcher() { launcher <<-'END'; }
	bring "$3" "$5"
	echo ready
	cat >/dev/null
	note eof
END

# no_line PATTERN FILE: FILE is there and has none.
no_line() { test -f "$2" && ! grep -E "$1" "$2"; }
count() { grep -cE "$1" "$2"; }
noted() { grep -qE "$1" "$run/noted"; }
starts() { grep -c "^start" "$run/noted"; }
# companions: launchers, and what they have started, wherever it runs.
companions() {
	grep -lzsxF "EVENSTEP_TESTBED=$testbed_name" /proc/[0-9]*/environ |
		xargs -r grep -lzsxF EVENSTEP_PLUGIN_WAITS=1
}
no_companions() { test -z "$(companions)"; }
as_user() { "$testbed" exec --name "$testbed_name" --user $user -- "$@"; }

test_expect_success 'up with the plugin, two nodes in two partitions' '
	testbed_up --nodes 2 --set "PartitionName=other Nodes=ALL" --plugin "$EVENSTEP_BUILD/evenstep.so" &&
	plugin=$(cut -d" " -f2 "$run/plugstack.conf") && test -n "$plugin" &&
	good_launcher && plugstack optional launcher=$run/launcher
'
for command in srun sbatch salloc; do
	test_expect_success "$command --help shows all ten options" '
		on_ctl $command --help >help &&
		for option in "=\[on|off|required\]" -profile=NAME -bcast=SRC:DST \
			-libs -lend -probe=cached -power=pair -meter=mpi -report -agents=none; do
			grep -e "--evenstep$option" help || return 1
		done &&
		test $(grep -c "\[evenstep\]" help) = 10
	'
	while IFS='|' read -r option allowed; do
		test_expect_success "$command refuses $option, and says what is allowed" '
			echo "#!/bin/sh" >job && chmod 755 job &&
			test_must_fail on_ctl $command -N1 "$option" ./job 2>err &&
			cat err && grep "evenstep: .* is not allowed: give $allowed" err &&
			test $(starts) = 0
		'
	done <<-'END'
	--evenstep=maybe|on, off or required
	--evenstep=ON|on, off or required
	--evenstep-profile=|the name of a profile
	--evenstep-profile=../x|the name of a profile
	--evenstep-bcast=x|SRC:DST
	--evenstep-bcast=:/x|SRC:DST
	--evenstep-bcast=x:y|SRC:DST
	--evenstep-bcast=x:/|SRC:DST
	--evenstep-probe=on|cached, fresh or off
	--evenstep-power=on|pair, boost, save or off
	--evenstep-agents=on|none, energy or limits
	END
done

test_expect_success 'sbatch and salloc hand one --evenstep-bcast on: a second is refused, of another place' '
	for command in "sbatch -Q -W" "salloc -Q"; do
		test_must_fail on_ctl $command -N1 --evenstep-bcast=a:/tmp/a --evenstep-bcast=b:/tmp/b ./job 2>err && cat err &&
		grep "evenstep: --evenstep-bcast=b:/tmp/b: sbatch and salloc hand only one on: give them to srun, or bring a folder" err || return 1
	done &&
	on_ctl sbatch -Q -W -N1 -o /dev/null --evenstep-bcast=a:/tmp/a --evenstep-bcast=b:/tmp/a ./job && test $(starts) = 0
'
test_expect_success 'not asked for: nothing is started, nothing is said' '
	on_ctl srun -N2 echo ran >out 2>err && test $(count ran out) = 2 &&
	quiet err && test $(starts) = 0
'
test_expect_success 'the launcher is told the step, the options and the end' '
	plugstack optional launcher=$run/launcher config=/x/y.conf &&
	on_ctl srun -N2 -n4 --evenstep=required --evenstep-profile=cpu \
		--evenstep-probe=off --evenstep-power=boost --evenstep-bcast=a:/b echo ran >out 2>err &&
	cat err "$run/noted" && quiet err && test $(count ran out) = 4 &&
	noted "attend --job [0-9]+ --step 0 --bcast a:/b --nodes 2 --profile cpu --probe off --config /x/y.conf --power boost --command echo --required$" &&
	wait_for 60 noted "^eof$"
'
while IFS='|' read -r what default options want; do
	test_expect_success "$what" '
		good_launcher && plugstack optional launcher=$run/launcher $default &&
		on_ctl srun -N2 $options true 2>err && quiet err && test $(starts) = $want
	'
done <<'END'
--evenstep without a value is on||--evenstep|1
a profile alone is a request, too||--evenstep-profile=cpu|1
--evenstep=off is off, whatever else is given||--evenstep=off --evenstep-profile=cpu|0
default=on: a step of two nodes|default=on||1
of one node: not|default=on|-N1|0
unless it asks|default=on|-N1 --evenstep|1
default=on:other: not in main|default=on:other||0
but there|default=on:other|-p other|1
with both, also in main|default=on:other,main||1
default=on:other, asked for in main|default=on:other|--evenstep|1
default=on and --evenstep=off: not this one|default=on|--evenstep=off|0
default=off: none|default=off||0
END
test_expect_success 'default=on:other in a job: by its partition, not that of srun'"'"'s words' '
	good_launcher && plugstack optional launcher=$run/launcher default=on:other && echo "srun -N2 true; srun -N1 true" >both.sh &&
	on_ctl salloc -Q -N2 -p other sh both.sh && on_ctl salloc -Q -N2 sh both.sh && test $(starts) = 1 &&
	on_ctl salloc -Q -N2 -p other sh -c "env -u SLURM_JOB_PARTITION srun -N2 true" && test $(starts) = 2
'
test_expect_success 'a user says off, by the environment and by a file of his; srun -v says why' '
	good_launcher && plugstack optional launcher=$run/launcher default=on && mkdir -p config/evenstep && echo off >config/evenstep/default &&
	on_ctl env EVENSTEP_DEFAULT=off srun -v -N2 true 2>err && grep "evenstep: the step is not attended: EVENSTEP_DEFAULT is off; --evenstep attends it" err &&
	on_ctl env XDG_CONFIG_HOME="$PWD/config" srun -v -N2 true 2>err && grep "evenstep: the step is not attended: ~/.config/evenstep/default is off" err &&
	on_ctl srun -v -N1 true 2>err && grep "evenstep: the step is not attended: it has one node" err && test $(starts) = 0 &&
	on_ctl env EVENSTEP_DEFAULT=off srun -N2 --evenstep true && on_ctl env XDG_CONFIG_HOME="$PWD/config" EVENSTEP_DEFAULT=on srun -N2 true && test $(starts) = 2
'
# on_terminal COMMAND: srun --pty needs one.
on_terminal() { on_ctl script -eqc "$1" /dev/null </dev/null >screen; }
test_expect_success 'default=on with --pty: not, unless it asks; a step that is started in it is' '
	good_launcher && on_terminal "srun -N2 --pty true" && test $(starts) = 0 &&
	on_terminal "srun -N2 --pty --evenstep true" && test $(starts) = 1 &&
	echo "test \$SLURM_PROCID != 0 || srun --overlap -N2 true" >inner.sh && on_terminal "srun -N2 --pty sh inner.sh" && test $(starts) = 2
'
# As evenstep gives it to the srun of its agents: Slurm's variable for an option of the plugin.
agents=SLURM_SPANK__SLURM_SPANK_OPTION_evenstep_evenstep_agents=none
test_expect_success 'a companion step has no companion, whatever is the default' '
	good_launcher && plugstack optional launcher=$run/launcher default=on &&
	on_ctl env $agents srun -N2 true && test $(starts) = 0
'
test_expect_success 'variables that are left in the environment switch nothing off' '
	for variable in EVENSTEP_COMPANION=1 EVENSTEP_PLUGIN_WAITS=1 _SLURM_SPANK_OPTION_evenstep_evenstep=off; do
		good_launcher && on_ctl env $variable srun -N2 true && test $(starts) = 1 &&
		good_launcher && on_ctl env $variable srun -N1 --evenstep=required true && test $(starts) = 1 && noted " --required$" || return 1
	done &&
	good_launcher && on_ctl env $agents srun -N1 --evenstep=required true && test $(starts) = 1 && noted " --required$" &&
	good_launcher && on_ctl env $agents srun -N1 --evenstep-power=pair true && test $(starts) = 1
'
# het_step OPTION: of two components, which both say ran.
het_step() { good_launcher && on_ctl srun -N1 "$1" echo ran : -N1 echo ran >out 2>err; }
test_expect_success 'a heterogeneous step: no component goes on where the step requires evenstep, or its input' '
	for option in --evenstep=required --evenstep-bcast=a:/b; do
		test_expect_code 1 het_step $option && test_cmp /dev/null out && grep "a heterogeneous step cannot be attended: .*; the step is not started" err || return 1
	done && test $(starts) = 0
'
test_expect_success 'else all do, after one line' '
	het_step --evenstep && printf "ran\nran\n" | test_cmp - out && test $(grep -c "a heterogeneous step cannot be attended: .*; the step goes on without evenstep" err) = 1 && test $(starts) = 0
'
test_expect_success 'bad arguments in plugstack.conf: a line for each, and the rest holds' '
	good_launcher &&
	plugstack optional bogus default=maybe launcher=$run/launcher timeout=0 \
		config=relative &&
	on_ctl srun -N2 --evenstep echo ran >out 2>err && cat err &&
	test $(count ran out) = 2 && test $(starts) = 1 &&
	test $(count evenstep: err) = 4 &&
	grep "evenstep: plugstack.conf: .bogus. is left out: give admin_comment=, config=, default=, launcher= or timeout=" err &&
	grep "default=maybe. is left out: give default=on, off or on:PARTITION\[,PARTITION...\], as default=on:large,gpu" err &&
	grep "timeout=0. is left out: give timeout=1 to 3600 seconds" err &&
	grep "config=relative. is left out: give config=an absolute path" err
'

# What a launcher does | what the user reads.
cat >faults <<'END'
is not there|cannot run .*nowhere .No such file or directory.: install it there, or name it by launcher=
is no program|cannot run .*noprogram .Permission denied.
answers garbage|gave an answer that this plugin does not know
answers without an end|gave an answer that this plugin does not know
answers half a line|gave an answer that this plugin does not know
ends without a word|ended before it was ready
dies of a signal|ended before it was ready
says nothing in time|gave no answer within 1 s
says nothing and stays|gave no answer within 1 s
END
: >"$run/noprogram"
bad_launcher() {
	path=$run/launcher limit=
	case $1 in
	'is not there') path=$run/nowhere ;;
	'is no program') path=$run/noprogram ;;
	'answers garbage') echo 'echo hello; cat >/dev/null' | launcher ;;
	'answers without an end') echo 'head -c 100000 /dev/zero | sed "s|.|x|g"; cat >/dev/null' | launcher ;;
	'answers half a line') echo 'printf read' | launcher ;;
	'ends without a word') echo 'exit 3' | launcher ;;
	'dies of a signal') echo 'kill -SEGV $$' | launcher ;;
	'says nothing in time') limit=timeout=1 && echo 'cat >/dev/null; note eof' | launcher ;;
	'says nothing and stays') limit=timeout=1 && echo 'sleep 1000' | launcher ;;
	esac
}
# logged WHAT WHY: the newest line of ours in the log of each node.
logged() {
	for node in n0 n1; do
		grep "evenstep: step" "$(testbed_dir)/log/slurmd.$node" | tail -n1 | grep -E "evenstep: step [0-9]+[.][0-9]+ $1: .*$2" || return 1
	done
}
while IFS='|' read -r fault message; do
	test_expect_success "a launcher that $fault: the step goes on, after one line" '
		bad_launcher "$fault" && plugstack optional launcher=$path $limit &&
		on_ctl srun -N2 --evenstep echo ran >out 2>err && cat err &&
		test $(count ran out) = 2 && test $(count evenstep: err) = 1 &&
		grep -E "$message.*; the step goes on without evenstep$" err && logged "runs without evenstep" "$message"
	'
	test_expect_success "a launcher that $fault, and --evenstep=required: no step, exit 1" '
		test_expect_code 1 on_ctl srun -N2 --evenstep=required echo ran >out 2>err &&
		cat err && test ! -s out && test $(count evenstep: err) = 1 &&
		grep -E "$message.*; the step is not started \(--evenstep=required\)$" err && logged "is not started" "$message"
	'
	case $fault in says*) continue ;; esac # which is given 600 s to copy a file
	test_expect_success "a launcher that $fault, and --evenstep-bcast: no step without its input, exit 1" '
		test_expect_code 1 on_ctl srun -N2 --evenstep-bcast=/etc/hosts:/tmp/x echo ran >out 2>err &&
		cat err && test ! -s out && test $(count evenstep: err) = 1 &&
		grep -E "$message.*; the step is not started without its input \(--evenstep-bcast\)$" err
	'
done <faults
test_expect_success 'none of these launchers is left, nor what they started' '
	wait_for 60 no_companions
'
test_expect_success 'a site that says continue: its reason in one line, and the step' '
	echo "echo \"continue: n1 is lost: see its log\"" | launcher &&
	plugstack optional launcher=$run/launcher &&
	on_ctl srun -N2 --evenstep echo ran >out 2>err && cat err &&
	test $(count ran out) = 2 && test $(count evenstep: err) = 1 &&
	grep "evenstep: n1 is lost: see its log$" err && logged "runs without evenstep" "n1 is lost: see its log"
'
test_expect_success 'what a launcher says cannot play with the terminal' '
	echo "printf \"continue: a\\033[2Jb\\n\"" | launcher &&
	on_ctl srun -N1 --evenstep true 2>err && grep "evenstep: a?\[2Jb" err
'
for keyword in optional required; do
	test_expect_success "a site that says fail: no task runs, no step is left ($keyword plugin)" '
		echo "echo \"fail: n1 is lost: see its log\"" | launcher &&
		plugstack $keyword launcher=$run/launcher &&
		cat >job.sh <<-\END &&
		for how in "" --export=NONE --export=A=1 --exclusive; do
			srun --evenstep $how echo ran
			echo "status $?"
		done
		srun echo free
		END
		on_ctl timeout 120 salloc -Q -N2 sh job.sh >out 2>err &&
		cat out err && test $(count "^status 1$" out) = 4 &&
		no_line ran out && test $(count free out) = 2 &&
		test $(count "evenstep: n1 is lost: see its log$" err) = 4 &&
		test_expect_code 1 on_ctl srun -N2 --evenstep echo ran >out 2>err &&
		test ! -s out && wait_for 60 no_jobs
	'
done

test_expect_success 'sbatch --evenstep: the sruns of the job, unless they say otherwise' '
	good_launcher && plugstack optional launcher=$run/launcher &&
	cat >job.sh <<-\END &&
	#!/bin/sh
	srun echo inherits
	srun --evenstep=off echo off
	srun --evenstep=required --evenstep-profile=io echo own
	END
	on_ctl sbatch -W -N2 -o out --evenstep --evenstep-profile=memory job.sh &&
	cat out "$run/noted" && test $(grep -vc "^srun: " out) = 6 && test $(starts) = 2 &&
	noted "step 0 --nodes 2 --profile memory --command echo$" &&
	noted "step 2 --nodes 2 --profile io --command echo --required$"
'
test_expect_success 'salloc --evenstep=required: likewise' '
	good_launcher &&
	on_ctl salloc -Q -N2 --evenstep=required sh job.sh >out && cat out &&
	test $(grep -vc "^srun: " out) = 6 && test $(starts) = 2 &&
	noted "step 0 --nodes 2 --command echo --required$"
'
test_expect_success 'sbatch and salloc without it: no srun is touched' '
	good_launcher && echo "srun hostname" >plain.sh &&
	sed -i "1i #!/bin/sh" plain.sh &&
	on_ctl sbatch -W -N2 -o out plain.sh && test $(count . out) = 2 &&
	on_ctl salloc -Q -N2 sh plain.sh >out && test $(count . out) = 2 &&
	test $(starts) = 0
'

# background COMMAND...: srun, which sets $srun and $child from what the
# launcher notes; SIGINT is no longer ignored, as it is for a shell's "&".
background() {
	"$testbed" exec --name "$testbed_name" -- \
		env --default-signal=INT,HUP "$@" >out 2>err &
	behind=$!
	wait_for 60 noted "^start" &&
		read -r _ srun child _ <"$run/noted" && test -n "$child"
}
# interrupted PID: srun wants two of them within a second.
interrupted() {
	kill -INT "$1" 2>&-
	dead "$1"
}
test_expect_success 'Ctrl-C while the step runs: the launcher sees the end, nothing is left' '
	good_launcher &&
	background srun -u -N2 --evenstep sh -c "echo ran; sleep 1000" &&
	wait_for 60 grep -q ran out && test -n "$(companions)" &&
	kill -INT $srun && wait_for 60 grep -q "one more within 1 sec" err &&
	wait_for 60 interrupted $srun && wait_for 60 noted eof &&
	wait_for 60 dead $child && wait_for 60 no_jobs
'
test_expect_success 'kill -9 of srun: the launcher sees the end, nothing is left' '
	good_launcher &&
	background srun -u -N2 --evenstep sh -c "echo ran; sleep 1000" &&
	wait_for 60 grep -q ran out && kill -KILL $srun &&
	wait_for 60 noted eof && wait_for 60 dead $child && wait_for 60 no_jobs
'
for signal in INT TERM HUP; do
	test_expect_success "SIG$signal while the launcher starts: no step, exit 1" '
		echo "cat >/dev/null; note eof" | launcher &&
		background srun -N2 --evenstep echo ran && kill -$signal $srun &&
		test_expect_code 1 wait $behind && cat err && test ! -s out &&
		grep "evenstep: interrupted while it started; the step is not started" err &&
		noted eof && wait_for 60 dead $child && wait_for 60 no_jobs
	'
done
test_expect_success 'Ctrl-C of a terminal is not for the launcher: it has its own session' '
	echo "ps -o sid= -p \$\$ >$run/sid; ls /proc/\$\$/fd >$run/fds; echo ready; cat >/dev/null" |
		launcher &&
	on_ctl srun -N1 --evenstep true && read -r sid <"$run/sid" &&
	read -r _ srun child _ <"$run/noted" && test "$sid" -eq "$child" &&
	cat "$run/fds"
'
test_expect_success 'it has srun'"'"'s stderr, its two pipes, and nothing else of srun' '
	grep -x 2 "$run/fds" && no_line "^[3-9]$" "$run/fds" # sh uses 10 and on
'
test_expect_success 'srun starts with no stdin, stdout and stderr, too' '
	good_launcher &&
	on_ctl sh -c "srun -N1 --evenstep true <&- >&- 2>&-" && noted "^eof$"
'

if ! as_user test -r "$EVENSTEP_BUILD/evenstep.so"; then
	echo "# skipping the rest: $user cannot read $EVENSTEP_BUILD/evenstep.so"
	test_done
fi

# The step directory: one allocation of a user, whose steps count from 0.
hold_job() {
	job=$(as_user salloc -N2 -n4 --chdir=/ --no-shell 2>&1 | sed -n 's/.*Granted job allocation //p')
	step=0
	uid=$(id -u $user)
	test -n "$job"
}
# on NODE SCRIPT: as root, in the directory that the next step will look at,
# with $u the user's directory and $d the step's.
on() {
	on_node "$1" env "u=/dev/shm/evenstep-$uid" "d=/dev/shm/evenstep-$uid/$job.$step" \
		user=$user sh -ec "rm -rf \$u; umask 022; mkdir -p \$d; $2"
}
# step ARGUMENT...: the next step of that job.
step() {
	step=$((step + 1))
	as_user srun "--jobid=$job" --chdir=/ "$@"
}
good_file='printf "EVENSTEP_A=$(hostname) b=c\nEVENSTEP_EMPTY=\n" >$d/env; chown -R $user $u'
test_expect_success 'every task gets what the agent on its node has written' '
	plugstack optional && hold_job &&
	on n0 "$good_file" && on n1 "$good_file" &&
	step -n4 --ntasks-per-node=2 sh -c "echo \"\$EVENSTEP_A|\${EVENSTEP_EMPTY-unset}|\$(id -u)\"" >got &&
	sort got >sorted && cat sorted && cat >want <<-END &&
	n0 b=c||$uid
	n0 b=c||$uid
	n1 b=c||$uid
	n1 b=c||$uid
	END
	test_cmp want sorted
'
test_expect_success 'it is read with the rights of the user, not of root' '
	on n0 "$good_file; chown root \$u; chmod 700 \$u" &&
	test_expect_code 1 step -w n0 -N1 -n1 printenv EVENSTEP_A 2>err &&
	on n0 "$good_file; chmod 0 \$d/env" &&
	test_expect_code 1 step -w n0 -N1 -n1 --evenstep=off printenv EVENSTEP_A
'
test_expect_success 'another step does not get it' '
	on n0 "$good_file; mv \$d \${d}0" &&
	test_expect_code 1 step -w n0 -N1 -n1 printenv EVENSTEP_A
'
# The directory of the step that has just run is named after the one before.
was() { echo "$job.$((step - 1))"; }
test_expect_success 'what an agent that was killed has left goes with its step, and nothing else' '
	on n0 "$good_file; touch \$d/.env; mkdir \${d}0; echo kept >/tmp/kept; ln -s /tmp/kept \$d/link; chown -hR $user \$u" &&
	step -w n0 -N1 -n1 true && on_node n0 ls "/dev/shm/evenstep-$uid" >got && cat got &&
	echo "$(was)0" >want && test_cmp want got && test "$(on_node n0 cat /tmp/kept)" = kept &&
	on n0 "$good_file" && step -w n0 -N1 -n1 true && on_node n0 test ! -e "/dev/shm/evenstep-$uid"
'
test_expect_success 'not by way of a link, nor what is not the user'"'"'s own' '
	on n0 "$good_file; mv \$d \${d}0; ln -s \${d}0 \$d" && step -w n0 -N1 -n1 true 2>err &&
	on_node n0 test -e "/dev/shm/evenstep-$uid/$(was)0/env" &&
	on n0 "$good_file; chown root \$u \$d; chmod 755 \$u" && step -w n0 -N1 -n1 true 2>err &&
	on_node n0 test -e "/dev/shm/evenstep-$uid/$(was)/env"
'
while IFS='|' read -r what message script; do
	test_expect_success "$what: left out as a whole, the step runs" '
		good_launcher && plugstack optional launcher=$run/launcher &&
		on n0 "$good_file; $script" &&
		step -w n0 -N1 -n1 sh -c "env | grep ^EVENSTEP_[AE] || echo none" >got 2>err &&
		cat got err && echo none >want && test_cmp want got && quiet err &&
		on n0 "$good_file; $script" &&
		step -w n0 -N1 -n1 --evenstep sh -c "env | grep ^EVENSTEP_[AE] || echo none" >got 2>err &&
		cat err && test_cmp want got &&
		grep "evenstep: /dev/shm/evenstep-$uid/.*/env is left out: .*$message" err
	'
done <<'END'
the file is a symbolic link|a symbolic link|mv $d/env $u/other; ln -s ../other $d/env
the directory is a symbolic link|a symbolic link|mv $d $u/other; ln -s other $d
the user's directory is a symbolic link of another user|it is not there|mv $u /dev/shm/other.$$; ln -s other.$$ $u
the file is another user's|not the user's own|chown nobody $d/env; chmod 644 $d/env
the directory is another user's|not the user's own|chown nobody $d; chmod 755 $d
the user's directory is another user's|it is not there|chown nobody $u; chmod 755 $u
others can write to the file|others can write|chmod 666 $d/env
others can write to the directory|others can write|chmod 777 $d
its group can write to the user's directory|others can write|chmod 775 $u
the file is a FIFO|not a regular file|rm $d/env; mkfifo $d/env; chown $user $d/env
the file is too large|larger than 16384 bytes|i=0; while [ $i -lt 300 ]; do printf "EVENSTEP_A%d=%050d\n" $i 0; i=$((i + 1)); done >>$d/env
a line sets another variable|not EVENSTEP_NAME=value|echo LD_PRELOAD=/x >>$d/env
a name has a blank|not EVENSTEP_NAME=value|echo "EVENSTEP_A B=1" >>$d/env
a line has no value|not EVENSTEP_NAME=value|echo EVENSTEP_B >>$d/env
a name is empty|not EVENSTEP_NAME=value|echo EVENSTEP_=1 >>$d/env
a line is empty|not EVENSTEP_NAME=value|echo >>$d/env
a value is too long|not EVENSTEP_NAME=value|printf "EVENSTEP_B=%05000d\n" 0 >>$d/env
there is a NUL in it|a NUL in it|printf "EVENSTEP_B=a\0b\n" >>$d/env
END
test_expect_success 'where the name is taken the file is in a directory of another name: every task gets it, and it goes' '
	on n0 "$good_file; mv \$u \$u.0123abcd; mkdir \$u; chown nobody \$u" &&
	test_expect_code 1 step -w n0 -N1 -n1 printenv EVENSTEP_A &&
	on n0 "rm -rf \$u.0123abcd; $good_file; mv \$u \$u.0123abcd; mkdir \$u; chown nobody \$u" &&
	step -w n0 -N1 -n2 --evenstep printenv EVENSTEP_A >got 2>err && cat err && printf "n0 b=c\nn0 b=c\n" >want && test_cmp want got &&
	on_node n0 test ! -e "/dev/shm/evenstep-$uid.0123abcd"
'
test_expect_success 'what another user has there leaves the name, as it is' '
	on n0 "rm -rf \$u \$u-*; mkdir -m 711 \$u; echo theirs >\$u/file; chown -R nobody \$u" &&
	step -w n0 -N1 -n1 --evenstep true 2>err && on_node n0 test ! -e "/dev/shm/evenstep-$uid" &&
	on_node n0 sh -c "cat /dev/shm/evenstep-$uid-*/file && stat -c %U /dev/shm/evenstep-$uid-*/file" >got && cat got && grep -x theirs got && grep -x nobody got
'
test_expect_success 'but not for a step that does not ask, nor what is the user'"'"'s' '
	on n0 "rm -rf \$u; mkdir \$u; chown nobody \$u" && step -w n0 -N1 -n1 true && on_node n0 test -e "/dev/shm/evenstep-$uid" &&
	on n0 "rm -rf \$u; echo mine >\$u; chown $user \$u" && step -w n0 -N1 -n1 --evenstep true 2>err && on_node n0 cat "/dev/shm/evenstep-$uid" >got &&
	echo mine >want && test_cmp want got
'
test_expect_success 'after all these a good file still works' '
	on n0 "$good_file" && step -w n0 -N1 -n1 printenv EVENSTEP_A >got &&
	echo "n0 b=c" >want && test_cmp want got &&
	as_user scancel $job && wait_for 60 no_jobs
'
test_expect_success 'slurmd and slurmctld have lived through it, and down leaves nothing' '
	wait_for 60 nodes_idle 2 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
