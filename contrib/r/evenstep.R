# SPDX-License-Identifier: BSD-2-Clause
#
# evenstep.R - evenstep for R: source() this file.
#
# evenstep_lapply() needs Rscript on the nodes, and nothing else: no package, no
# compiler.  evenstep_slices(), for programs that stay alive from slice to slice,
# calls libevenstep; build that once, in this folder:
#
#     PKG_CFLAGS=$(pkg-config --cflags evenstep) \
#         PKG_LIBS=$(pkg-config --libs evenstep) R CMD SHLIB evenstep_r.c
#
# and have it as the working directory, or set EVENSTEP_R to the path of evenstep_r.so.

# Calls work(units, frame) for each slice; units count from 0, and may be none.
evenstep_slices <- function(work, units = 1, frames = 0) {
    if (!is.loaded("es_open"))
        dyn.load(Sys.getenv("EVENSTEP_R", "evenstep_r.so"))
    .Call("es_open", units, frames)
    on.exit(.Call("es_close"))
    while (!is.null(slice <- .Call("es_next"))) {
        work(slice[1] + seq_len(slice[2] - slice[1]) - 1, slice[3])
        .Call("es_done")
    }
}

# As lapply(X, FUN, ...), over the nodes of the job; each gets as many items as it can
# do in the time of the others.
#
#     local      without Slurm: workers on this machine, 4, or "4=80,40,20,10" with so
#                many percent of a core each
#     slots      processes a node: a number, or "cores"; by default "cores" in a job,
#                one each with local
#     export     names of variables of the caller's that FUN refers to: a function that
#                is defined at the top of a script takes none along
#     packages   that FUN needs: library() is called for them
#     keep_errors  an item that fails, or ends its R, gives an error of the class
#                evenstep_item_error among the results, with index and node; without it
#                the first one is raised when all others are done
#     rscript    what starts R on a node: c("apptainer", "exec", "r.sif", "Rscript")
#     options    more of those of `evenstep run`: c("--report", "r.json")
#
# What FUN prints comes to stderr when the run ends.
evenstep_lapply <- function(X, FUN, ..., local = NULL, slots = NULL, export = character(),
                            packages = character(), keep_errors = FALSE,
                            rscript = file.path(R.home("bin"), "Rscript"),
                            options = character()) {
    FUN <- match.fun(FUN)
    if (!is.vector(X) || is.object(X))
        X <- as.list(X)
    if (is.null(local) && Sys.getenv("SLURM_JOB_ID") == "")
        stop("evenstep_lapply: this is no Slurm job: start R by salloc or sbatch, ",
             "or say local = 4 for four workers on this machine", call. = FALSE)
    program <- Sys.getenv("EVENSTEP", "evenstep")
    if (Sys.which(program) == "")
        stop("evenstep_lapply: there is no program ", program, ": put its folder into PATH, ",
             "or its path into the variable EVENSTEP", call. = FALSE)
    if (length(X) == 0)
        return(lapply(X, FUN))
    folder <- tempfile("evenstep-lapply-")
    dir.create(folder, mode = "0700")
    on.exit(unlink(folder, recursive = TRUE))
    task <- list(fun = FUN, dots = list(...), packages = packages,
                 values = mget(export, envir = parent.frame(), inherits = TRUE))
    items <- vapply(seq_along(X), function(i) evenstep_pack(X[[i]]), "")
    worker <- as.call(list(evenstep_worker, quote(input)))
    writeLines(c(evenstep_pack(worker), evenstep_pack(task), items), file.path(folder, "items"))
    if (is.null(slots))
        slots <- if (is.null(local)) "cores" else 1
    words <- file.path(folder, "words")
    arguments <- c("run", if (!is.null(local)) paste0("--local=", local), paste0("--slots=", slots),
                   "--header=2", paste0("--lines=", file.path(folder, "items")),
                   paste0("--stdout=", file.path(folder, "out", "{begin}")), "--no-sync",
                   "--retries=1", "--bisect", "--keep-going", options, "--", rscript, "--vanilla", "-e",
                   paste('input <- file("stdin", "r"); code <- readLines(input, 1); at <- seq(1, nchar(code), 2);',
                         "eval(unserialize(as.raw(strtoi(substring(code, at, at + 1), 16L))))"))
    status <- suppressWarnings(system2(program, shQuote(arguments), stdout = FALSE, stderr = words))
    said <- if (file.exists(words)) readLines(words, warn = FALSE) else character()
    writeLines(said, stderr())
    results <- evenstep_results(folder, length(X), said)
    if (status > 1 || (status == 1 && !any(vapply(results, inherits, NA, "evenstep_item_error"))))
        stop("evenstep_lapply: evenstep run has ended with exit status ", status, call. = FALSE)
    for (result in if (!keep_errors) results)
        if (inherits(result, "evenstep_item_error"))
            stop(result)
    names(results) <- names(X)
    results
}

