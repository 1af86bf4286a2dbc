/* SPDX-License-Identifier: BSD-2-Clause */
/* How a command is printed: a shell that reads it runs the same words. */
#include "launcher/run/dry_run.h"
#include "tap.h"

static const struct msg_run piece = {
    .id = 1, .frame = 2, .begin = 10, .end = 25, .label = "dawn"};

static const char *printed(char *const command[],
                           const char *lines,
                           uint64_t slice)
{
    static char text[1000];
    struct run_options o = {.command = (char **)command, .lines = lines};
    FILE *to = fmemopen(text, sizeof text, "w");

    if (!to || dry_run_print(to, &o, &piece, "n0", slice) < 0
        || fclose(to) != 0)
        bail("nothing is printed");
    return text;
}

static void test_words(void)
{
    char prog[] = "render", begin[] = "+SR{begin}", end[] = "+ER{end}",
         frame[] = "out/{label}-{frame}.png", empty[] = "", blank[] = "a b",
         quote[] = "it's", dollar[] = "$HOME;`x`", line[] = "a\nb",
         hash[] = "#1", tilde[] = "~x", glob[] = "*";
    char *plain[] = {prog, begin, end, frame, NULL};
    char *odd[] = {prog, empty, blank, quote, dollar,
                   line, hash,  tilde, glob,  NULL};

    is_str(printed(plain, NULL, 100),
           "n0: render +SR10 +ER25 out/dawn-2.png  # units 10:25 of its 100\n",
           "words that need no quotes, with their fields filled in");
    is_str(printed(odd, NULL, 0),
           "n0: render '' 'a b' 'it'\\''s' '$HOME;`x`' 'a\nb' '#1' '~x' '*'"
           "  # units 10:25\n",
           "words that do");
    is_str(printed(plain + 3, "in.txt", 20),
           "n0: out/dawn-2.png  # units 10:25 of its 20, with lines 11 to 25 "
           "of in.txt on stdin\n",
           "lines are named");
}

static void test_exec(void)
{
    char prog[] = "./render", begin[] = "{begin}", text[200] = "";
    char *command[] = {prog, begin, NULL};
    struct run_options o = {.command = command,
                            .exec = {.destination = "/tmp/{node}.r"}};
    FILE *to = fmemopen(text, sizeof text, "w");

    if (!to || dry_run_print(to, &o, &piece, "n0", 0) < 0 || fclose(to) != 0)
        bail("nothing is printed");
    is_str(text, "n0: /tmp/n0.r 10  # units 10:25\n",
           "a program is named where it will have been brought");
}

static void test_records(void)
{
    char prog[] = "cat", text[1000];
    char *command[] = {prog, NULL};
    struct run_options o = {
        .command = command, .lines = "f", .record = {.header = 2}};
    FILE *to = fmemopen(text, sizeof text, "w");

    if (!to)
        bail("no memory");
    (void)dry_run_print(to, &o, &piece, "n0", 0);
    o.record.lines = 4;
    (void)dry_run_print(to, &o, &piece, "n0", 0);
    if (fclose(to) != 0)
        bail("nothing is printed");
    is_str(text,
           "n0: cat  # units 10:25, with lines 13 to 27 of f on stdin\n"
           "n0: cat  # units 10:25, with records 11 to 25 of f on stdin\n",
           "a header's lines are counted, and records are no lines");
}

static void test_full(void)
{
    char prog[] = "true";
    char *command[] = {prog, NULL};
    struct run_options o = {.command = command};
    FILE *to = fopen("/dev/full", "w");

    if (!to)
        bail("/dev/full cannot be opened");
    setbuf(to, NULL);
    is_int(dry_run_print(to, &o, &piece, "n0", 0), -1, "a disk that is full");
    (void)fclose(to);
}

int main(void)
{
    test_words();
    test_exec();
    test_records();
    test_full();
    return done();
}
