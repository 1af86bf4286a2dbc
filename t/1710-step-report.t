#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='evenstep report: what the report of a step tells, as tables, JSON and a picture'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
PATH="$EVENSTEP_BUILD:$PATH"

# step CAUSE; node NAME USEFUL WAITING LAST NODE-SECONDS; rank NAME RANK USEFUL WAITING LAST
step() { printf '{"type":"step","job":12,"step":0,"nodes":2,"ranks":4,"parallel":0.75,"load_balance":0.8,"communication":0.9375,"elapsed":16,"useful":48,"waiting":16,"calls":900,"regions":100,"seen":100,"region_seconds":0.16,"skew":0.06,"skew_most":0.1,"worst":{"node":"n1","rank":3,"cause":"%s","longer":1,"apart":1.5,"speed":1,"last":90,"rank_seconds":14,"node_seconds":8}}\n' "$1"; }
node() { printf '{"type":"node","node":"%s","ranks":2,"parallel":0.7,"load_balance":1,"communication":1,"elapsed":16,"useful":%s,"waiting":%s,"calls":9,"last":%s,"rank_seconds":1,"node_seconds":%s,"JL":50}\n' "$@"; }
rank() { printf '{"type":"rank","node":"%s","rank":%s,"useful":%s,"waiting":%s,"calls":9,"last":%s}\n' "$@"; }
{
	step "work of rank"
	node n0 20 12 10 0.5
	node n1 25 7 90 8
	rank n0 0 10 6 4
	rank n0 1 10 6 6
	rank n1 2 10 6 0
	rank n1 3 15 1 90
} >four

test_expect_success 'the tables: each node, each rank, and who made the others wait' '
	evenstep report four >got && cat got &&
	grep -qE "^n0 +2 +20\.000 +12\.000 +0\.700 +10 +0\.500$" got && grep -qE "^n1 +3 +15\.000 +1\.000 +93\.8% +90$" got &&
	head -n 2 got >first && cat >want <<-\END && test_cmp want first && test "$(wc -L <got)" -le 100
	100 regions in 16.00 s, parallel efficiency 0.750 = load balance 0.800 x communication 0.938
	most for n1: 8.00 node-seconds; why: work of rank 3
	END
'
# What a newer file has beside that: factors and their seconds, why, call sites, ranks' CPU time and bins
full() {
	sed -e '1s/"useful"/"balance_nodes":0.889,"balance_within":0.9,"serialisation":0.95,"transfer":0.987,"lost_seconds":{"balance_nodes":8,"balance_within":4,"serialisation":3,"transfer":1},"coverage":0.043,"ended":"all ranks left MPI","verdict":{"cause":"no cpu","node":"n1","rank":3,"who":"others","text":"n1 made the others wait: its ranks had the CPU for 61 % of their useful time","check":"ps on n1"},"sites":[{"call":"MPI_Allreduce","where":"solve+0x4f (app)","waiting":12.5,"calls":900},{"call":"MPI_Recv","where":"app+0x12","waiting":3.5,"calls":30}],"report":{"format":2,"kind":"step","command":".\/app -n 4","user":"ann","nodes_list":"n[0-1]","ranks":4,"threads_per_rank":2,"binding":"cores"},&/' \
		-e '/"rank":[0-2],"useful"/s/"waiting"/"cpu":9.9,"run_delay":0.02,"throttled":0,"io_wait":0.4,"rss":210000000,"state":"left",&/' \
		-e '/"rank":[0-3],"useful"/s/"calls"/"bins":{"seconds":4,"useful":[0.5,1,0.25,0.75],"waiting":[0.5,0,0.75,0.25],"io":[0,0,0.5,0],"no_cpu":[0,0.5,0,0]},&/' \
		-e '/"rank":3,"useful"/s/"waiting"/"cpu":9.15,"run_delay":5.5,"throttled":0.25,"io_wait":0.4,"rss":310000000,"state":"left",&/' four
}
test_expect_success 'why, the factors and their seconds, ranks by CPU time, call sites, and whose it was' '
	full >full && evenstep report full >got && cat got && test "$(sed "/^coverage/d" got | wc -L)" -le 100 && sed -n "1,16p" got >first && cat >want <<-\END && test_cmp want first &&
	step 12.0: ./app -n 4
	user ann, nodes n[0-1], 4 ranks x 2 threads, binding cores
	100 regions in 16.00 s, parallel efficiency 0.750 = load balance 0.800 x communication 0.938
	n1 made the others wait: its ranks had the CPU for 61 % of their useful time
	check: ps on n1
	coverage: up to 4 % of a rank'"'"'s time may be waiting that counts as useful: calls of MPI that are not metered, or of other threads
	how it ended: all ranks left MPI

	factor                   value   lost, rank-s     of all
	parallel efficiency      0.750         16.000      25.0%
	  load balance           0.800         12.000      18.8%
	    between nodes        0.889          8.000      12.5%
	    within nodes         0.900          4.000       6.2%
	  communication          0.938          4.000       6.2%
	    serialisation        0.950          3.000       4.7%
	    transfer             0.987          1.000       1.6%
	END
	grep -A 2 "CPU s" got | sed -n 2p >worst && grep -qE "^n1 +3 +15\.000 +1\.000 +93\.8% +90 +9\.150 +5\.500 +0\.250 +0\.400 +310$" worst &&
	tail -n 3 got >last && cat >want <<-\END && test_cmp want last
	most waiting in             rank-s       calls  called by
	MPI_Allreduce               12.500         900  solve+0x4f (app)
	MPI_Recv                     3.500          30  app+0x12
	END
