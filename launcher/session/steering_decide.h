/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steering_decide.h - of steering.h: what nodes have told in a round becomes
 * their speeds, and these what limits are wanted.
 *
 * In a long region all are steered to come to its end together.  If steering
 * does not help the program (steering_worth.h), limits are wanted as they were
 * at the start.
 */
#ifndef LAUNCHER_SESSION_STEERING_DECIDE_H
#define LAUNCHER_SESSION_STEERING_DECIDE_H

#include "launcher/session/iterations.h"
#include "launcher/session/mailing.h"
#include "launcher/session/meter_window.h"
#include "launcher/session/session.h"
#include "policy/power.h"
#include "policy/power_need.h"
#include "policy/power_response.h"
#include "policy/steering_worth.h"

struct watched {
    struct meter_window window;   /* of this round */
    struct iterations iterations; /* in this epoch */
    uint64_t marked;              /* until then their times were looked at */
    int64_t marked_ns;            /* 0: none was seen to end */
    int64_t heard_ns;             /* 0: never */
    double speed; /* regions a nanosecond of work; 0: not known */
    double waiting;
    double useful_ns, cpu_ns; /* as was noted last */
    int has_no_cpu;           /* what it did last was no computing */
    struct msg_power power;   /* its limit: what is in force; 0: none */
    uint64_t start, wanted;   /* limits */
    uint64_t tried;           /* that was put back, to see if it helps */
    uint64_t asked;           /* the one that is not confirmed, if is_asked */
    uint64_t kept; /* what it may still have when it is out of reach */
    int is_settable, is_asked, has_offered;
    int is_known, is_silent, is_lost, told_misuse;
};

struct steering {
    struct session *session;
    struct msg_monitor order; /* to each node, with the step's name there */
    int is_own;               /* the step is the agents' */
    struct power_rule rule;
    size_t n;
    struct watched *node;     /* n */
    struct power_node *power; /* n */
    struct power_need *need;  /* n */
    struct power_seen *seen;  /* n */
    struct power_response response;
    struct rack_power *racks;
    void *room;
    struct mailing limits;            /* LIMIT orders that are to be sent */
    int64_t round_ns, round_began_ns; /* the last round's length,
                                         when it is decided this one's */
    size_t asked;                     /* limits that are not confirmed */
    size_t offered;    /* nodes that have told what can be set there */
    size_t known;      /* nodes whose speed is, in this round */
    size_t missing;    /* nodes that are neither known nor silent */
    int64_t looked_ns; /* for those that are silent */
    int64_t record_ns; /* between two records of a node, at least */
    int64_t begun_ns;  /* limits were made */
    int64_t moved_ns;  /* something was metered, at first that it could be
                          limited; 0: nothing can be */
    int64_t still_ns;  /* so long nothing may be metered */
    int is_limiting;   /* whoever can be limited is */
    int is_held;       /* whoever is, has what it had at the start */
    int has_moved;     /* a limit, beside the others' */
    int is_alive, told_off, told_still, told_worth, told_uncapped, told_loose;
    int is_told_off; /* the last that was told of its worth: it has none */
    struct steering_worth worth;
    double skew;
};

/* Can its limit be set? */
int steering_can_set(const struct watched *w);
/* Has no node less than it could have?  Then pair and boost have nothing to move:
 * what one node gives no other can take. */
int steering_is_idle(const struct steering *s);
/* The round is over: s->power and each node's speed, waiting and wanted. */
void steering_decide(struct steering *s);

#endif
