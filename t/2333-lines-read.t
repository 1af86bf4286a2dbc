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
		test_expect_code 1 run --grain 20 -- sh -c "$command" >out && said "evenstep: local[01]: frame 0, units 0:20: sh ended well, but $left of 20 lines were not read: does something in it read standard input, as ssh does[?] --may-leave-lines lets a command leave lines" &&
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
test_expect_success 'it is a failure as others are: tried again, left out, told in the log and the journal' '
	test_expect_code 1 run --policy manual:size=10 --retries 1 --keep-going --joblog log --journal j -- sh -c "test {begin} = 0 && exec cat; head -n 1" >out && seq 10 | test_cmp - out &&
	said "evenstep: left out: frame 0, units 10:20, local[01]: .*" && test "$(cut -f 7 log | grep -cx 126)" -ge 2 &&
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
	test_expect_code 1 lazy && mentioned "local[01]: frame 0, units 10:20: python3 ended well, but 10 of 10 lines were not read" && ! grep "units 0:10" err &&
	lazy --may-leave-lines && echo 10 | test_cmp - out
'
test_done
