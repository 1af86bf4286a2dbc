#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='files instead of a stream: an output for each piece, what commands make, in folders of their own'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

PATH=$EVENSTEP_BUILD:$PATH
TMPDIR=$PWD/tmp
HERE=$PWD
export TMPDIR HERE
mkdir tmp
unset EVENSTEP_CONF SLURM_JOB_ID
cat >units <<'END'
#!/bin/sh
exec seq "$1" $(($2 - 1))
END
chmod +x units
run() { evenstep run --local 3 --metrics equal --range 0:90 "$@"; }
ends_with_test
seq 0 89 >all
# together FOLDER: the files there are whole, and all of the work.
together() { sort -n "$1"/* | test_cmp all - && test -z "$(find "$1" -name ".*")"; }

# --- --stdout ------------------------------------------------------------------
test_expect_success '--stdout: a file for each piece, named by its units; nothing on stdout' '
	run --stdout new/er/out-{begin}-{end} -- ./units {begin} {end} >got && test ! -s got && together new/er &&
	for file in new/er/*; do name=${file##*/out-} && test "$(head -n 1 $file)" = "${name%-*}" || return 1; done
'
test_expect_success 'the same again takes their place, and says that they were there' '
	run --stdout new/er/out-{begin}-{end} -- ./units {begin} {end} 2>err && said "evenstep: --stdout: there are such files already: .*"
