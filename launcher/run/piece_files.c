/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/piece_files.h"
#include "launcher/base/hidden_file.h"
#include "launcher/base/notice.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CLOCK_S 2 /* that a file's time may be off */

static const char by_stdout[] = "stdout", by_return[] = "return";

/* --- before the run ------------------------------------------------------- */

/* The folder of a template's files, and how their names begin.  Where the
 * folder's name has a field, it is the one above. */
static const char *begin_of(const char *template,
                            char folder[FILE_NAME_MAX],
                            size_t *len)
{
    int to_field = (int)strcspn(template, "{"), to_name = to_field;

    while (to_name > 0 && template[to_name - 1] != '/')
        to_name--;
    snprintf(folder, FILE_NAME_MAX, "%.*s", to_name, template);
    if (to_name == 0)
        memcpy(folder, ".", 2);
    *len = (size_t)(to_field - to_name);
    return template + to_name;
}

/* What the names end with; "": not known, as they are in folders below. */
static const char *end_of(const char *name)
{
    const char *field = strrchr(name, '}');

    return field && !strchr(name, '/') ? field + 1 : "";
}

static int is_such(const char *file,
                   const char *begin,
                   size_t begin_len,
                   const char *end)
{
    size_t len = strlen(file), end_len = strlen(end);

    return file[0] != '.' && len >= begin_len + end_len
           && memcmp(file, begin, begin_len) == 0
           && strcmp(file + len - end_len, end) == 0;
}

/* Is there a file whose name begins and ends as the template does? */
static int has_others(const char *template)
{
    char folder[FILE_NAME_MAX];
    const struct dirent *d;
    size_t len;
    const char *name = begin_of(template, folder, &len);
    DIR *list = len > 0 || template != name ? opendir(folder) : NULL;
    int found = 0;

    while (list && !found && (d = readdir(list)) != NULL)
        found = is_such(d->d_name, name, len, end_of(name));
    if (list)
        (void)closedir(list); /* only read */
    return found;
}

static void tell_others(const char *option, const char *template)
{
    if (has_others(template))
        notice("--%s: there are such files already: what this run does not "
               "replace of them stays beside its own",
               option);
}

void piece_files_open(struct piece_files *f, const struct run_options *o)
{
    *f = (struct piece_files){.output = o->output,
                              .returned = o->returned,
                              .n_returned = o->n_returned,
                              .here = o->local.n > 0 && !o->workdir,
                              .journaled = o->journal != NULL,
                              .sync = !o->no_sync};
    if (o->resume || o->resume_failed)
        return;
    if (o->output)
        tell_others(by_stdout, o->output);
    for (uint32_t i = 0; i < o->n_returned; i++)
        tell_others(by_return, o->returned[i]);
}

void piece_files_close(const struct piece_files *f)
{
    char folder[FILE_NAME_MAX], begin[FILE_NAME_MAX];
    size_t len;

    if (!f->journaled || !piece_files_come(f))
        return;
    for (uint32_t i = 0; i < f->n_returned; i++) {
        const char *name = begin_of(f->returned[i], folder, &len);

        snprintf(begin, sizeof begin, "%.*s", (int)len, name);
        hidden_file_sweep(folder, begin);
    }
}

/* --- names ---------------------------------------------------------------- */

static struct msg_run run_of(const struct frame *frame,
                             const struct slice *units,
                             uint32_t slot)
{
    struct msg_run run = {.frame = frame->number,
                          .begin = units->begin,
                          .end = units->end,
                          .slot = slot};

    memcpy(run.label, frame->label, sizeof run.label);
    return run;
}

int piece_files_name(const struct piece_files *f,
                     uint32_t which,
                     const struct kept *k,
                     const struct frame *frame,
                     char name[FILE_NAME_MAX],
                     struct es_error *err)
{
    const struct frame of = {.number = k->frame};
    const struct msg_run run = run_of(frame ? frame : &of, &k->units, 0);

    return which < f->n_returned
               ? file_name_fill(name, f->returned[which], by_return, &run, "",
                                err)
               : file_name_fill(name, f->output, by_stdout, &run, "", err);
}

int piece_files_frame(const struct piece_files *f,
                      const struct frame *frame,
                      struct es_error *err)
{
    const struct msg_run run =
        run_of(frame, &(struct slice){frame->begin, frame->end}, 0);
    char name[FILE_NAME_MAX];

    if (f->output
        && file_name_fill(name, f->output, by_stdout, &run, "", err) < 0)
        return -1;
    for (uint32_t i = 0; i < f->n_returned; i++)
        if (file_name_fill(name, f->returned[i], by_return, &run, "", err) < 0)
            return -1;
    return 0;
}

/* --- what comes from the nodes -------------------------------------------- */

int piece_files_come(const struct piece_files *f)
{
    return f->n_returned > 0 && !f->here;
}

int piece_files_take(const struct piece_files *f,
                     struct piece *p,
                     const char *node,
                     const struct msg_file *m,
                     struct es_error *err)
{
    const struct msg_run run = run_of(p->frame, &p->part.units, p->slot);
    char name[FILE_NAME_MAX];

