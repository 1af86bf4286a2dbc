#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='lines that no command has read: the piece has failed'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

without_slurm
seq 20 >tasks
run() { evenstep run --local 2 --metrics equal --pieces 1 --lines tasks "$@" 2>err; }

# --- what is left -------------------------------------------------------------------------
while IFS='|' read -r command left; do
	test_expect_success "$command: exit 1, says how many lines were not read" '
		test_expect_code 1 run --grain 20 -- sh -c "$command" >out && said "evenstep: local[01]: frame 1, lines 1 to 20: sh ended well, but $left of 20 lines were not read: does something in it read standard input, as ssh does[?] --may-leave-lines lets a command leave lines" &&
		run --grain 20 --may-leave-lines -- sh -c "$command" >out && ! grep "not read" err
	'
done <<'END'
true|20
head -n 1|19
grep -m 1 7|13
read a; read b|18
echo {begin} {end}|20
sed -n 3q; true|17
cat & wait|20
END
mkdir noatime && unshare -m mount -t tmpfs -o noatime none noatime 2>&- && test_set_prereq MOUNT
test_expect_success MOUNT 'where no access is noted a command that opens /dev/stdin has not failed, one that stops early has' '
	noted() { unshare -m sh -c "mount -t tmpfs -o noatime none noatime && exec \"\$@\"" - env TMPDIR="$PWD/noatime" evenstep run --local 1 --metrics equal --lines tasks -- "$@" 2>err; } &&
	noted cat /dev/stdin >out && test_cmp tasks out && test_expect_code 1 noted head -n 1 && mentioned "not read"
'
test_expect_success 'it is a failure as others are: tried again, left out, told in the log and the journal' '
	test_expect_code 1 run --policy manual:size=10 --retries 1 --keep-going --joblog log --journal j -- sh -c "test {begin} = 0 && exec cat; head -n 1" >out && seq 10 | test_cmp - out &&
	said "evenstep: left out: frame 1, lines 11 to 20, local[01]: .*" && test "$(cut -f 7 log | grep -cx 126)" -ge 2 &&
	run --policy manual:size=10 --journal j --resume-failed --may-leave-lines -- sh -c "test {begin} = 0 && exec cat; head -n 1" >out && { seq 10 && echo 11; } | test_cmp - out
'
test_expect_success 'a command that fails by itself has its own status, and one whose status is fine must have read, too' '
	test_expect_code 1 run -- sh -c "exit 3" && mentioned "sh exited with status 3" && ! grep "not read" err &&
	test_expect_code 1 run --ok-status 3 -- sh -c "exit 3" && mentioned "sh ended well, but .* lines were not read" &&
	run --ok-status 3 -- sh -c "cat; exit 3" >out && test_cmp tasks out
'
printf 'a\nb' >open && printf '\n\n' >blank
test_expect_success 'a last line without its end counts, and empty ones' '
	test_expect_code 1 evenstep run --local 1 --grain 2 --lines open -- head -n 1 >out 2>err && mentioned "1 of 2 lines was not read" &&
	test_expect_code 1 evenstep run --local 1 --lines blank -- true 2>err && mentioned "1 of 1 line was not read" && evenstep run --local 1 --lines open -- cat >out && cmp open out
'

# --- whoever reads has read ---------------------------------------------------------------
while read -r command; do
	test_expect_success "read all: $command" '
		run -- sh -c "$command" >out && ! grep "not read" err
	'
done <<'END'
cat /dev/stdin
awk 1 /dev/fd/0
tail -n 1
wc -l
sort -r
tail -n +2
while read n; do echo $n; done
xargs -n 1 echo
python3 -c "import mmap; print(mmap.mmap(0, 0, prot=1)[:])"
python3 -c "import os; os.pread(0, 9, 0)"
head -n 3; cat
END
cat >lazy.py <<-END
	import evenstep
	with evenstep.Session(20) as session:
	    while (s := session.next()) is not None:
	        if s.begin == 0:
	            print(len(session.lines().read().split()), flush=True)
	        session.done()
END
lazy() { PYTHONPATH="$EVENSTEP_SRC/contrib/python" PYTHONDONTWRITEBYTECODE=1 run --policy manual:size=10 --persistent "$@" -- python3 lazy.py >out; }
test_expect_success '--persistent: likewise of a slice whose lines the program has not read' '
	test_expect_code 1 lazy && mentioned "local[01]: frame 1, lines 11 to 20: python3 ended well, but 10 of 10 lines were not read" && ! grep "frame 1, lines 1 to 10" err &&
	lazy --may-leave-lines && echo 10 | test_cmp - out
'