'
test_expect_success 'by links: they stay, and the files are where they lead to, with their modes' '
	mkdir linked far && for i in $(seq 0 89); do ln -s ../far/$i linked/$i && echo old >far/$i && chmod 640 far/$i || return 1; done &&
	run --stdout linked/{begin} --return linked/r{begin} -- sh -c "./units {begin} {end}; mkdir -p linked; echo {begin} >linked/r{begin}" 2>err &&
	rm linked/r* && test -z "$(find linked ! -type l ! -type d)" && grep -Lx old far/* >replaced && cat $(cat replaced) | sort -n | test_cmp all - && test "$(stat -c %a $(cat replaced) | sort -u)" = 640
'
test_expect_success 'what fails leaves no file, and is whole when it is done again' '
	run --stdout again/{begin} --retries 2 -- sh -c "./units {begin} {end}; ! mkdir tried 2>&-" >got 2>err && together again && grep "tried again" err
'
test_expect_success 'several frames' '
	run --stdout frames/{frame}-{begin} --repeat 2 -- ./units {begin} {end} && cat frames/0-* | sort -n | test_cmp all - && cat frames/1-* | sort -n | test_cmp all - &&
	printf "0:90 a\n0:90 b/c\n" >queue && evenstep run --local 3 --metrics equal --queue queue --stdout queued/{label}/{begin} -- ./units {begin} {end} &&
	together queued/a && together queued/b/c
'
test_expect_success '--journal: after a kill --resume does the rest, and writes again what is missing' '
	rm -f go && cat >gated <<-\END &&
	#!/bin/sh
	test $1 -lt 30 || until test -e go; do sleep 0.05; done
	exec ./units $1 $2
	END
	chmod +x gated && behind evenstep run --local 3 --metrics equal --range 0:90 --journal journal --pieces 4 --stdout kept/{begin} -- ./gated {begin} {end} &&
	wait_for 60 test -s kept/0 && kill -KILL $run && test_expect_code 137 wait $run && run= && rm kept/0 && : >go &&
	run --journal journal --pieces 4 --resume --stdout kept/{begin} -- ./gated {begin} {end} && together kept &&
	run --journal journal --pieces 4 --resume-failed --stdout kept/{begin} -- ./gated {begin} {end} 2>err && together kept && ! grep "such files already" err
'
test_expect_success 'a folder that cannot be written: exit 1, says which' '
	: >file && test_expect_code 1 run --stdout file/{begin} -- ./units {begin} {end} 2>err && said "evenstep: --stdout: file/[0-9]*: Not a directory: name another file, in a folder that is there"
'

nothing_left() { test -z "$(find tmp -name "evenstep-run-*")"; }

# --- --workdir -----------------------------------------------------------------
test_expect_success '--workdir tmp: a new folder for each piece, gone afterwards' '
	run --workdir tmp -- sh -c "ls -A; pwd; mkdir -p a/b; : >a/b/c; ln -s / a/root; chmod 0 a/b" >got && test "$(grep -c "^$PWD/tmp/evenstep-run-" got)" -ge 3 &&
	test "$(sort -u got | wc -l)" = "$(wc -l <got)" && nothing_left
'
test_expect_success 'of a command that fails, hangs or is interrupted nothing stays either' '
	test_expect_code 1 run --workdir tmp -- sh -c ": >x; exit 1" && nothing_left &&
	printf "#!/bin/sh\npwd\n" >nearby && chmod +x nearby && run --workdir tmp -- ./nearby >got && grep "^$PWD/tmp/evenstep-run-" got && nothing_left &&
	! run --workdir tmp --timeout 0.3 -- sh -c ": >x; exec sleep 100" 2>err && nothing_left &&
	rm -f begun && behind evenstep run --local 2 --range 0:2 --workdir tmp -- sh -c ": >x; : >\"\$HERE/begun\"; exec sleep 100" &&
	wait_for 60 test -e begun && kill -TERM $run && { wait $run || :; } && run= && wait_for 60 nothing_left
'
test_expect_success 'what an agent that was killed has left, the next one removes' '
	rm -rf tmp/* && mkdir -p tmp/evenstep-run-$(id -u)-1-local0/5/x tmp/evenstep-run-$(id -u)-2-other tmp/evenstep-graph-1 && chmod -R go= tmp && touch -d "2 minutes ago" tmp/* &&
	run --workdir tmp -- true && echo evenstep-graph-1 >want && echo evenstep-run-$(id -u)-2-other >>want && ls tmp | test_cmp want - && rm -r tmp/*
'
test_expect_success '--workdir DIR: there; one that is not: exit 1, says so' '
	run --workdir "$PWD/tmp" -- pwd >got && sort -u got >where && echo "$PWD/tmp" | test_cmp - where &&
	test_expect_code 1 run --workdir /no/where -- pwd 2>err && grep "/no/where: No such file or directory" err
'

# --- --return ------------------------------------------------------------------
test_expect_success '--return: files come whole, with their modes, into folders that are made' '
	run --workdir tmp --return made/of/{begin} --return {begin}.x --return empty/{begin} -- sh -c "mkdir -p made/of empty; seq {begin} \$(({end} - 1)) >made/of/{begin}; seq 50000 >{begin}.x; chmod +x {begin}.x; : >empty/{begin}" &&
	together made/of && seq 50000 >want && for file in *.x; do test -x "$file" && test_cmp want "$file" || return 1; done &&
	test "$(ls empty | wc -l)" = "$(ls made/of | wc -l)" && rm -r made ./*.x empty && nothing_left
'
test_expect_success 'done again elsewhere: no half file, nothing hidden stays' '
	cat >late <<-\END && chmod +x late &&
	#!/bin/sh
	mkdir r && seq $1 $(($2 - 1)) >r/$1
	! mkdir "$HERE/failed" 2>&-
	END
	mkdir here && cd here && rc=0 && run --pieces 2 --retries 3 --workdir tmp --return r/{begin} -- "$HERE/late" {begin} {end} 2>../err || rc=1; cd .. &&
	test "$rc" = 0 && grep "tried again" err && together here/r && rm -r here failed
'
test_expect_success 'with --local and no --workdir the file is there, and stays as it is' '
	run --return here-{begin} -- sh -c "seq {begin} \$(({end} - 1)) >here-{begin}; ln here-{begin} same-{begin}" &&
	cat here-* | sort -n | test_cmp all - && for file in here-*; do test $file -ef same-${file#here-} || return 1; done && rm here-* same-*
'
test_expect_success 'older files of such names are told, and others are not; with --resume none' '
	mkdir -p old && : >old/7.in && run --workdir tmp --return old/{begin}.out -- sh -c "mkdir old; : {end} >old/{begin}.out" 2>err && test_must_fail grep "already" err &&
	: >old/7.out && run --workdir tmp --return old/{begin}.out -- sh -c "mkdir old; : {end} >old/{begin}.out" 2>err &&
	said "evenstep: --return: there are such files already: what this run does not replace of them stays beside its own" &&
	run --journal old.j --resume --workdir tmp --return old/{begin}.out -- sh -c "mkdir old; : {end} >old/{begin}.out" 2>err && test_must_fail grep "already" err && rm -r old
'
test_expect_success '--ok-status: files come with that status, too' '
	run --workdir tmp --ok-status 0,3 --return ok/{begin} -- sh -c "mkdir ok; seq {begin} \$(({end} - 1)) >ok/{begin}; exit 3" && together ok
'
test_expect_success '--stdout and --return and a journal, killed and resumed: all is there once' '
	rm -f go && cat >both <<-\END && chmod +x both &&
	#!/bin/sh
	test $1 -lt 30 || until test -e "$HERE/go"; do sleep 0.05; done
	seq $1 $(($2 - 1)) | tee $1
	END
	behind evenstep run --local 3 --metrics equal --range 0:90 --journal both.j --workdir tmp --stdout both.o/{begin} --return both.r/{begin} -- sh -c "mkdir both.r; cd both.r; exec \"\$HERE/both\" {begin} {end}" &&
	wait_for 60 test -s both.o/0 && kill -KILL $run && test_expect_code 137 wait $run && run= && test -s both.r/0 && : >go &&
	run --journal both.j --resume --workdir tmp --stdout both.o/{begin} --return both.r/{begin} -- sh -c "mkdir both.r; cd both.r; exec \"\$HERE/both\" {begin} {end}" &&
	together both.o && together both.r && rm both.r/0 && mv both.r/"$(ls both.r | tail -n 1)" elsewhere &&
	run --journal both.j --resume --workdir tmp --stdout both.o/{begin} --return both.r/{begin} -- sh -c "mkdir both.r; cd both.r; exec \"\$HERE/both\" {begin} {end}" 2>err &&
	said "evenstep: --return: both.r/0 and 1 more files, which a run before has made, are missing: their pieces are done again" && together both.o && together both.r &&
	run --journal both.j --resume --workdir tmp --stdout both.o/{begin} --return both.r/{begin} -- sh -c "mkdir both.r; cd both.r; exec \"\$HERE/both\" {begin} {end}" 2>err &&
	test_must_fail grep missing err && together both.o && together both.r
'
test_expect_success 'a resume in another folder, where no returned file is: exit 2, and nothing is given up' '
	here=$PWD && mkdir -p there elsewhere2 && seq 20 >there/lines && cp there/lines elsewhere2 &&
	fourths() { (cd "$1" && evenstep run --local 2 --metrics equal --policy manual:size=5 --lines lines --journal "$here/fourths.j" --return "r-{begin}" $2 -- sh -c "cat >r-{begin} && echo {begin} >>\"$here/began\""); } &&
	fourths there && test_expect_code 2 fourths elsewhere2 --resume 2>err && said "evenstep: --return: of the files that a run before has made, as r-[0-9]*, none is here: resume in the folder of before, or begin anew without --resume" &&
	before=$(wc -l <began) && fourths there --resume && test $(wc -l <began) = $before
'

# --- what a run before has left -------------------------------------------------
# fives CODE OPTION...: each five of the lines, to so/B and r/B; where the first one of a piece is x it fails.
fives() {
	fives_code=$1
	shift
	# shellcheck disable=SC2086 # words
	test_expect_code "$fives_code" evenstep run --local 2 --metrics equal --policy manual:size=5 --lines lines --journal fives --stdout "so/{begin}" --return "$back/{begin}" $where --keep-going "$@" -- sh -c "mkdir -p $back && tee $back/{begin} && ! grep -q x $back/{begin}" 2>err
}
# all_of WORD: the files of both folders are those of the lines but for this one and its piece.
all_of() { cat so/* | sort -n | test_cmp want - && cat "$back"/* | sort -n | test_cmp want -; }
for where in '--workdir tmp' ''; do
	back=r${where:+w}
	test_expect_success "lines taken away: the files of their pieces go, ${where:-in the folder of all}" '
		rm -rf so fives && seq 20 >lines && fives 0 && seq 20 >want && all_of && seq 10 >lines && fives 0 --resume && seq 10 >want && all_of &&
		said "evenstep: 4 files of pieces that do not count any more: removed" && fives 0 --resume && all_of && test_must_fail grep removed err
	'
	test_expect_success "a line that makes its piece fail now: its files go, too, ${where:-in the folder of all}" '
		sed -i s/7/x/ lines && fives 1 --resume && seq 5 >want && cat so/* | test_cmp want - && if test -n "$where"; then all_of; fi && sed -i s/x/7/ lines && fives 0 --resume && seq 10 >want && all_of
	'
	test_expect_success "files that are not as they were written stay, and are told, ${where:-in the folder of all}" '
		seq 20 >lines && fives 0 --resume && echo mine >>so/10 && echo mine >>$back/15 && rm so/15 && mkdir so/15 && seq 10 >lines && fives 0 --resume &&
		said "evenstep: $back/15: a piece that does not count any more has made it, but may not have been the last: it stays \(2 such\)" &&
		grep mine so/10 && grep mine $back/15 && test -d so/15 && test ! -e $back/10
	'
done
test_expect_success 'an output of the same length, and back to the first lines: it is that of the lines each time' '
	seq 20 >lines && same() { evenstep run --local 2 --metrics equal --policy manual:size=5 --lines lines --journal same --stdout same.o/{begin} "$@" -- cat 2>err; } &&
	same && sed -i s/^7$/x/ lines && same --resume && cat same.o/* | sort >got && sort lines | test_cmp - got && sed -i s/^x$/7/ lines && same --resume && cat same.o/* | sort -n | test_cmp lines -
'
test_expect_success 'a queue: the files of a frame go with its line, named by its label of then; a label that names none is no fault' '
	printf "0:4 a\n0:4 b\n0:4 ../c\n" >queue && labelled() { evenstep run --local 2 --metrics equal --queue queue --journal labelled "$@" -- ./units {begin} {end} 2>err; } &&
	labelled >got && printf "0:4 a\n0:4 e\n0:4 c\n" >queue && labelled --resume --stdout label/{label}/{begin} && printf "0:4 a\n0:4 f\n" >queue &&
	labelled --resume --stdout label/{label}/{begin} && find label -type f | cut -d/ -f2 | sort -u >got && printf "a\nf\n" | test_cmp - got
'
test_expect_success 'a name that a piece which counts has, too, stays: cut otherwise, and with nothing in it' '
	seq 20 >lines && silent() { evenstep run --local 2 --metrics equal --lines lines --may-leave-lines --journal silent --stdout none/{begin} "$@" -- true 2>err; } &&
	silent --policy manual:size=10 && echo 0 >want && echo 10 >>want && ls none | sort -n | test_cmp want - && sed -i s/^3$/x/ lines &&
	silent --policy manual:size=5 --resume && printf "%s\n" 0 10 5 >want && ls none | test_cmp want - && sed -i s/^3$/x/ lines && silent --policy manual:size=5 --resume && ls none | test_cmp want -
'
while IFS='|' read -r what command why; do
	test_expect_success "$what: exit 1, says which" '
		test_expect_code 1 run --workdir tmp --return d/f-{begin} -- sh -c "mkdir d; : {begin} {end}; printf oh >&2; $command" 2>err && grep -E "local[0-9]: oh$" err &&
		said "evenstep: local[0-9]: frame 1, units [0-9:]+: sh did not return d/f-[0-9]+: $why: --return names .*" && test ! -e d && nothing_left
	'
done <<'END'
a file that is missing|:|No such file or directory
a link to a file|ln -s /etc/passwd d/f-{begin}|is a link, which is not followed
a folder that is a link|rmdir d; ln -s /etc d|has a link on its way, which is not followed
a folder in its place|mkdir d/f-{begin}|is a folder
a pipe|mkfifo d/f-{begin}|is no regular file
END
test_expect_success 'a file that this disk has no room for: exit 1, before it is filled' '
	test_expect_code 1 run --workdir tmp --return huge-{begin} -- sh -c "truncate -s 15T huge-{begin}; : {end}" 2>err &&
	said "evenstep: --return: huge-[0-9]+: No space left on device: .*" && nothing_left && ! ls huge-*
'
test_expect_success 'something else is in its place here: exit 1, and it stays' '
	mkdir -p way && mkfifo way/0 && test_expect_code 1 run --workdir tmp --return way/{begin} -- sh -c "mkdir way; : {end} >way/{begin}" 2>err &&
	said "evenstep: --return: way/0: File exists: .*" && test -p way/0 && rm -r way
'

# --- --bcast -------------------------------------------------------------------
test_expect_success '--bcast: every node has the files before its first command, whole, with their modes' '
	cp units tool && seq 200000 >data && run --bcast "tool:tmp/{node}.tool" --bcast "data:$PWD/tmp/{node}.data" -- sh -c "cmp data tmp/{node}.data && exec tmp/{node}.tool {begin} {end}" >got &&
	sort -n got | test_cmp all - && echo changed >data && run --bcast "data:tmp/{node}.data" -- sh -c "cat tmp/{node}.data; : {begin} {end}" >got && sort -u got | test_cmp data - && rm tmp/*.data tmp/*.tool
'
test_expect_success 'a node that cannot have it: exit 1, no command has run' '
	mkdir tmp/local0 tmp/local1 && test_expect_code 1 run --bcast "tool:tmp/{node}/tool" --reads-env -- touch ran-{begin} 2>err && ! ls ran-* &&
	said "evenstep: local2: .*/tmp/local2/tool: No such file or directory" && said "evenstep: --bcast: tool:.*/tmp/.node./tool: 1 of 3 nodes have not got it: see the lines above" && rm -r tmp/local*
