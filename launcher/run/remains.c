/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/run/remains.h"
#include "launcher/base/notice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define HOLES_NAMED 8 /* a line has room for them */

void remains_begin(struct remains *m,
                   struct receiving *to,
                   const struct unit_words *words,
                   const char *journal,
                   uint64_t frames)
{
    *m = (struct remains){
        .to = to, .words = words, .journal = journal, .frames = frames};
}

static const char *name_of(const struct remains *m)
{
    if (m->to->elsewhere)
        return "--stdout";
    return m->to->path ? m->to->path : "standard output";
}

/* --- what is kept --------------------------------------------------------- */

/* A run that goes on with the journal will print all of it. */
static int only_journal(const struct remains *m)
{
    return m->journal && !m->to->path;
}

static void add_text(struct remains *m, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void add_text(struct remains *m, const char *fmt, ...)
{
    size_t room = sizeof m->list - m->len;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(m->list + m->len, room, fmt, args);
    va_end(args);
    if (n > 0)
        m->len += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_hole(struct remains *m,
                     const struct frame *f,
                     uint64_t begin,
                     uint64_t end)
{
    char range[UNIT_RANGE_MAX];

    m->missing += end - begin;
    if (m->holes == 0) {
        m->before = (struct slice){f->begin, begin};
        m->frame = f->number;
    }
    if (m->holes++ >= HOLES_NAMED)
        return;
    add_text(m, "%s%s", m->holes > 1 ? ", " : "",
             unit_words_range(m->words, (struct slice){begin, end}, range));
    if (m->frames != 1)
        add_text(m, " of frame %ju", (uintmax_t)f->number + 1);
}

/* A new file: one that is there is the user's, or of a run before. */
static int open_rest(struct remains *m)
{
    struct stat st;
    unsigned n = 1;

    snprintf(m->name, sizeof m->name, "%s.rest", m->to->path);
    while (lstat(m->name, &st) == 0)
        snprintf(m->name, sizeof m->name, "%s.rest.%u", m->to->path, ++n);
    return hidden_file_open(&m->rest, m->name, 0666);
}

/* What comes behind a hole. */
static void keep_behind(struct remains *m, const struct part *p)
{
    int beside = receiving_is_beside(m->to);

    m->behind++;
    if (m->journal || m->to->elsewhere || m->to->is_torn || m->rest_errno)
        return;
    if (beside && m->rest.fd == 0 && open_rest(m) < 0)
        m->rest_errno = errno;
    else if (receiving_write(m->to, p, beside ? m->rest.fd : m->to->fd) < 0)
        m->rest_errno = errno;
}

/* 0, or -1: it is not there. */
static int keep_part(struct remains *m, const struct part *p, int was_torn)
{
    int is_written = was_torn && p->begin < m->to->torn;

    if (was_torn && !is_written)
        return -1;
    if (m->holes > 0) {
        keep_behind(m, p);
        return 0;
    }
    if (!is_written && !m->to->elsewhere && !only_journal(m)
        && receiving_add(m->to, p) < 0) {
        notice("%s: %s: what is done of the rest is lost", name_of(m),
               strerror(errno));
        return -1;
    }
    m->added++;
    return 0;
}

void remains_frame(struct remains *m, struct distribution *d)
{
    const struct frame *f = distribution_frame(d);
    struct es_error err = {0}; /* the run has failed for another reason */
    uint64_t at = m->to->begun > f->begin ? m->to->begun : f->begin;
    int was_torn = m->to->is_torn;
    size_t n;

    m->last = f->number;
    if (receiving_parts(m->to, d, &n, &err) < 0)
        n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct part *p = &m->to->part_of[i];

        if (p->begin > at)
            add_hole(m, f, at, p->begin);
        at = p->begin;
        if (keep_part(m, p, was_torn) < 0)
            break;
        at = p->end;
    }
    if (at < f->end)
        add_hole(m, f, at, f->end);
    m->to->frames += m->holes == 0;
    m->to->torn = f->begin; /* of a later frame nothing was written */
}

/* --- what is said --------------------------------------------------------- */

static const char *verb(const struct remains *m)
{
    if (only_journal(m))
        return "done";
    return m->to->elsewhere || receiving_is_beside(m->to) ? "kept" : "printed";
}

static const char *be(const struct remains *m, uint64_t n)
{
    return m->words->one && n == 1 ? "is" : "are";
}

/* "lines 1 to 107 are kept, " */
static void say_before(const struct remains *m, char *text, size_t size)
{
    uint64_t n = m->before.end - m->before.begin, whole = m->to->frames;
    char range[UNIT_RANGE_MAX], frames[40] = "", part[150] = "";
    struct slice before = m->before;

    text[0] = '\0';
    if (m->frames == 1 && whole > 0) { /* of tasks, between barriers */
        n = m->before.end;
        before.begin = 0;
        whole = 0;
    }
    if (whole > 0)
        snprintf(frames, sizeof frames, "%ju whole frame%s", (uintmax_t)whole,
                 whole == 1 ? "" : "s");
    if (n > 0)
        snprintf(part, sizeof part, "%s %s", unit_words_noun(m->words, n),
                 unit_words_range(m->words, before, range));
    if (n > 0 && m->frames != 1)
        snprintf(part + strlen(part), sizeof part - strlen(part),
                 " of frame %ju", (uintmax_t)m->frame + 1);
    if (whole > 0 || n > 0)
        snprintf(text, size, "%s%s%s %s %s, ", frames,
                 whole > 0 && n > 0 ? " and " : "", part,
                 whole > 0 ? (whole + n > 1 ? "are" : "is") : be(m, n),
                 verb(m));
}

/* "; what came after it is in FILE.rest" */
static void say_behind(const struct remains *m, char *text, size_t size)
{
    const char *it = m->missing == 1 ? "it" : "the first of these";

    text[0] = '\0';
    if (m->behind == 0)
        return;
    if (m->journal)
        snprintf(text, size, "; what came after %s is in %s", it, m->journal);
    else if (m->to->elsewhere)
        snprintf(text, size, "; what came after %s is kept, too", it);
    else if (m->rest_errno)
        snprintf(text, size, "; what came after %s is lost: %s%s%s", it,
                 m->name, m->name[0] ? ": " : "", strerror(m->rest_errno));
    else if (m->name[0])
        snprintf(text, size, "; what came after %s is in %s", it, m->name);
    else
        snprintf(text, size, "; what came after %s is printed, too", it);
}

static void say(const struct remains *m)
{
    char before[300], behind[4300], more[40] = "", later[80] = "";

    if (m->holes > HOLES_NAMED)
        snprintf(more, sizeof more, " and %zu more", m->holes - HOLES_NAMED);
    if (m->frames != 1 && m->last + 1 != m->frames)
        snprintf(later, sizeof later, ", and so is what follows frame %ju",
                 (uintmax_t)m->last + 1);
    say_before(m, before, sizeof before);
    say_behind(m, behind, sizeof behind);
    notice("%s%s%s%s %s%s %s missing%s%s", only_journal(m) ? "" : name_of(m),
           only_journal(m) ? "" : ": ", before,
           unit_words_noun(m->words, m->missing), m->list, more,
           be(m, m->missing), later, behind);
}

int remains_end(struct remains *m)
{
    int is_any = m->added > 0 || m->to->frames > 0;

    if (m->rest_errno)
        hidden_file_drop(&m->rest);
    else if (m->rest.fd > 0 && hidden_file_show(&m->rest, m->to->sync) < 0)
        m->rest_errno = errno;
    if (m->holes > 0 && (is_any || m->behind > 0))
        say(m);
    return is_any;
}