'
test_expect_success 'how ranks ended that did not leave MPI; who died is first' '
	full | sed -e "/\"rank\":0,\"useful\"/s/\"state\":\"left\"/\"state\":\"died\",\"signal\":9/" -e "/\"rank\":1,\"useful\"/s/\"state\":\"left\"/\"state\":\"in call\",\"call\":\"MPI_Allreduce\",\"since\":12.25/" -e "/\"rank\":2,\"useful\"/s/\"state\":\"left\"/\"state\":\"died\",\"exit\":3/" -e "/\"rank\":3,\"useful\"/s/\"state\":\"left\"/\"state\":\"died\",\"signal\":9,\"out_of_memory\":true/" >ended &&
	evenstep report ended >got && grep -A 4 "CPU s" got >ranks && cat ranks && grep -qE "^n0 +1 .*  in MPI_Allreduce for 12.25 s$" ranks && sed -n 2p ranks | grep -E "^n1 +3 .*  killed: out of memory$" && sed -n 3p ranks | grep -E "^n0 +0 .*  killed by signal 9$" && sed -n 4p ranks | grep -E "^n1 +2 .*  exited with 3$"
'
test_expect_success 'of many ranks the worst are listed' '
	{ cat four && for i in $(seq 4 29); do rank n0 $i 9 7 4; done; } >thirty && evenstep report thirty >got && grep -cE "^n[01] +[0-9]+ .*%" got >n && echo 20 >want && test_cmp want n && grep -x "and 10 more, which worked less: --json has all" got
'
test_expect_success 'texts of a file play no tricks on a terminal; odd values are not shown' '
	full | sed -e "1s/ann/a\\\\u001b[2J/; 1s/12.5/-1/; 1s/\"calls\":30/\"calls\":\"x\"/; 1s/0.889/\"x\"/" -e "s/\"cpu\":9.9/\"cpu\":-7/; s/\"bins\":{/&\"more\":[[]],/" >odd && evenstep report odd >got && cat -v got && ! grep -q "$(printf "\033")" got && ! grep -q "between nodes" got && grep -qE "^n0 +0 .* - +0\.020" got && ! grep -q "^MPI_Recv" got && ! grep -q "^MPI_Allreduce" got
'
test_expect_success 'metered by CPU time: no messages in the tables, the page, the picture and comparisons' '
	full | sed "1s/\"balance_nodes\"/\"meter\":\"cpu\",&/; 1s/\"serialisation\":0.95,\"transfer\":0.987,//; 1s/\"serialisation\":3,\"transfer\":1/\"communication\":4/" >cpu && sed "1s/\"communication\":4/\"communication\":44/; 1s/\"elapsed\":16/\"elapsed\":26/" cpu >cpu2 && evenstep report cpu --svg cpu.svg >got && cat got &&
	grep -x "100 regions in 16.00 s, parallel efficiency 0.750 = load balance 0.800 x CPU use of the busiest rank 0.938" got && grep -x "  busiest rank.s CPU     0.938          4.000       6.2%" got && grep -q "0.80 x CPU use of the busiest rank 0.94" cpu.svg &&
	evenstep report cpu cpu2 >>got && grep "most of that is time without a CPU: +10 s for each rank" got && evenstep report cpu cpu2 cpu >>got && grep "balance busiest CPU$" got && evenstep report --html page cpu && grep -q "CPU use of the busiest rank 0.94<" page && ! grep "communic\|serialisation\|transfer" got page cpu.svg
