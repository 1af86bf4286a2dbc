#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what is likely a mistake is told, and what --dry-run shows is what runs'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF SLURM_JOB_ID
run() { timeout 300 evenstep run --local 2 --metrics equal "$@" 2>err </dev/null; }
quiet() { cat err && ! grep -E "is left as it is|seems to use nothing|nobody reads" err; }
printf '#!/bin/sh\necho "$EVENSTEP_BEGIN"\n' >asks
printf '#!/bin/sh\necho "$EVENSTEP_BEGIN" "$EVENSTEP_END"\n' >asks-all
printf '#!/bin/sh\necho hello\n' >hello
chmod +x asks asks-all hello
seq 20 >list

# --- fields and slices -----------------------------------------------------------
test_expect_success 'a field that is misspelt: refused, with what may be meant; in a text of a program it is named, and the run goes on' '
	test_expect_code 2 run --range 0:20 -- echo {begn} {end} >got && test ! -s got &&
	said "evenstep: echo: {begn} is no field: did you mean {begin}: write it so; --replace .*leaves braces alone" &&
	run --range 0:20 -- sh -c "echo {begn} {begin} {end}" >got && said "evenstep: {begn} is left as it is: did you mean {begin}\?" && grep "^{begn} .* 20$" got
'
test_expect_success 'likewise in the name of a file' '
	run --range 0:20 --stdout "out/{begin}-{lable}" -- echo {begin} {end} && said "evenstep: {lable} is left as it is: did you mean {label}\?" && rm -r out &&
	run --range 0:20 --workdir tmp --return "o-{begin}-{nod}" --replace "[[]]" --reads-env -- sh -c "touch o-[[begin]]-{nod}"; said "evenstep: {nod} is left as it is: did you mean {node}\?"; rm -f o-*
'
test_expect_success 'braces of the command itself are no mistake' '
	run --range 0:20 -- awk "BEGIN { print {begin}, {end}; exit } {print}" && quiet &&
	run --range 0:20 -- echo "{\"first\": {begin}, \"last\": {end}}" {} {1..3} {print} && quiet
'
test_expect_success 'a field behind a $: a shell would see $ and a number' '
	run --range 0:20 -- sh -c "begin=1; echo \${begin} {end}" && said "evenstep: \\$\{begin\}: \{begin\} is filled in, .*"
'
test_expect_success 'a command that uses no slice: a line says so, and how to be quiet' '
	run --range 0:20 -- ./hello >got && said "evenstep: ./hello seems to use nothing of its piece, .*, say so by --reads-env" &&
	run --range 0:20 --reads-env -- ./hello && quiet
'
test_expect_success 'not for one that reads EVENSTEP_BEGIN, is given lines, or has one unit' '
	run --range 0:20 -- ./asks-all && quiet && run --range 0:20 --reads-env -- ./asks && quiet && run --range 0:20 -- sh -c "echo \$EVENSTEP_BEGIN \$EVENSTEP_END" && quiet &&
	run --lines list -- cat && quiet && run --range 0:1 -- ./hello && quiet && run --range 0:20 --grain 20 -- ./hello && quiet
'

# --- all of a piece ----------------------------------------------------------------
all_of='evenstep: [^:]+: the command uses {begin} .EVENSTEP_BEGIN. and neither {end} nor {count}: it would do one unit of each piece, and leave the others undone: give --(each|policy manual:size=1), one process a unit(, with .. for its number)?; or give it {end} or {count}, too; or --reads-env, .*'
test_expect_success 'as many pieces as units: the begin is enough, as each is of one unit, and that is said' '
	run --range 0:6 --pieces 6 -- echo {begin} >got && seq 0 5 | test_cmp - got &&
	said "evenstep: echo: the command uses one end of a piece only, and there are as many pieces as units: each is of one \(--policy manual:size=1\)" &&
	test_expect_code 2 run --range 0:6 --pieces 5 -- echo {begin} && run --range 0:2 -- echo {begin} >got && seq 0 1 | test_cmp - got && test_expect_code 2 run --range 0:6 --pieces 6 --policy even -- echo {begin}
