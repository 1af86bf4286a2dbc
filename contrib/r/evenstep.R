# SPDX-License-Identifier: BSD-2-Clause
#
# evenstep.R - slices from evenstep for R.  Build once, in this folder:
#
#     PKG_CFLAGS=$(pkg-config --cflags evenstep) \
#         PKG_LIBS=$(pkg-config --libs evenstep) R CMD SHLIB evenstep_r.c
#
# and source() this file with the folder as the working directory, or with
# EVENSTEP_R set to the path of evenstep_r.so.

dyn.load(Sys.getenv("EVENSTEP_R", "evenstep_r.so"))

# Calls work(units, frame) for each slice; units count from 0, and may be none.
evenstep_slices <- function(work, units = 1, frames = 0) {
    .Call("es_open", units, frames)
    on.exit(.Call("es_close"))
    while (!is.null(slice <- .Call("es_next"))) {
        work(slice[1] + seq_len(slice[2] - slice[1]) - 1, slice[3])
        .Call("es_done")
    }
}
