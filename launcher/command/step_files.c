/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/step_files.h"
#include "launcher/base/step_dir.h"
#include "launcher/base/step_env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* STEP_ENV of a node, all but the folders of libraries. */
#define ENVIRON_MAX 160

static void write_file(const struct step_files *f,
                       struct writer *w,
                       const char *file,
                       const char *text)
{
    struct msg_put m = {.content = (const uint8_t *)text, .len = strlen(text)};

    snprintf(m.dir, sizeof m.dir, "%s", f->step);
    snprintf(m.file, sizeof m.file, "%s", file);
    msg_write_put(w, &m);
}

void step_files_make_directories(struct step_files *f)
{
    struct writer w = {0};

    write_file(f, &w, "", "");
    f->unstored += session_size(f->session);
    session_send_all(f->session, MSG_PUT, &w);
}

static void write_tasks(const struct step_files *f,
                        struct writer *w,
                        size_t node)
{
    struct msg_tasks m = {.tasks = f->tasks[node],
                          .patience_s = f->patience_s,
                          .by_speed = f->by_speed != 0};

    snprintf(m.dir, sizeof m.dir, "%s", f->step);
    msg_write_tasks(w, &m);
}

void step_files_put_tasks(struct step_files *f, size_t node)
{
    struct writer w = {0};

    write_tasks(f, &w, node);
    f->unstored++;
    session_send(f->session, node, MSG_TASKS, &w);
}

static void write_environ(const struct step_files *f,
                          struct writer *w,
                          double share)
{
    char text[ENVIRON_MAX + LIBS_LIST_MAX];

    snprintf(text, sizeof text,
             "EVENSTEP_SHARE=%.6f\n"
             "EVENSTEP_NODE_COUNT=%zu\n"
             "EVENSTEP_METER=%s\n%s" STEP_ENV_LIBS "=%s\n",
             share, session_size(f->session), step_meter_name(f->meter),
             f->lend ? "EVENSTEP_LEND=1\n" : "", f->libs);
    write_file(f, w, STEP_ENV, text);
}

/* The part of the work that is the node's, of those that get any. */
static double share_of(const struct qualification *q,
                       const char unfit[],
                       size_t node)
{
    double sum = 0;

    for (size_t i = 0; i < q->n; i++)
        sum += unfit[i] ? 0 : q->metric[i].JL;
    return unfit[node] || sum <= 0 ? 0 : q->metric[node].JL / sum;
}

int step_files_put_own(struct step_files *f,
                       const struct qualification *q,
                       const char unfit[])
{
    struct writer *tasks = calloc(q->n, sizeof *tasks),
                  *own = calloc(q->n, sizeof *own);
    int rc = -1;

    for (size_t i = 0; tasks && own && i < q->n; i++) {
        write_tasks(f, &tasks[i], i);
        write_environ(f, &own[i], share_of(q, unfit, i));
    }
    if (tasks && own) {
        f->unstored += 2 * q->n;
        session_send_each(f->session, MSG_TASKS, tasks, NULL);
        session_send_each(f->session, MSG_PUT, own, NULL);
        rc = 0;
    }
    free(tasks);
    free(own);
    return rc;
}
