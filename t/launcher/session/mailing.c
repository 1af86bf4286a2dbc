/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages for many nodes at once: which go down the tree, and in which order. */
#include "launcher/session/mailing.h"
#include "tap.h"

#define NODES 12
#define FEW   3

static char
    sent[100]; /* a letter a message that goes alone, or (a letter each) */

size_t session_size(const struct session *s)
{
    (void)s;
    return NODES;
}

static void note(const char *text)
{
    strcat(sent, text);
}

static void note_body(size_t node, struct writer *w)
{
    const char text[] = {(char)('a' + node), (char)('0' + w->buf[3]), '\0'};

    note(text);
    writer_clear(w);
}

void session_send(struct session *s,
                  size_t node,
                  enum protocol_type type,
                  struct writer *w)
{
    (void)s;
    if (type == MSG_LIMIT)
        note_body(node, w);
}

void session_send_each(struct session *s,
                       enum protocol_type type,
                       struct writer w[],
                       const char to[])
{
    (void)s;
    note(type == MSG_LIMIT ? "(" : "?");
    for (size_t i = 0; i < NODES; i++)
        if (to[i])
            note_body(i, &w[i]);
    note(")");
}

static void add(struct mailing *m, size_t node, uint32_t value)
{
    struct writer w = {0};

    write_u32(&w, value);
    mailing_add(m, node, &w);
    if (w.buf)
        bail("it is not taken");
}

int main(void)
{
    struct mailing m = {0};

    mailing_send(&m);
    mailing_clear(&m);
    mailing_begin(&m, NULL, MSG_LIMIT, FEW);
    mailing_send(&m);
    is_str(sent, "", "nothing is sent of nothing");
    add(&m, 7, 1);
    add(&m, 2, 1);
    is_str(sent, "", "they wait");
    mailing_send(&m);
    is_str(sent, "h1c1", "a few go alone, as they came");
    mailing_send(&m);
    is_str(sent, "h1c1", "and once");
    sent[0] = '\0';
    for (size_t i = 0; i <= FEW; i++)
        add(&m, 9 - i, 2);
    mailing_send(&m);
    is_str(sent, "(g2h2i2j2)", "many go together");
    sent[0] = '\0';
    add(&m, 5, 3);
    add(&m, 6, 3);
    add(&m, 5, 4);
    is_str(sent, "f3g3",
           "behind another to the same node, those before go first");
    mailing_send(&m);
    is_str(sent, "f3g3f4", "then it");
    add(&m, 5, 5);
    mailing_clear(&m);
    is_str(sent, "f3g3f4", "what waits at the end is dropped");
    return done();
}
