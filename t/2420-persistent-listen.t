#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep_listen under evenstep run --persistent: workers get the table of all before the first frame; one that does not call or has died is named'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH=$EVENSTEP_BUILD:$PATH
unset EVENSTEP_CONF EVENSTEP_SOCKET EVENSTEP_DIR SLURM_JOB_ID
export LD_LIBRARY_PATH="$EVENSTEP_BUILD"
python="$EVENSTEP_SRC/contrib/python"

patience=60 # as one may come late; less where one never comes
run() { echo "plugin { patience = $patience }" >site.conf && EVENSTEP_CONF=$PWD/site.conf timeout 100 evenstep run --local 3 --metrics equal --policy static --pieces 1 --persistent --range 0:3 "$@"; }
compile() { cc -O2 -Wall -Wextra -Werror -I"$EVENSTEP_SRC/launcher/libevenstep" -o "$@" -L"$EVENSTEP_BUILD" -levenstep; }
connections() { for unit in 0 1 2; do echo "unit $unit: connections to 2 others"; done; }

# worker [RANK WORD]: listens twice, and prints in each of its slices how that ended; that rank does otherwise.
cat >worker.c <<'END'
#include <errno.h>
#include <evenstep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *say(int port)
{
	struct evenstep_peer peer;

	for (int i = 0; i < 2; i++)
		if (evenstep_listen(port) < 0)
			return errno == ETIMEDOUT ? "ETIMEDOUT" : errno == ECONNABORTED ? "ECONNABORTED" : strerror(errno);
	return evenstep_peer(2, &peer) == 0 && evenstep_peer(3, &peer) < 0 ? "table of 3" : "no table";
}

int main(int argc, char **argv)
{
	int odd = argc > 2 && atoi(argv[1]) == atoi(getenv("EVENSTEP_RANK"));
	const char *said = "nothing";
	uint64_t begin, end;

	if (odd && strcmp(argv[2], "dies") == 0)
		return 7;
	if (odd && strcmp(argv[2], "late") == 0)
		sleep(1);
	if (!odd || strcmp(argv[2], "never") != 0)
		said = say(odd ? atoi(argv[2]) : 0);
	if (evenstep_open(1, 1) < 0)
		return 1;
	while (evenstep_next(&begin, &end) > 0) {
		printf("%s of %s: %s\n", getenv("EVENSTEP_RANK"), getenv("EVENSTEP_RANKS"), said);
		if (odd && strcmp(argv[2], "again") == 0 && access("been", F_OK) < 0) {
			fclose(fopen("been", "w"));
			_exit(3);
		}
		evenstep_done();
	}
	return 0;
}
END
all() { for rank in 0 1 2; do echo "$rank of 3: $1"; done; }

test_expect_success 'contrib/connect: each worker has a connection to each other before the first frame' '
	compile connect "$EVENSTEP_SRC/contrib/connect/connect.c" && compile worker worker.c &&
	run -- ./connect >got 2>err; cat err; connections | test_cmp - got && ! grep listen err
'
command -v python3 >/dev/null && test_set_prereq PYTHON
test_expect_success PYTHON 'the same in Python, and beside workers in C' '
	PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1 run -- python3 "$python/connect.py" >got 2>err; cat err; connections | test_cmp - got &&
	PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1 run -- sh -c "test \$EVENSTEP_RANK = 1 && exec ./connect || exec python3 $python/connect.py" >got 2>err; cat err; connections | test_cmp - got
'
test_expect_success PYTHON 'Python: a port at which nobody listens' '
	cat >silent.py <<-\END && PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1 run -- python3 silent.py >got && head -n 1 got | grep -x ".Errno 99. nobody on this node listens at that port, at an address that others reach"
	import evenstep
	try:
	    evenstep.listen(1)
	except OSError as error:
	    why = error
	for s in evenstep.slices():
	    print(why)
	END
'
test_expect_success 'all call twice, and one is late' '
	run -- ./worker >got && all "table of 3" | test_cmp - got && run -- ./worker 1 late >got && all "table of 3" | test_cmp - got
'
test_expect_success 'nobody calls: nothing is told, and nothing waits' '
	run -- "$EVENSTEP_BUILD/t/programs/slices" >got 2>err && seq 0 2 | test_cmp - got && ! grep listen err
'
test_expect_success 'one never calls: the others are told in time, the user which it is, and the work is done' '
	patience=5 run -- ./worker 2 never >got 2>err; cat err; { all ETIMEDOUT | sed \$d; echo "2 of 3: nothing"; } | test_cmp - got &&
	mentioned "evenstep_listen\(\): not all tasks on local2 have called it within 5 s" && test "$(grep -c listen err)" = 1
'
test_expect_success 'one dies before it calls: the run ends, and names it' '
	test_expect_code 1 run -- ./worker 1 dies >got 2>err; cat err; mentioned "local1: .*worker ended with status 7 before it asked for a slice"
'
test_expect_success 'a port at which nobody listens is told to nobody: the others wait for another' '
	patience=5 run -- ./worker 0 1 >got 2>err; cat err; sed -n 1p got | grep -x "0 of 3: Cannot assign requested address" && test "$(grep -c ETIMEDOUT got)" = 2
'
test_expect_success 'no port: neither -1 nor 70000' '
	for port in -1 70000; do patience=5 run -- ./worker 0 $port >got; sed -n 1p got | grep -x "0 of 3: Invalid argument" || return 1; done
'
test_expect_success 'one that is started anew is told at once that the round is over' '
	run --keep-going --repeat 2 -- ./worker 1 again >got 2>err; cat err; test -e been && printf "%s of 3: %s\n" 0 "table of 3" 1 ECONNABORTED 2 "table of 3" >want && tail -n 3 got | test_cmp want - && ! grep listen err
'
test_expect_success 'an agent is killed while others wait: they are told, the work is done' '
	cat >deadly <<-\END && chmod +x deadly && run -- ./deadly >got 2>err; cat err got; mentioned "evenstep_listen\(\): there is no table of the tasks. ports: local1 is lost" && test "$(grep -c "of 3: ECONNABORTED" got)" = "$(wc -l <got)"
	#!/bin/sh
	test "$EVENSTEP_RANK" != 1 || { sleep 1; kill -KILL $PPID; sleep 100; }
	exec ./worker
	END
'
test_expect_success 'nothing is left' '
	test -z "$(find /dev/shm -maxdepth 2 -path "*/evenstep-$(id -u)/evenstep-$$-*")" && test -z "$(pgrep -f "^./worker")"
'
test_done