'
test_expect_success 'a command that gets the begin of its pieces, and not their end: refused, nothing has begun, and the ways out' '
	for command in "touch ran {begin}" "sh -c \"touch ran; echo {begin}\"" "sh -c \"touch ran; echo \\\$EVENSTEP_BEGIN\"" "./asks {begin}" "./asks" "sh asks"; do
		eval "test_expect_code 2 run --range 0:20 -- $command" >got && said "$all_of" && test ! -s got && test ! -e ran || return 1
	done &&
	test_expect_code 2 run --range 0:20 -- echo {end} && said "evenstep: echo: the command uses {end} .EVENSTEP_END. and neither {begin} nor {count}: .*: give --each, .*; or give it {begin} or {count}, too; .*" &&
	test_expect_code 2 run --range 0:20 --dry-run -- echo {begin} && said "$all_of" &&
	for way in "{begin} {end}" "{begin} {count}" "{begin} \$EVENSTEP_END"; do run --range 0:20 -- sh -c "echo $way" && quiet || return 1; done &&
	run --range 0:20 --policy manual:size=1 -- echo {begin} >got && seq 0 19 | test_cmp - got && run --range 0:20 --reads-env -- echo {begin} && run --range 3:4 --repeat 2 -- echo {begin} &&
	run --range 0:20 --grain 5 --policy manual:size=1 -- echo {begin} >got && seq 0 5 15 | test_cmp - got && test_expect_code 2 run --range 0:20 --grain 5 --policy manual:size=2 -- echo {begin} &&
	printf "#!/bin/sh\nseq \$1 \$((EVENSTEP_END - 1))\n" >ends && chmod +x ends && run --range 0:20 -- ./ends {begin} >got && seq 0 19 | test_cmp - got
'
test_expect_success 'likewise of a queue, but for one of single units, and of types of work' '
	printf "0:1 a\n5:6 b\n" >singles && run --queue singles -- echo {begin} {label} >got && printf "0 a\n5 b\n" | test_cmp - got &&
	printf "0:1 a\n5:7 b\n" >pairs && test_expect_code 2 run --queue pairs -- echo {begin} {label} && said "$all_of" &&
	echo 0:1 | test_expect_code 2 evenstep run --local 2 --queue - -- echo {begin} 2>err && said "$all_of" &&
	printf "work \"one\" { command = \"echo {begin}\" }\nwork \"two\" { command = \"echo {begin} {end}\" }\n" >works && echo "0:4 x @two" >typed &&
	test_expect_code 2 run --queue typed --works works && said "evenstep: --works: one: the command uses {begin} .*" && run --queue typed --works works --reads-env
'
test_expect_success 'the words of other tools: refused, with what a command gets' '
	test_expect_code 2 run --lines list -- echo {line} && said "evenstep: echo: {line} is no field: the lines of a piece come on the standard input of the command: did you mean --each. Then .. is the line, and the command is run once for each; --replace .*" &&
	test_expect_code 2 run --lines list -- ./hello {} && said "evenstep: ./hello: \{\} is no field: the lines of a piece come on .*" &&
	test_expect_code 2 run --lines list -- ./hello --in={1} && said "evenstep: ./hello: \{1\} is no field: .*" &&
	test_expect_code 2 run --range 0:20 -- ./hello --seed={seed} && said "evenstep: ./hello: {seed} is no field: did you mean {begin}: .*" &&
	test_expect_code 2 run --range 0:20 -- ./hello {} && said "evenstep: ./hello: \{\} is no field: a piece has the units from {begin} up to, not with, {end}: did you mean --each. Then .. is the number, .*" &&
	test_expect_code 2 run --lines list -- ./hello {} ::: a b && test_expect_code 2 run --range 0:2 -- ./hello ::: a b && said "evenstep: ./hello: ::: is a word of the command like any other: did you mean --each. Then .*" &&
	test_expect_code 2 run --queue list -- ./hello {} && said "evenstep: ./hello: \{\} is no field: {begin} .* are filled in: .*" &&
	run --lines list -- xargs -I{} echo {} >got && test_cmp list got && run --lines list -- sh -c "while read -r line; do echo \"\${line}\"; done" >got && quiet && test_cmp list got
