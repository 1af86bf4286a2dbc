/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/libevenstep/mpi_real.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Of MPICH and its kin (mpi.h since 1.1: the ABI of 2013). */
#define MPICH_COMM_WORLD 0x44000000L
#define MPICH_COMM_NULL  0x04000000L
#define MPICH_VERSION    8192 /* MPI_MAX_LIBRARY_VERSION_STRING */

typedef int size_fn(long comm, int *size);
typedef void fortran_size_fn(const void *comm, int *size, int *error);

static size_fn *size_of;
static fortran_size_fn *fortran_size_of;
static int has_int_handles;

/* --- what a C library may lack ---------------------------------------------- */

/* Of glibc before 2.34, in a program that has no libdl: the libc itself has these
 * to load one. */
void *__libc_dlopen_mode(const char *name, int mode);
void *__libc_dlsym(void *library, const char *name);
#pragma weak __libc_dlopen_mode
#pragma weak __libc_dlsym
#define INTERNALLY (int)0x80000000u /* __RTLD_DLOPEN */

typedef void *dlsym_fn(void *library, const char *name);

static dlsym_fn *find_dlsym(void)
{
    void *libdl;

    if (dlsym)
        return dlsym;
    libdl = __libc_dlopen_mode && __libc_dlsym
                ? __libc_dlopen_mode("libdl.so.2", RTLD_LAZY | INTERNALLY)
                : NULL;
    return libdl ? (dlsym_fn *)__libc_dlsym(libdl, "dlsym") : NULL;
}

void *mpi_real_next(const char *name)
{
    dlsym_fn *symbol = find_dlsym();

    return symbol ? symbol(RTLD_NEXT, name) : NULL;
}

/* glibc's pthread_atfork() is in no shared library since 2.3.2, musl's is. */
int __register_atfork(void (*prepare)(void),
                      void (*parent)(void),
                      void (*child)(void),
                      void *library);
#pragma weak __register_atfork
#pragma weak pthread_atfork
extern void *__dso_handle; /* of this library: the compiler's */

int mpi_real_at_fork(void (*in_child)(void))
{
    if (__register_atfork)
        return __register_atfork(NULL, NULL, in_child, __dso_handle);
    return pthread_atfork ? pthread_atfork(NULL, NULL, in_child) : -1;
}

/* --- MPI ------------------------------------------------------------------ */

/* The library whose own search has led to MPI, from dlopen(3). */
static _Atomic(void *) led_to_mpi;

static void *find_from(const char *name, const void *caller)
{
    void *library, *found, *none = NULL;
    Dl_info where;

    if (!dladdr || !dladdr(caller, &where) || !where.dli_fname)
        return NULL;
    library = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    found = dlsym(library, name);
    if (!found || !atomic_compare_exchange_strong(&led_to_mpi, &none, library))
        (void)dlclose(library); /* it is the caller's, and stays */
    return found;
}

void *mpi_real_find(const char *name, const void *caller)
{
    void *found = mpi_real_next(name);

    if (!found && dlsym && dlopen)
        found = find_from(name, caller);
    /* A call that is the last thing which a library does seems to come from whoever
     * called that; and Python 3.13 calls MPI_Finalize for mpi4py at its end. */
    if (!found && atomic_load(&led_to_mpi))
        found = dlsym(atomic_load(&led_to_mpi), name);
    return found;
}

/* A program may have a copy of its own of what a library has as data (a copy
 * relocation), and then it is this that the library uses. */
static void *find_data(const char *name, const void *caller)
{
    void *found = dlsym ? dlsym(RTLD_DEFAULT, name) : NULL;

    return found ? found : mpi_real_find(name, caller);
}

static void say(const char *text)
{
    /* There is nobody else to tell if this fails. */
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        return;
}

void *mpi_real_need(const char *name, const void *caller)
{
    void *found = mpi_real_find(name, caller);

    if (found)
        return found;
    say("evenstep: ");
    say(name);
    say(": no MPI library that is loaded has it: link the program with one, "
        "or give --evenstep-meter=none\n");
    _exit(127); /* as the dynamic linker */
}

/* Handles that a kind of MPI has for these two. */
struct known {
    long world, null;
};

static int is_mpich(const void *caller)
{
    static const char *const kin[] = {"MPICH", "Intel(R) MPI", "MVAPICH"};
    typedef int version_fn(char *text, int *len);
    version_fn *version =
        (version_fn *)mpi_real_find("PMPI_Get_library_version", caller);
    char text[MPICH_VERSION] = "";
    int len = 0;

    if (!version || version(text, &len) != 0)
        return 0;
    for (size_t i = 0; i < sizeof kin / sizeof kin[0]; i++)
        if (strstr(text, kin[i]))
            return 1;
    return 0;
}

static int know_handles(const void *caller, struct known *known)
{
    void *world = find_data("ompi_mpi_comm_world", caller);
    void *null = find_data("ompi_mpi_comm_null", caller);

    has_int_handles = !world && is_mpich(caller);
    if (has_int_handles)
        *known = (struct known){MPICH_COMM_WORLD, MPICH_COMM_NULL};
    else
        *known = (struct known){(long)world, (long)null};
    return known->world && known->null;
}

static int was_spawned(const void *caller, long null)
{
    typedef int parent_fn(void *comm);
    parent_fn *parent =
        (parent_fn *)mpi_real_find("PMPI_Comm_get_parent", caller);
    union {
        int number;
        long pointer;
    } comm = {.pointer = 0};

    if (!parent || parent(&comm) != 0)
        return 1;
    return (has_int_handles ? comm.number : comm.pointer) != null;
}

int mpi_real_world(const void *caller, int *rank, int *size)
{
    typedef int initialized_fn(int *flag);
    initialized_fn *initialized =
        (initialized_fn *)mpi_real_find("PMPI_Initialized", caller);
    size_fn *rank_of = (size_fn *)mpi_real_find("PMPI_Comm_rank", caller);
    struct known known;
    int flag = 0;

    size_of = (size_fn *)mpi_real_find("PMPI_Comm_size", caller);
    fortran_size_of =
        (fortran_size_fn *)mpi_real_find("pmpi_comm_size_", caller);
    return initialized && rank_of && size_of && initialized(&flag) == 0 && flag
           && know_handles(caller, &known) && !was_spawned(caller, known.null)
           && rank_of(known.world, rank) == 0 && size_of(known.world, size) == 0
           && *rank >= 0 && *rank < *size;
}

long mpi_real_key(int is_fortran, long comm)
{
    if (is_fortran)
        return *(const int *)comm;
    return has_int_handles ? (int)comm : comm;
}

int mpi_real_size(int is_fortran, long comm)
{
    int size = 0, error = 0;

    if (is_fortran && fortran_size_of)
        fortran_size_of((const void *)comm, &size, &error);
    else if (!is_fortran)
        error = size_of(comm, &size);
    return error == 0 ? size : 0;
}
