#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep.map() and Executor of Python, and lapply of R, in jobs of Slurm, and a front end inside of an image whose agents start outside'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
unset EVENSTEP_CONF EVENSTEP EVENSTEP_SOCKET
PATH=$EVENSTEP_BUILD:$PATH
export PYTHONPATH="$EVENSTEP_SRC/contrib/python" PYTHONDONTWRITEBYTECODE=1

cat >mapped.py <<'END'
import os, sys, time
import evenstep

def f(n):
    print("noise")
    if n == 7 and "agent" in sys.argv and not os.path.exists("once"):
        open("once", "w").close()
        os.kill(os.getppid(), 9)
        time.sleep(100)
    if n == 537:
        os.kill(os.getpid(), 9)
    return n * n, os.environ["EVENSTEP_NODE"]

if __name__ == "__main__":
    if "thousand" in sys.argv:
        results = enumerate(evenstep.map(f, range(1000), return_exceptions=True))
        sys.exit([str(r) for n, r in results if isinstance(r, evenstep.ItemError) or r[0] != n * n])
    results = list(evenstep.map(f, range(40), slots=1 if "one" in sys.argv else None))
    print([r[0] for r in results] == [n * n for n in range(40)], sorted({r[1] for r in results}))
END

test_expect_success 'up: three nodes' 'testbed_up --nodes 3'
test_expect_success 'salloc: the items of a map are done on the nodes, by a process for each core' '
	on_ctl salloc -Q -N3 timeout 100 python3 mapped.py >out 2>err; cat err; grep -qE "^True .*n[012]" out && ! grep noise out
'
test_expect_success 'sbatch: an agent dies, the map has all results' '
	on_ctl sbatch -Q --wait --no-kill -N3 -o out -e err --wrap "timeout 100 python3 mapped.py one agent"; cat err; test -e once && grep -qE "^True .*n[012]" out && mentioned "n[012] is lost "
'
test_expect_success 'one of 1,000 items kills the process that does it: only that one fails, and is named' '
	! on_ctl salloc -Q -N3 timeout 200 python3 mapped.py thousand >out 2>err; grep -v noise err; tail -n 1 err | grep -xE ".[\"'"'"']item 537 \(537\) failed on n[012]: the worker that did it (exited with status 1|was killed by signal 9 \(Killed\))[\"'"'"']."
'
cat >tasks.py <<'END'
import os, sys, time
import evenstep

def f(n, k=0):
    if n == 7 and "kill" in sys.argv:
        os.kill(os.getpid(), 9)
    return n * n + k
def where(_):
    time.sleep(0.05)
    return os.environ["EVENSTEP_NODE"]
def waits(_):
    node = os.environ["EVENSTEP_NODE"]
    open(f"has-{node}", "w").close()
    time.sleep(0.3)
    while node == "n1" and not os.path.exists("over"):
        time.sleep(0.05)
    return node
def result_of(future):
    try:
        return future.result()
    except evenstep.ItemError as error:
        return str(error)
if __name__ == "__main__":
    if "cut" in sys.argv:
        with evenstep.Executor(slots=1) as executor:
            futures = []
            while not os.path.exists("has-n1"):
                futures.append(executor.submit(waits, 0))
                time.sleep(0.1)
            print("n1" in {future.result() for future in futures}, len(futures) > 0)
        sys.exit()
    with evenstep.Executor() as executor:
        print([result_of(future) for future in [executor.submit(f, n, k=1) for n in range(10)]])
        nodes = set()
        while len(nodes) < 3:
            nodes |= set(executor.map(where, range(20)))
        print(*sorted(nodes))
    print(evenstep.submit(f, 3, k=1).result())
END
test_expect_success 'salloc: tasks of an Executor on all nodes, which connect to it; submit; one that kills its process fails alone' '
	on_ctl salloc -Q -N3 timeout 100 python3 tasks.py kill >out 2>err; cat err; sed "s/on n[012]/on N/; s/[\"\x27]/|/g" out >got && printf "%s\n" "[1, 2, 5, 10, 17, 26, 37, |item 7 (f(7, k=1)) failed on N: the process that did it was killed by signal 9 (Killed)|, 65, 82]" "n0 n1 n2" 10 >want && test_cmp want got
'
test_expect_success 'a node is cut off: others do its task' '
	behind on_ctl salloc -Q --no-kill -N3 timeout 200 python3 tasks.py cut && wait_for 60 test -e has-n1 && "$testbed" fault --name "$testbed_name" cut n1 && wait $run; code=$?; touch over; "$testbed" fault --name "$testbed_name" heal n1; cat err out; test $code = 0 && echo False True | test_cmp - out && mentioned "n1 is lost "
'
command -v Rscript >/dev/null && test_set_prereq R
test_expect_success R 'R: lapply over the nodes' '
	cat >lapply.R <<-\END && on_ctl salloc -Q -N3 timeout 100 Rscript --vanilla lapply.R "$EVENSTEP_SRC/contrib/r" >out 2>err; cat err; echo TRUE | test_cmp - out
	source(file.path(commandArgs(TRUE), "evenstep.R"))
	cat(identical(evenstep_lapply(1:40, function(n) n * n), lapply(1:40, function(n) n * n)), "\n", sep = "")
	END
'
# As sbatch --container-image of pyxis does: the job script is in another system, which has Slurm and evenstep of the site.  No checkout is in its /usr/games.
cat >inside.sh <<'END'
mkdir -p image && mount --rbind / image && mount -t tmpfs none image/usr/games && : >image/usr/games/in-image || exit 9
exec chroot image sh -c 'cd "$0" && test -e /usr/games/in-image && exec evenstep run --range 0:3 --policy static -- sh -c "test -e /usr/games/in-image && echo inside || echo outside"' "$PWD"
END
test_expect_success 'evenstep run within an image: its agents, and so the commands, are outside of it' '
	on_ctl salloc -Q -N3 unshare -m timeout 100 sh inside.sh >out 2>err; cat err; printf "outside\noutside\noutside\n" | test_cmp - out
'
test_expect_success 'nothing is left' '
	wait_for 60 none_of evenstep-agent && wait_for 60 no_jobs && testbed_down && testbed_nothing_left $testbed_name
'
test_done
