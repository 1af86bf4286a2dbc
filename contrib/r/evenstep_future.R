# SPDX-License-Identifier: BSD-2-Clause
#
# evenstep_future.R - futures of R's package future on evenstep: source() this file, and
#
#     plan(evenstep)                    in a job of Slurm, all cores of its nodes
#     plan(evenstep, workers = 4)       without Slurm, four at once on this machine
#
# and use future(), %<-%, or what is made on them: future.apply, furrr, doFuture.  Each
# future is a task of one `evenstep tasks --follow`, which begins with the first of them
# and ends with this R; it starts an R of its own.  The nodes need R, the package future,
# and to see the folder.  What still runs when this R ends is ended, too.
#
#     workers    how many future.apply and the like shall make parts for
#     folder     where its files are while it lasts, in one that is removed at the end:
#                in a job the working directory, else R's temporary one
#     rscript    what starts R on a node: c("apptainer", "exec", "r.sif", "Rscript")
#     options    of `evenstep tasks`: c("--cpus", "4")
#
# A future whose R dies, or is killed, is a FutureError with the node and how.
evenstep <- function(expr, envir = parent.frame(), substitute = TRUE, lazy = FALSE, globals = TRUE, packages = NULL,
                     workers = length(parallelly::availableWorkers()), folder = NULL,
                     rscript = file.path(R.home("bin"), "Rscript"), options = character(), ...) {
    if (substitute)
        expr <- substitute(expr)
    if (is.function(workers))
        workers <- workers()
    found <- future::getGlobalsAndPackages(expr, envir = envir, globals = globals)
    future <- future::MultiprocessFuture(expr = found$expr, substitute = FALSE, envir = envir, lazy = lazy,
                                         globals = found$globals, packages = unique(c(packages, found$packages)),
                                         workers = workers, ...)
    future$place <- list(workers = workers, folder = folder, rscript = rscript, options = options)
    class(future) <- c("EvenstepFuture", class(future))
    if (lazy) future else future::run(future)
}
class(evenstep) <- c("evenstep", "multiprocess", "future", "function")

run.EvenstepFuture <- function(future, ...) {
    if (future$state != "created")
        stop(future::FutureError("evenstep: a future runs once", future = future))
    follow <- evenstep_follow(future$place)
    follow$count <- follow$count + 1
    future$follow <- follow
    future$name <- file.path(follow$folder, follow$count)
    globals <- unclass(future$globals)
    attributes(globals) <- list(names = names(globals))
    saveRDS(list(expr = future::getExpression(future), globals = globals, libraries = .libPaths()),
            paste0(future$name, ".task"), compress = FALSE)
    line <- paste(c(shQuote(c(future$place$rscript, "--vanilla", file.path(follow$folder, "worker.R"), future$name)),
                    "</dev/null && test -e", shQuote(paste0(future$name, ".result")), "# future", follow$count), collapse = " ")
    evenstep_list("--add", "-", follow$list, input = line)
    future$state <- "running"
    invisible(future)
}

resolved.EvenstepFuture <- function(x, ...) {
    if (x$state == "running" && !identical(evenstep_how(x), "running"))
        tryCatch(future::result(x), FutureError = identity) # which value() raises
    NextMethod()
}

result.EvenstepFuture <- function(future, ...) {
    if (future$state == "created")
        future <- future::run(future)
    pause <- 0.01
    while (future$state == "running") {
        how <- evenstep_how(future)
        if (identical(how, "running")) {
            Sys.sleep(pause)
            pause <- min(pause * 1.2, 0.5)
        } else if (identical(how, "done")) {
            future$result <- readRDS(paste0(future$name, ".result"))
            future$state <- "finished"
        } else {
            future$result <- future::FutureError(how, future = future)
            future$state <- "failed"
        }
    }
    unlink(paste0(future$name, c(".task", ".result")))
    if (inherits(future$result, "FutureError"))
        stop(future$result)
    future$result
}
for (name in if (requireNamespace("future", quietly = TRUE)) c("run", "resolved", "result"))
    registerS3method(name, "EvenstepFuture", get(paste0(name, ".EvenstepFuture")), envir = asNamespace("future"))

# --- its parts -----------------------------------------------------------------------
evenstep_follows <- new.env() # those that run, by their place

