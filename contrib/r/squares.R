# SPDX-License-Identifier: BSD-2-Clause
#
# squares.R - prints the square of each unit of its slices.
#
#     evenstep run --local 4 --persistent --range 0:100 -- Rscript squares.R

source("evenstep.R")
evenstep_slices(function(units, frame) {
    for (unit in units)
        cat(unit * unit, "\n", sep = "")
}, units = 100, frames = 1)
