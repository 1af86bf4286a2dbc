#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
test_description='libevenstep from C++ (evenstep.hpp), Fortran, and from R and Julia where these are'
. /usr/share/sharness/sharness.sh
. "$EVENSTEP_SRC/t/lib/helpers.sh"
without_slurm
unset EVENSTEP_SOCKET
S=$EVENSTEP_SRC
include="$S/launcher/libevenstep"
export LD_LIBRARY_PATH="$EVENSTEP_BUILD"
compile() { g++ -std=c++17 -Wall -Wextra -Wshadow -pedantic -Werror -I"$include" -o "$@" -L"$EVENSTEP_BUILD" -levenstep; }
run() { timeout 200 evenstep run --local 3 --metrics equal --persistent "$@" 2>err; }
seq 0 99 | awk '{ print $1 * $1 }' >squares
seq 1000 1099 >lines

command -v g++ >/dev/null && test_set_prereq CXX
test_expect_success CXX 'C++: the example, alone and under evenstep run' '
	compile squares-cpp "$S/contrib/cxx/squares.cpp" && ./squares-cpp >out && test_cmp squares out && run --range 0:100 -- ./squares-cpp >out && test_cmp squares out
'
test_expect_success CXX 'C++: work that throws gives its slice back; errors are exceptions; labels, waiting, lines, moves' '
	cat >all.cpp <<-\END && compile all all.cpp && run --lines lines --retries 1 --policy static --pieces 1 -- "$PWD/all" >out && test_cmp lines out && test -e thrown
	#include <cstdio>
	#include <evenstep.hpp>
	#include <stdexcept>
	#include <unistd.h>

	static void fails(int number, void (*f)())
	{
	    try {
	        f();
	    } catch (const std::system_error &e) {
	        if (e.code().value() == number)
	            return;
	    }
	    throw std::logic_error("no error, or another one");
	}

	int main()
	{
	    evenstep::session session;
	    auto m = evenstep::redistribute({{0, 4}, {4, 8}}, {{0, 6}, {6, 8}}, 0);

	    if (session.alone() || m.receive_count != std::vector<int>{4, 2} || m.receive_at != std::vector<int>{0, 4})
	        return 3;
	    fails(EISCONN, [] { evenstep::session second; });
	    fails(EINVAL, [] { evenstep::redistribute({{0, 4}}, {}, 0); });
	    while (!session.wait(100)) {}
	    for (const auto &s : session) {
	        char line[64];
	        FILE *lines = fdopen(dup(session.lines()), "r");

	        if (s.first == 0 && access("thrown", F_OK) != 0) {
	            std::fclose(std::fopen("thrown", "w"));
	            throw std::runtime_error("once");
	        }
	        for ([[maybe_unused]] auto unit : s.units())
	            if (std::fgets(line, sizeof line, lines))
	                std::cout << s.label << line;
	        std::fclose(lines);
	    }
	}
	END
'
command -v gfortran >/dev/null && test_set_prereq FORTRAN
test_expect_success FORTRAN 'Fortran: owner, neighbours, weights, moves' '
	cat >moves.f90 <<-\END && gfortran -std=f2008 -Wall -Werror -o moves "$include/evenstep.f90" moves.f90 -L"$EVENSTEP_BUILD" -levenstep && ./moves >out && printf "%s\n" 1 "3 7" "0 1" "0 0 4 2 0 4" -1 | test_cmp - out
	program main
	   use evenstep
	   use, intrinsic :: iso_c_binding
	   implicit none
	   type(evenstep_range) :: has(2), wants(2), r
	   integer(c_int) :: s(2), sa(2), g(2), ga(2), rc
	   has = [evenstep_range(0, 4), evenstep_range(4, 8)]
	   wants = [evenstep_range(0, 6), evenstep_range(6, 8)]
	   print "(i0)", evenstep_owner(has, 2_c_int, 5_c_int64_t)
	   r = evenstep_widened(evenstep_range(4, 6), 1_c_int64_t, 8_c_int64_t)
	   print "(i0, 1x, i0)", r%begin, r%end
	   rc = evenstep_weighted(evenstep_range(0, 50), 100_c_int64_t, [3d0, 1d0, 2d0], 3_c_int64_t, r)
	   print "(i0, 1x, i0)", r%begin, r%end
	   if (evenstep_redistribute(has, wants, 0_c_int, s, sa, g, ga) < 0) error stop
	   print "(5(i0, 1x), i0)", s(2), sa(2), g, ga
	   print "(i0)", evenstep_redistribute(has, wants(1:1), 0_c_int, s, sa, g, ga)
	end program main
	END
