/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as one or two reports of steps, with a line "--" between them:
 * refused with the reason, or shown and compared as text, page, picture and
 * JSON, that play no tricks on a terminal and are whole. */
#include "launcher/whatif/html_step.h"
#include "launcher/whatif/step_chart.h"
#include "launcher/whatif/step_compare.h"
#include "launcher/whatif/step_show.h"

#include "folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds)
{
    if (!holds)
        abort();
}

/* Of ASCII, or of those of two bytes that some terminals obey. */
static int is_control(const unsigned char *c)
{
    return (*c < 32 && *c != '\n') || *c == 127
           || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0);
}

/* What is written is plain. */
static void end_text(FILE *out, char **text, const size_t *len)
{
    must(fclose(out) == 0);
    for (size_t i = 0; i < *len; i++)
        must(!is_control((const unsigned char *)*text + i));
    free(*text);
}

static void show_json(const struct step_file *f)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    json_t *json;

    must(out && step_show_json(out, f) == 0 && fclose(out) == 0);
    json = json_loadb(text, len, 0, NULL);
    must(json != NULL);
    json_decref(json);
    free(text);
}

static void show(const struct any_report *r)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    must(out && r->step.n_nodes > 0 && step_show_table(out, &r->step) == 0);
    end_text(out, &text, &len);
    out = open_memstream(&text, &len);
    must(out != NULL);
    html_step(out, r);
    step_chart(out, &r->step);
    end_text(out, &text, &len);
    show_json(&r->step);
}

static void compare(struct any_report r[], size_t n)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);

    must(out && step_compare_can(r, n) && step_compare_table(out, r, n) == 0);
    end_text(out, &text, &len);
    out = open_memstream(&text, &len);
    must(out && step_compare_page(out, r, n) == 0);
    end_text(out, &text, &len);
    must(step_compare_add(r, n) == 0);
    for (size_t i = 0; i < n; i++)
        show_json(&r[i].step);
}

/* 1 if it is a step's. */
static int read_one(struct any_report *r,
                    const char *name,
                    const void *bytes,
                    size_t len)
{
    static char path[3][4096];
    static int fd[3];
    size_t k = (size_t)(name[0] - 'a');
    struct es_error err = {0};
    int rc;

    if (fd[k] == 0) {
        fd[k] = folder_file(name);
        (void)folder_path(path[k], name);
    }
    folder_fill(fd[k], bytes, len);
    rc = any_report_read(r, path[k], &err);
    must(rc == 0 || (err.what[0] && err.mend[0]));
    return rc == 0 && r->kind == REPORT_STEP;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *between = memmem(data, size, "\n--\n", 4);
    size_t first = between ? (size_t)(between - data) + 1 : size;
    size_t second = between ? first + 3 : size;
    struct any_report r[3] = {0}; /* the last one is the first again */
    int is_first = read_one(&r[0], "a", data, first);
    int is_second =
        between && read_one(&r[1], "b", data + second, size - second);

    if (is_first)
        show(&r[0]);
    if (is_second)
        show(&r[1]);
    if (is_first && is_second) {
        compare(r, 2);
        if (read_one(&r[2], "c", data, first))
            compare(r, 3);
    }
    for (size_t i = 0; i < 3; i++)
        any_report_clear(&r[i]);
    return 0;
}
