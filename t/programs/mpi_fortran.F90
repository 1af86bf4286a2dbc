! SPDX-License-Identifier: BSD-2-Clause
!
! mpi_fortran: 10 rounds of what waits, by the old module or, with -DF08, the new
! one.  Rank 0 prints a digest of what they brought.  With the name of a file the
! ranks write that together at the end, and one has a window of the other's memory.
program mpi_fortran
#ifdef F08
   use mpi_f08
   implicit none
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#define FILE type(MPI_File)
#define WINDOW type(MPI_Win)
#else
   use mpi
   implicit none
#define COMM integer
#define REQUEST integer
#define FILE integer
#define WINDOW integer
#endif
   integer :: i, rank, ranks, ierr, got, total, digest
   COMM :: copy, half
   REQUEST :: pending(2)
   character(len=4096) :: path

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
   call get_command_argument(1, path)
   if (len_trim(path) > 0) call together(trim(path))
   call MPI_Reduce(digest, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
   if (rank == 0) print '(i0, a, i0)', ranks, ' ranks, digest ', total
   call MPI_Finalize(ierr)
contains
   subroutine together(name)
      character(len=*), intent(in) :: name
      integer(kind=MPI_OFFSET_KIND) :: nothing = 0
      integer(kind=MPI_ADDRESS_KIND) :: bytes = 4
      integer, asynchronous :: mine(1), memory(1)
      FILE :: f
      WINDOW :: w

      mine = 5 + rank
      memory = 0
      call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f, ierr)
      call MPI_File_set_view(f, nothing, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
      call MPI_File_write_ordered(f, mine, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
      call MPI_File_close(f, ierr)
      call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, w, ierr)
      call MPI_Win_fence(0, w, ierr)
      call MPI_Win_free(w, ierr)
      digest = digest + mine(1)
   end subroutine together
end program mpi_fortran
