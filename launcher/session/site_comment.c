/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/site_comment.h"
#include "launcher/session/session.h"

void site_comment_tell(struct session *s, const char *line)
{
    struct writer w = {0};

    if (session_is_local(s) || session_size(s) == 0
        || !session_node(s, 0)->present)
        return;
    write_text(&w, line);
    session_send(s, 0, MSG_COMMENT, &w);
}
