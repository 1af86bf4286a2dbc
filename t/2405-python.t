#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='contrib/python: evenstep.map() over unequal nodes, its errors, sessions, types, how pip installs it'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
unset EVENSTEP EVENSTEP_SOCKET
export PYTHONPATH="$PWD/no-cloudpickle:$EVENSTEP_SRC/contrib/python" PYTHONDONTWRITEBYTECODE=1
command -v python3 >/dev/null || { skip_all='python3 is not installed' && test_done; }

sq="'"
# Each test is the same wherever cloudpickle is, and for those that want it there
# is one that takes a lambda for its source.
mkdir no-cloudpickle with-cloudpickle
echo 'raise ImportError("not here")' >no-cloudpickle/cloudpickle.py
cat >with-cloudpickle/cloudpickle.py <<'END'
import pickle, types
def dumps(f):
    if getattr(f, "__name__", "") == "<lambda>":
        return pickle.dumps(Call(f.__code__))
    return pickle.dumps(f)
class Call:
    def __init__(self, code): self.code = code
    def __reduce__(self): return _make, (__import__("marshal").dumps(self.code),)
def _make(code): return types.FunctionType(__import__("marshal").loads(code), {})
END
python() { timeout 200 python3 "$@" >out 2>err; }
# errs PATTERN COMMAND...: python fails, and its last line is so.
errs() {
	errs_pattern=$1
	shift
	! python "$@" || return 1
	cat err
	tail -n 1 err | grep -qE -e "$errs_pattern"
}

cat >square.py <<'END'
import os, sys, time
import evenstep

class Number:
    def __init__(self, n): self.n = n

def f(number):
    n = number.n
    print("noise", flush=True)
    if n == 7 and "raise" in sys.argv:
        raise ValueError("seven")
    if n == 7 and "exit" in sys.argv:
        os._exit(3)
    if n == 7 and "agent" in sys.argv and not os.path.exists("once"):
        open("once", "w").close()
        os.kill(os.getppid(), 9)
        time.sleep(100)
    return Number(n * n)

if __name__ == "__main__":
    kept = "keep" in sys.argv
    where = "4=80,40,20,10" if len(sys.argv) == 1 else 2
    with evenstep.map(f, (Number(i) for i in range(20)), local=where, return_exceptions=kept,
                      slots=3 if "slots" in sys.argv else None) as results:
        for i, result in enumerate(results):
            assert isinstance(result, (Number, evenstep.ItemError)), result
            print(result.n if isinstance(result, Number) else f"item {result.index}: {result}")
END
awk 'BEGIN { for (i = 0; i < 20; i++) print i * i }' >want
grep -vx 49 want >rest

test_expect_success 'map: results in order, of the program'"'"'s own class, from four unequal nodes; what f prints is elsewhere' '
	python square.py && test_cmp want out && mentioned "^local[0-3]: noise$"
'
test_expect_success 'several processes a node' '
	python square.py slots && test_cmp want out
'
test_expect_success 'f raises: so does map, with the item, the node, and where it was' '
	errs "^evenstep.ItemError: item 7 \(<__main__.Number.*\) failed on local[01]: ValueError: seven$" square.py raise &&
	mentioned "^ValueError: seven$" && mentioned "square.py\", line 11, in f$" && head -n 7 want | test_cmp - out
'
test_expect_success 'or it goes on, and the error is among the results' '
	python square.py raise keep && grep -vE "^item 7: item 7 .*ValueError: seven$" out | test_cmp rest - && test $(wc -l <out) = 20
'
test_expect_success 'an item ends its worker: so does map, with the item and how' '
	errs "^evenstep.ItemError: item 7 \(<__main__.Number.*\) failed on local[01]: the worker that did it .*exited with status 3: " square.py exit &&
	mentioned "^evenstep.RunError: evenstep.map: evenstep run has ended with exit status 1, and item [0-7] is not done; its last words:$"
