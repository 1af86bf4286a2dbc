#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep run: what programs tell by evenstep_tick() is shown by top, and --power steers by it'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
ends_with_test
unset EVENSTEP_SOCKET
# ticks [slices]: a region of 100 ticks for each slice, told on until the file
# "enough" is there; it prints the threads that it is advised to use.
cat >ticks.c <<'END'
#include <evenstep.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void region(void)
{
	evenstep_work(100);
	for (int i = 1; i <= 100; i++) {
		usleep(access("enough", F_OK) == 0 ? 100 : 5000);
		evenstep_tick((uint64_t)i);
	}
	printf("%d\n", evenstep_threads());
}
int main(int argc, char **argv)
{
	uint64_t begin, end;
	if (argc == 1) {
		region();
		return 0;
	}
	if (evenstep_open(1, 1) < 0)
		return 9;
	while (evenstep_next(&begin, &end) > 0) {
		region();
		if (evenstep_done() < 0)
			return 9;
	}
	return 0;
}
END
begin() { # options... -- COMMAND: in the background
	rm -f enough
	timeout 300 evenstep run --local 2 --metrics equal --pieces 1 --range 0:2 --repeat 1000000 "$@" >got 2>err &
	run=$!
}
# tick WORDS: top shows the speed of both nodes, and their limit so; runs of
# other tests may be shown, too.
tick() {
	evenstep top --once >seen || return 1
	test "$(grep -cE "^local[01] +[#.]{10} +[0-9.]*[1-9][0-9.]* .* $1\$" seen)" -ge 2
}
end() { # the regions that are at work end at once
	: >enough && kill -TERM "$run" && { wait "$run" || true; }
	run=''
}

test_expect_success 'build the program' '
	gcc -Wall -Werror -I"$EVENSTEP_SRC/launcher/libevenstep" -o ticks ticks.c -L"$EVENSTEP_BUILD" -Wl,-rpath,"$EVENSTEP_BUILD" -levenstep
'
test_expect_success 'a command a slice: their speeds are known, one goes on where another has ended' '
	begin -- ./ticks && wait_for 120 tick -; code=$?; cat seen err; end && test $code = 0
'
test_expect_success 'programs that stay: likewise' '
	begin --persistent -- ./ticks slices && wait_for 120 tick -; code=$?; cat seen err; end && test $code = 0
'
test_expect_success '--power by advice to programs: each is told of threads, which top shows' '
	printf "power {\n actuator = \"threads\"\n cap = 0.01\n floor = 0.01\n}\n" >conf && EVENSTEP_CONF=$PWD/conf && export EVENSTEP_CONF &&
	begin --power=pair -- ./ticks && wait_for 120 tick threads && wait_for 60 grep -q "^[1-9]" got; code=$?; cat seen got err; end && unset EVENSTEP_CONF && test $code = 0
'
test_expect_success 'nodethreads follows the threads that programs are advised to use' '
	printf "power {\n actuator = \"threads\"\n cap = 0.01\n floor = 0.01\n}\npolicy \"per-thread\" { kind = \"nodethreads\" multiplicator = 3 }\n" >conf && : >enough &&
	EVENSTEP_CONF=$PWD/conf timeout 300 evenstep run --local 2 --metrics equal --policy per-thread --range 0:60 --repeat 9 --power=pair --report report -- ./ticks >got &&
	jq -es "map(select(.type == \"frame\"))[-1].slices | map(.end - .begin) | max == 3" report &&
	EVENSTEP_CONF=$PWD/conf timeout 300 evenstep run --local 2 --metrics equal --policy per-thread --range 0:60 --report report -- ./ticks >got &&
	jq -es ".[0].slices[0] | .end - .begin == ([60, 3 * $(nproc)] | min)" report
'
cpus=$(nproc)
test "$cpus" -lt 2 || test_set_prereq CPUS
test_expect_success CPUS 'two commands at once on a node share its threads' '
	printf "power {\n actuator = \"threads\"\n floor = 1\n}\n" >conf && EVENSTEP_CONF=$PWD/conf && export EVENSTEP_CONF &&
	begin --slots 2 --power=pair -- ./ticks && wait_for 120 tick threads && : >got && wait_for 60 grep -qx "$((cpus / 2))" got; code=$?; cat seen got err; end && unset EVENSTEP_CONF && test $code = 0
'
test_expect_success '--power where nobody can set limits: one line says so, and the run goes on' '
	timeout 300 evenstep run --local 2 --metrics equal --power=boost --range 0:2 -- echo ran >got 2>err && test $(grep -c ran got) = 2 &&
	said "evenstep: warning: --power: no limits are set with --local, .*: set actuator = .threads. in power .*" && test $(grep -c warning err) = 1
'
test_expect_success '--power with the actuator of --meter, or a word that is none: usage' '
	echo "power { actuator = \"slice\" }" >conf &&
	test_expect_code 2 env EVENSTEP_CONF="$PWD/conf" evenstep run --local 2 --power=pair --range 0:2 -- true 2>err && mentioned "power: the actuator is slice, which limits nothing: give --meter" &&
	test_expect_code 2 evenstep run --local 2 --power=most --range 0:2 -- true 2>err && mentioned "power"
'
test_done