'
test_expect_success '--json: the same in one object' '
	evenstep report --json four >got && test $(wc -l <got) = 1 &&
	jq -e ".step.job == 12 and (.nodes | map(.node) == [\"n0\", \"n1\"]) and (.ranks | map(.rank) == [0, 1, 2, 3])" got
'
test_expect_success 'of threads their number and what they wait for each other' '
	sed "1s/\"elapsed\"/\"threads\":8,\"thread_efficiency\":0.5,\"busy\":48,&/; 1s/0.75,/0.375,/" four >hybrid && evenstep report hybrid --svg hybrid.svg >got &&
	grep -x "100 regions in 16.00 s, parallel efficiency 0.375 = load balance 0.800 x communication 0.938 x threads 0.500 (8 of them)" got && grep -q "x threads 0.50" hybrid.svg
'
test_expect_success 'iterations that were found: in the table, the picture and the page' '
	sed "1s/\"skew\"/\"iterations\":33,\"iteration_regions\":3,\"iteration_seconds\":0.48,\"iteration_skew\":0.18,\"iteration_skew_most\":0.25,&/" four >loop && evenstep report loop --svg loop.svg >got && xmllint --noout loop.svg &&
	line="33 iterations of 3 regions, median 0.48 s, skew 0.18 s, at most 0.25 s" && grep -x "$line" got && grep -q "$line" loop.svg && evenstep report --html page loop && grep -q "$line" page
'
test_expect_success 'energy, where it is known, and what was saved: in the table, the page and the columns' '
	sed "1s/\"skew\"/\"energy\":\"measured\",\"joules\":97300,\"watts\":824.6,\"joules_saved\":8120,&/" four >saved && evenstep report saved >got && evenstep report --html page saved &&
	line="97.3 kJ, 824.6 W (measured), 8.12 kJ less than at the watts before limits were lowered" && grep -x "$line" got && grep -q "$line" page &&
	sed "1s/:8120/:-20/" saved >wasted && evenstep report wasted >got && grep -q "measured), 0.02 kJ more than at the watts before" got && sed "1s/,\"joules_saved\":8120//" saved >plain && evenstep report plain >got && grep -x "97.3 kJ, 824.6 W (measured)" got &&
	evenstep report --table wasted | cut -f 14 >got && printf "%s\n" step_joules_saved -20 NA >want && test_cmp want got && evenstep report --table four | cut -f 14 >got && printf "%s\n" step_joules_saved NA NA >want && test_cmp want got
'
test_expect_success 'a node whose agent was lost is marked in the table, the picture, the page and the columns' '
	sed "/\"node\":\"n0\"/s/\"useful\"/\"lost\":6.25,&/" four >lost && evenstep report lost --svg lost.svg >got && cat got && xmllint --noout lost.svg &&
	test $(grep -c "^n0 .* lost after 6.25 s$" got) = 3 && test $(grep -c "lost after" got) = 3 && test $(grep -c ">lost<" lost.svg) = 2 && grep -q "last in 4  lost after 6.25 s" lost.svg &&
	evenstep report --html page lost && grep -q "n0 (lost after 6.25 s)" page && evenstep report --table lost | cut -f 15 >got && printf "%s\n" lost_s 6.25 NA >want && test_cmp want got &&
	sed "s/6.25/-1/" lost >odd && test_expect_code 2 evenstep report odd