'
test_expect_success 'or the rest is done' '
	python square.py exit keep && grep -vE "^item 7: item 7 .* failed on local[01]: the worker that did it exited with status 3$" out | test_cmp rest - && test $(wc -l <out) = 20
'
cat >killer.py <<'END'
import os, signal, sys
import evenstep

def f(n):
    if n == 537:
        os.kill(os.getpid(), signal.SIGKILL)
    return n * n

if __name__ == "__main__":
    results = evenstep.map(f, range(1000), local=4, return_exceptions=True, slots=int(sys.argv[1]))
    for n, result in enumerate(results):
        if result != n * n:
            print(result)
END
test_expect_success 'one of 1,000 items kills its worker: only that one fails, and is named' '
	python killer.py 1 && cat err && echo "item 537 (537) failed on local: the worker that did it was killed by signal 9 (Killed)" >want_killed &&
	sed "s/local[0-3]/local/" out | test_cmp want_killed -
'
test_expect_success 'or a process of several of its node' '
	python killer.py 2 && cat err && grep -xE "item 537 \(537\) failed on local[0-3]: the worker that did it exited with status 1" out && test $(wc -l <out) = 1 && mentioned "^local[0-3]: evenstep.map: one of this node.s processes has ended: "
'
test_expect_success 'an agent dies: that costs its slice, and no result' '
	python square.py agent && test -e once && test_cmp want out && mentioned "^evenstep: local[01] is lost "
'
test_expect_success 'nothing is left of any of them' '
	test -z "$(ls -d evenstep-map-*)"
'

# --- the first day ------------------------------------------------------------------
test_expect_success 'a lambda: what to do about it' '
	errs "^TypeError: evenstep.map: f is a lambda, and pickle cannot send that to the nodes: define it with def at the top of a module, or install cloudpickle$" -c "import evenstep; evenstep.map(lambda x: x, [1], local=2)"
'
test_expect_success 'a function at the prompt: likewise' '
	errs "^TypeError: evenstep.map: the nodes cannot import __main__.f, as it was defined at a prompt.*: put it in a file, or install cloudpickle$" -c "
import evenstep
def f(x): return x
evenstep.map(f, [1], local=2)"
'
test_expect_success 'with cloudpickle both go' '
	PYTHONPATH="$PWD/with-cloudpickle:$EVENSTEP_SRC/contrib/python" python -c "import evenstep; print(list(evenstep.map(lambda x: x + 1, [1, 2, 3], local=2)))" && echo "[2, 3, 4]" | test_cmp - out
'
test_expect_success 'a program without the guard is told of it, by one line of Python' '
	cat >bare.py <<-\END && errs "if __name__ == \"__main__\":" bare.py && mentioned "a node has imported this program to find f, and came to the call of evenstep.map"
	import evenstep
	def f(x):
	    return x
	print(list(evenstep.map(f, [1, 2], local=1)))
	END
'
test_expect_success 'no job; no program; not a function; an item, a result that cannot go; bad slots' '
	errs "^evenstep.RunError: evenstep.map: this is no Slurm job: start the program by salloc or sbatch, or say local=4 " -c "import evenstep; evenstep.map(abs, [1])" &&
	EVENSTEP=/nowhere errs "RunError: evenstep.map: there is no program /nowhere: put its folder into PATH, or its path into the variable EVENSTEP" -c "import evenstep; evenstep.map(abs, [1], local=1)" &&
	errs "^TypeError: evenstep.map: f is a int, not a function$" -c "import evenstep; evenstep.map(1, [1], local=1)" &&
	errs "^TypeError: evenstep.map: item 1, a lock, cannot be sent to the nodes: " -c "import evenstep, threading; evenstep.map(abs, [1, threading.Lock()], local=1)" &&
	errs "item 0 .*TypeError: its result, a TextIOWrapper, cannot be pickled: " -c "import evenstep; list(evenstep.map(open, [\"/dev/null\"], local=1))" &&
	errs "^ValueError: evenstep.map: slots=0: say a number of processes a node, or \"cores\"$" -c "import evenstep; evenstep.map(abs, [1], local=1, slots=0)"
