#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what is typed wrong is told in one line: what is wrong, how to mend it, and the exit status'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

# Not what the caller's shell happens to be in.
unset EVENSTEP_CONF SLURM_JOB_ID SLURM_JOB_NUM_NODES SLURM_CONF SLURM_PROCID EVENSTEP_COMPANION
PATH=$EVENSTEP_BUILD:$PATH

while IFS='|' read -r what status arguments message; do
	test_expect_success "$what: exit $status, with the reason" '
		eval "fails $status \"\$message\" evenstep $arguments"
	'
done <<'END'
an unknown command|2|rum|evenstep: no such command: rum: did you mean run\?
a command that is near to none|2|hopscotch|evenstep: no such command: hopscotch: see `evenstep --help`
help for an unknown command|2|help pla|evenstep: no such command: pla: did you mean plan\?
an unknown option|2|run --rnage 0:5 -- true|evenstep: --rnage: no such option: did you mean --range\?
an option without its value|2|run --range|evenstep: --range: a value is missing: give --range B:E
no work|2|run --local 2 -- true|evenstep: no work: give --range BEGIN:END, --lines FILE or --queue FILE
no CMD|2|run --local 2 --range 0:5|evenstep: no command: give it after --
an empty range|2|run --range 5:5 -- true|evenstep: --range: 5:5 is empty: give a begin below the end
a reversed range|2|run --range 9:5 -- true|evenstep: --range: 9:5 is reversed: give a begin below the end
a range that is none|2|run --range 9 -- true|evenstep: --range: "9" is no range: .*
a range of words|2|run --range a:b -- true|evenstep: --range: "a:b" is no range: .*
a negative range|2|run --range -1:5 -- true|evenstep: --range: "-1:5" is no range: .*
a range above 64 bits|2|run --range 0:18446744073709551616 -- true|evenstep: --range: .* is out of range: give an END below 2\^63
grain 0|2|run --grain 0 --range 0:5 -- true|evenstep: --grain: "0" is out of range: give a whole number from 1
a grain with a unit|2|run --grain 5k --range 0:5 -- true|evenstep: --grain: "5k" is no whole number: give a whole number from 1
no frame at all|2|run --repeat 0 --range 0:5 -- true|evenstep: --repeat: "0" is out of range: give a whole number from 1
an unknown policy|2|run --policy bogus --range 0:5 -- true|evenstep: --policy: "bogus" is unknown: give one of:.* even .*
an unknown parameter of a policy|2|run --policy even:steep=1 --range 0:5 -- true|evenstep: --policy: even has no parameter "steep": .*
a parameter out of range|2|run --policy canon:step=0 --range 0:5 -- true|evenstep: --policy: canon: step: "0" is out of range: give a number from .* to .*
a parameter without a value|2|run --policy canon:step --range 0:5 -- true|evenstep: --policy: "step" has no value: .*
a threshold of no unit|2|run --threshold 5x --range 0:5 -- true|evenstep: --threshold: "5x" is no threshold: give seconds, or percent with a %, or auto
a negative threshold|2|run --threshold -1 --range 0:5 -- true|evenstep: --threshold: "-1" is no threshold: .*
an empty threshold|2|run --threshold "" --range 0:5 -- true|evenstep: --threshold: "" is no threshold: .*
a threshold that is not a number|2|run --threshold nan% --range 0:5 -- true|evenstep: --threshold: "nan%" is no threshold: .*
help of a part that is none|2|help run nonsense|evenstep: help run: no such part: nonsense: leave it out
metrics that are neither a word nor a file|2|run --local 1 --metrics guess --range 0:5 -- true|evenstep: guess: No such file or directory: give a file that can be read
no agents|2|run --local 0 --range 0:5 -- true|evenstep: --local: "0" is out of range: .*
too few speeds|2|run --local 3=50,50 --range 0:5 -- true|evenstep: --local: the speeds are not 3 numbers from 1: .*
too many speeds|2|run --local 2=5,5,5 --range 0:5 -- true|evenstep: --local: the speeds are not 2 numbers from 1: .*
--local and --srun at once|2|run --local 2 --srun -N2 --range 0:5 -- true|evenstep: --local and --srun exclude each other: .*
--gather into a folder that is not there|2|run --local 2 --gather nowhere/x --range 0:5 -- true|evenstep: --gather: nowhere/x: No such file or directory: name a file that you may write
--report into a folder that is not there|2|run --local 2 --report nowhere/x --range 0:5 -- true|evenstep: --report: nowhere/x: No such file or directory: name a file that you may write
a letter that no option has, among others|2|bcast a -fxp b|evenstep: -x: no such option: see `evenstep bcast --help`
the first of two letters|2|plan -xy|evenstep: -x: no such option: see `evenstep plan --help`
a name behind one dash|2|probe -json|evenstep: -j: no such option: see `evenstep probe --help`
letters that are none of ASCII|2|bcast -fé a b|evenstep: -fé: no such option: see `evenstep bcast --help`
a name that is cut too short|2|run --re 2 --range 0:5 -- true|evenstep: --re: no such option: see `evenstep run --help`
a value for what has none|2|run --no-sync=1 --range 0:5 -- true|evenstep: --no-sync: it has no value: leave it out
-- instead of a value|2|run --range -- true|evenstep: --range: a value is missing: give --range B:E
a letter without its value|2|bcast a b -t|evenstep: --timeout: a value is missing: give --timeout SEC
a typing mistake in an option|2|graph plan --algoritm tds g|evenstep: --algoritm: no such option: did you mean --algorithm\?
a typing mistake in a short one|2|probe --jsn|evenstep: --jsn: no such option: did you mean --json\?
a size of no unit|2|bcast -s 12q a b|evenstep: --size: "12q" is no size: give bytes from 1Ki to 4Mi, as 125k or 1MiB
a size that is too small by 24 bytes|2|bcast -s 1k a b|evenstep: --size: "1k" is out of range: give bytes from 1Ki to 4Mi, as 125k or 1MiB
a rate of no unit|2|graph plan --rate 5mbps g|evenstep: --rate: "5mbps" is no rate: give bytes a second from 1 to 1P, as 125M or 100mbit
a time in percent of the median, as GNU parallel has it|2|run --each --timeout 200% --range 0:5 -- true {}|evenstep: --timeout: "200%" is a percentage, which is not known here: give seconds, as 90 or 1.5h
a time of no unit|2|run --timeout 2d --range 0:5 -- true|evenstep: --timeout: "2d" is no time: give seconds from 0.1 to 1000000000, as 90 or 1.5h
a count that is no number|2|run --retries many --range 0:5 -- true|evenstep: --retries: "many" is no whole number: give a whole number from 0 to 1000
agents that are no number|2|bcast --local two a b|evenstep: --local: "two" is no number: give 1 to 1024 agents
speeds of agents that are too few|2|probe --local 2=80|evenstep: --local: the speeds are not 2 numbers from 1: .*
a word that is none|2|bcast --pull nod a b|evenstep: --pull: "nod" is unknown: give turn, chunk or node
options that exclude each other|2|graph run --local 2 --srun -N2 g|evenstep: --local and --srun exclude each other: give one of them
an option without the one it needs|2|report --frames 0:5 r|evenstep: --frames: there is no --svg: give --svg PICTURE, too
an option of another action|2|graph plan --journal j g|evenstep: graph plan: --journal is not for it: see `evenstep graph --help`
an option that must be given|2|plan --range 0:5|evenstep: plan: --metrics is missing: give --metrics FILE
no operand|2|report|evenstep: report: no FILE: see `evenstep report --help`
one of two operands|2|bcast a|evenstep: bcast: no DST: see `evenstep bcast --help`
an operand too many|2|config here|evenstep: config: unexpected argument "here": give options alone; see `evenstep config --help`
an operand that begins with a dash|2|probe -- --nodes|evenstep: probe: unexpected argument "--nodes": give options alone; see `evenstep probe --help`
two lists|2|tasks a b|evenstep: tasks: unexpected argument "b" behind "a": give `evenstep tasks FILE`, and options
an option for a file|2|tasks --add --close - list|evenstep: --add: "--close" is an option, and no file: give --add LINES.-, or --add=--close if it is called so
an unknown action|2|graph paln g|evenstep: graph: no such action: paln: give plan, run or import
no action|2|simulate|evenstep: simulate: no action: give bcast or balance
an unknown shell|2|completion csh|evenstep: completion: no such action: csh: give bash, zsh or fish
help for an unknown simulation|2|help simulate power|evenstep: no such command: simulate power: see `evenstep --help`
a job that is none|2|top x|evenstep: top: "x" is no job: give the number of a job
no allocation|3|run --range 0:5 -- true|evenstep: no allocation: run it inside salloc or sbatch, or give --local N
END

