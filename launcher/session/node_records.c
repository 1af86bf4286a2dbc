/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/session/node_records.h"
#include "launcher/base/json_member.h"
#include "launcher/probe/probe_json.h"

#include <math.h>

static json_t *counted(const double measured[ELEMENTS])
{
    json_t *all = json_object();

    for (int e = 0; e < ELEMENTS; e++) {
        const char key[] = {element_letter((enum element)e), '\0'};

        if ((e < ELEMENT_SITE || measured[e] > 0) && isfinite(measured[e]))
            all = json_member(all, key, json_real(measured[e]));
    }
    return all;
}

static json_t *probed(json_t *node, const struct qualification *q, size_t i)
{
    const struct msg_probed *a = &q->answer[i];

    node = json_member(node, "cached", json_boolean(a->cached != 0));
    node = json_member(node, "hardware", json_text(a->hardware));
    return json_member(
        node, "probe",
        probe_to_json((const struct probe_result *)q->result[i]));
}

static json_t *record(const struct qualification *q, size_t i)
{
    json_t *node =
        json_pack("{s:s}", "node", session_node(q->session, i)->name);

    if (q->setup->source == METRICS_EQUAL)
        return node;
    if (q->metric && q->missing == 0) {
        node = json_member(node, "JL", json_real(q->metric[i].JL));
        node = json_member(node, "counted", counted(q->measured[i]));
    }
    return q->setup->source == METRICS_OF_FILE || !q->answered[i]
               ? node
               : probed(node, q, i);
}

json_t *node_records(const struct qualification *q)
{
    json_t *all = json_array();

    for (size_t i = 0; all && i < session_known_size(q->session); i++)
        if (json_array_append_new(all, record(q, i)) < 0) {
            json_decref(all);
            all = NULL;
        }
    return all;
}

/* What it has just measured; NULL: nothing, or memory ran out. */
static json_t *new_record(const struct qualification *q, size_t i)
{
    const struct node *node = session_node(q->session, i);
    const struct msg_probed *a = &q->answer[i];
    json_t *one;

    if (!q->answered[i] || a->cached
        || q->result[i][ELEMENT_C].state != PROBE_MEASURED)
        return NULL;
    one = json_member(json_object(), "node", json_text(node->name));
    one = json_member(one, "boot_id", json_text(node->boot_id));
    one = json_member(one, "cpus", json_integer(node->cpus));
    one = json_member(one, "hardware", json_text(a->hardware));
    return json_member(
        one, "probe", probe_to_json((const struct probe_result *)q->result[i]));
}

static int is_measured(const struct qualification *q, size_t i)
{
    return q->answered[i]
           && (q->answer[i].cached
               || q->result[i][ELEMENT_C].state == PROBE_MEASURED);
}

json_t *node_records_new(const struct qualification *q)
{
    json_t *all = json_array();

    for (size_t i = 0; all && i < session_known_size(q->session); i++)
        if (is_measured(q, i) /* else it was lost, or is yet to come */
            && json_array_append_new(all, new_record(q, i)) < 0) {
            json_decref(all);
            all = NULL;
        }
    return all;
}
