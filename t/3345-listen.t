#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep_listen: tasks say where they listen, and reach each other without MPI; those that do not, are named'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF
S=$EVENSTEP_SRC B=$EVENSTEP_BUILD
conf=$(testbed_dir)/site.conf # a path without a space, as arguments of the plugin are
export LD_LIBRARY_PATH="$B"

# connections TASKS: what contrib/connect says then.
connections() { seq 0 $(($1 - 1)) | sed "s/.*/unit &: connections to $(($1 - 1)) others/" | sort >want; }
# patience SECONDS: of tasks, for one that may come late; few where one never comes.
patience() { echo "plugin { patience = $1 }" >"$conf"; }
one_line() { test "$(grep -c evenstep_listen err)" = 1; }
compile() { cc -O2 -Wall -Wextra -Werror -I"$S/launcher/libevenstep" -o "$@" -L"$B" -levenstep; }

# one-port [RANK WORD]: listens, and prints how the call ended; that rank does otherwise.
cat >one-port.c <<'END'
#include <errno.h>
#include <evenstep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int odd = argc > 2 && atoi(argv[1]) == atoi(getenv("SLURM_PROCID")), port = 0;
	struct evenstep_peer peer;

	if (odd && strcmp(argv[2], "never") == 0)
		return sleep(8), 0;
	if (odd && strcmp(argv[2], "dies") == 0)
		_exit(0);
	if (odd && strcmp(argv[2], "late") == 0)
		sleep(2);
	if (odd && strcmp(argv[2], "nobody") == 0)
		port = 1;
	for (int i = 0; i < 2; i++)
		if (evenstep_listen(port) < 0)
			return printf("%s\n", errno == ETIMEDOUT ? "ETIMEDOUT" : strerror(errno)), 0;
	if (evenstep_peer(0, &peer) == 0)
		printf("twice, port %u\n", peer.tcp_port);
	return 0;
}
END
test_expect_success 'up: four nodes' '
	compile connect "$S/contrib/connect/connect.c" && compile one-port one-port.c &&
	testbed_up --nodes 4 --cpus 8 --rate none --speeds none --plugin "$B/evenstep.so" --plugin-args "launcher=$B/evenstep config=$conf" &&
	patience 60
'
test_expect_success 'contrib/connect: 16 tasks on 4 nodes have a connection to each other, without MPI' '
	on_ctl srun -N4 -n16 --evenstep ./connect >got 2>err; cat got err; silent err &&
	connections 16 && sort got | test_cmp want -
'
test_expect_success 'the same in Python' '
	on_ctl env PYTHONPATH="$S/contrib/python" PYTHONDONTWRITEBYTECODE=1 srun -N4 -n8 --evenstep python3 "$S/contrib/python/connect.py" >got 2>err; cat got err; silent err &&
	connections 8 && sort got | test_cmp want -
'
test_expect_success 'whatever the layout of the tasks' '
	on_ctl srun -N3 -n7 -m cyclic --evenstep ./connect >got 2>err; cat got err; silent err && connections 7 && sort got | test_cmp want -
'
test_expect_success 'the table in the step says whose its ports are' '
	on_ctl srun -N2 -n4 --evenstep sh -c "$B/evenstep conntable lookup --json 3; ./one-port >/dev/null; $B/evenstep conntable lookup --json 3" >got 2>err; cat err &&
	test "$(grep -c "\"tcp_port\":0,\"tcp_port_of\":\"task\"" got)" = 4 && test "$(grep -c "\"tcp_port_of\":\"node\"" got)" -ge 1
'
test_expect_success 'evenstep run --persistent: its workers on all nodes, in C and in Python' '
	on_ctl salloc -Q -N4 timeout 60 "$B/evenstep" run --metrics equal --persistent --range 0:4 -- ./connect >got 2>err; cat got err; sort got >sorted; seq 0 3 | sed "s/.*/unit &: connections to 3 others/" | test_cmp - sorted &&
	on_ctl env PYTHONPATH="$S/contrib/python" PYTHONDONTWRITEBYTECODE=1 salloc -Q -N4 timeout 60 "$B/evenstep" run --metrics equal --persistent --range 0:4 -- python3 "$S/contrib/python/connect.py" >got 2>err; cat got err; sort got | test_cmp sorted -
'
test_expect_success 'one is late, and all call twice' '
	on_ctl srun -N2 -n4 --evenstep ./one-port 2 late >got 2>err; cat got err; silent err && test "$(grep -cx "twice, port 0" got)" = 4
'
test_expect_success 'one never calls: the others are told in time, and the user whom it is about' '
	patience 5 && on_ctl srun -N2 -n4 --evenstep ./one-port 3 never >got 2>err; cat got err; test "$(grep -cx ETIMEDOUT got)" = 3 && one_line && grep "not all tasks on .*n1.* have called it within 5 s" err
'
test_expect_success 'likewise one that has died' '
	on_ctl srun -N2 -n4 --evenstep ./one-port 0 dies >got 2>err; cat got err; test "$(grep -cx ETIMEDOUT got)" = 3 && one_line && grep "not all tasks on .*n0.* have called it within 5 s" err
'
test_expect_success 'a port at which nobody listens is not told to others' '
	on_ctl srun -N1 -n1 --evenstep ./one-port 0 nobody >got 2>err; cat got err; grep -x "Cannot assign requested address" got
'
test_expect_success 'without evenstep there is no table' '
	on_ctl srun -N1 -n1 ./one-port >got 2>err; cat got err; grep -x "No such file or directory" got
'
test_expect_success 'nothing is left' 'wait_for 60 none_of evenstep-agent && wait_for 60 none_of evenstep && wait_for 60 no_jobs'
test_done
