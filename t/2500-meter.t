#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='a program tells its progress: from C, Fortran, Python and OpenMP, and whatever it does wrong'
. /usr/share/sharness/sharness.sh
S=$EVENSTEP_SRC B=$EVENSTEP_BUILD
command -v gfortran >/dev/null && test_set_prereq FORTRAN
command -v python3 >/dev/null && test_set_prereq PYTHON
link="-L$B -Wl,-rpath,$B -levenstep"
metered() { "$B/t/programs/metered" "$@"; }

cat >halves.c <<'END'
#include <evenstep.h>
int main(void)
{
	evenstep_work(4);
	for (int i = 1; i <= 4; i++)
		evenstep_tick(i);
	evenstep_work(10);
	evenstep_tick(5);
	return evenstep_threads();
}
END
test_expect_success 'C: a region is done, the next half done' '
	gcc -Wall -Werror -I"$S/launcher/libevenstep" -o halves halves.c $link && test_expect_code 7 metered 7 ./halves >got && echo "2 0.500 0" >want && test_cmp want got
'
test_expect_success 'C++: likewise' '
	g++ -Wall -Werror -I"$S/launcher/libevenstep" -x c++ -o halves++ halves.c $link && test_expect_code 7 metered 7 ./halves++ >got && test_cmp want got
'
test_expect_success 'without evenstep the same program runs as it is' '
	./halves >out 2>&1 && test ! -s out && EVENSTEP_DIR=/nowhere ./halves >out 2>&1 && test ! -s out
'
cat >halves.f90 <<'END'
program halves
   use evenstep
   implicit none
   integer :: i
   call evenstep_work(4_evenstep_count)
   do i = 1, 4
      call evenstep_tick(int(i, evenstep_count))
   end do
   call evenstep_work(10_evenstep_count)
   call evenstep_tick(5_evenstep_count)
   print '(i0)', evenstep_threads()
end program halves
END
test_expect_success FORTRAN 'Fortran: likewise, by its module' '
	gfortran -std=f2008 -Wall -Werror -o halvesf "$S/launcher/libevenstep/evenstep.f90" halves.f90 $link && metered 7 ./halvesf >got && printf "7\n2 0.500 0\n" >wantf && test_cmp wantf got
'
cat >halves.py <<'END'
import ctypes, sys
meter = ctypes.CDLL(sys.argv[1])
u64 = ctypes.c_uint64
meter.evenstep_work(u64(4))
for i in range(1, 5):
    meter.evenstep_tick(u64(i))
meter.evenstep_work(u64(10))
meter.evenstep_tick(u64(5))
sys.exit(meter.evenstep_threads())
END
test_expect_success PYTHON 'Python: likewise, by ctypes' '
	test_expect_code 7 metered 7 python3 halves.py "$B/libevenstep.so" >got && test_cmp want got
'
command -v mpicc >/dev/null && test_set_prereq MPI
test_expect_success MPI 'OpenMP and MPI: as many threads as advised, a slot each' '
	mpicc -std=c11 -Wall -Wextra -Werror -O1 -fopenmp -I"$S/launcher/libevenstep" -o rows "$S/contrib/openmp/rows.c" $link && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 metered 3 ./rows 9 4 >got 2>err; cat got err &&
	grep -q "^rank 0: 3 threads at last, sum [0-9]" got && printf "4 1.000 0\n4 1.000 0\n4 1.000 0\n" >want3 && grep -v ^rank got | test_cmp want3 -
'
# What | the calls | what is left
while IFS='|' read -r what calls left; do
	test_expect_success "$what" '
		printf "#include <evenstep.h>\n#include <stdlib.h>\nint main(void)\n{\n\t%s\n\treturn 0;\n}\n" "$calls" >bad.c && cat bad.c &&
		gcc -I"$S/launcher/libevenstep" -o bad bad.c $link && { metered 0 ./bad >got || true; } && echo "$left" >wantbad && test_cmp wantbad got
	'
done <<'END'
a tick before work is counted|evenstep_tick(1);|0 1.000 1
one beyond the total, too|evenstep_work(2); evenstep_tick(3);|1 0.000 1
and one backwards|evenstep_work(4); evenstep_tick(2); evenstep_tick(1);|1 0.500 1
a total of 0 is done|evenstep_work(0);|1 1.000 0
a program that dies in a region leaves it as it was|evenstep_work(4); evenstep_tick(1); abort();|1 0.250 0
END
test_expect_success 'a thousand ranks on a node have a slot each' '
	cat >many.sh <<-\END && metered 0 sh many.sh >got && sort got | uniq -c | awk "{ exit !(\$1 == 1000 && \$2 == 2) }" && test $(wc -l <got) = 1000
	for i in $(seq 1000); do ./halves; done
	true
	END
'
test_done
