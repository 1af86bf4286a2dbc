/* SPDX-License-Identifier: BSD-2-Clause */
/* Which CPUs of those that wait a rank borrows. */
#include "policy/lending.h"
#include "tap.h"

/* Two CPUs of rank 1, which is busy; of 2, who waits; and of 3, likewise. */
static struct lending_cpu cpu[8] = {{1, 0, 0}, {1, 0, 0}, {2, 0, 1}, {2, 0, 1},
                                    {3, 0, 1}, {3, 0, 1}, {4, 0, 0}, {0, 0, 1}};
static uint32_t chosen[8];

static size_t choose(uint32_t self, size_t want, size_t hungry)
{
    return lending_choose(cpu, 8, self, want, hungry, chosen);
}

int main(void)
{
    is_int(lending_is_worth(50, INT64_C(100000000)), 0,
           "of iterations of 2 ms there is nothing to gain");
    is_int(lending_is_worth(5, INT64_C(100000000)), 1, "of 20 ms there is");
    is_int(lending_is_worth(0, INT64_C(100000000)), 1,
           "nor is a long one left alone");
    is_int((int)choose(1, 0, 1), 0, "who wants none gets none");
    ok(choose(1, 1, 1) == 1 && chosen[0] == 2, "one, the first that is idle");
    ok(choose(1, 8, 1) == 4 && chosen[3] == 5,
       "no more than are idle, of others, and somebody's");
    is_int((int)choose(1, 8, 2), 2, "two that want some share them");
    is_int((int)choose(1, 8, 3), 2, "rounded up");
    is_int((int)choose(1, 1, 2), 1, "but no more than it wants");
    cpu[4].borrower = 1;
    ok(choose(1, 2, 1) == 2 && chosen[0] == 4 && chosen[1] == 2,
       "what it has it keeps");
    cpu[2].borrower = cpu[3].borrower = 4;
    ok(choose(1, 8, 1) == 2 && chosen[0] == 4 && chosen[1] == 5,
       "what others have it does not get");
    cpu[4].is_idle = 0;
    ok(choose(1, 8, 1) == 1 && chosen[0] == 5, "nor what its owner uses again");
    is_int((int)choose(3, 8, 1), 0, "its own are not to be borrowed");
    return done();
}
