! SPDX-License-Identifier: BSD-2-Clause
!
! The slices and the progress meter of libevenstep for Fortran; evenstep.h says
! what they mean.
! Compile it with the program that uses it, and link with -levenstep.
!
!   use evenstep
!   call evenstep_work(int(rows, evenstep_count))
!   do row = 1, rows
!      call compute(row)
!      call evenstep_tick(int(row, evenstep_count))
!   end do
!
! A slice is the units from begin up to, not with, end:
!
!   if (evenstep_open(1000_evenstep_count, 20_evenstep_count) < 0) error stop
!   do while (evenstep_next(begin, end) > 0)
!      ...
!      if (evenstep_done() < 0) error stop
!   end do
!   call evenstep_close()
!
! What moves when slices change, for MPI_Alltoallv: each array has an element a
! rank, counts and displacements are in units.
!
!   if (evenstep_redistribute(has, wants, rank, send_count, send_at, &
!                             receive_count, receive_at) < 0) error stop
!
! Where all tasks of the step listen, once each has said so:
!
!   if (evenstep_listen(port) < 0) error stop
!   if (evenstep_peer(rank, peer) < 0) error stop
!
module evenstep
   use, intrinsic :: iso_c_binding, only: c_double, c_int, c_int8_t, &
      c_int16_t, c_int32_t, c_int64_t, c_loc, c_ptr
   implicit none
   private
   public :: evenstep_work, evenstep_tick, evenstep_threads, evenstep_count
   public :: evenstep_open, evenstep_open_flags, evenstep_survives
   public :: evenstep_next, evenstep_frame, evenstep_done, evenstep_close
   public :: evenstep_range, evenstep_owner, evenstep_widened
   public :: evenstep_weighted, evenstep_redistribute
   public :: evenstep_peers, evenstep_peer, evenstep_listen

   integer, parameter :: evenstep_count = c_int64_t
   integer(c_int), parameter :: evenstep_survives = 1

   type, bind(c) :: evenstep_range
      integer(c_int64_t) :: begin, end
   end type evenstep_range

   ! struct evenstep_peer; its numbers have no sign: iand(int(p%tcp_port), 65535)
   type, bind(c) :: evenstep_peers
      integer(c_int8_t) :: address(16), ip(16)
      integer(c_int64_t) :: network
      integer(c_int32_t) :: lid, port, rate_mbps, node
      integer(c_int16_t) :: local_rank, window, tcp_port
      integer(c_int8_t) :: lmc, link
   end type evenstep_peers

   type, bind(c) :: moves
      type(c_ptr) :: send_count, send_at, receive_count, receive_at
   end type moves

   interface
      subroutine evenstep_work(total) bind(c)
         import :: c_int64_t
         integer(c_int64_t), value :: total
      end subroutine evenstep_work

      subroutine evenstep_tick(done) bind(c)
         import :: c_int64_t
         integer(c_int64_t), value :: done
      end subroutine evenstep_tick

      integer(c_int) function evenstep_threads() bind(c)
         import :: c_int
      end function evenstep_threads

      integer(c_int) function evenstep_peer(rank, peer) bind(c)
         import :: c_int, c_int32_t, evenstep_peers
         integer(c_int32_t), value :: rank
         type(evenstep_peers), intent(out) :: peer
      end function evenstep_peer

      integer(c_int) function evenstep_listen(port) bind(c)
         import :: c_int
         integer(c_int), value :: port
      end function evenstep_listen

      integer(c_int) function evenstep_open(units, frames) bind(c)
         import :: c_int, c_int64_t
         integer(c_int64_t), value :: units, frames
      end function evenstep_open

      integer(c_int) function evenstep_open_flags(units, frames, flags) bind(c)
         import :: c_int, c_int64_t
         integer(c_int64_t), value :: units, frames
         integer(c_int), value :: flags
      end function evenstep_open_flags

      integer(c_int) function evenstep_next(begin, end) bind(c)
         import :: c_int, c_int64_t
         integer(c_int64_t), intent(out) :: begin, end
      end function evenstep_next

      integer(c_int64_t) function evenstep_frame() bind(c)
         import :: c_int64_t
      end function evenstep_frame

      integer(c_int) function evenstep_done() bind(c)
         import :: c_int
      end function evenstep_done

      subroutine evenstep_close() bind(c)
      end subroutine evenstep_close

      integer(c_int) function evenstep_owner(slice, ranks, unit) bind(c)
         import :: c_int, c_int64_t, evenstep_range
         type(evenstep_range), intent(in) :: slice(*)
         integer(c_int), value :: ranks
         integer(c_int64_t), value :: unit
      end function evenstep_owner

      type(evenstep_range) function evenstep_widened(slice, by, units) bind(c)
         import :: c_int64_t, evenstep_range
         type(evenstep_range), value :: slice
         integer(c_int64_t), value :: by, units
      end function evenstep_widened

      integer(c_int) function evenstep_weighted(slice, parts, weight, units, &
                                                part) bind(c)
         import :: c_double, c_int, c_int64_t, evenstep_range
         type(evenstep_range), value :: slice
         integer(c_int64_t), value :: parts, units
         real(c_double), intent(in) :: weight(*)
         type(evenstep_range), intent(out) :: part
      end function evenstep_weighted

      integer(c_int) function redistribute(has, wants, ranks, rank, to) &
         bind(c, name='evenstep_redistribute')
         import :: c_int, evenstep_range, moves
         type(evenstep_range), intent(in) :: has(*), wants(*)
         integer(c_int), value :: ranks, rank
         type(moves), intent(in) :: to
      end function redistribute
   end interface

contains

   integer(c_int) function evenstep_redistribute(has, wants, rank, send_count, &
         send_at, receive_count, receive_at)
      type(evenstep_range), intent(in) :: has(:), wants(:)
      integer(c_int), intent(in) :: rank
      integer(c_int), intent(out), contiguous, target :: send_count(:), &
         send_at(:), receive_count(:), receive_at(:)
      type(moves) :: to

      evenstep_redistribute = -1
      if (any([size(wants), size(send_count), size(send_at), &
               size(receive_count), size(receive_at)] /= size(has))) return
      to = moves(c_loc(send_count), c_loc(send_at), c_loc(receive_count), &
                 c_loc(receive_at))
      evenstep_redistribute = redistribute(has, wants, &
                                           int(size(has), c_int), rank, to)
   end function evenstep_redistribute
end module evenstep