test_expect_success '--help tells the commands, run --help every option; both exit 0, in silence on stderr' '
	evenstep --help >out 2>err && grep "^usage: evenstep COMMAND" out &&
	grep "^  run " out && test ! -s err &&
	evenstep run --help >out 2>err && test ! -s err && for option in range repeat grain \
		policy threshold metrics gather report srun local; do
		grep -e "^  --$option " out || return 1
	done && evenstep help policies >out && grep "^even " out && grep "^static " out && grep "^canon " out
'
test_expect_success '--version tells one version, and so does -V' '
	evenstep --version >out 2>err && test ! -s err && cat out && evenstep -V >short && test_cmp out short &&
	test "$(wc -l <out)" = 1 && grep -xE "evenstep [0-9]+\.[0-9]+\.[0-9]+" out
'
test_expect_success '--help and --version into a full file system is no success' '
	for arguments in --help --version "run --help"; do
		test_must_fail evenstep $arguments >/dev/full || return 1
	done
'

test_expect_success 'a job, but none of Slurm'"'"'s commands: exit 3, names the command' '
	fails 3 "evenstep: (scontrol|srun): No such file or directory: .*" \
		env SLURM_JOB_ID=1 PATH=/nowhere "$EVENSTEP_BUILD/evenstep" run --range 0:5 -- true