'
test_expect_success 'two braces are one that is kept, and --replace has fields between other marks' '
	run --range 0:2 --pieces 1 -- python3 -c "end=99; print(f\"{{end}}\", {begin}, {end})" >got && quiet && printf "99 0 1\n99 1 2\n" | test_cmp - got &&
	run --range 0:2 --pieces 1 --replace "[[]]" -- echo "{end} {} {line} {[[begin]]} [[end]]" >got && printf "{end} {} {line} {0} 1\n{end} {} {line} {1} 2\n" | test_cmp - got &&
	run --range 0:2 --pieces 1 -- python3 -c "end=99; print(f\"{end}\") # {begin}" >got && said "evenstep: python3: a field in an f-string is filled in before Python sees it: {{end}} leaves it {end}" &&
	test_expect_code 2 run --range 0:2 --replace "[[]]" -- echo "[[beginn]] [[end]]" && said "evenstep: echo: \[\[beginn]] is no field: did you mean \[\[begin]]: .*" &&
	test_expect_code 2 run --range 0:2 --replace "[[]" -- echo && said "evenstep: --replace: .*: give two halves of one length, for example .*" &&
	printf "work \"one\" { command = \"echo <begin> <end> {end}\" }\n" >works && echo "0:1 x @one" >typed && run --queue typed --works works --replace "<>" >got && echo "0 1 {end}" | test_cmp - got
'
test_expect_success 'lines for a command that reads none: a warning says so' '
	run --lines list -- sleep 0; said "evenstep: sleep reads no standard input, and the lines of a piece come there: .*"
'

# --- what is not done -----------------------------------------------------------
test_expect_success 'a program that is missing in a line for a shell: a failure where it is the last one, or with set -e' '
	test_expect_code 1 run --range 0:20 -- sh -c ": {begin} {end}; ./nowhere" && grep "exited with status 127" err &&
	test_expect_code 1 run --range 0:20 -- sh -c "set -e; ./nowhere {begin} {end}; true" && grep "exited with status 127" err &&
	: >nowhere && test_expect_code 1 run --range 0:20 -- sh -c ": {begin} {end}; ./nowhere" && grep "exited with status 126" err && rm nowhere &&
	run --range 0:20 -- sh -c "./nowhere {begin} {end}; true" && grep "nowhere: .*not found" err
'
silent() { run --range 0:20 --policy manual:size=5 "$@"; }
test_expect_success 'pieces that print nothing beside others that do: the end says how many' '
	silent -- sh -c "test {begin} = 5 || echo {begin} {end}" && said "evenstep: 1 of 4 pieces printed nothing" && test "$(grep -c "printed nothing" err)" = 1 &&
	silent --stdout "each/{begin}" -- sh -c "test {begin} = 5 || test {begin} = 10 || echo {begin} {end}" && said "evenstep: 2 of 4 pieces printed nothing" &&
	for all in true "echo x"; do silent -- sh -c "$all; : {begin} {end}" && ! grep "printed nothing" err || return 1; done
'

