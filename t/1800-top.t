#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep top: what it says where nothing runs'
. /usr/share/sharness/sharness.sh
PATH="$EVENSTEP_BUILD:$PATH"

test_expect_success '--help tells every option and key' '
	evenstep top --help >got && for word in --once --metrics-file --prometheus "q ends" JOBID; do grep -qF -e "$word" got || return 1; done && evenstep --help | grep -qE "^  top "
'
# What | arguments | exit | message
while IFS='|' read -r what arguments code message; do
	test_expect_success "$what: exit $code" '
		test_expect_code $code evenstep top $arguments >got 2>err </dev/null && cat err && grep -q "^evenstep: $message" err && test ! -s got
	'
done <<'END'
nothing|--once 4294967295|3|top: nothing of yours is at work here: run it where your evenstep run, bcast or graph runs
a job that is none|--once x|2|top: "x" is no job: give the number of a job
job 0|--once 0|2|top: "0" is no job: 
a word too many|--once 1 2|2|top: unexpected argument "2" behind "1": give `evenstep top \[JOBID\]`
an unknown option|--sort name|2|--sort: no such option: see 
a value that is missing|--metrics-file|2|--metrics-file: a value is missing: 
no terminal|1|2|top: this is no terminal that can show it: give --once
END
test_expect_success 'a metrics file is written even if there is nothing to tell' '
	test_expect_code 3 evenstep top --once --metrics-file metrics 4294967295 2>err && test $(grep -c "^# HELP evenstep_" metrics) -gt 30 && grep -qx "evenstep_front_ends{kind=.run.} 0" metrics && test $(ls | grep -c metrics) = 1
'
test_expect_success 'one that cannot be written is an error' '
	test_expect_code 1 evenstep top --once --metrics-file /nowhere/metrics 4294967295 2>err && grep -q "^evenstep: /nowhere/metrics: No such file" err
'
test_expect_success 'a metrics file by a link, and on stdout' '
	mkdir far && ln -s far/prom linked && test_expect_code 3 evenstep top --once --metrics-file linked 4294967295 && test -L linked && grep "^# HELP" far/prom &&
	test_expect_code 3 evenstep top --once --metrics-file - 4294967295 >got && test_cmp far/prom got
'
test_done
