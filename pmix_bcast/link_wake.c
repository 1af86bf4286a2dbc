/* SPDX-License-Identifier: BSD-2-Clause */
/* Something is to be sent: the link looks, in the loop's next round. */
#include "pmix_bcast/link_state.h"

void link_wake(struct link *l)
{
    if (l->stage == OPEN && !l->is_sending
        && !event_pending(l->writable, EV_WRITE, NULL))
        event_active(l->writable, EV_WRITE, 0);
}