'
test_expect_success 'scontrol, but no srun: exit 3, names it' '
	mkdir -p bin && printf "#!/bin/sh\n" >bin/scontrol && chmod +x bin/scontrol &&
	fails 3 "evenstep: srun: No such file or directory: .*" \
		env SLURM_JOB_ID=1 "PATH=$PWD/bin" "$EVENSTEP_BUILD/evenstep" run --range 0:5 -- true
'
test_expect_success 'without an allocation the report and the job log of the run before stay' '
	echo kept >report && echo kept >log && fails 3 "evenstep: no allocation: .*" evenstep run --range 0:5 --report report --joblog log -- true &&
	fails 3 "evenstep: no allocation: .*" evenstep bcast --report report log here && test "$(cat report log | uniq -c | xargs)" = "2 kept"
'
test_expect_success 'a job id that is none is no allocation' '
	fails 3 "evenstep: no allocation: .*" env SLURM_JOB_ID=x evenstep run --range 0:5 -- true
'

# What stands in the file | the message.
while IFS='|' read -r text message; do
	test_expect_success "a configuration with $text: exit 2, names the file and the fault" '
		printf "%b\n" "$text" >own.conf &&
		fails 2 "$message" env EVENSTEP_CONF=own.conf evenstep run --local 1 --range 0:5 -- true
	'