'
test_expect_success 'the page says why, and draws how the time of each rank went' '
	evenstep report --html page full && grep -q "<p>n1 made the others wait: its ranks had the CPU for 61 % of their useful time</p>" page && grep -q "<p>check: ps on n1</p>" page && grep -q "<p>step 12.0: ./app -n 4</p>" page &&
	grep -q "between nodes</th>.*<td>0.889</td><td>8.00</td><td>12.5%</td>" page && grep -q "MPI_Allreduce</th>.*<td>12.500</td><td>900</td><td class=\"left\">solve+0x4f (app)</td>" page && grep -q "<td>9.15</td><td>5.50</td><td>0.25</td><td>0.40</td><td>310</td>" page &&
	test $(grep -c "<path fill=\"#8fb8da\"" page) = 4 && grep -o "<path fill=\"[^\"]*\" d=\"[^\"]*\"" page | head -n 6 >paths && cat >want <<-\END && test_cmp want paths
	<path fill="#8fb8da" d="M100.0 14.0H225.0v-7.0H100.0zM225.0 14.0H350.0v-7.0H225.0zM350.0 14.0H475.0v-3.5H350.0zM475.0 14.0H600.0v-10.5H475.0z"
	<path fill="#e4572e" d="M225.0 7.0H350.0v-7.0H225.0z"
	<path fill="url(#t1)" d="M225.0 7.0H350.0v-7.0H225.0z"
	<path fill="#f2b134" d="M350.0 10.5H475.0v-7.0H350.0z"
	<path fill="url(#t4)" d="M350.0 10.5H475.0v-7.0H350.0z"
	<path fill="#eee" d="M100.0 7.0H225.0v-7.0H100.0zM350.0 3.5H475.0v-3.5H350.0zM475.0 3.5H600.0v-3.5H475.0z"
	END
'
test_expect_success 'bins that are no parts, or too many, stay in the picture' '
	long=$(seq -s, 60 | sed "s/[0-9]*/1/g") &&
	sed -e "/\"rank\":0,\"useful\"/s/\[0.5,1,0.25,0.75\]/[7,-1,\"x\",1e300]/; /\"rank\":1,\"useful\"/s/\[0.5,1,0.25,0.75\]/[$long]/; /\"rank\":2,\"useful\"/s/\"seconds\":4/\"seconds\":0/; /\"rank\":3,\"useful\"/s/\[0,0,0.5,0\]/{}/" full >odd && evenstep report --html page odd && ! grep -qi "nan\|inf[^o]" page &&
	test $(grep -c "<path fill=\"#8fb8da\"" page) = 3 && grep -o "<path fill=\"#8fb8da\" d=\"[^\"]*\"" page >paths && cat paths && sed -n 2p paths | grep -F "H600.0v-14.0H120.0z" &&
	sed "4,\$d" full >two && sed -n "4,7p" full | sort -r >>two && evenstep report --html page two && grep -o "n[01], [0-3]</text>" page | xargs >order && echo "n0, 0</text> n0, 1</text> n1, 2</text> n1, 3</text>" >want && test_cmp want order &&
	sed "s/\"n1\"/\"compute<-rack7-1\"/" full >named && evenstep report --html page named && grep -q ">te&lt;-rack7-1, 3</text>" page && grep -q "<title>compute&lt;-rack7-1, rank 3: useful 15.000 s" page
'
boxes() { grep -c "<rect" "$1"; } # two of them are the legend
test_expect_success '--svg: a bar of useful and of waiting time for each rank; who is late is marked' '
	evenstep report four --svg rank.svg >got && xmllint --noout rank.svg && test $(boxes rank.svg) = $((2 * 4 + 2)) &&
	grep -q "n1, 3" rank.svg && test $(grep -c "#d62728" rank.svg) = 2
'
test_expect_success '--html and --table: the same in a page and in columns' '
	evenstep report --html page four && grep -q "parallel efficiency = load balance 0.80" page && grep -q "most for n1: 8.00 node-seconds; why: work of rank 3" page && grep -q "<svg viewBox" page &&
	evenstep report --table four >got && test $(wc -l <got) = 3 && sed -n 3p got | cut -f 2-8,11 | tr "\t" " " >row && echo "12 0 n1 2 25 7 0.7 50" >want && test_cmp want row
'
test_expect_success 'without ranks, and with too many of them, there is a bar for each node' '
	grep -v "\"rank\",\"node" four >nodes && evenstep report nodes --svg nodes.svg >got && test $(boxes nodes.svg) = $((2 * 2 + 2)) &&
	{ cat nodes && for i in $(seq 65); do rank n0 $i 10 6 4; done; } >many && evenstep report many --svg many.svg >got && test $(boxes many.svg) = $((2 * 2 + 2))
'
test_expect_success 'times of 0 are drawn, too; nobody is marked where nobody is late' '
	{ step none && node n0 0 0 0 0; } >zero && evenstep report zero --svg zero.svg >got && xmllint --noout zero.svg && test $(grep -c "#d62728" zero.svg) = 0
