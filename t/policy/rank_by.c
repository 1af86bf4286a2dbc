/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/rank_by.h"
#include "tap.h"

#include <string.h>

static const struct profile sheet = {{.3, .3, .2, .15, 0, 0}};
/* C 3 to 1, M 1.2 to 1, S and G without influence. */
static const double nodes[2][ELEMENTS] = {{3, 1.2, 0, 0, 9, 0},
                                          {1, 1, 0, 0, 1, 5}};

static void test_rank(enum rank_by by, const char *elements, double JL)
{
    double measured[2][ELEMENTS];
    char letters[ELEMENTS + 1];
    struct metric m[2];

    memcpy(measured, nodes, sizeof measured);
    is_int(rank_by_rank(by, measured, &sheet, m, 2), 0, rank_by_name(by));
    is_near(m[0].JL, JL, 1e-9, "the load of the first node");
    rank_by_elements(letters, m, &sheet, 2);
    is_str(letters, elements, "the elements that count");
    ok((measured[0][ELEMENT_M] > 0) == (by == RANK_BY_ALL), "M is %s",
       by == RANK_BY_ALL ? "as it was" : "left out");
}

/* What only the second node has counts, too. */
static void test_one_has_it(void)
{
    static const struct profile cards = {{.5, 0, .2, 0, 0, .5}};
    double measured[2][ELEMENTS];
    char letters[ELEMENTS + 1];
    struct metric m[2];

    memcpy(measured, nodes, sizeof measured);
    is_int(rank_by_rank(RANK_BY_ALL, measured, &cards, m, 2), 0,
           "one of two has a card");
    rank_by_elements(letters, m, &cards, 2);
    is_str(letters, "CG", "cards count, links that nobody has do not");
}

static void test_nothing(void)
{
    double none[2][ELEMENTS] = {{0}};
    struct metric m[2];
    char letters[ELEMENTS + 1];

    for (enum rank_by by = 0; by < RANK_BYS; by++) {
        is_int(rank_by_rank(by, none, &sheet, m, 2), -1,
               "nothing measured ranks nobody");
        is_int(rank_by_rank(by, none, &sheet, m, 0), -1, "nor do no nodes");
    }
    rank_by_elements(letters, m, &sheet, 0);
    is_str(letters, "", "no nodes, no elements");
}

int main(void)
{
    for (enum rank_by by = 0; by < RANK_BYS; by++)
        is_int(rank_by_find(rank_by_name(by)), by, rank_by_name(by));
    is_int(rank_by_find("alike"), RANK_BYS, "another name is none");
    test_rank(RANK_BY_DIFFERENT, "C", 75);
    test_rank(RANK_BY_ALL, "CM", 100 * (75 + 100 * 1.2 / 2.2) / 200);
    test_one_has_it();
    test_nothing();
    return done();
}
