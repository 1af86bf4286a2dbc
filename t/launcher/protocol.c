/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/protocol.h"
#include "fault.h"
#include "tap.h"

/* Every decoder behind one shape, so that each rule is tried on all. */
union any {
    struct msg_ready ready;
    struct msg_peer peer;
    struct msg_probed probed;
    struct msg_command command;
    struct msg_run run;
    struct msg_output output;
    struct msg_done done;
    struct msg_put put;
    uint32_t u32;
};

enum which { READY, PEER, PROBED, COMMAND, RUN, OUTPUT, DONE, PUT, U32, KINDS };

static const char *const names[KINDS] = {"READY",   "PEER", "PROBED",
                                         "COMMAND", "RUN",  "OUTPUT",
                                         "DONE",    "PUT",  "PROBE or STORED"};

static int decode(enum which k, union any *m, const uint8_t *body, size_t len)
{
    switch (k) {
    case READY:
        return msg_read_ready(&m->ready, body, len);
    case PEER:
        return msg_read_peer(&m->peer, body, len);
    case PROBED:
        return msg_read_probed(&m->probed, body, len);
    case COMMAND:
        return msg_read_command(&m->command, body, len);
    case RUN:
        return msg_read_run(&m->run, body, len);
    case OUTPUT:
        return msg_read_output(&m->output, body, len);
    case DONE:
        return msg_read_done(&m->done, body, len);
    case PUT:
        return msg_read_put(&m->put, body, len);
    default:
        return msg_read_u32(&m->u32, body, len);
    }
}

static char word_echo[] = "echo", word_x[] = "{begin}", word_empty[] = "";
static char *const argv[] = {word_echo, word_x, word_empty, NULL};

/* A sound body of each kind, owned by the caller. */
static struct writer sound(enum which k)
{
    struct msg_ready ready = {3, 4, 17, 2, "n3"};
    struct msg_peer peer = {1, "n0 at 10.0.0.1:4000: reached"};
    struct msg_probed probed = {1234.5, ""};
    struct msg_run run = {9, 2, 10, UINT64_MAX, "a label"};
    struct msg_output output = {9, (const uint8_t *)"\0\xff", 2};
    struct msg_done d = {9, 3, 0, 2, 1000, 1u << 20, (const uint8_t *)"why\n",
                         4};
    struct msg_put put = {"17.2", "metrics.json", (const uint8_t *)"{}", 2};
    struct writer w = {0};

    switch (k) {
    case READY:
        msg_write_ready(&w, &ready);
        break;
    case PEER:
        msg_write_peer(&w, &peer);
        break;
    case PROBED:
        msg_write_probed(&w, &probed);
        break;
    case COMMAND:
        msg_write_command(&w, "/work", argv);
        break;
    case RUN:
        msg_write_run(&w, &run);
        break;
    case OUTPUT:
        msg_write_output(&w, &output);
        break;
    case DONE:
        msg_write_done(&w, &d);
        break;
    case PUT:
        msg_write_put(&w, &put);
        break;
    default:
        write_u32(&w, 250);
        break;
    }
    return w;
}

static void forget(enum which k, union any *m)
{
    if (k == COMMAND)
        free(m->command.argv);
}

static void test_lengths(enum which k)
{
    struct writer w = sound(k);
    union any m;
    size_t cut;

    is_int(decode(k, &m, w.buf, w.len), 0, names[k]);
    forget(k, &m);
    for (cut = 0; cut < w.len; cut++) {
        uint8_t *exact = malloc(cut + 1); /* so that ASan sees its end */

        memcpy(exact, w.buf, cut);
        memset(&m, 1, sizeof m);
        if (decode(k, &m, exact, cut) == 0)
            break;
        free(exact);
    }
    ok(cut == w.len, "%s: every proper prefix is refused", names[k]);
    write_u32(&w, 0);
    is_int(decode(k, &m, w.buf, w.len), -1, "with bytes behind it, refused");
    writer_clear(&w);
}

