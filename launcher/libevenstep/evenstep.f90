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
module evenstep
   use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
   implicit none
   private
   public :: evenstep_work, evenstep_tick, evenstep_threads, evenstep_count
   public :: evenstep_open, evenstep_open_flags, evenstep_survives
   public :: evenstep_next, evenstep_frame, evenstep_done, evenstep_close

   integer, parameter :: evenstep_count = c_int64_t
   integer(c_int), parameter :: evenstep_survives = 1

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
   end interface
end module evenstep
