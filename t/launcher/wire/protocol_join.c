/* SPDX-License-Identifier: BSD-2-Clause */
/* Who joins, and what he is told, on the wire and back. */
#include "launcher/wire/protocol.h"
#include "tap.h"

#include <string.h>

static const struct msg_join sound = {.version = PROTOCOL_VERSION,
                                      .release = "0.2.0",
                                      .n = 2,
                                      .name = (const uint8_t *)"n2\0n17",
                                      .len = 7};

static int pass_join(const struct msg_join *m, size_t less)
{
    struct writer w = {0};
    struct msg_join got;
    int rc;

    msg_write_join(&w, m);
    rc = msg_read_join(&got, w.buf, w.len - less);
    if (rc == 0
        && (got.version != m->version || strcmp(got.release, m->release) != 0
            || got.local != m->local || got.n != m->n || got.len != m->len
            || memcmp(got.name, m->name, m->len) != 0))
        rc = 1;
    if (rc < 0 && (got.n != 0 || got.name))
        rc = 2;
    writer_clear(&w);
    return rc;
}

static void test_join(void)
{
    struct msg_join m = sound;
    char name[NODE_NAME_MAX + 1];

    is_int(pass_join(&sound, 0), 0, "names are read as they were written");
    for (size_t less = 1; less <= 12; less++)
        is_int(pass_join(&sound, less), -1, "cut off they are refused");
    m.n = 3;
    is_int(pass_join(&m, 0), -1, "so are fewer than are told");
    m.n = 1;
    is_int(pass_join(&m, 0), -1, "and more");
    m.n = 0;
    is_int(pass_join(&m, 0), -1, "and none");
    m.n = JOINS_MAX + 1;
    is_int(pass_join(&m, 0), -1, "and more than can be");
    m = sound;
    m.len = 6;
    is_int(pass_join(&m, 0), -1, "and a name without its end");
    m.name = (const uint8_t *)"n2\0../x";
    m.len = 8;
    is_int(pass_join(&m, 0), -1, "and one that is a path");
    m.name = (const uint8_t *)"n2\0";
    m.len = 4;
    is_int(pass_join(&m, 0), -1, "and an empty one");
    memset(name, 'a', sizeof name);
    name[NODE_NAME_MAX] = '\0';
    m = (struct msg_join){
        .n = 1, .name = (const uint8_t *)name, .len = sizeof name};
    is_int(pass_join(&m, 0), -1, "and one that is too long");
    m = sound;
    m.local = 2;
    is_int(pass_join(&m, 0), -1, "and another kind of agents");
}

static int pass_seats(const struct msg_seats *m, const size_t seat[])
{
    struct writer w = {0};
    struct msg_seats got;
    int rc;

    msg_write_seats(&w, m, seat);
    rc = msg_read_seats(&got, w.buf, w.len);
    if (rc == 0
        && (got.port != m->port || got.agents != m->agents
            || got.energy != m->energy || got.n != m->n
            || got.secret.encrypt != m->secret.encrypt
            || memcmp(got.secret.key, m->secret.key, SECRET_BYTES) != 0))
        rc = 1;
    for (uint32_t i = 0; rc == 0 && i < got.n; i++)
        rc = msg_seat(&got, i) != seat[i];
    writer_clear(&w);
    return rc;
}

static void test_seats(void)
{
    const struct msg_seats all = {
        .port = 4000, .secret = {{1, 2, 3}, 1}, .agents = 9, .n = 2};
    const size_t seat[] = {7, 8}, beyond[] = {7, 9};
    struct msg_seats m = all;

    is_int(pass_seats(&all, seat), 0, "seats are read as they were written");
    is_int(pass_seats(&all, beyond), -1, "one that is not there is refused");
    m.port = 0;
    is_int(pass_seats(&m, seat), -1, "so is no port");
    m.port = 65536;
    is_int(pass_seats(&m, seat), -1, "and one beyond all");
    m = all;
    m.energy = 2;
    is_int(pass_seats(&m, seat), -1, "and another order");
    m = all;
    m.agents = AGENTS_MAX + 1;
    is_int(pass_seats(&m, seat), -1, "and more agents than can be");
}

static void test_refused(void)
{
    const struct msg_refused m = {"n0 is in the run already", "leave it out"};
    struct msg_refused got;
    struct writer w = {0};

    msg_write_refused(&w, &m);
    ok(msg_read_refused(&got, w.buf, w.len) == 0
           && strcmp(got.what, m.what) == 0 && strcmp(got.mend, m.mend) == 0,
       "why not is read as it was written");
    ok(msg_read_refused(&got, w.buf, w.len - 1) == -1 && !got.what[0],
       "cut off it is refused");
    writer_clear(&w);
}

int main(void)
{
    test_join();
    test_seats();
    test_refused();
    return done();
}