# --- stdin -----------------------------------------------------------------------
unread='evenstep: nobody reads what is on stdin: give --lines - .*, --queue - .*'
by_stdin() { timeout 300 evenstep run --local 2 --metrics equal --lines - "$@" 2>err; }
on_stdin() { timeout 300 sh -c 'evenstep run --local 2 --metrics equal "$@"; exit' sh "$@" 2>err; }
test_expect_success 'a pipe or a file on stdin that nobody reads: told once' '
	{ cat list; sleep 1; } | evenstep run --local 2 --range 0:20 -- echo {begin} {end} >got 2>err && said "$unread" &&
	bash -c "evenstep run --local 2 --range 0:20 -- echo {begin} {end} <list; true" >got 2>err && said "$unread" && test "$(grep -c nobody err)" = 1
'
test_expect_success '--lines - reads it, from a pipe, a file or slowly: each line once and in order' '
	{ head -n 7 list; sleep 1; tail -n +8 list; } | by_stdin -- cat >got && quiet && test_cmp list got &&
	by_stdin --grain 3 -- cat >got <list && quiet && test_cmp list got &&
	by_stdin --dry-run -- cat >got <list && grep ", with lines 1 to .* of standard input on stdin$" got && printf ">a\nx\n>b\ny\nz" >fasta &&
	by_stdin --recstart ">" --policy static --pieces 1 -- sh -c "cat; echo; echo {begin} {end}" <fasta >got &&
	printf ">a\nx\n\n0 1\n>b\ny\nz\n1 2\n" >want && test_cmp want got
'
reads() { find /proc/"$run"/fd -lname "*deleted*" | grep -q fd; } # it has begun to keep them
test_expect_success 'SIGTERM while it waits for lines: exit 1, and says so' '
	mkfifo slow && { evenstep run --local 2 --lines - -- cat <slow >got 2>err 3>&- 4>&- 5>&- & run=$!; } && exec 7>slow && wait_for 60 reads && kill -TERM $run &&
	test_expect_code 1 wait $run && exec 7>&- && said "evenstep: ended while it read --lines -: nothing has begun"
'
half() { by_stdin --journal kept --grain 5 --policy static "$@" -- sh -c "test -e ok || test {begin} -lt 10 && cat"; }
test_expect_success 'a run of it is resumed by the same lines, on stdin again' '
	test_expect_code 1 half <list >got && said "evenstep: what is done is kept in kept: .*" && touch ok &&
	half --resume <list >got && cat err && test_cmp list got
'
test_expect_success 'a stdout that is closed: exit 1, and no file of ours gets what was for it' '
	test_expect_code 1 timeout 300 evenstep run --local 2 --metrics equal --report report --range 0:4 -- echo {begin} {end} >&- 2>err; cat err report &&
	jq -es "map(.type) | unique == [\"frame\", \"summary\"]" report
'
test_expect_success 'that is empty, closed, or a pipe by another name: exit 2, says what to give' '
	test_expect_code 2 evenstep run --local 2 --lines - -- cat </dev/null 2>err && said "evenstep: --lines: -: is empty: name a file of lines" &&
	test_expect_code 2 evenstep run --local 2 --lines - -- cat <&- 2>err && said "evenstep: --lines: -: Bad file descriptor: give lines on standard input, .*" &&
	cat list | test_expect_code 2 evenstep run --local 2 --lines /dev/stdin -- cat 2>err &&
	said "evenstep: --lines: /dev/stdin: is no regular file: name a file of lines, or give - for standard input"
'
test_expect_success 'not for one that is empty, read, or the stdin of the script around' '
	: | evenstep run --local 2 --range 0:20 -- echo {begin} {end} 2>err && quiet &&
	echo 0:20 | evenstep run --local 2 --queue - -- echo {begin} {end} 2>err && quiet &&
	on_stdin --range 0:20 -- echo {begin} {end} <list && quiet && cat list | on_stdin --range 0:20 -- echo {begin} {end} && quiet
'

# --- a dry run ---------------------------------------------------------------------
test_expect_success '--dry-run prints the first commands of every node, and runs none' '
	run --dry-run --range 0:40 -- sh -c "touch ran-{begin}; echo \"it is {begin} {end}\"" "" >got && cat got && ls && ! ls | grep ran- &&
	grep "^local0: sh -c .touch ran-0; echo \"it is 0 [1-9].*\". ..  # units 0:[1-9]" got && grep "^local1: .*  # units [1-9][0-9]*:" got && ! grep -v "^local[01]: " got