'
test_expect_success 'another Python, as one in an image' '
	printf "#!/bin/sh\nexport INSIDE=yes\nexec \"\$@\"\n" >enter && chmod +x enter &&
	python -c "import evenstep, os; print(list(evenstep.map(os.getenv, [\"INSIDE\"], local=1, python=[\"./enter\", \"python3\"])))" && echo "[${sq}yes${sq}]" | test_cmp - out
'
test_expect_success 'starmap: items are the arguments, kwargs are those of every call; errors name them' '
	cat >power.py <<-\END && python power.py && printf "%s\n" "[9, 17]" "[2, 3]" "item 1 (5) failed on local: TypeError: " | test_cmp - out
	import re
	import evenstep
	def f(x, y=1, *, k=0):
	    return x ** y + k
	if __name__ == "__main__":
	    print(list(evenstep.starmap(f, [(2, 3), (4, 2)], kwargs={"k": 1}, local=2)))
	    print(list(evenstep.map(f, [1, 2], kwargs={"k": 1}, local=1)))
	    for result in evenstep.starmap(f, [(1, 2), 5], local=1, return_exceptions=True):
	        if isinstance(result, evenstep.ItemError):
	            print(re.sub("local[0-9]", "local", str(result))[:39])
	END
	errs "^TypeError: evenstep.starmap: f is a lambda, and pickle cannot send that to the nodes: " -c "import evenstep; evenstep.starmap(lambda x: x, [(1,)], local=1)" &&
	errs "^TypeError: evenstep.map: kwargs, a dict, cannot be sent to the nodes: " -c "import evenstep, threading; evenstep.map(abs, [1], kwargs={\"k\": threading.Lock()}, local=1)"
'
test_expect_success 'no items: no run' '
	EVENSTEP=false python -c "import evenstep; print(list(evenstep.map(abs, [], local=2)))" && echo "[]" | test_cmp - out
'
test_expect_success 'evenstep itself refuses: its words are in the error' '
	errs "evenstep: " -c "import evenstep; list(evenstep.map(abs, [1], local=2, options=[\"--nonsense\"]))" && mentioned "RunError: evenstep.map: evenstep run has ended with exit status 2"
'
for signal in --default-signal=INT --ignore-signal=INT; do
	test_expect_success "the block is left early, by ${signal%=*}: the run ends, nothing is left" '
	env $signal timeout 200 python3 -c "
