/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as a file of tasks, read as the first byte says, and any text as a record.
 * What comes out are records, of values that an argument may have; as words of a
 * command they are whole.
 */
#include "launcher/run/task_list.h"
#include "launcher/exec/task_words.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

/* The values, as the words that are only they. */
static void fill(const struct task_record *t)
{
    static char all[] = "{}", mixed[] = "{.}{/}{//}{1/.}{-1}{#}";
    const struct task_place place = {.unit = UINT64_MAX};
    char *cmd[] = {all, NULL}, *more[] = {mixed, NULL};
    char **words = task_words(cmd, t, &place, 0);

    for (size_t i = 0; words && i < t->n; i++)
        must(strcmp(words[i], t->value[i]) == 0);
    must(!words || !words[t->n]);
    free(words);
    free(task_words(more, t, &place, TASK_REPEAT));
    free(task_words(more, t, &place, TASK_SHELL | TASK_REPEAT));
}

static void read_record(const uint8_t *data, size_t size)
{
    struct task_record t = {0};
    char *text = malloc(size + 1);

    if (!text)
        return;
    memcpy(text, data, size);
    if (task_record_parse(&t, text, size) == 0)
        fill(&t);
    task_record_free(&t);
    free(text);
}

static void read_records(FILE *from, uint64_t tasks)
{
    struct task_record t = {0};
    char *line = NULL;
    size_t room = 0;
    ssize_t n;

    rewind(from);
    while ((n = getline(&line, &room, from)) > 0) {
        must(line[n - 1] == '\n' && tasks-- > 0);
        must(task_record_parse(&t, line, (size_t)n - 1) == 0);
        for (size_t i = 0; i < t.n; i++)
            must(strlen(t.value[i]) < TASK_WORD_MAX);
        fill(&t);
    }
    must(tasks == 0);
    task_record_free(&t);
    free(line);
}

/* As the first byte says. */
static void set(struct task_sources *s, unsigned how)
{
    static const char *const colsep[] = {"", ",", "\t", "::"};

    snprintf(s->colsep, sizeof s->colsep, "%s", colsep[how & 3]);
    s->header = (how & 4) != 0;
    s->nul = (how & 8) != 0;
    s->commands = s->joined = (how & 16) != 0;
    s->most = how & 32 ? 3 : 0;
    s->room = how & 64 ? 20 : 0;
    s->shuf = s->seeded = (how & 128) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[4096];
    static FILE *out;
    static int fd;
    struct task_sources s = {0};
    struct es_error err = {0};
    struct task_list *l;
    uint64_t tasks = 0;

    if (!out) {
        fd = folder_file("tasks");
        (void)folder_path(path, "tasks");
        out = tmpfile();
        must(out != NULL);
    }
    if (size == 0)
        return 0;
    set(&s, data[0]);
    read_record(data + 1, size - 1);
    folder_fill(fd, data + 1, size - 1);
    must(task_sources_file(&s, "-a", path, &err) == 0);
    rewind(out);
    must(ftruncate(fileno(out), 0) == 0);
    l = task_list_open(&s, &err);
    if (l && task_list_write(l, 1, out, &tasks, &err) == 0)
        read_records(out, tasks);
    else
        must(err.what[0] && err.mend[0]);
    task_list_close(l);
    return 0;
}