# --- who takes what others are to read, and who runs it ---------------------------------------
warned() { said "evenstep: warning: -- $1: $2 reads standard input, as the loop of read around it does: lines that it takes are not read by the loop, and not done: give it </dev/null; or --each, and .... for the line"; }
while IFS='|' read -r program text; do
	test_expect_success "a loop of read is warned of ${program:-nothing}: $text" '
		evenstep run --local 1 --metrics equal --lines tasks --dry-run -- sh -c "$(printf "$text")" >out 2>err && if test "$program"; then warned sh $program; else ! grep "reads standard" err; fi
	'
done <<'END'
cat|while read n; do echo got $n; sh -c "cat >/dev/null"; done
ssh|while read n; do ssh $n uptime; done
ssh|while IFS= read -r n\ndo\n\tx=$(ssh -p 22 $n date)\ndone
ssh|while read n; do echo "`ssh $n date`"; done
ffmpeg|while read n; do ffmpeg -i $n -y $n.mp4; done
mpirun|while read n; do if test -e $n; then mpirun -n 2 ./a $n; fi; done
srun|until ! read n; do nice -n 5 srun -n1 ./a $n; done
cat|while read n; do for i in 1 2; do echo $i; done; cat >$n; done
grep|while read n; do grep x && echo $n; done
bash|while read n; do timeout 10 bash; done
|while read n; do ssh -n $n uptime; done
|while read n; do ssh $n uptime </dev/null; done
|while read n; do ffmpeg -nostdin -i $n -y $n.mp4; done
|while read n; do cat $n; sed s/a/b/ $n; awk 1 $n; done
|while read n; do echo $n \174 cat; wc -l <$n; head $n; done
|while read n <&3; do ssh $n; done 3<list
|while read n; do ssh $n; done <list
|cat list \174 while read n; do ssh $n; done
|while read n; do echo $n; done; cat
|while read n; do cat & wait; done
|# while read n; do ssh $n; done\nxargs -n 1 sh -c "cat $0"
END
test_expect_success 'also in a script, and behind env' '
	printf "#!/bin/sh\nwhile read n; do\n\tssh \$n\ndone\n" >loop && chmod +x loop && evenstep run --local 1 --lines tasks --dry-run -- ./loop >out 2>err && warned ./loop ssh &&
	evenstep run --local 1 --lines tasks --dry-run -- env A=1 bash loop >out 2>err && warned env ssh
'
test_expect_success 'a loop of read that would not do a last line without its end: a warning' '
	printf "a\nb" >open && evenstep run --local 1 --metrics equal --lines open -- sh -c "while read -r l; do echo \$l; done" >out 2>err &&
	said "evenstep: warning: -- sh: the last line has no newline, and a loop of read passes over such a one: add it, or give while read -r l [|][|] .*" &&
	evenstep run --local 1 --metrics equal --lines open -- sh -c "while read -r l || test \"\$l\"; do echo \$l; done" >out 2>err && printf "a\nb\n" | test_cmp - out && ! grep warning err &&
	run -- sh -c "while read -r l; do echo \$l; done" >out && ! grep warning err
'
while IFS='|' read -r name command; do
	test_expect_success "$command: exit 2, what it reads would be its program" '
		test_expect_code 2 run -- $command >out && test ! -s out && mentioned "^evenstep: -- $name: with --lines it would run the lines of a piece as one (script, which ends at the first exit|program)"
	'
done <<'END'
sh|sh
bash|/bin/bash -e
dash|env A=1 dash -s
zsh|nice -n 5 zsh -o pipefail
sh|sh /dev/stdin
python3|python3 -u
python3|python3.11 -
perl|perl -w
R|R --no-save
END
test_expect_success 'what it says instead does each line, to the last one, and each that fails has failed' '
	test_expect_code 2 run -- sh && said "evenstep: -- sh: .*: give evenstep tasks FILE: each line is a command of its own" &&
	printf "echo a; exit 0\ncat\necho \"b  c\"\n: ; echo last" >commands && evenstep tasks --local 2 --metrics equal commands >out 2>err &&
	printf "a\nb  c\nlast\n" | test_cmp - out && ! grep warning err && printf "true\nfalse\ntrue\n" >commands &&
	test_expect_code 1 evenstep tasks --local 1 commands 2>err && mentioned "failed: .*exited with status 1"
'
test_expect_success 'a shell with a text or a script, and what stays alive, are not refused' '
	echo cat >script && run -- sh script >out && test_cmp tasks out && run -- bash -o pipefail -c cat >out && test_cmp tasks out && run -- env -i A=1 python3 -c "import sys; print(sys.stdin.read(), end=\"\")" >out && test_cmp tasks out &&
	run -- perl -ne print >out && test_cmp tasks out
'
test_done