'
test_expect_success 'a shell takes them as they stand' '
	sed -n "s/^local0: //p" got | sh >out && grep "^it is 0 [1-9]" out && test -e ran-0
'
test_expect_success 'with lines their numbers are told; files of the run are left alone' '
	echo old >file && echo old >report && run --dry-run --lines list --gather file --report report --journal j -- cat >got && cat got &&
	grep "^local1: cat  # units [1-9][0-9]*:.*, with lines [1-9][0-9]* to .* of list on stdin$" got &&
	test "$(cat file report)" = "$(printf "old\nold")" && test ! -e j && test "$(ls -A | grep evenstep-)" = ""
'
test_expect_success 'frames of a queue, programs that stay, and no units at all' '
	printf "5:9 dawn\n" >queue && run --dry-run --queue queue -- echo {label} >got && grep "^local0: echo dawn  # units 5:" got &&
	run --dry-run --persistent --range 0:20 -- ./no-such >got && grep "^local1: ./no-such  # units [1-9][0-9]*:" got &&
	: >queue && run --dry-run --queue queue --persistent -- echo {label} >got && test ! -s got
'

test_expect_success 'of a queue and a command that is known: those of all frames that begin at once' '
	printf "#!/bin/sh\nsleep \$(awk \"BEGIN { print 0.3 + 0.01 * (\$2 - \$1) }\")\n" >starts && chmod +x starts && mkdir state &&
	printf "0:60 a\n0:60 b\n" >queue && for i in 1 2; do XDG_STATE_HOME=$PWD/state run --queue queue -- ./starts {begin} {end} {label} || return 1; done &&
	XDG_STATE_HOME=$PWD/state run --dry-run --queue queue -- ./starts {begin} {end} {label} >got && cat got &&
	grep "^local[01]: ./starts 0 60 a  # units 0:60$" got && grep "^local[01]: ./starts 0 60 b  # units 0:60$" got && test $(grep -vc "^#" got) = 2
'

# --- half an installation ------------------------------------------------------------
test_expect_success 'an agent of another release is refused, with both numbers' '
	version=$(evenstep -V | sed "s/evenstep //") && other=$(echo "$version" | tr 0-8 1-9) && mkdir half && cp "$EVENSTEP_BUILD/evenstep" half &&
	perl -pe "BEGIN { (\$from, \$to) = splice @ARGV, 0, 2 } s/\Q\$from\E\0/\$to\0/g" "$version" "$other" "$EVENSTEP_BUILD/evenstep-agent" >half/evenstep-agent && chmod +x half/evenstep-agent &&
	test_expect_code 3 env PATH="$PWD/half:$PATH" evenstep run --local 2 --range 0:20 -- echo {begin} {end} >got 2>err && test ! -s got &&
	said "evenstep: local[01]: its evenstep-agent is $other \(protocol [0-9]+\), this evenstep is $version \(protocol [0-9]+\): install the same version on all nodes"
'
test_expect_success 'a key that this version does not know: file, line, key and version in one line' '
	printf "probe {\n  of_tomorrow = 1\n}\n" >newer &&
	EVENSTEP_CONF=$PWD/newer fails 2 "evenstep: .*/newer:2: no such option .of_tomorrow.: see evenstep.conf\(5\) for what evenstep $version knows" evenstep config
'

# --- commands that hang --------------------------------------------------------------
test_expect_success 'all nodes given up for --timeout: the work has failed, exit 1' '
	test_expect_code 1 run --timeout 0.3 --range 0:20 -- sleep 100{begin} {end} &&
	said "evenstep: every node was given up: sleep ran for longer than 0.3 s: .*--timeout.*"
'
test_done
