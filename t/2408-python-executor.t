#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='contrib/python: evenstep.Executor, one of concurrent.futures, and joblib by it'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
unset EVENSTEP EVENSTEP_SOCKET
export PYTHONPATH="$PWD/no-cloudpickle:$EVENSTEP_SRC/contrib/python" PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { skip_all='python3 is not installed' && test_done; }
# Each test is the same wherever cloudpickle is.
mkdir no-cloudpickle
echo 'raise ImportError("not here")' >no-cloudpickle/cloudpickle.py
python() { timeout 200 python3 "$@" >out 2>err; }
# prints PROGRAM [ARGUMENT...]: what stdin has, whichever node it was and with whatever
# quotes.
prints() {
	tr \" \' >want
	python "$@"
	prints_code=$?
	cat err
	test $prints_code = 0 && sed 's/local[0-9]/local/g' out | tr \" \' | test_cmp want -
}
# Neither a folder nor a process of the runs of this test.
no_process() { test -z "$(pgrep -f "$PWD/evenstep-map-")"; }
nothing_is_left() { test -z "$(ls -d evenstep-map-* 2>&-)" && wait_for 60 no_process; }

cat >tasks.py <<'END'
import concurrent.futures, glob, os, signal, socket, sys, threading, time, traceback
import evenstep

class Number:
    def __init__(self, n): self.n = n
class Mine(Exception):
    pass
class Unreadable:
    def __reduce__(self): return int, ("no number",)

def f(number, k=0):
    print("noise")
    return Number(number.n ** 2 + k)
def where(_):
    time.sleep(0.1)
    return os.environ["EVENSTEP_NODE"], os.getpid()
def fails(what):
    raise Mine(what)
def once(name):
    if os.path.exists(name):
        return False
    open(name, "w").close()
    return True
def ends(n, how):
    if n != 3:
        return n
    if how == "exit":
        os._exit(5)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "nodes" or how == "node" and once("once-node"):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(100)
    if how == "agent" and once("once-agent"):
        with open(f"/proc/{os.getppid()}/stat") as stat:
            os.kill(int(stat.read().split()[3]), signal.SIGKILL)
        time.sleep(100)
    return n
def wait_for(name):
    open(f"{name}-has-begun", "w").close()
    while not os.path.exists(name):
        time.sleep(0.01)
    return name
def has_begun(name):
    until(lambda: os.path.exists(f"{name}-has-begun"))
def unreadable():
    return Unreadable()
def result_of(future):
    try:
        return future.result(100)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
def until(condition):
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")
END
# start: program.py, whose main part stdin has.
start() {
	echo 'from tasks import *'
	echo 'if __name__ == "__main__":'
	sed 's/^/    /'
} >program.py

test_expect_success 'results and keywords, of classes of ours; map; all processes of all nodes; what f prints is elsewhere' '
	start <<-\END && prints program.py <<-\WANT && mentioned "^local[01]: noise$" && ! mentioned "frame|efficiency"
	with evenstep.Executor(local=2, slots=2) as executor:
	    assert isinstance(executor, concurrent.futures.Executor) and executor.slots == 4
	    futures = [executor.submit(f, Number(n), k=1) for n in range(50)]
	    print([future.result(100).n for future in futures] == [n * n + 1 for n in range(50)])
	    print([r.n for r in executor.map(f, [Number(n) for n in range(5)], range(5), timeout=100)])
	    places = set()
	    while len(places) < 4:
	        places |= set(executor.map(where, range(8), timeout=100))
	    print(sorted(node[:5] for node, _ in places), len({node for node, _ in places}))
	    futures = [executor.submit(abs, n) for n in range(200)]
	    print(len(list(concurrent.futures.as_completed(futures, timeout=100))))
	END
	True
	[0, 2, 6, 12, 20]
	["local", "local", "local", "local"] 2
	200
	WANT