done <<'END'
nonsense = 1|evenstep: own.conf:1: no such option 'nonsense': .*
probe { budget_ms = 1 }|evenstep: own.conf:1: probe: budget_ms is out of range: give 200 to .*
plugin { on_error = "maybe" }|evenstep: own.conf:1: plugin: on_error is out of range: give "input", "continue" or "fail"
plugin {|evenstep: own.conf.*
policy "bogus" { }|evenstep: own.conf:1: policy "bogus" is unknown: .*
plugin { agent_path = "relative" }|evenstep: own.conf:1: plugin: agent_path is out of range: give the full path .*
END
test_expect_success 'a configuration that is not there: exit 2, names it' '
	fails 2 "evenstep: .*nowhere.conf: No such file or directory: .*" \
		env EVENSTEP_CONF=nowhere.conf evenstep run --local 1 --range 0:5 -- true
'
test_expect_success 'an agent that is not there: exit 3, names it' '
	echo "plugin { agent_path = \"$PWD/no-agent\" }" >own.conf &&
	fails 3 "evenstep: .*/no-agent: no such program: .*" \
		env EVENSTEP_CONF=own.conf evenstep run --local 1 --range 0:5 -- true &&
	: >no-agent && fails 3 "evenstep: .*/no-agent: not executable: Permission denied: .*chmod 755.*" \
		env EVENSTEP_CONF=own.conf evenstep run --local 1 --range 0:5 -- true
'
test_expect_success 'an agent that is another program: exit 3, and no wait for it' '
	echo "plugin { agent_path = \"/bin/false\" }" >own.conf &&
	fails 3 "evenstep: the agents ended before they were ready: .*" \
		env EVENSTEP_CONF=own.conf evenstep run --local 2 --range 0:5 -- true
'

test_expect_success 'evenstep-agent by hand: exit 2, and who starts it' '
	fails 2 "evenstep-agent: .*: evenstep-agent is started by .evenstep run., not by hand" evenstep-agent &&
	fails 2 "evenstep-agent: unexpected argument .--help.: .* not by hand" evenstep-agent --help
'
secret=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
while IFS='|' read -r what environment message; do
	test_expect_success "an agent with $what: exit 2, says so" '
		fails 2 "evenstep-agent: $message: .* not by hand" env -u EVENSTEP_PORTS \
			$environment evenstep-agent
	'
done <<END
half a secret|EVENSTEP_AGENT=a EVENSTEP_SECRET=0123|no secret or node name
a secret that is not hexadecimal|EVENSTEP_AGENT=a EVENSTEP_SECRET=g${secret#?}|no secret or node name
no name|EVENSTEP_SECRET=$secret|no secret or node name
no front end|EVENSTEP_AGENT=a EVENSTEP_SECRET=$secret|no front end to call
a front end of no port|EVENSTEP_AGENT=a EVENSTEP_SECRET=$secret EVENSTEP_FRONT_END=127.0.0.1:0|no front end to call
a front end with a name|EVENSTEP_AGENT=a EVENSTEP_SECRET=$secret EVENSTEP_FRONT_END=localhost:99|no front end to call
ports that are none|EVENSTEP_AGENT=a EVENSTEP_SECRET=$secret EVENSTEP_FRONT_END=127.0.0.1:9 EVENSTEP_PORTS=9-1|no ports
a speed that is none|EVENSTEP_AGENT=a EVENSTEP_SECRET=$secret EVENSTEP_FRONT_END=127.0.0.1:9 EVENSTEP_SPEED=fast|bad numbers in the environment
END
test_expect_success 'an agent outside of any job: exit 3, it has no PMIx' '
	fails 3 "evenstep-agent: .*PMIx.*" env EVENSTEP_AGENT=a EVENSTEP_SECRET=$secret \
		EVENSTEP_FRONT_END=127.0.0.1:9 evenstep-agent
'

# The plugin's own command answers in one line on stdout, whatever happens.
attends() {
	attends_message=$1
	shift
	evenstep attend "$@" >out 2>err </dev/null
	cat out err
	test "$(wc -l <out)" = 1 && grep -qxE -e "$attends_message" out && test ! -s err
}
test_expect_success 'evenstep attend by hand: one line for the plugin, and who starts it' '
	attends "continue: attend: --job is missing: the plugin starts it; give srun --evenstep" &&
	attends "continue: --bogus: no such option: the plugin starts it; .*" --bogus &&
	attends "fail: attend: --job is missing: .*" --required
'
test_expect_success 'evenstep attend: an input that cannot be is one that the step lacks' '
	attends "fail: DST ./tmp/d/. names no file: .*; the step is not started without its input" --bcast /etc/hosts:/tmp/d/ --job 1 &&
	attends "fail: --evenstep-bcast: .x.: .*; the step is not started without its input" --bcast x --job 1 &&
	attends "fail: --bogus: no such option: .*; the step is not started without its input" --bcast /etc:/tmp/d/ --bogus
'
test_expect_success 'evenstep attend refuses an unknown profile, required or not' '
	attends "continue: --evenstep-profile: .warp. is unknown: .*" --job 1 --profile warp &&
	attends "fail: --evenstep-profile: .warp. is unknown: .*" --job 1 --profile warp --required
'
test_expect_success 'every command has --help, and so has help COMMAND' '
	for command in $(evenstep completion words "" | cut -f1); do
		evenstep $command --help >want && evenstep help $command >got && test_cmp want got || return 1
	done && evenstep simulate balance --help >want && evenstep help simulate balance >got && test_cmp want got &&
	evenstep --help >want && evenstep -h >got && test_cmp want got && evenstep help >got && test_cmp want got
'
test_expect_success 'and -h: of those with many options the first line, the ones used most, three examples' '
	for command in $(evenstep completion words "" | cut -f1); do
		evenstep $command --help >want && evenstep $command -h >got || return 1
		case $command in run | tasks | bcast) test "$(wc -l <got)" -le 40 && head -n 1 want >line && head -n 1 got | test_cmp line - && test "$(grep -c "^  evenstep $command " got)" = 3 || return 1 ;;
		*) test_cmp want got || return 1 ;; esac
	done && for command in run tasks bcast; do
		evenstep $command -h | sed -nE "s/^  (-., )?(--[a-z-]+).*/\2/p" >often && test "$(wc -l <often)" -ge 8 && evenstep $command --help | sed -nE "s/^  (-., )?(--[a-z-]+).*/\2/p" | sort >all && sort often | comm -23 - all | test_cmp /dev/null - || return 1
	done