'
sized() { # NODES RANKS SECONDS USEFUL WRITTEN: of one program
	full | sed "1s/\"nodes\":2,\"ranks\":4/\"nodes\":$1,\"ranks\":$2/; 1s/\"elapsed\":16/\"elapsed\":$3/; 1s/\"useful\":48/\"useful\":$4/; 1s/\"format\":2/&,\"written\":$5/"
}
test_expect_success 'two reports: each factor before and after, its seconds, and which ranks and call sites changed' '
	sized 2 4 16 48 1795800000 >a && sized 2 4 20 49 1795803600 | sed "1s/0.889/0.8/; 1s/\"balance_nodes\":8/\"balance_nodes\":22/; 1s/12.5,/26,/; 1s/solve+0x4f/solve+0x5a/; /\"rank\":3,/s/n1/n0/; /\"rank\":3,/s/\"useful\":15/\"useful\":19/" >b && evenstep report a b >got && cat >want <<-\END && test_cmp want got
	all of them: ./app -n 4
	before: a: step 12.0, 2 nodes, 4 ranks, 100 regions, 2026-11-27 17:20 UTC
	  n1 made the others wait: its ranks had the CPU for 61 % of their useful time
	after: b: step 12.0, 2 nodes, 4 ranks, 100 regions, 2026-11-27 18:20 UTC
	  n1 made the others wait: its ranks had the CPU for 61 % of their useful time
	b took 1.25 times as long as a: 20.00 s, and 16.00 s before; most of that is load balance between nodes: +3.5 s for each rank

	                            before       after       ratio    s before     s after    change s
	time                             -           -       1.250      16.000      20.000      +4.000
	  useful                         -           -       1.021      12.000      12.250      +0.250
	parallel efficiency          0.750       0.750       1.000       4.000       7.500      +3.500
	  load balance               0.800       0.800       1.000       3.000       6.500      +3.500
	    between nodes            0.889       0.800       0.900       2.000       5.500      +3.500
	    within nodes             0.900       0.900       1.000       1.000       1.000      +0.000
	  communication              0.938       0.938       1.000       1.000       1.000      +0.000
	    serialisation            0.950       0.950       1.000       0.750       0.750      +0.000
	    transfer                 0.987       0.987       1.000       0.250       0.250      +0.000

	useful time               s before     s after      change  node
	rank 3                      15.000      19.000      +4.000  n1 -> n0

	waiting in             rank-s before       after      change  called by
	MPI_Allreduce               12.500      26.000     +13.500  solve (app)
	END
'
test_expect_success 'two of an earlier version, and of other commands' '
	evenstep report four a >got && cat got && grep -x "their commands differ: not known, and ./app -n 4" got && grep -x "a took as long as four: 16.00 s, and 16.00 s before" got && grep -qE "^    between nodes +- +0.889 +- +- +2.000 +-$" got && ! grep MPI_ got &&
	sized 4 8 8 50 1 >twice && evenstep report a twice >got && grep -x "from 8 to 16 CPUs: 2.00 times as fast, 1.000 of what they could give; what fell most is computation, from 1.000 to 0.960" got
'
test_expect_success 'reports of several sizes: how the program scales, the smallest first' '
	sized 1 2 30 40 3 >one && sized 2 4 16 42 2 >two && sized 4 8 10 60 1 | sed "1s/load_balance\":0.8/load_balance\":0.6/" >eight && evenstep report eight one two >got && cat >want <<-\END && test_cmp want got
	all of them: ./app -n 4
	from 4 to 16 CPUs: 3.00 times as fast, 0.750 of what they could give; what fell most is computation, from 1.000 to 0.667

	report                       nodes       ranks     seconds     speedup  efficiency computation    parallel     balance   communic.
	one                              1           2       30.00        1.00       1.000       1.000       0.750       0.800       0.938
	two                              2           4       16.00        1.88       0.938       0.952       0.750       0.800       0.938
	eight                            4           8       10.00        3.00       0.750       0.667       0.750       0.600       0.938
	END