'
test_expect_success 'f raises: so does the Future, caused by an ItemError with the task, its node, and where it was' '
	start <<-\END && prints program.py <<-\WANT && mentioned "^evenstep.ItemError: item 3 .fails.what=.why... failed on local0: Mine: why$" && mentioned "tasks.py\", line [0-9]+, in fails$" && mentioned "^tasks.Mine: why$"
	with evenstep.Executor(local=1) as executor:
	    executor.submit(abs, -1)
	    error = executor.submit(fails, "why").exception(100)
	    print(type(error) is Mine, error, "|", error.__cause__, "|", error.__cause__.index, error.__cause__.node)
	    print(result_of(executor.submit(abs, -2)))
	    try:
	        executor.submit(fails, what="why").result(100)
	    except Mine:
	        traceback.print_exc()
	END
	True why | item 1 (fails("why")) failed on local: Mine: why | 1 local
	2
	WANT
'
dies() {
	start <<-\END
		with evenstep.Executor(local=2) as executor:
		    for future in [executor.submit(ends, n, how=sys.argv[1]) for n in range(10)]:
		        print(result_of(future))
	END
	seq 0 9 | sed "s/^3\$/${2:-3}/" | prints program.py "$1"
}
failed() { echo "ItemError: item 3 (ends(3, how='$1')) failed on local: $2"; }
test_expect_success 'a task ends its process, or that is killed: it fails alone, with its node and how' '
	dies exit "$(failed exit "the process that did it exited with status 5")" && dies kill "$(failed kill "the process that did it was killed by signal 9 (Killed)")"
'
test_expect_success 'the process of a node dies, or its agent: others do what it had' '
	dies node && test -e once-node && dies agent && test -e once-agent && mentioned "^evenstep: local[01] is lost "
'
test_expect_success 'a task takes two nodes along: it fails, and the others are done' '
	dies nodes "$(failed nodes "its node was lost, 2 times")" && nothing_is_left
'
test_expect_success 'what has not begun can be cancelled; shutdown waits for what has, and refuses more' '
	start <<-\END && prints program.py <<-\WANT && nothing_is_left
	with evenstep.Executor(local=1) as executor:
	    first, *others = [executor.submit(wait_for, "first"), *[executor.submit(abs, n) for n in range(3)]]
	    has_begun("first")
	    print(first.running(), first.cancel(), others[1].cancel())
	    open("first", "w").close()
	    print(first.result(100), others[0].result(100), others[2].result(100), others[1].cancelled())
	executor = evenstep.Executor(local=1)
	second, *others = [executor.submit(wait_for, "second"), *[executor.submit(abs, n) for n in range(3)]]
	has_begun("second")
	executor.shutdown(wait=False, cancel_futures=True)
	until(lambda: all(future.cancelled() for future in others))
	print(second.done())
	open("second", "w").close()
	executor.shutdown()
	print(second.result(0))
	try:
	    executor.submit(abs, 1)
	except RuntimeError as error:
	    print(error)
	executor = evenstep.Executor(local=1)
	executor.submit(abs, -1)
	executor.shutdown(cancel_futures=True)
	evenstep.Executor(local=1).shutdown()
	END
	True False True
	first 0 2 True
	False
	second
	evenstep.Executor: no more tasks after shutdown()
	WANT
'
test_expect_success 'what cannot go: said at once' '
	start <<-\END && prints program.py <<-\WANT
	for call in (lambda: 1,), (5,), (abs, threading.Lock()):
	    try:
	        executor = evenstep.Executor(local=1)
	        executor.submit(*call)
	    except TypeError as error:
	        print(str(error)[:60])
	for what in evenstep.Executor, lambda: evenstep.submit(abs, 1), lambda: evenstep.Executor(local=1, slots=0):
	    try:
	        what()
	    except Exception as error:
	        print(f"{type(error).__name__}: {error}")
	END
	evenstep.Executor: f is a lambda, and pickle cannot send tha
	evenstep.Executor: f is a int, not a function
	evenstep.Executor: argument 0, a lock, cannot be sent to the
	RunError: evenstep.Executor: this is no Slurm job: start the program by salloc or sbatch, or say local=4 for four workers on this machine
	RunError: evenstep.submit: this is no Slurm job: start the program by salloc or sbatch, or say evenstep.Executor(local=4) for four workers on this machine
	ValueError: evenstep.Executor: slots=0: say a number of processes a node, or "cores"
	WANT
