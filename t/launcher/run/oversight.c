/* SPDX-License-Identifier: BSD-2-Clause */
/* What is told of a command line that could be run, and of what is not. */
#include "launcher/run/oversight.h"
#include "tree.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *text, *near; /* NULL: nothing is told */
} braces[] = {
    {"{begn}", "begin"},
    {"{beginn}", "begin"},
    {"{BEGIN}", "begin"},
    {"{Ned}", "end"},
    {"{edn} and", "end"},
    {"{conut}", "count"},
    {"{frmae}", "frame"},
    {"{lable}", "label"},
    {"{begin}", NULL},
    {"{node}", NULL},
    {"{print}", NULL},
    {"{}", NULL},
    {"{", NULL},
    {"{begn", NULL},
    {"{ begn}", NULL},
    {"{begn }", NULL},
    {"{\"begn\":1}", NULL},
    {"{a}", NULL},
    {"{1..9}", NULL},
    {"{begnbegnbegnbegnbegnbegn}", NULL},
    {"{count:03d}", NULL},
    {"{print begin}", NULL},
};

static void test_fields(void)
{
    for (size_t i = 0; i < sizeof braces / sizeof braces[0]; i++) {
        char near[OVERSIGHT_FIELD_MAX] = "";
        int told = oversight_near_field(braces[i].text, near);

        is_str(told ? near : NULL, braces[i].near, braces[i].text);
    }
}

static void test_telling(void)
{
    char prog[] = "cmd", wrong[] = "{begn}-{begin}", shell[] = "${begin} ${x}",
         fine[] = "${begn} {begin}{end} '{print}' {\"end\": 1}";
    char *two[] = {prog, wrong, shell, NULL}, *none[] = {prog, fine, NULL};

    is_int(oversight_tell_fields(two), 2, "each is told");
    is_int(oversight_tell_fields(none), 0,
           "not variables of a shell, fields, nor other braces");
}

/* --- slices --------------------------------------------------------------- */

static char with[600], without[600], zipped[600], locked[600];

static void put_file(char path[600], const char *name, const char *text)
{
    FILE *f;

    snprintf(path, 600, "%s", tree_path(name));
    f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0 || chmod(path, 0755) < 0)
        bail("%s: cannot be written", path);
}

/* A word that says it where two reads meet. */
static void put_long(const char *name, size_t at)
{
    FILE *f = fopen(tree_path(name), "w");

    for (size_t i = 0; f && i < at; i++)
        putc('x', f);
    if (!f || fputs("EVENSTEP_END", f) < 0 || fclose(f) != 0)
        bail("%s: cannot be written", name);
}

static int uses_none(const char *a, const char *b, const char *c)
{
    char *command[] = {(char *)a, (char *)b, (char *)c, NULL};

    return oversight_uses_no_slice(command, 0);
}

/* What of it: the words, and the files. */
static void test_reads(void)
{
    static char begin[] = "{begin}-{{end}}", count[] = "{count}{slot}",
                both[] = "$EVENSTEP_BEGIN $EVENSTEP_END.",
                odd[] = "env | grep EVENSTEP_", longer[] = "EVENSTEP_ENDING",
                library[] = "evenstep_next()", sleeps[] = "sleep",
                frame[] = "{frame} {label}";
    char *one[] = {begin, NULL}, *two[] = {count, NULL},
         *three[] = {both, NULL}, *four[] = {odd, NULL},
         *five[] = {longer, NULL}, *six[] = {library, NULL},
         *file[] = {with, NULL}, *seven[] = {sleeps, frame, NULL};

    is_int(oversight_words_read(one), READS_BEGIN, "what is kept is no field");
    is_int(oversight_words_read(two), READS_COUNT | READS_OTHER, "two fields");
    is_int(oversight_words_read(three), READS_BEGIN | READS_END, "variables");
    is_int(oversight_words_read(four), READS_ANY, "all variables");
    is_int(oversight_words_read(five), READS_ANY, "one that is unknown");
    is_int(oversight_words_read(six), READS_ANY, "the library");
    is_int(oversight_files_read(file), READS_BEGIN, "a script's variable");
    is_int(oversight_uses_no_slice(seven, 0), 1, "its frame alone is no slice");
    is_int(oversight_uses_no_slice(seven, 1), 0, "but of a queue it is a work");
}