'
command -v Rscript >/dev/null && test_set_prereq R
test_expect_success R 'R: the example' '
	cp "$S"/contrib/r/* . && PKG_CFLAGS="-I$include" PKG_LIBS="-L$EVENSTEP_BUILD -levenstep" R CMD SHLIB evenstep_r.c >log 2>&1 && Rscript squares.R >out && test_cmp squares out && run --range 0:100 -- Rscript squares.R >out && test_cmp squares out
'
lapplied() { timeout 200 Rscript --vanilla lapply.R "$@" >out 2>err; }
test_expect_success R 'R: lapply over the nodes, with names, arguments, exports and packages; it needs nothing that was compiled' '
	mkdir lapply && cp "$S/contrib/r/evenstep.R" lapply && cat >lapply.R <<-\END && lapplied; code=$?; cat err; test $code = 0 && mentioned "^local[01]: noise$" && printf "%s\n" "a=7 b=9 d=23" TRUE TRUE TRUE TRUE 0 >want && test_cmp want out
	source("lapply/evenstep.R")
	k <- 5
	f <- function(x, y) { cat("noise\n"); x * y + k + (file_ext("x.y") != "y") }
	results <- evenstep_lapply(c(a = 1, b = 2, d = 9), f, 2, local = 2, export = "k", packages = "tools")
	cat(paste0(names(results), "=", results), "\n", sep = c(" ", " ", ""))
	cat(identical(evenstep_lapply(1:200, function(x) x^2, local = "3=80,40,20"), lapply(1:200, function(x) x^2)), "\n", sep = "")
	odd <- list(NULL, "a\nb \u00fc", c(x = NA), function(z) z + 1, data.frame(n = 1:3))
	cat(identical(evenstep_lapply(odd[-4], identity, local = 2, slots = 2), odd[-4]), "\n", sep = "")
	cat(evenstep_lapply(odd[4], function(g) g(1), local = 1)[[1]] == 2, "\n", sep = "")
	cat(identical(evenstep_lapply(factor(c("u", "v")), as.character, local = 1), list("u", "v")), "\n", sep = "")
	cat(length(evenstep_lapply(list(), f, local = 2)), "\n", sep = "")
	END
'
test_expect_success R 'R: an item that fails, or ends its R, is named with its node; the rest is done' '
	{ seq 1 6; echo "7 evenstep_lapply: item 7 failed on local: seven"; echo 8; echo "9 evenstep_lapply: item 9 failed on local: the R that did it exited with status 3"; seq 10 20; } >want && cat >lapply.R <<-\END && ! lapplied stop && tail -n 2 err | grep -x "Error: evenstep_lapply: item 7 failed on local[01]: seven" && lapplied keep && cat err && sed "s/local[01]/local/" out >got && test_cmp want got && test -z "$(find . -name "evenstep-lapply-*")"
	source("lapply/evenstep.R")
	f <- function(x) {
	    if (x == 7) stop("seven")
	    if (x == 9) quit(status = 3)
	    x
	}
	keep <- commandArgs(TRUE) == "keep"
	results <- evenstep_lapply(if (keep) 1:20 else 1:8, f, local = 2, keep_errors = keep)
	for (result in results)
	    cat(if (inherits(result, "error")) paste(result$index, conditionMessage(result)) else result, "\n", sep = "")
	END
'
test_expect_success R 'R: no job; no program; options that are refused' '
	echo "source(\"lapply/evenstep.R\"); evenstep_lapply(1:2, identity)" >lapply.R && ! lapplied && mentioned "^Error: evenstep_lapply: this is no Slurm job: start R by salloc or sbatch, or say local = 4 for four workers on this machine$" &&
	echo "source(\"lapply/evenstep.R\"); evenstep_lapply(1:2, identity, local = 1, options = \"--nonsense\")" >lapply.R && ! lapplied && mentioned "^evenstep: --nonsense: no such option" && mentioned "^Error: evenstep_lapply: evenstep run has ended with exit status 2$" &&
	! EVENSTEP=/nowhere lapplied && mentioned "^Error: evenstep_lapply: there is no program /nowhere: put its folder into PATH, or its path into the variable EVENSTEP$"
'
Rscript --vanilla -e 'library(future)' >/dev/null 2>&1 && test_set_prereq FUTURE
futures() { timeout 200 Rscript --vanilla futures.R >out 2>err; }
no_futures() { test -z "$(ls -d evenstep-future-* 2>&-)"; }
test_expect_success FUTURE 'R: futures: values, globals, output, warnings and seeds; errors, of R and of a process that is killed; nothing is left' '
	cat >futures.R <<-END && futures; code=$?; cat err; test $code = 0 && cat >want <<-\WANT && test_cmp want out && mentioned "a warning$" && wait_for 60 no_futures
	library(future)
	source("$S/contrib/r/evenstep_future.R")
	plan(evenstep, workers = 2)
	cat(nbrOfWorkers(), "\n", sep = "")
	k <- 5
	f <- function(x) { g(x) + k }
	g <- function(x) x * x
	all <- lapply(1:6, function(i) future(f(i)))
	cat(unlist(value(all)), "\n")
	a %<-% { cat("printed\n"); warning("a warning"); tools::file_ext("x.y") }
	cat(a, "\n")
	cat(identical(value(future(rnorm(1), seed = 42L)), value(future(rnorm(1), seed = 42L))), "\n")
	bad <- list(future(stop("seven")), future(tools::pskill(Sys.getpid(), 9)), future(quit(status = 0)))
	for (one in bad) {
	    error <- tryCatch(value(one), error = identity)
	    cat(inherits(error, "FutureError"), sub(" on .*", "", conditionMessage(error)), "\n")
	}
	lazy <- future(k, lazy = TRUE)
	while (!resolved(lazy)) Sys.sleep(0.01)
	cat(value(lazy), "\n")
	END
	2
	6 9 14 21 30 41 
	printed
	y 
	TRUE 
	FALSE seven 
	TRUE evenstep: the R of this future was killed by signal 9 
	TRUE evenstep: the R of this future exited with status 1 
	5 
	WANT
'
test_expect_success FUTURE 'R: R is killed: so are its futures' '
	cat >futures.R <<-END && ends_with_test && behind Rscript --vanilla futures.R && wait_for 60 test -e began && kill -9 $run && wait_for 60 no_futures && wait_for 60 dead $(cat began)
	library(future)
	source("$S/contrib/r/evenstep_future.R")
	plan(evenstep, workers = 1)
	value(future({ writeLines(as.character(Sys.getpid()), "$PWD/part"); file.rename("$PWD/part", "$PWD/began"); Sys.sleep(1000) }))
	END
'
command -v julia >/dev/null && test_set_prereq JULIA
test_expect_success JULIA 'Julia: the example' '
	run --range 0:100 -- julia "$S/contrib/julia/squares.jl" >out && test_cmp squares out
'
test_done