import evenstep, time
with evenstep.map(time.sleep, [0] * 5 + [600] * 5, local=2, options=[\"--metrics=equal\", \"--policy=static\", \"--pieces=10\"]) as results:
    assert next(results) is None
" >out 2>err && test -z "$(ls -d evenstep-map-*)" && test -z "$(pgrep -f "evenstep-map-.*time.sleep")"
'
done

# --- sessions -------------------------------------------------------------------------
test_expect_success 'a session: alone, it has every frame whole; its errors say what to do' '
	python -c "
import evenstep
with evenstep.Session(units=3, frames=2) as session:
    assert session.is_alone and session.wait(0)
    print([(list(s.units()), s.frame) for s in session])
with evenstep.Session() as session:
    session.next()
    for wrong in (session.next, session.lines):
        try:
            wrong()
        except OSError as error:
            print(error)
" && cat >want <<-\END && test_cmp want out
	[([0, 1, 2], 0), ([0, 1, 2], 1)]
	[Errno 114] the slice at hand is not done: call done() before next()
	[Errno 2] the slice has no lines: `evenstep run --lines FILE` gives them
	END
'
test_expect_success 'under evenstep run: slices, lines, label; what is not done goes back' '
	cat >again.py <<-\END &&
	import evenstep
	with evenstep.Session() as session:
	    for s in session:
	        with session.lines() as lines:
	            print("".join(lines), end="")
	        session.done()
	END
	seq 100 199 >lines && timeout 200 evenstep run --local 3 --persistent --lines lines --repeat 2 -- python3 again.py >out && cat lines lines | test_cmp - out
'
test_expect_success 'listen: a port that is none, and nobody to tell of it' '
	for port in -1 65536 70000; do errs "^ValueError: evenstep: a TCP port is 1 to 65535, or 0 for none$" -c "import evenstep; evenstep.listen($port)" || return 1; done &&
	errs "^FileNotFoundError: .Errno 2. the program does not run under evenstep$" -c "import evenstep; evenstep.listen(1)"
'

# --- how it is shipped --------------------------------------------------------------------
test_expect_success 'it has the version of evenstep' '
	python -c "import evenstep; print(\"evenstep\", evenstep.__version__)" && evenstep --version | head -n 1 | test_cmp - out
'
test_expect_success 'dir(evenstep) has what it is for, and nothing else' '
	python -c "import evenstep; print(*[name for name in dir(evenstep) if not name.startswith(\"__\")])" &&
	echo Executor ItemError Peer Results RunError Session Slice close done lines listen map next open slices starmap submit wait | test_cmp - out &&
	python -c "from evenstep import *; print(starmap, ItemError, Executor)"
'
# What an import without types is called is not the same in all versions of mypy.
command -v mypy >/dev/null && test_set_prereq MYPY
test_expect_success MYPY 'mypy --strict has nothing to say' '
	(cd "$EVENSTEP_SRC/contrib/python" && mypy --strict --no-warn-unused-ignores --cache-dir="$SHARNESS_TRASH_DIRECTORY/mypy" evenstep squares.py connect.py wheel_backend.py)
'
/usr/bin/python3 -I -c 'import ensurepip, venv' 2>/dev/null && test_set_prereq VENV
# pip finds no package anywhere, and is at no network.
pip() { env -u PYTHONPATH PIP_CONFIG_FILE=/dev/null PIP_NO_INDEX=1 PIP_FIND_LINKS= PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 new/bin/python -I -m pip "$@" >log 2>&1 || { cat log && false; }; }
test_expect_success VENV 'pip installs it in a new venv, without compiler, setuptools and network; it works from there' '
	cp -r "$EVENSTEP_SRC/contrib/python" source && /usr/bin/python3 -m venv new && CC=false pip install ./source && ls source/build source/*.egg-info 2>&-; test $? = 2 &&
	env -u PYTHONPATH timeout 200 new/bin/python -c "import evenstep; print(evenstep.__file__, list(evenstep.map(abs, [-1], local=1)))" >out && echo "$PWD/new/lib/python3.*/site-packages/evenstep/__init__.py .1." >pattern && grep -xf pattern out
'
test_expect_success VENV 'what is installed is all that is here, by a wheel with a right record; uninstall leaves nothing' '
	diff -r -x __pycache__ source/evenstep new/lib/python3.*/site-packages/evenstep && pip check && pip show evenstep && grep -x "Version: $(evenstep --version | sed -n "1s/evenstep //p")" log &&
	cp -r source/evenstep saved && pip uninstall -y evenstep && test ! -e new/lib/python3.*/site-packages/evenstep && diff -r saved source/evenstep
'
test_expect_success VENV 'pip install -e: the source as it is' '
	pip install -e ./source && echo "MARK = 7" >>source/evenstep/__init__.py && env -u PYTHONPATH new/bin/python -I -c "import evenstep; print(evenstep.MARK)" >out && echo 7 | test_cmp - out
'
test_expect_success VENV 'the same source gives the same wheel, and a tarball of it likewise' '
	mkdir one two && (cd source && for to in one two; do new=../new/bin/python; $new -c "import wheel_backend; wheel_backend.build_wheel(\"../$to\")" || exit; done; $new -c "import wheel_backend; wheel_backend.build_sdist(\"..\")") && cmp one/*.whl two/*.whl &&
	tar -xf evenstep-*.tar.gz && test -e evenstep-*/PKG-INFO && rm -r new && /usr/bin/python3 -m venv new && pip install ./evenstep-*.tar.gz
'
test_done