static void test_slices(void)
{
    char script[1300];
    int missed = 0;

    put_file(with, "with", "#!/bin/sh\necho $EVENSTEP_BEGIN\n");
    put_file(without, "without", "#!/bin/sh\necho hello\n");
    put_file(zipped, "zipped", "PK.");
    is_int(uses_none("sleep", "1", NULL), 1, "a program that asks for nothing");
    is_int(uses_none(without, NULL, NULL), 1, "such a script");
    is_int(uses_none("sh", without, "{node}"), 1, "{node} is no slice");
    is_int(uses_none("sh", "-c", "{ sleep 1; }"), 1, "a shell's line");
    is_int(uses_none("sleep", "0.{count}", NULL), 0, "a field");
    is_int(uses_none("sh", "-c", "echo $EVENSTEP_BEGIN"), 0, "a variable");
    is_int(uses_none(with, NULL, NULL), 0, "a script that says a variable");
    is_int(uses_none("sh", "-x", with), 0, "one that a shell is to read");
    snprintf(script, sizeof script, "cd / && %s; true", with);
    is_int(uses_none("sh", "-c", script), 0, "one that a shell's line names");
    is_int(uses_none("no-such-program", NULL, NULL), 0,
           "a program that is not here may ask");
    is_int(uses_none("python3", "-m", "module"), 0, "so may a module");
    is_int(uses_none("java", "-jar", zipped), 0, "and what is compressed");
    is_int(uses_none("ls", "/", NULL), 0, "and what is in a folder");
    for (size_t at = 65530; at < 65550; at++) {
        put_long("long", at);
        missed += uses_none("sh", tree_path("long"), NULL);
    }
    is_int(missed, 0, "a variable is found wherever it is");
    test_reads();
    snprintf(locked, sizeof locked, "%s", tree_path("fifo"));
    if (mkfifo(locked, 0600) < 0)
        bail("fifo: %s", strerror(errno));
    is_int(uses_none("sh", locked, NULL), 0, "a pipe is not waited for");
}

/* --- stdin ---------------------------------------------------------------- */

static void test_unread(void)
{
    int both[2], fd;

    if (pipe(both) < 0)
        bail("pipe: %s", strerror(errno));
    is_int(oversight_is_unread(both[0]), 0, "a pipe with nothing in it");
    if (write(both[1], "x", 1) != 1)
        bail("write: %s", strerror(errno));
    is_int(oversight_is_unread(both[0]), 1, "a pipe with something in it");
    fd = open(with, O_RDONLY | O_CLOEXEC);
    is_int(oversight_is_unread(fd), 1, "a file");
    if (lseek(fd, 1, SEEK_SET) < 0)
        bail("lseek: %s", strerror(errno));
    is_int(oversight_is_unread(fd), 0, "of which somebody has read");
    close(fd);
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    is_int(oversight_is_unread(fd), 0, "/dev/null");
    close(fd);
    is_int(oversight_is_unread(fd), 0, "none");
    put_file(zipped, "empty", "");
    fd = open(zipped, O_RDONLY | O_CLOEXEC);
    is_int(oversight_is_unread(fd), 0, "an empty file");
    close(fd);
    close(both[0]);
    close(both[1]);
}

/* Of a pipe that is the parent's stdin, too: that of a loop, or a script. */
static void test_parents(void)
{
    int both[2], status = -1;
    pid_t child;

    if (pipe(both) < 0 || write(both[1], "x", 1) != 1
        || dup2(both[0], STDIN_FILENO) < 0)
        bail("pipe: %s", strerror(errno));
    child = fork();
    if (child == 0)
        _exit(oversight_is_unread(STDIN_FILENO));
    is_int(child > 0 && waitpid(child, &status, 0) == child ? status : -1, 0,
           "what is the parent's stdin, too, is not meant for us");
    close(both[0]);
    close(both[1]);
}

int main(void)
{
    tree_make();
    test_fields();
    test_telling();
    test_slices();
    test_unread();
    test_parents();
    tree_remove();
    return done();
}
