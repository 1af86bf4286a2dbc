! SPDX-License-Identifier: BSD-2-Clause
!
! mpi_fortran: 10 rounds of what waits, by the old module or, with -DF08, the new
! one.  Rank 0 prints a digest of what they brought.
program mpi_fortran
#ifdef F08
   use mpi_f08
   implicit none
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#else
   use mpi
   implicit none
#define COMM integer
#define REQUEST integer
#endif
   integer :: i, rank, ranks, ierr, got, total, digest
   COMM :: copy, half
   REQUEST :: pending(2)

   call MPI_Init(ierr)
   call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
   digest = 0
   do i = 1, 10
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
      call MPI_Irecv(got, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), i, MPI_COMM_WORLD, pending(1), ierr)
      call MPI_Isend(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), i, MPI_COMM_WORLD, pending(2), ierr)
      call MPI_Waitall(2, pending, MPI_STATUSES_IGNORE, ierr)
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, ierr)
      call MPI_Allreduce(got, total, 1, MPI_INTEGER, MPI_SUM, half, ierr)
      call MPI_Comm_free(half, ierr)
      digest = mod(digest*31 + total + got, 100003)
      call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
      call MPI_Allreduce(digest, total, 1, MPI_INTEGER, MPI_MAX, copy, ierr)
      call MPI_Comm_free(copy, ierr)
      digest = mod(digest + total, 100003)
   end do
   call MPI_Reduce(digest, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
   if (rank == 0) print '(i0, a, i0)', ranks, ' ranks, digest ', total
   call MPI_Finalize(ierr)
end program mpi_fortran
