#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='what is needed of Linux and glibc: no more than Enterprise Linux 8 has, 4.18 and 2.28'
. /usr/share/sharness/sharness.sh
B=$EVENSTEP_BUILD
unset EVENSTEP_CONF
on_old() { timeout 300 "$B/t/programs/old_kernel" "$@"; }
seq 0 99 >want

test_expect_success 'a kernel without the system calls of later ones: a run on two nodes brings what it should' '
	on_old "$B/evenstep" run --local 2 --metrics equal --range 0:100 -- sh -c "seq {begin} \$(({end} - 1))" >got 2>err; code=$?; cat err; test $code = 0 && test_cmp want got
'
test_expect_success 'commands that fail, are not there or are killed are told as ever' '
	test_expect_code 1 on_old "$B/evenstep" run --local 1 --range 0:1 -- sh -c "exit 7" 2>err && cat err && grep -q "status 7" err &&
	test_expect_code 1 on_old "$B/evenstep" run --local 1 --range 0:1 -- ./nosuch 2>err && cat err && grep -q "No such file" err &&
	test_expect_code 1 on_old "$B/evenstep" run --local 1 --range 0:1 -- sh -c "kill -KILL \$\$" 2>err && cat err && grep -q "signal 9" err
'
test_expect_success 'so is one that hangs' '
	test_expect_code 1 on_old "$B/evenstep" run --local 1 --timeout 1 --range 0:1 -- sleep 100 2>err; code=$?; cat err; test $code = 0 && grep -q "units 0:1 still run after 1 s" err
'
test_expect_success 'two hundred short commands at once: the end of none is missed' '
	on_old "$B/evenstep" run --local 4 --metrics equal --pieces 50 --range 0:200 -- true
'
# What glibc has only renamed or moved since, as it was built with a later one;
# the plugin has a substitute for one.
moved='__libc_start_main|__isoc23_[a-z]*|dl(addr|open|sym|close|error)|pthread_[a-z_]*|sem_[a-z]*|[fl]?stat(at)?(64)?|exp|log2?|pow|fmod|posix_spawn_file_actions_addclosefrom_np'
test_expect_success 'nothing is newer than glibc 2.28' '
	for each in evenstep evenstep-agent evenstep-power evenstep.so libevenstep.so libevenstep-mpi.so; do
		nm -D --undefined-only "$B/$each" || return 1
	done | sed -n "s/^ *[UwV] \([^@]*\)@GLIBC_2[.]\([0-9]*\).*/\2 \1/p" >used && grep -q " memcpy$" used &&
	awk "\$1 > 28 { print \$2 }" used | sort -u | grep -vxE "$moved" >newer; cat newer; test ! -s newer
'
# A symbol that is weak may be missing; what is needed has been in all since: glibc 2.17, musl 1.1.
since='__errno_location|__sched_cpucount|__stack_chk_fail|_exit|clock_gettime|close|getenv|getpid|getrusage|getuid|mem(cpy|move|set)|mmap|munmap|nanosleep|open|read|sched_[gs]etaffinity|sched_yield|sigfillset|snprintf|strlen|strrchr|strstr|syscall|write'
test_expect_success 'what is preloaded into any program needs no library by name, no version, and no symbol that glibc 2.17 or musl lacks' '
	readelf -dVW "$B/libevenstep-mpi.so" >dynamic && grep -q SYMTAB dynamic && ! grep -E "NEEDED|VERNEED|GLIBC" dynamic &&
	nm -D --undefined-only "$B/libevenstep-mpi.so" | sed -n "s/^ *U //p" >used && grep -qx syscall used && grep -vxE "$since" used >newer; cat newer; test ! -s newer
'
printf '#include <stdio.h>\nint main(void) { return puts("ran") < 0; }\n' >m.c
musl-gcc -o m m.c 2>&- && musl-gcc -static -o static m.c && test_set_prereq MUSL
test_expect_success MUSL 'programs of musl run with it' '
	for each in ./m ./static "sh -c ./m"; do
		LD_PRELOAD="$B/libevenstep-mpi.so" $each >out 2>&1; cat out; echo ran >want && test_cmp want out || return 1
	done
'
test_done