evenstep_program <- function() {
    program <- Sys.getenv("EVENSTEP", "evenstep")
    if (Sys.which(program) == "")
        stop("evenstep: there is no program ", program, ": put its folder into PATH, ",
             "or its path into the variable EVENSTEP", call. = FALSE)
    program
}

evenstep_list <- function(..., input = NULL)
    if (system2(evenstep_program(), c("tasks", shQuote(c(...))), input = input, stdout = FALSE) != 0)
        stop("evenstep: evenstep tasks ", ..1, " has failed", call. = FALSE)

# The evenstep of this place, which runs.
evenstep_follow <- function(place) {
    key <- paste(deparse(place), collapse = "")
    follow <- evenstep_follows[[key]]
    if (!is.null(follow) && !file.exists(follow$ended))
        return(follow)
    in_job <- Sys.getenv("SLURM_JOB_ID") != ""
    if (is.null(place$folder))
        place$folder <- if (in_job) getwd() else dirname(tempdir())
    follow <- new.env()
    follow$folder <- tempfile("evenstep-future-", normalizePath(place$folder))
    for (one in c("list", "joblog", "words", "ended"))
        follow[[one]] <- file.path(follow$folder, one)
    follow$count <- 0
    if (!dir.create(follow$folder, mode = "0700") || !file.create(follow$list))
        stop("evenstep: ", follow$folder, ": it cannot be made: name a folder in plan(evenstep, folder = ...)", call. = FALSE)
    writeLines(c("evenstep_worker <-", deparse(evenstep_future_worker), "evenstep_worker(commandArgs(TRUE))"),
               file.path(follow$folder, "worker.R"))
    command <- c(evenstep_program(), "tasks", "--follow", follow$list, "--unordered", "--joblog", follow$joblog,
                 if (!in_job) c("-j", place$workers), place$options)
    # In a session of its own, as a Ctrl-C at R's prompt is not for it.  It ends with this R.
    script <- 'cd "$1" && r=$2 && shift 2 || exit
        "$@" & run=$!
        { while kill -0 "$r"; do sleep 1; done; test -e ended || kill "$run"; } 2>/dev/null & watch=$!
        wait "$run"; echo $? >ended; wait "$watch"; rm -rf "$PWD"'
    system2("setsid", shQuote(c("sh", "-c", script, "sh", follow$folder, Sys.getpid(), command)),
            stdout = follow$words, stderr = follow$words, wait = FALSE)
    evenstep_follows[[key]] <- follow
}

# How it is with a future: "running", "done", or what went wrong.
evenstep_how <- function(future) {
    follow <- future$follow
    if (file.exists(paste0(future$name, ".result")))
        return("done")
    size <- file.size(follow$joblog)
    if (!is.na(size) && !identical(size, follow$size)) {
        lines <- grep("# future \\d+\t", readLines(follow$joblog, warn = FALSE), value = TRUE)
        follow$rows <- strsplit(lines, "\t")
        names(follow$rows) <- sub(".*# future (\\d+)\t.*", "\\1", lines)
        follow$size <- size
    }
    row <- follow$rows[[basename(future$name)]]
    if (is.null(row) && !file.exists(follow$ended))
        return("running")
    if (is.null(row))
        return(paste(c("evenstep: it has ended before this future:", utils::tail(readLines(follow$words), 5)), collapse = "\n"))
    if (row[7] == "0" && row[8] == "0") # a file system may show the result later
        return("running")
    status <- as.integer(row[7])
    signal <- if (row[8] != "0") row[8] else if (status > 128) status - 128 else 0 # of its shell, which says it so
    paste0("evenstep: the R of this future ", if (signal != 0) paste("was killed by signal", signal)
           else paste("exited with status", status), " on ", trimws(row[2]))
}

# On a node, by Rscript.  It knows nothing of this file.
evenstep_future_worker <- function(name) {
    task <- readRDS(paste0(name, ".task"))
    .libPaths(task$libraries)
    list2env(task$globals, globalenv())
    result <- eval(task$expr, globalenv())
    saveRDS(result, paste0(name, ".part"), compress = FALSE)
    file.rename(paste0(name, ".part"), paste0(name, ".result"))
}
