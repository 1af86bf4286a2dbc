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
OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_mpi_yield_when_idle
test "$(nproc)" -ge 2 && taskset -c 0,1 true 2>/dev/null && test_set_prereq CPUS

# threads_of RANK REGION: that it was advised to use.
threads_of() { awk -v rank="$1" -v region="$2" '$2 == rank && $4 == region { print $6 }' got; }
# seconds_of FROM TO: the median region's.
seconds_of() { awk -v from="$1" -v to="$2" '$2 == 0 && $4 >= from && $4 < to { print $8 }' got | sort -n | awk '{ s[NR] = $1 } END { print s[int((NR + 1) / 2)] }'; }
# lend HOW REGIONS MILLISECONDS: EVENSTEP_LEND is 0 or 1; what is printed is in got.HOW.
lend() { on_ctl env "EVENSTEP_LEND=$1" srun -N1 -n2 --mpi=pmix --evenstep --evenstep-meter=mpi ./lend "$2" "$3" >"got.$1" 2>err; }

test_expect_success 'up: a node; Open MPI programs with OpenMP threads' '
	mpicc -O1 -fopenmp -D_GNU_SOURCE -I"$EVENSTEP_SRC" -o advised "$EVENSTEP_SRC/t/programs/mpi_advised.c" -L"$B" -Wl,-rpath,"$B" -levenstep &&
	mpicc -O1 -fopenmp -std=gnu11 -D_GNU_SOURCE -o lend "$EVENSTEP_SRC/t/programs/mpi_lend.c" &&
	testbed_up --nodes 1 --plugin "$B/evenstep.so" --plugin-args "launcher=$bin/evenstep config=$conf" &&
	mkdir -p "$bin/agent" && ln -s "$B/evenstep" "$B/evenstep-power" "$B/libevenstep-mpi.so" "$bin" &&
	gcc -shared -fPIC -D_GNU_SOURCE -o "$bin/four_cpus.so" "$EVENSTEP_SRC/t/programs/four_cpus.c" &&
	printf "#!/bin/sh\nLD_PRELOAD=%s exec \"%s\" \"\$@\"\n" "$bin/four_cpus.so" "$B/evenstep-agent" >"$bin/agent/evenstep-agent" && chmod +x "$bin/agent/evenstep-agent" &&
	printf "plugin { agent_path = \"%s\" }\npower {\n actuator = \"threads\"\n start = 1\n floor = 0.25\n}\n" "$bin/agent/evenstep-agent" >"$conf"
'
test_expect_success 'evenstep_threads(): of four threads the rank with three times the work is advised to use three' '
	{ on_ctl srun -N1 -n2 --mpi=pmix --evenstep-meter=mpi --evenstep-power=pair ./advised 80 3,1 >got 2>err; code=$?; cat err; tail -n 2 got; test $code = 0; } &&
	test "$(threads_of 0 39) $(threads_of 1 39)" = "3 1" && echo "# seconds a region: at first $(seconds_of 0 3), then $(seconds_of 30 40)"
'
test_expect_success 'when the other has the work they are given back' '
	test "$(threads_of 0 79) $(threads_of 1 79)" = "1 3" && echo "# seconds a region: at first $(seconds_of 40 43), then $(seconds_of 70 80)"
'
test_expect_success CPUS 'EVENSTEP_LEND: the CPU of a rank that waits is lent to the second thread of the other, and given back' '
	lend 1 && cat err && test_cmp - got.1 <<-\EOF
	lent 1, back 1
	EOF
'
test_expect_success CPUS 'the seconds of regions without and with it are printed' '
	lend 0 6 100 && lend 1 6 100 && test $(wc -l <got.0) = 6 && test $(wc -l <got.1) = 6 && for each in 0 1; do echo "# lend $each: $(awk "{ print \$2 }" got.$each | sort -n | sed -n 3p) s a region"; done
'
test_expect_success 'down leaves nothing' '
	wait_for 60 nodes_idle 1 && testbed_down && testbed_nothing_left $testbed_name
'
test_done
