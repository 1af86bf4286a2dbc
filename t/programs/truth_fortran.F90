! SPDX-License-Identifier: BSD-2-Clause
! truth_fortran CASE [MILLISECONDS [FILE]]: as truth.c, by mpif.h or, with -DF08, by
! module mpi_f08.
program truth_fortran
#ifdef F08
    use mpi_f08
#endif
    implicit none
#ifndef F08
    include 'mpif.h'
#define MPI_REQUEST_TYPE integer
#define MPI_FILE_TYPE integer
#else
#define MPI_REQUEST_TYPE type(MPI_Request)
#define MPI_FILE_TYPE type(MPI_File)
#endif
    integer, parameter :: rounds = 8
    character(len=4096) :: name, word, path
    double precision :: unit, useful, left, began
    integer :: rank, ranks, ierr, i

    call get_command_argument(1, name)
    call get_command_argument(2, word)
    call get_command_argument(3, path)
    unit = 20
    if (word /= '') read (word, *) unit
    call MPI_Init(ierr)
    call leave()
    began = left
    useful = 0
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    if (name == 'write_all') then
        call write_all()
    else
        do i = 1, rounds
            call work(merge(4d0, 1d0, rank == ranks - 1))
            if (name == 'uneven') call uneven()
            if (name == 'test') call test()
            if (name == 'halo') call halo()
        end do
    end if
    call enter()
    call MPI_Finalize(ierr)
    call leave()
    write (*, '(a,i0,a,f10.6,a,f10.6)') 'rank ', rank, ' useful ', useful, ' elapsed ', left - began
    if (rank == 0) write (*, '(a,i0)') 'verdict more work; rank ', ranks - 1

contains

    double precision function seconds()
        integer(8) :: now, rate

        call system_clock(now, rate)
        seconds = dble(now)/dble(rate)
    end function

    subroutine enter()
        useful = useful + seconds() - left
    end subroutine

    subroutine leave()
        left = seconds()
    end subroutine

    subroutine work(units)
        double precision, intent(in) :: units
        double precision :: until, is
        double precision, volatile :: x
        integer :: k

        call cpu_time(is)
        until = is + units*unit/1d3
        x = 1
        do while (is < until)
            do k = 1, 10000
                x = x*1.0000001d0 + 1d-9
            end do
            call cpu_time(is)
        end do
    end subroutine

    subroutine uneven()
        integer :: mine, got

        mine = rank
        call enter()
        call MPI_Allreduce(mine, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
        call leave()
    end subroutine

    subroutine test()
        MPI_REQUEST_TYPE :: request
        logical :: is_done

        call enter()
        call MPI_Ibarrier(MPI_COMM_WORLD, request, ierr)
        is_done = .false.
        do while (.not. is_done)
            call MPI_Test(request, is_done, MPI_STATUS_IGNORE, ierr)
        end do
        call leave()
    end subroutine

    subroutine halo()
        integer :: mine, got, side, peer

        mine = rank
        do side = -1, 1, 2
            peer = rank + side
            if (peer < 0 .or. peer >= ranks) cycle
            call enter()
            call MPI_Sendrecv(mine, 1, MPI_INTEGER, peer, 3, got, 1, MPI_INTEGER, peer, 3, &
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
            call leave()
        end do
    end subroutine

    subroutine write_all()
        MPI_FILE_TYPE :: file
        integer :: mine
        integer(MPI_OFFSET_KIND) :: at

        mine = rank
        at = 64*rank
        call enter()
        call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
                           MPI_INFO_NULL, file, ierr)
        call leave()
        do i = 1, rounds
            call work(merge(4d0, 1d0, rank == ranks - 1))
            call enter()
            call MPI_File_write_at_all(file, at, mine, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
            call leave()
        end do
        call enter()
        call MPI_File_close(file, ierr)
        call leave()
    end subroutine
end program