    if (!piece_files_come(f) || m->file >= f->n_returned
        || !returned_follows(&p->back, m))
        return 1;
    if (file_name_fill(name, f->returned[m->file], by_return, &run, node, err)
        < 0)
        return -1;
    return returned_add(&p->back, m, name, err);
}

static int cannot_show(const struct piece *p, struct es_error *err)
{
    return es_fail(err, ES_WORK, es_mend_file(errno),
                   "--return: a file of the units %ju:%ju: %s",
                   (uintmax_t)p->part.units.begin, (uintmax_t)p->part.units.end,
                   strerror(errno));
}

/* Has the command written it?  Clocks of file systems go by whole seconds. */
static int is_of_piece(const struct piece *p, const char *name)
{
    time_t begun = time(NULL) - (time_t)p->part.seconds;
    struct stat st;

    return stat(name, &st) == 0 && st.st_mtime >= begun - CLOCK_S;
}

/* By which a run that resumes knows them again.  What cannot be marked is not, nor what
 * was there before. */
static int mark_here(const struct piece_files *f,
                     struct piece *p,
                     struct es_error *err)
{
    const struct msg_run run = run_of(p->frame, &p->part.units, p->slot);
    char name[FILE_NAME_MAX];

    for (uint32_t i = 0; i < f->n_returned; i++)
        if (file_name_fill(name, f->returned[i], by_return, &run, "", err) < 0)
            return -1;
        else if (!is_of_piece(p, name) || returned_mark(&p->back, name) < 0)
            return 0;
    return 0;
}

int piece_files_keep(const struct piece_files *f,
                     const char *node,
                     struct piece *p,
                     struct es_error *err)
{
    if (!piece_files_come(f))
        return f->journaled ? mark_here(f, p, err) : 0;
    if (p->back.n != f->n_returned)
        return es_fail(err, ES_ENV, "see that all nodes have this evenstep",
                       "%s has sent %u of %u files", node, p->back.n,
                       f->n_returned);
    return f->journaled && returned_keep(&p->back) < 0 ? cannot_show(p, err)
                                                       : 0;
}

/* --- output --------------------------------------------------------------- */

static int cannot_write(const char *name, struct es_error *err)
{
    return es_fail(err, ES_WORK, es_mend_file(errno), "--stdout: %.400s: %s",
                   name, strerror(errno));
}

/* In place of one of before, as which it is. */
static int show(struct hidden_file *file, const struct piece_files *f)
{
    hidden_file_like_old(file);
    return hidden_file_show(file, f->sync);
}

static int write_output(const struct piece_files *f,
                        const char *node,
                        struct piece *p,
                        struct es_error *err)
{
    const struct msg_run run = run_of(p->frame, &p->part.units, p->slot);
    char name[FILE_NAME_MAX];
    struct hidden_file file;

    if (file_name_fill(name, f->output, by_stdout, &run, node, err) < 0)
        return -1;
    if (hidden_file_open(&file, name, 0666) < 0)
        return cannot_write(name, err);
    if (spool_write_to(&p->out, file.fd) == 0 && show(&file, f) == 0)
        return 0;
    (void)cannot_write(name, err);
    hidden_file_drop(&file);
    return -1;
}

int piece_files_show(const struct piece_files *f,
                     const char *node,
                     struct piece *p,
                     struct es_error *err)
{
    if (returned_show(&p->back, f->sync && !f->journaled) < 0)
        return cannot_show(p, err);
    return f->output ? write_output(f, node, p, err) : 0;
}

/* --- a run before --------------------------------------------------------- */

/* As the journal has it; what cannot be read is written again. */
static int is_there(const char *name,
                    const struct journal *journal,
                    const struct kept *kept)
{
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int is = fd >= 0 && journal_is_output(journal, kept, fd) == 1;

    if (fd >= 0)
        (void)close(fd); /* was only read */
    return is;
}

static int restore(const struct piece_files *f,
                   const char *name,
                   const struct journal *journal,
                   const struct kept *kept,
                   struct es_error *err)
{
    struct hidden_file file;

    if (is_there(name, journal, kept))
        return 0;
    if (hidden_file_open(&file, name, 0666) < 0)
        return cannot_write(name, err);
    if (journal_write_output(journal, kept, file.fd) == 0
        && show(&file, f) == 0)
        return 0;
    (void)cannot_write(name, err);
    hidden_file_drop(&file);
    return -1;
}

int piece_files_restore(const struct piece_files *f,
                        const struct frame *frame,
                        const struct journal *journal,
                        const struct kept kept[],
                        size_t n,
                        struct es_error *err)
{
    char name[FILE_NAME_MAX];

    if (!f->output)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!kept[i].failed
            && (piece_files_name(f, f->n_returned, &kept[i], frame, name, err)
                    < 0
                || restore(f, name, journal, &kept[i], err) < 0))
            return -1;
    return 0;
}