'
test_expect_success 'reports of one size: the last against those before it' '
	for i in 1 2 3; do sized 2 4 1$i 42 $i >run$i || return; done && sized 2 4 15 42 4 | sed "1s/communication\":0.9375/communication\":0.6/" >run4 && evenstep report run4 run1 run2 run3 >got && cat got && sed 1d got | cut -d " " -f 1 | xargs >order && echo "all report run1 run2 run3 run4" >want && test_cmp want order &&
	grep -x "all of one size: the last took 15.00 s, 1.25 times the median of those before, which took 11.00 to 13.00 s; what fell most is communication, from 0.938 to 0.600" got &&
	sized 2 4 12.5 42 5 >run5 && evenstep report run1 run2 run3 run5 >got && grep -x "all of one size: the last took 12.50 s, within the 11.00 to 13.00 s of those before" got
'
test_expect_success 'the page and --json compare, too; beside reports of other kinds each is shown as it is' '
	evenstep report --html page a b && grep -q "<p>b took 1.25 times as long as a" page && grep -q "between nodes</th><td>0.889</td><td>0.800</td><td>0.900</td><td>2.000</td><td>5.500</td><td>+3.500</td>" page && grep -q "id=\"r2\"" page && evenstep report --html page one two eight && grep -q "<caption>The steps side by side</caption>" page &&
	evenstep report --json one eight >got && jq -e "length == 2 and .[0].compared.to == \"one\" and .[1].compared.speedup == 3 and .[1].compared.efficiency == 0.75 and .[1].compared.load_balance == (0.6 / 0.8) and .[1].step.ranks == 8" got &&
	echo "{\"type\":\"bcast\",\"source\":\"a\",\"destination\":\"b\",\"bytes\":1,\"nodes\":1,\"seconds\":1}" >cast && evenstep report a b cast >got && grep -x "a:" got && grep -x "b:" got && ! grep "^before:" got
'
test_expect_success 'values that are odd are not compared, and take nothing down' '
	sed "1s/\"elapsed\":16/\"elapsed\":0/; 1s/\"useful\":48/\"useful\":-1/; 1s/\"nodes\":2,\"ranks\":4/\"nodes\":0,\"ranks\":0/; s/\"rank\":2,/\"rank\":1e17,/; s/\"rank\":1,/\"rank\":0.5,/; 1s/\"written\":[0-9]*/\"written\":1e300/" a >odd && evenstep report odd a >got && cat got && evenstep report a odd >>got && evenstep report odd a b >>got && evenstep report odd odd odd >>got && evenstep report --html page odd a && evenstep report --json odd a >json && ! grep -qi "nan\|inf " got page json
'
# What | file of which | sed makes a bad one | line
while IFS='|' read -r what edit line; do
	test_expect_success "$what is refused" '
		sed -e "$edit" four >bad && test_expect_code 2 evenstep report bad >got 2>err && cat err && test ! -s got &&
		grep -qE "^evenstep: report: bad: line $line is none of a step.s report, or is not whole: give the file of srun" err
	'
done <<'END'
a line that is torn|3s/,"waiting.*//|3
a name that plays tricks on a terminal|2s/"n0"/"\\u001b[2J"/|2
a number below 0|4s/"useful":10/"useful":-10/|4
a number that is none|4s/"useful":10/"useful":"10"/|4
iterations of a number below 0|1s/"elapsed"/"iterations":-1,&/|1
a saving that is no number|1s/"elapsed"/"energy":"slurm","joules":1,"watts":1,"joules_saved":"much",&/|1
energy without joules|1s/"elapsed"/"energy":"slurm",&/|1
threads of a number below 0|1s/"elapsed"/"threads":-1,&/|1
a second step|2s/"node"/"step"/|2
a step without its worst|1s/"cause"/"because"/|1
a node without a name|2s/"node":"n0",//|2
END
test_expect_success 'nodes that are missing, and frames, which it has none of' '
	sed 1q four >bad && test_expect_code 2 evenstep report bad 2>err && grep -q "bad: line 1 is none of" err &&
	test_expect_code 2 evenstep report four --svg x.svg --frames 0:1 2>err && grep -q "^evenstep: --frames: the report of a step has no frames: leave it out" err
'
test_expect_success 'a line of a later version is left alone' '
	{ cat four && echo "{\"type\":\"joules\"}"; } >later && evenstep report four >want && evenstep report later >got && test_cmp want got
'
test_expect_success 'a picture that cannot be written, a full disk' '
	test_expect_code 1 evenstep report four --svg /nowhere/x 2>err && grep -q "/nowhere/x" err &&
	test_expect_code 1 evenstep report four >/dev/full 2>err && cat err
'
test_done