'
test_expect_success 'what cannot come back, a task that exits, a run that does not start: said, and the rest is done' '
	start <<-\END && prints program.py <<-\WANT && nothing_is_left
	with evenstep.Executor(local=1) as executor:
	    for call in (unreadable,), (open, "/dev/null"), (sys.exit, "it exits"), (abs, -1):
	        print(str(result_of(executor.submit(*call)))[:58])
	with evenstep.Executor(local=1, options=["--nonsense"]) as executor:
	    print({result_of(executor.submit(abs, 0))})
	    try:
	        executor.submit(abs, 1)
	    except evenstep.RunError as error:
	        print("RunError")
	END
	ItemError: item 0 (unreadable()) failed: its result cannot
	TypeError: its result, a TextIOWrapper, cannot be pickled:
	SystemExit: it exits
	1
	{"RunError: evenstep.Executor: evenstep run has ended with exit status 2, and its tasks are not done; its last words:\nevenstep: --nonsense: no such option: see `evenstep run --help`"}
	RunError
	WANT
'
test_expect_success 'a program that ends without shutdown: its tasks are done, nothing is left' '
	start <<-\END && echo 4 | prints program.py && nothing_is_left
	executor = evenstep.Executor(local=2)
	executor.submit(f, Number(2)).add_done_callback(lambda done: print(done.result().n))
	END
'
test_expect_success 'an Executor that nobody has any more ends by itself' '
	start <<-\END && echo 4 | prints program.py && nothing_is_left
	print(evenstep.Executor(local=2).submit(f, Number(2)).result(100).n)
	until(lambda: not glob.glob("evenstep-map-*"))
	END
'
test_expect_success 'the program is killed: its nodes and tasks end, too' '
	start <<-\END && ends_with_test && behind python3 program.py && wait_for 60 test -e forever-has-begun && ! no_process && kill -9 $run && wait_for 60 no_process; code=$?; cat err; rm -r evenstep-map-* && test $code = 0
	evenstep.Executor(local=1).submit(wait_for, "forever").result()
	END
'
test_expect_success 'a stranger who calls, and a message that is changed, repeated or out of turn, are refused; the rest goes on' '
	start <<-\END && prints program.py <<-\WANT
	from evenstep import _link
	from evenstep._link import Forged, Link, Message, Seal
	def refused(what):
	    try:
	        return what()
	    except (Forged, ConnectionError) as error:
	        return type(error).__name__
	def opened(sent, by):
	    return by.open(sent[8:40], sent[40:])
	ours, theirs = Seal(b"key"), Seal(b"key")
	sent = [ours.close(Message(_link.TASK, n, b"data")) for n in range(2)]
	print(opened(sent[0], theirs))
	print("again", refused(lambda: opened(sent[0], theirs)))
	print("out of turn", refused(lambda: opened(sent[1], Seal(b"key"))))
	print("key", refused(lambda: opened(sent[0], Seal(b"other"))))
	print("changed", refused(lambda: opened(sent[0][:-1] + b"A", Seal(b"key"))))
	print("cut", refused(lambda: opened(sent[0][:-1], Seal(b"key"))))
	with evenstep.Executor(local=1) as executor:
	    third = executor.submit(wait_for, "third")
	    has_begun("third")
	    address = executor._home._listener.getsockname()
	    print("no key", refused(lambda: Link(bytes(32), address)))
	    stranger = socket.create_connection(address)
	    nonces = stranger.recv(32) + bytes(32)
	    stranger.sendall(bytes(32) + _link._mac(executor._home._key, b"node", nonces))
	    stranger.recv(32)
	    stranger.sendall(Seal(b"wrong").close(Message(_link.HELLO, 5, b"stranger")))
	    print("wrong seal", stranger.recv(1))
	    silent = socket.create_connection(address)
	    open("third", "w").close()
	    print(third.result(100), executor.submit(abs, -1).result(100))
	END
	Message(kind=b"T", number=0, data=b"data")
	again Forged
	out of turn Forged
	key Forged
	changed Forged
	cut Forged
	no key ConnectionResetError
	wrong seal b""
	third 1
	WANT