static void test_values(void)
{
    struct writer w;
    union any m;

    w = sound(RUN);
    msg_read_run(&m.run, w.buf, w.len);
    ok(m.run.id == 9 && m.run.frame == 2 && m.run.begin == 10
           && m.run.end == UINT64_MAX && strcmp(m.run.label, "a label") == 0,
       "a slice up to the last unit comes back");
    writer_clear(&w);
    w = sound(COMMAND);
    msg_read_command(&m.command, w.buf, w.len);
    ok(strcmp(m.command.dir, "/work") == 0
           && strcmp(m.command.argv[0], "echo") == 0
           && strcmp(m.command.argv[1], "{begin}") == 0
           && strcmp(m.command.argv[2], "") == 0 && !m.command.argv[3],
       "a command comes back word by word, the empty one too");
    free(m.command.argv);
    writer_clear(&w);
    w = sound(DONE);
    msg_read_done(&m.done, w.buf, w.len);
    ok(m.done.status == 3 && m.done.exec_errno == 2
           && m.done.err_dropped == 1u << 20 && m.done.err_len == 4
           && memcmp(m.done.err, "why\n", 4) == 0,
       "the end of a command comes back");
    writer_clear(&w);
}

static void refused(enum which k, struct writer *w, const char *what)
{
    union any m;
    static const union any zero;

    memset(&m, 1, sizeof m);
    ok(decode(k, &m, w->buf, w->len) == -1
           && (k != RUN || memcmp(&m.run, &zero, sizeof m.run) == 0),
       "%s is refused", what);
    writer_clear(w);
}

static void test_bad_values(void)
{
    struct msg_ready ready = {4, 4, 0, 0, "n"};
    struct msg_run run = {0, 0, 2, 1, ""};
    struct msg_done d = {.status = 256};
    struct msg_probed probed = {-1, ""};
    struct msg_put put = {"..", "f", NULL, 0};
    struct writer w = {0};

    msg_write_ready(&w, &ready);
    refused(READY, &w, "a rank that is not among the agents");
    ready = (struct msg_ready){0, AGENTS_MAX + 1, 0, 0, "n"};
    msg_write_ready(&w, &ready);
    refused(READY, &w, "more agents than there can be");
    ready = (struct msg_ready){0, 1, 0, 0, ""};
    msg_write_ready(&w, &ready);
    refused(READY, &w, "a node without a name");
    msg_write_run(&w, &run);
    refused(RUN, &w, "a slice that ends before it begins");
    msg_write_done(&w, &d);
    refused(DONE, &w, "an exit status over 255");
    msg_write_probed(&w, &probed);
    refused(PROBED, &w, "a negative rate");
    msg_write_put(&w, &put);
    refused(PUT, &w, "the directory above");
    put = (struct msg_put){"1.0", "a/b", NULL, 0};
    msg_write_put(&w, &put);
    refused(PUT, &w, "a file elsewhere");
    put = (struct msg_put){"", "f", NULL, 0};
    msg_write_put(&w, &put);
    refused(PUT, &w, "no directory");
    write_text(&w, "/");
    write_u32(&w, 0);
    refused(COMMAND, &w, "a command of no word");
    write_text(&w, "/");
    write_u32(&w, ARGC_MAX + 1);
    refused(COMMAND, &w, "a command of too many words");
    write_text(&w, "/");
    write_u32(&w, 1);
    write_text(&w, "");
    refused(COMMAND, &w, "a command without a name");
}

static void test_no_memory(void)
{
    struct writer w = sound(COMMAND);
    struct msg_command m;

    fault_at = 0;
    is_int(msg_read_command(&m, w.buf, w.len), -1, "no memory for a command");
    fault_at = -1;
    ok(!m.argv && !m.dir[0], "leaves it empty");
    writer_clear(&w);
}

int main(void)
{
    for (int k = 0; k < KINDS; k++)
        test_lengths((enum which)k);
    test_values();
    test_bad_values();
    test_no_memory();
    return done();
}
