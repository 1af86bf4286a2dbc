/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said of a command that has failed for a reason of ours. */
#include "launcher/exec/last_words.h"
#include "tap.h"

#include <string.h>

static const struct {
    const char *name, *said, *words;
} vectors[] = {
    {"it has said nothing", "", "evenstep: why\n"},
    {"the reason comes behind its words", "alas\n", "alas\nevenstep: why\n"},
    {"on a line of its own", "alas", "alas\nevenstep: why\n"},
    {"an empty line stays", "\n", "\nevenstep: why\n"},
};

static int is(const struct execution_end *end, const char *words)
{
    return end->err_len == strlen(words)
           && memcmp(end->err_tail, words, end->err_len) == 0;
}

int main(void)
{
    char words[40], said[] = "alas";
    struct execution_end end;

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        end = (struct execution_end){.status = 137,
                                     .signal = 9,
                                     .err_dropped = 5,
                                     .err_tail = vectors[i].said,
                                     .err_len = strlen(vectors[i].said)};
        last_words_add(&end, words, sizeof words, "why");
        ok(is(&end, vectors[i].words) && end.status == 126 && end.signal == 0
               && end.err_dropped == 5,
           "%s", vectors[i].name);
    }
    memcpy(words, said, 4);
    end = (struct execution_end){.err_tail = words, .err_len = 4};
    last_words_add(&end, words, sizeof words, "why");
    ok(is(&end, "alas\nevenstep: why\n"), "its words may be there already");
    end = (struct execution_end){.err_tail = said, .err_len = 4};
    last_words_add(&end, words, 20, "a reason that is too long");
    ok(is(&end, "alas\nevenstep: a re"), "what is too long is cut off");
    return done();
}
