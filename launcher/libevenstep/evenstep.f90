! SPDX-License-Identifier: BSD-2-Clause
!
! The progress meter of libevenstep for Fortran; evenstep.h says what it means.
! Compile it with the program that uses it, and link with -levenstep.
!
!   use evenstep
!   call evenstep_work(int(rows, evenstep_count))
!   do row = 1, rows
!      call compute(row)
!      call evenstep_tick(int(row, evenstep_count))
!   end do
!
module evenstep
   use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
   implicit none
   private
   public :: evenstep_work, evenstep_tick, evenstep_threads, evenstep_count

   integer, parameter :: evenstep_count = c_int64_t

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
   end interface
end module evenstep
