#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep top: runs and graphs that are at work, for people and for Prometheus'
. "$EVENSTEP_SRC/t/lib/own_shm.sh"
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
unshare -m mount -t tmpfs none /mnt 2>&- && test_set_prereq MOUNT
command -v promtool >/dev/null && test_set_prereq PROMTOOL

cat >gated <<'END'
#!/bin/sh
echo $1 >>started
until test -e go; do sleep 0.05; done
seq $1 $(($2 - 1))
END
chmod +x gated
cat >two.json <<'END'
{"tasks": [{"id": "a", "time": 5, "command": "until test -e \"$HERE/go\"; do sleep 0.05; done"},
  {"id": "b", "time": 5, "command": "until test -e \"$HERE/go\"; do sleep 0.05; done"},
  {"id": "c", "time": 5, "command": "true"}, {"id": "d", "time": 5, "command": "true"}],
 "edges": [{"from": "a", "to": "c", "comm": 0}, {"from": "b", "to": "d", "comm": 0}]}
END
HERE=$PWD
export HERE
run='' graph='' export=''
# shellcheck disable=SC2086 # numbers of processes
trap 'code=$?; end_ours $run $graph $export; (exit $code); die' EXIT
trap 'exit 143' TERM

begin() { # a run and a graph that wait for the file go
	rm -f go started
	evenstep run --local 3 --metrics equal --pieces 1 --range 0:30 -- ./gated "{begin}" "{end}" >got.run 2>err.run 3>&- 4>&- 5>&- &
	run=$!
	evenstep graph run --local 2 --cores 1 --group none two.json >got.graph 2>err.graph 3>&- 4>&- 5>&- &
	graph=$!
}
top() { evenstep top --once >top.now 2>&4; }
# seen TITLE: the lines of the front end of that title, up to the next.
seen() { top && awk -v title="$1" '/^(run|bcast|graph|step) [0-9(]/ { on = index($0, title) == 1 } on' top.now >seen && test -s seen; }
run_is_seen() { seen "run (pid $run) gated: 3 nodes, " && test "$(grep -cE '^local[012] +working ' seen)" = 3; }
graph_is_seen() { seen "graph (pid $graph) two.json: 2 nodes, " && test "$(grep -cE "^local[01] +working " seen)" = 2; }
file_of() { echo "/dev/shm/evenstep-$(id -u)/run-$1"; }

test_expect_success 'both are shown, with every node, a while after their start' '
	begin && wait_for 60 run_is_seen && cat seen && grep -qx "\[[.]*\] frame 1 of 1, 0/30 units" seen && grep -qx "3 working" seen &&
	grep -qE "^node +state +slice +units/s +left +at +in all$" seen && test "$(grep -cE "^local[012] +working [.]{10} +0/10 +- +- +1/1 +0$" seen)" = 3
'
test_expect_success 'a graph: two tasks of four are at work, each has another waiting for it' '
	wait_for 60 graph_is_seen && cat seen && grep -qE "^\[[.]*\] 0 of 4 tasks" seen && grep -qE " so far of 0:1[0-9] planned$" seen &&
	test "$(awk "/^local/ { sum += substr(\$NF, 1); at += substr(\$(NF - 1), 1, 1) } END { print at, sum }" seen)" = "2 2"
'
test_expect_success 'on a terminal: a list on top, Tab goes down it, and m, arrows and pages do no harm' '
	printf "\tm\033[Bjk \t\033[Z\tq" | TERM=vt100 timeout 120 script -qec "evenstep top" /dev/null >screen && tr -d "\000" <screen | cat -v | tail -c 3000 && echo &&
	grep -qF "run (pid $run) gated" screen && grep -qF "graph (pid $graph) two.json" screen && grep -q "Tab: next" screen
'
get() { perl -MHTTP::Tiny -e 'my $r = HTTP::Tiny->new->request(shift, shift); print $r->{content}; exit($r->{status} != shift)' "$@"; }
test_expect_success '--prometheus 0: served on a port of its own, to this host' '
	evenstep top --prometheus 0 2>address 3>&- 4>&- 5>&- & export=$! &&
	wait_for 60 grep -q "^evenstep: http://127.0.0.1:[0-9]*/metrics$" address && address=$(sed "s/^evenstep: //" address) &&
	get GET "$address" 200 >metrics && grep "pid=\"\($run\|$graph\)\"" metrics &&
	grep -qx "evenstep_run_units{kind=\"run\",jobid=\"0\",step=\"0\",pid=\"$run\"} 30" metrics && grep -qx "evenstep_graph_tasks{.*,pid=\"$graph\"} 4" metrics &&
	test "$(grep -c "^evenstep_node_up{.*,pid=\"$run\",node=\"local[012]\"} 1$" metrics)" = 3
'
test_expect_success 'no series is there twice, and each family once, in one piece' '
	grep -v "^#" metrics | sed "s/ [^ ]*$//" | sort | uniq -d >twice && test_cmp /dev/null twice &&
	grep -v "^#" metrics | sed "s/{.*//" | uniq | sort | uniq -d >torn && test_cmp /dev/null torn
