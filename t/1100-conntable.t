#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a user sees how the tasks of a step are reached; a damaged table is told, not believed'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"

unset EVENSTEP_CONF EVENSTEP_DIR
PATH=$EVENSTEP_BUILD:$PATH
kept=$EVENSTEP_SRC/t/fuzz/corpus/conntable

cp "$kept/sound" conntable || exit 1

cat >want <<'END'
    rank   node local window link       network                 lid lmc port Mbit/s   TCP IP              address
       0      0     0      0 infiniband fe80000000000000       0x1f   2    1 100000 40000 10.0.0.1        fe80::2:c903:0:1491
       1      1     0      0 ip         0000ffff0a000000          0   0    0   1000 40001 10.0.0.2        10.0.0.2
       2      0     1      1 infiniband fe80000000000000       0x1f   2    1 100000 40000 10.0.0.1        fe80::2:c903:0:1491
       3      2     0      0 roce       fe80000000000000          0   0    2      0 40002 fd00::3         fe80::a00:27ff:fe00:1
       4      1     1      1 ip         0000ffff0a000000          0   0    0   1000 40001 10.0.0.2        10.0.0.2
       5      0     2      2 infiniband fe80000000000000       0x1f   2    1 100000 40000 10.0.0.1        fe80::2:c903:0:1491
END
test_expect_success 'dump prints a line for each task' '
	evenstep conntable dump conntable >out && test_cmp want out
'
test_expect_success 'lookup prints the one of a rank' '
	sed -n "1p;5p" want >want.3 &&
	evenstep conntable lookup 3 conntable >out && test_cmp want.3 out
'
test_expect_success 'without FILE it is the table of the step that this runs in' '
	EVENSTEP_DIR=$PWD evenstep conntable dump >out && test_cmp want out &&
	EVENSTEP_DIR=$PWD evenstep conntable lookup 3 >out && test_cmp want.3 out
'

cat >want.json <<'END'
{"rank":3,"node":2,"local_rank":0,"window":0,"link":"roce","network":"fe80000000000000","address":"fe80::a00:27ff:fe00:1","lid":0,"lmc":0,"port":2,"rate_mbps":0,"ip":"fd00::3","tcp_port":40002,"tcp_port_of":"node"}
END
test_expect_success 'lookup --json prints an object, wherever the option stands' '
	evenstep conntable lookup --json 3 conntable >out && test_cmp want.json out &&
	evenstep conntable lookup 3 conntable --json >out && test_cmp want.json out
'
test_expect_success 'dump --json prints such a line for each task' '
	evenstep conntable dump --json conntable >out && test "$(wc -l <out)" = 6 &&
	sed -n 4p out >out.4 && test_cmp want.json out.4
'
if command -v jq >/dev/null; then
	test_expect_success 'which are JSON' '
		jq -r .local_rank out >locals && printf "%s\n" 0 0 1 0 1 2 >want.locals &&
		test_cmp want.locals locals
	'
fi
test_expect_success '--help tells both, and exits 0' '
	evenstep conntable --help >out 2>err && test ! -s err &&
	grep "evenstep conntable dump" out && grep "evenstep conntable lookup" out &&
	evenstep --help >out && grep "^  conntable " out
'
test_expect_success 'a full file system is no success' '
	for arguments in "dump conntable" "lookup 3 --json conntable" --help; do
		test_expect_code 1 evenstep conntable $arguments >/dev/full 2>err &&
			grep -x "evenstep: cannot write: free some space" err || return 1
	done
'

# What | exit status | arguments | message.
while IFS='|' read -r what status arguments message; do
	test_expect_success "$what: exit $status, with the reason" '
		fails $status "$message" evenstep conntable $arguments
	'
done <<'END'
nothing asked|2||evenstep: conntable: no action: give dump or lookup
an unknown verb|2|drop conntable|evenstep: conntable: no such action: drop: give dump or lookup
an unknown option|2|dump --jsno conntable|evenstep: --jsno: no such option: did you mean --json\?
no rank|2|lookup|evenstep: conntable lookup: no RANK: give a whole number from 0
a rank that is none|2|lookup two conntable|evenstep: conntable lookup: "two" is no rank: give a whole number from 0
a rank of 33 bits|2|lookup 4294967296 conntable|evenstep: conntable lookup: "4294967296" is no rank: .*
two files|2|dump conntable also|evenstep: conntable: unexpected argument "also": .*
two files behind a rank|2|lookup 3 conntable also|evenstep: conntable: unexpected argument "also" behind "conntable": .*
no FILE, and outside of a step|2|dump|evenstep: conntable: no FILE, and EVENSTEP_DIR is not set: .*
a rank that the table does not have|1|lookup 6 conntable|evenstep: conntable: no rank 6 among 6 tasks: .*
a file that is not there|2|dump nowhere|evenstep: nowhere: No such file or directory: .*
a folder|1|dump .|evenstep: .: no regular file: .*
a text|1|dump want|evenstep: want: no connection table: .*
END

test_expect_success 'a truncated table: exit 1, says so' '
	fails 1 "evenstep: .*/truncated: 447 bytes, not the 448 of 6 tasks: copy it again.*" \
		evenstep conntable dump "$kept/truncated"
'
test_expect_success 'a damaged one: exit 1, says so, prints none of it' '
	fails 1 "evenstep: .*/digest: its digest is wrong: copy it again.*" \
		evenstep conntable lookup 3 "$kept/digest"
'
test_expect_success 'one of another version: exit 1, says so' '
	fails 1 "evenstep: .*/version: version 2 of the format, not 1: .*" \
		evenstep conntable dump "$kept/version"
'
test_expect_success 'a symbolic link is not followed' '
	ln -s conntable link && fails 1 "evenstep: link: Too many levels of symbolic links: .*" \
		evenstep conntable dump link
'
test_expect_success 'a pipe is not waited for' '
	mkfifo pipe && fails 1 "evenstep: pipe: no regular file: name a regular file.*" \
		timeout 10 "$EVENSTEP_BUILD/evenstep" conntable dump pipe
'
test_done