'
printf '0:9 ../x\n' >leaves
while IFS='|' read -r options message; do
	test_expect_success "$options: exit 2, says why" '
		test_expect_code 2 evenstep run --local 2 $options -- true >got 2>err && test ! -s got && said "evenstep: $message"
	'
done <<'END'
--range 0:9 --stdout o/out|--stdout: o/out would be one file for all pieces: put {begin} into it
--range 0:9 --stdout o/{begin}/|--stdout: "o/{begin}/" names no file: name a file, as out-{begin}
--range 0:9 --repeat 2 --stdout o/{begin}|--stdout: o/{begin} would be one file for all frames: put {frame} into it
--queue queue --stdout o/{begin}|--stdout: o/{begin} would be one file for all frames: put {frame} or {label} into it
--queue leaves --stdout o/{label}-{begin}|--stdout: the label "../x" leads out of the folder: give labels that are no path of their own
--range 0:9 --return /out-{begin}|--return: /out-{begin} is not in the command's folder: give a path below it, without ..
--range 0:9 --return a/../../{begin}|--return: a/../../{begin} is not in the command's folder: give a path below it, without ..
--range 0:9 --repeat 2 --stdout o/{frame}{begin}|--stdout: in o/{frame}{begin} fields run together: two pieces may have one name: put a letter or a - between them
--range 0:9 --return a/{begin} --return a/{end}|--return: a/{begin} and a/{end} may be one file: name them unlike each other
--range 0:9 --return out|--return: out would be one file for all pieces: put {begin} into it
--range 0:9 --return a{begin} --return a{begin}|--return: a{begin} and a{begin} may be one file: name them unlike each other
--queue leaves --return {label}-{begin}|--return: the label "../x" leads out of the folder: give labels that are no path of their own
--range 0:9 --return a{begin} --persistent|--return and --persistent exclude each other: give one of them
--range 0:9 --workdir tmp --persistent|--workdir tmp: a program that stays has one folder: leave one of them out
--range 0:9 --journal j --return {node}-{begin}|{node}-{begin}: with --journal a name may not say where: leave {node} and {slot} out
--range 0:9 --journal j --stdout {slot}-{begin}|{slot}-{begin}: with --journal a name may not say where: leave {node} and {slot} out
--range 0:9 --bcast tool|--bcast: "tool" does not name two files: give SRC:DST, as data:/tmp/data
--range 0:9 --bcast :x{node}|--bcast: ":x{node}" does not name two files: give SRC:DST, as data:/tmp/data
--range 0:9 --bcast tool:x|--bcast: with --local all nodes would write the same file: give DST with {node} in it
--range 0:9 --bcast tool:x{node}/|DST "x{node}/" names no file: give the file.s whole name
--range 0:9 --workdir here|--workdir: "here" is no whole path: give tmp, or a whole path on the nodes
--range 0:9 --stdout {begin} --gather x|--stdout and --gather exclude each other: give one of them
END
test_done
