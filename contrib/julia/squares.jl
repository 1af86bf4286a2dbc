#!/usr/bin/env julia
# SPDX-License-Identifier: BSD-2-Clause
#
# squares.jl - prints the square of each unit of its slices: libevenstep by ccall.
#
#     evenstep run --local 4 --persistent --range 0:100 -- julia squares.jl

const libevenstep = get(ENV, "EVENSTEP_LIBRARY", "libevenstep.so.0")

check(rc, what) = rc < 0 ? throw(SystemError(what)) : rc

"Calls work(first:last, frame) for each slice, units numbered from 0."
function slices(work; units = 1, frames = 0)
    check(ccall((:evenstep_open, libevenstep), Cint, (UInt64, UInt64), units, frames), "evenstep_open")
    first, last = Ref{UInt64}(), Ref{UInt64}()
    try
        while true
            flush(stdout)
            check(ccall((:evenstep_next, libevenstep), Cint, (Ref{UInt64}, Ref{UInt64}), first, last), "evenstep_next") == 0 && break
            frame = ccall((:evenstep_frame, libevenstep), UInt64, ())
            work(Int(first[]):Int(last[])-1, Int(frame))
            flush(stdout)
            check(ccall((:evenstep_done, libevenstep), Cint, ()), "evenstep_done")
        end
    finally
        ccall((:evenstep_close, libevenstep), Cvoid, ())
    end
end

slices(units = 100, frames = 1) do range, frame
    for unit in range
        println(unit * unit)
    end
end
