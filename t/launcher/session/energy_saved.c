/* SPDX-License-Identifier: BSD-2-Clause */
/* What lower limits have saved. */
#include "launcher/session/energy_saved.h"
#include "tap.h"

static struct energy_view used(double joules, double seconds)
{
    return (struct energy_view){ENERGY_MEASURED, joules, seconds};
}

int main(void)
{
    struct energy_saved s = {0};
    double joules = 7;

    energy_saved_look(&s, 0, 0, (struct energy_view){0});
    energy_saved_look(&s, 1, 0, (struct energy_view){0});
    ok(!s.has_begun, "what is not known is no begin");
    energy_saved_look(&s, 0, 0, used(10, 1));
    energy_saved_look(&s, 1, 0, used(20, 1.5));
    energy_saved_look(&s, 1, 0, used(20, 1.5));
    energy_saved_look(&s, 1, 0, used(100, 2));
    energy_saved_look(&s, 1, 0, used(300, 4));
    ok(!energy_saved_joules(&s, used(500, 8), &joules) && joules == 7,
       "without a lower limit nothing is saved");
    energy_saved_look(&s, 1, 1, used(400, 5));
    energy_saved_look(&s, 1, 1, used(700, 9));
    ok(!energy_saved_joules(&s, used(450, 5.5), &joules),
       "nor told of at once");
    is_int(energy_saved_joules(&s, used(1000, 15), &joules), 1, "later it is");
    is_near(joules, 100 * 10 - 600, 1e-9,
            "watts of before for as long, less what was used: nothing is "
            "counted that may be of before the program");
    is_int(energy_saved_joules(&s, used(1600, 15), &joules), 1, "as is");
    is_near(joules, -200, 1e-9, "what was spent");
    s = (struct energy_saved){0};
    energy_saved_look(&s, 1, 1, used(50, 1));
    energy_saved_look(&s, 1, 1, used(100, 2));
    energy_saved_look(&s, 1, 1, used(300, 4));
    ok(!energy_saved_joules(&s, used(500, 8), &joules),
       "limits that were lower from the start have no before");
    s = (struct energy_saved){0};
    energy_saved_look(&s, 1, 0, (struct energy_view){0});
    energy_saved_look(&s, 1, 0, used(50, 10));
    energy_saved_look(&s, 1, 0, used(150, 20));
    energy_saved_look(&s, 1, 1, used(150, 20));
    is_int(energy_saved_joules(&s, used(200, 30), &joules), 1,
           "what is told first after the begin is of the program");
    is_near(joules, 50, 1e-9, "and counts");
    return done();
}