'
test_expect_success 'a node that cannot reach the program says where it has tried' '
	start <<-\END && echo RunError | prints program.py && mentioned "local0: evenstep.Executor: this node cannot reach the program at port [0-9]+ .127.0.0.1: Connection refused.: give evenstep.Executor.port=N. one that no firewall closes$"
	from evenstep import _executor
	class Elsewhere(socket.socket):
	    def getsockname(self):
	        with socket.create_server(("127.0.0.1", 0)) as closed:
	            return closed.getsockname()
	real = _executor._listen
	_executor._listen = lambda *a: Elsewhere(fileno=real(*a).detach())
	with evenstep.Executor(local=1, options=["--retries=0"]) as executor:
	    print(type(executor.submit(abs, 1).exception(100)).__name__)
	END
'
test_expect_success 'how many slots a job has, and at which addresses it is called' '
	start <<-\END && prints program.py <<-\WANT
	from evenstep import _executor
	os.environ.update(SLURM_JOB_ID="1", SLURM_JOB_CPUS_PER_NODE="4(x3),2", SLURM_JOB_NUM_NODES="4")
	print([evenstep.Executor(**place).slots for place in ({}, {"slots": 2}, {"local": "3=80,40,20", "slots": 2}, {"local": 2})])
	print([a for a in _executor._addresses() if a.startswith("127.") or a == "::1"])
	END
	[14, 8, 6, 2]
	[]
	WANT
'

# --- joblib ------------------------------------------------------------------------------
# The one of Debian: another Python need not have it.
/usr/bin/python3 -I -c 'import joblib' 2>/dev/null && test_set_prereq JOBLIB
cat >calls.py <<'END'
import os, signal, sys
import joblib
import evenstep, evenstep.joblib

class Number:
    def __init__(self, n): self.n = n
def f(n, what=None):
    if n == 50 and what == "raise":
        raise ValueError("fifty")
    if n == 50 and what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return Number(n * n)
def calls(what=None):
    return joblib.Parallel()(joblib.delayed(f)(n, what=what) for n in range(100))

evenstep.joblib.register()
with joblib.parallel_backend("evenstep", local=2, slots=2):
    print(joblib.effective_n_jobs(), {type(r) is Number for r in calls()}, [r.n for r in calls()] == [n * n for n in range(100)])
    for what in "raise", "kill":
        try:
            calls(what)
        except Exception as error:
            print(type(error).__name__, error, "|", error.__cause__)
        print(len(calls()))
    places = set()
    while len(places) < 2:
        places |= set(joblib.Parallel()(joblib.delayed(lambda n: os.environ["EVENSTEP_NODE"])(n) for n in range(300)))
    print(joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(n) for n in (-1, -2)))
END
test_expect_success JOBLIB 'joblib: its calls on all nodes, lambdas and a program without a guard, too; errors name the calls and the node' '
	timeout 200 /usr/bin/python3 calls.py >out 2>err; cat err
	sed -E "s/item [0-9]+ .[0-9]+/item N (N/; s/local[01]:/local:/" out >got && cat >want <<-\END && test_cmp want got && nothing_is_left
	4 {True} True
	ValueError fifty | item N (N of f, by joblib) failed on local: ValueError: fifty
	100
	ItemError item N (N of f, by joblib) failed on local: the process that did it was killed by signal 9 (Killed) | None
	100
	[1, 2]
	END
'
test_done