'
test_expect_success 'the dashboard for Grafana is of metrics that are there' '
	jq -r ".panels[].targets[].expr, (.templating.list[] | .definition // empty)" "$EVENSTEP_SRC/contrib/grafana/evenstep.json" >expr && grep -o "evenstep_[a-z_]*" expr | sort -u >named && test "$(wc -l <named)" -gt 10 &&
	sed -n "s/^# TYPE \([a-z_]*\) .*/\1/p" metrics | sort >there && comm -23 named there >unknown && test_cmp /dev/null unknown
'
test_expect_success PROMTOOL 'promtool has nothing to say' '
	promtool check metrics <metrics >said 2>&1 && test_cmp /dev/null said
'
test_expect_success 'other pages and methods are refused, and it goes on' '
	port=${address##*:} && port=${port%/metrics} &&
	get GET "${address%metrics}" 404 >/dev/null && { get POST "$address" 200 >/dev/null; test $? = 1; } &&
	bash -c "exec 5<>/dev/tcp/127.0.0.1/$port; printf \"\001\002nonsense\r\n\r\n\" >&5; cat <&5" >answer && get GET "$address" 200 >/dev/null
'
test_expect_success 'a port that is taken is named' '
	fails 3 "evenstep: port $port of 127.0.0.1: Address already in use: name another port, .*" evenstep top --prometheus $port
'
test_expect_success 'a signal ends it well' '
	kill -TERM $export && wait $export; test $? = 0; code=$?; export="" && test $code = 0
'
test_expect_success '--prometheus FILE: it is there while that runs, whole, and no longer' '
	env --default-signal=INT evenstep top --prometheus "$PWD/evenstep.prom" 2>err 3>&- 4>&- 5>&- & export=$! &&
	wait_for 60 test -e evenstep.prom && grep -qx "evenstep_run_units{.*,pid=\"$run\"} 30" evenstep.prom && tail -n 1 evenstep.prom | grep -qx "# TYPE evenstep_group_speed gauge" &&
	kill -INT $export && wait $export; code=$?; export="" && test $code = 0 && ls >files && ! grep -F evenstep.prom files && test_cmp /dev/null err
'
test_expect_success '--prometheus FILE by a link, which stays' '
	mkdir far && ln -s far/prom linked.prom && { evenstep top --prometheus linked.prom 2>err 3>&- 4>&- 5>&- & } && export=$! &&
	wait_for 60 test -s far/prom && kill -TERM $export && wait $export; code=$?; export="" && test $code = 0 && test -L linked.prom && test ! -e far/prom
'
test_expect_success 'killed: a run is not shown any more, and what it left is removed' '
	test -d "$(file_of $run)" && kill -KILL $run && { wait $run || true; } && { seen "run (pid $run)"; test $? = 1; } && test ! -e "$(file_of $run)"; code=$?; run="" && test $code = 0
'
test_expect_success 'a graph that ends has left nothing, and has done its work' '
	test -d "$(file_of $graph)" && : >go && wait $graph && test ! -e "$(file_of $graph)"; code=$?; graph="" && cat err.graph && test $code = 0
'
test_expect_success MOUNT 'where nothing can be written nothing is said, and the work is done' '
	echo "{\"tasks\": [{\"id\": \"a\", \"time\": 2, \"command\": \"sleep 2\"}]}" >slow.json &&
	for how in ro size=4k,nr_inodes=1; do
		unshare -m sh -c "mount -t tmpfs -o $how none /dev/shm && exec evenstep graph run --local 1 slow.json" >out.$how 2>err.$how 3>&- 4>&- 5>&- &
		graph="$graph $!"
	done; for each in $graph; do wait $each || return 1; done; graph="" && cat err.ro err.size* && ! grep -vE "^evenstep: (1 of 1 tasks|no deadline given)" err.ro err.size*
'
longest_is() { top && sed -n "s/^longest: [0-9:]* on \(local0: .*\)/\1/p" top.now >longest && grep -qxF "local0: $1" longest; }
test_expect_success 'of tasks: the one that runs for longest, also behind others of its piece' '
	{ seq 40 | sed "s/.*/echo &/"; echo "until test -e go1; do sleep 0.05; done; echo 41"; seq 42 60 | sed "s/.*/echo &/"; echo "until test -e go2; do sleep 0.05; done; echo 61"; } >cmds && rm -f go1 go2 &&
	{ evenstep tasks --local 1 -j 1 cmds >out 2>err 3>&- 4>&- 5>&- & } && run=$! &&
	wait_for 60 longest_is "cmds:41: until test -e go1; do sleep 0.05; done; echo 41" && : >go1 && wait_for 60 longest_is "cmds:61: until test -e go2; do sleep 0.05; done; echo 61" && cat top.now && : >go2 &&
	wait $run; code=$?; run="" && cat err && test $code = 0 && seq 61 | test_cmp - out
'
while IFS='|' read -r what arguments code message; do
	test_expect_success "$what: exit $code" '
		fails $code "evenstep: $message" evenstep top $arguments
	'
done <<'END'
a port that is none|--prometheus 65536|2|--prometheus: "65536" is no port: give 0 to 65535, or a file
a file that cannot be written|--prometheus /nowhere/x.prom|1|/nowhere/x.prom: No such file or directory: .*
once, for ever|--once --prometheus 0|2|.*--once.*
END
test_done