'
test_expect_success 'no command: the list of them, and exit 2; help policies: their keys, with ranges that people write' '
	evenstep --help >want && test_expect_code 2 evenstep >got 2>err && test_cmp want got && evenstep help policies >got && grep "^  maxSamples=" got && grep "(1 or more)$" got && ! grep "e+" got
'
test_expect_success '--help needs no sound configuration' '
	echo "nonsense = 1" >own.conf && for command in run bcast plan graph probe; do
		EVENSTEP_CONF=own.conf evenstep $command --help >out && grep "^usage: evenstep $command" out || return 1
	done
'
test_expect_success 'evenstep-power by hand: exit 2, and who starts it' '
	test_expect_code 2 evenstep-power --bogus 2>err && grep -x "evenstep-power: --bogus: no such option: the plugin starts it, or an epilog with --restore" err &&
	test_expect_code 2 evenstep-power --job 1 --step x 2>err && grep -x "evenstep-power: --step: \"x\" is no whole number: give a whole number from 0 to 4294967295" err &&
	test_expect_code 2 evenstep-power --job 1 --step 0 2>err && grep -x "evenstep-power: no --job, --step or --uid: the plugin starts it, .*" err
'
for command in '' run bcast simulate conntable config; do
	test_expect_success "evenstep $command --help is printed, and a full disk told" '
		evenstep $command --help >out 2>err && grep -q "^usage: evenstep" out && test ! -s err &&
		test_expect_code 1 evenstep $command --help >/dev/full
	'
done

# --- as a task of srun ------------------------------------------------------------
echo x >file
echo '{"tasks": [{"id": "a", "time": 1, "command": "true"}]}' >graph.json
in_step() { SLURM_JOB_ID=1 SLURM_PROCID=$1 SLURM_STEP_NUM_TASKS=$2; shift 2; export SLURM_JOB_ID SLURM_PROCID SLURM_STEP_NUM_TASKS; "$@"; }
while read -r command; do
	test_expect_success "${command%% -*}: one of four tasks that srun has started does nothing, exit 2" '
		(fails 2 "evenstep: started by srun as one of 4 tasks: each would do all of the work: start it without srun, or by one task \(srun -n1\)" \
			in_step 3 4 evenstep $command) && test ! -e kept && test ! -e kept.part
	'
done <<'END'
run --gather kept --range 0:4 -- true
bcast file kept
probe --nodes --report kept
graph run --report kept graph.json
join 1.0
END
test_expect_success 'not so with --local, where there is one task, and in the script of a batch job' '
	(in_step 3 4 evenstep run --local 1 --range 0:1 -- echo done >out) && grep done out && (in_step 3 4 evenstep probe --elements C >out) &&
	(unset SLURM_JOB_ID; SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=4 fails 3 "evenstep: no allocation: .*" evenstep run --range 0:1 -- true) &&
	(unset SLURM_JOB_ID; SLURM_PROCID=0 SLURM_NTASKS=4 fails 3 "evenstep: no allocation: .*" evenstep run --range 0:1 -- true)
'
test_done
