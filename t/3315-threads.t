#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='srun --evenstep with OpenMP ranks that wait: the slow rank gets their threads, or their CPUs, and gives them back'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/testbed.sh"
needs_pmix
unset EVENSTEP_CONF
B=$EVENSTEP_BUILD
bin=$(testbed_dir)/bin # paths without a space: arguments of the plugin
conf=$(testbed_dir)/threads.conf
test "$(nproc)" -ge 2 && taskset -c 0,1 true 2>/dev/null && test_set_prereq CPUS

# ever FROM TO A B: in one of these regions, at least, rank 0 was advised to use A threads, and rank 1 B.
# As others are busy here, it need not be each.
ever() {
	awk -v from="$1" -v to="$2" -v a="$3" -v b="$4" '$4 >= from && $4 < to && $6 == ($2 == 0 ? a : b) && ++n[$4] == 2 { found = 1 }
		END { exit !found }' got
}
# seconds_of FROM TO: the median region's.
seconds_of() { awk -v from="$1" -v to="$2" '$2 == 0 && $4 >= from && $4 < to { print $8 }' got | sort -n | awk '{ s[NR] = $1 } END { print s[int((NR + 1) / 2)] }'; }
# lend HOW [REGIONS MILLISECONDS]: on or off; the program prints into got.HOW.
lend() { on_ctl srun -N1 -n2 --mpi=pmix "--evenstep-lend=$1" ./lend "$2" "$3" >"got.$1" 2>err; }

test_expect_success 'up: a node; Open MPI programs with OpenMP threads' '
	mpicc -O1 -fopenmp -D_GNU_SOURCE -I"$EVENSTEP_SRC" -o advised "$EVENSTEP_SRC/t/programs/mpi_advised.c" -L"$B" -Wl,-rpath,"$B" -levenstep &&
	mpicc -O1 -fopenmp -std=gnu11 -D_GNU_SOURCE -o lend "$EVENSTEP_SRC/t/programs/mpi_lend.c" &&
	testbed_up --nodes 1 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	mkdir -p "$bin/agent" && ln -s "$B/evenstep" "$B/evenstep-power" "$B/libevenstep-mpi.so" "$bin" &&
	gcc -shared -fPIC -D_GNU_SOURCE -o "$bin/four_cpus.so" "$EVENSTEP_SRC/t/programs/four_cpus.c" &&
	printf "#!/bin/sh\nLD_PRELOAD=%s exec \"%s\" \"\$@\"\n" "$bin/four_cpus.so" "$B/evenstep-agent" >"$bin/agent/evenstep-agent" && chmod +x "$bin/agent/evenstep-agent" &&
	printf "plugin { agent_path = \"%s\" }\npower {\n actuator = \"threads\"\n floor = 0.25\n}\n" "$bin/agent/evenstep-agent" >"$conf"
'
test_expect_success 'evenstep_threads(): of four threads the rank with three times the work is advised to use three' '
	{ on_ctl srun -N1 -n2 --mpi=pmix --evenstep-meter=mpi --evenstep-power=pair ./advised 160 3,1 >got 2>err; code=$?; cat err; tail -n 2 got; test $code = 0; } &&
	ever 0 80 3 1 && echo "# seconds a region: at first $(seconds_of 0 3), then $(seconds_of 70 80)"
'
test_expect_success 'when the other has the work they are given back' '
	ever 80 160 1 3 && echo "# seconds a region: at first $(seconds_of 80 83), then $(seconds_of 150 160)"
'
test_expect_success CPUS '--evenstep-lend: the CPU of a rank that waits is lent to the second thread of the other, and given back' '
	lend on && cat err && echo "lent 1, back 1" | test_cmp - got.on &&
	mentioned "^evenstep: lent: rank 0 had [0-9.e-]* CPU-seconds on CPUs of ranks that waited; one was done up to "
'
test_expect_success CPUS 'the seconds of regions without and with it are printed' '
	lend off 6 100 && test ! -s err && lend on 6 100 && test $(wc -l <got.off) = 6 && test $(wc -l <got.on) = 6 && for each in off on; do echo "# lend $each: $(awk "{ print \$2 }" got.$each | sort -n | sed -n 3p) s a region"; done
'
# A busy machine makes some of them long.
test_expect_success CPUS 'iterations too short to gain from are left alone, and one line says so, or how little was lent' '
	lend on 2000 0.2 && cat err && test $(wc -l <err) = 1 && mentioned "^evenstep: (--evenstep-lend moved nothing: a region took [0-9.]+ ms, and lending gains from 15 ms on|lent: rank 0 had 0[.0-9e-]+ CPU-seconds)"
'
test_expect_success 'likewise where no rank has threads to move; by another meter it is refused a step early; the site can have it on' '
	on_ctl srun -N1 -n1 --mpi=pmix --evenstep-lend ./lend 3 1 >got 2>err && test $(wc -l <err) = 1 && mentioned "^evenstep: --evenstep-lend moved nothing: no rank had more OpenMP threads than CPUs" &&
	on_ctl srun -N1 -n1 --evenstep-lend --evenstep-meter=cpu true 2>err && test $(wc -l <err) = 1 && mentioned "^evenstep: warning: --evenstep-lend moves nothing with --evenstep-meter=cpu: leave that out, or give mpi" &&
	sed "s/^plugin {/plugin { lend = true/" "$conf" >on.conf && mv "$conf" off.conf && cp on.conf "$conf" && on_ctl srun -N1 -n1 --evenstep sh -c "echo \$EVENSTEP_LEND" >got && mv off.conf "$conf" && echo 1 | test_cmp - got &&
	on_ctl srun -N1 -n1 --evenstep sh -c "echo \${EVENSTEP_LEND-none}" >got && echo none | test_cmp - got
'
test_expect_success 'down leaves nothing' '
	wait_for 60 nodes_idle 1 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