# --- its parts: of one value a line of hexadecimal digits, and back ------------------
evenstep_pack <- function(value)
    paste(as.character(serialize(value, NULL)), collapse = "")

evenstep_unpack <- function(line) {
    digits <- match(charToRaw(line), charToRaw("0123456789abcdef")) - 1L
    odd <- c(TRUE, FALSE)
    unserialize(as.raw(16L * digits[odd] + digits[!odd]))
}

evenstep_item_error <- function(index, node, why)
    structure(class = c("evenstep_item_error", "error", "condition"),
              list(message = paste0("evenstep_lapply: item ", index, " failed",
                                    if (node != "") paste0(" on ", node), ": ", why),
                   call = NULL, index = index, node = node))

# What the nodes have written, in the order of the items.  One without a result has
# ended its R: evenstep has looked for it, and says how.
evenstep_results <- function(folder, count, said) {
    results <- lapply(seq_len(count), function(i) {
        mine <- grep(paste0("^evenstep: left out: frame 1, line ", i + 2, ", "), said, value = TRUE)
        how <- regmatches(mine, regexec(", line \\d+, (\\S+): (.*)", mine))
        if (length(how) == 0)
            evenstep_item_error(i, "", "the R that did it has ended")
        else
            evenstep_item_error(i, how[[1]][2], paste("the R that did it", how[[1]][3]))
    })
    for (name in list.files(file.path(folder, "out"))) {
        lines <- grep("^evenstep:", readLines(file.path(folder, "out", name), warn = FALSE), value = TRUE)
        for (i in seq_along(lines)) {
            index <- as.numeric(name) + i
            one <- evenstep_unpack(sub("evenstep:", "", lines[i], fixed = TRUE))
            results[index] <- list(if (one$is_error) evenstep_item_error(index, one$node, one$value) else one$value)
        }
    }
    results
}

# On a node, by Rscript: does the items of a piece.  It knows nothing of this file.
evenstep_worker <- function(input) {
    unpack <- function(line) {
        digits <- match(charToRaw(line), charToRaw("0123456789abcdef")) - 1L
        odd <- c(TRUE, FALSE)
        unserialize(as.raw(16L * digits[odd] + digits[!odd]))
    }
    output <- file("/dev/fd/1", "w", raw = TRUE)
    sink(stderr())
    task <- unpack(readLines(input, 1))
    for (package in task$packages)
        library(package, character.only = TRUE)
    list2env(task$values, globalenv())
    while (length(line <- readLines(input, 1)) == 1) {
        result <- tryCatch(
            list(is_error = FALSE, value = do.call(task$fun, c(list(unpack(line)), task$dots), quote = TRUE)),
            error = function(e) list(is_error = TRUE, value = conditionMessage(e)))
        result$node <- Sys.getenv("EVENSTEP_NODE")
        writeLines(paste0("evenstep:", paste(as.character(serialize(result, NULL)), collapse = "")), output)
    }
    close(output)
}
