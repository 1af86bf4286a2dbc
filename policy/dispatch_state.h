/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dispatch_state.h - what the files of the dispatcher share; for them alone.
 *
 *   dispatch_frames.c  its life, its frames, what happens, how it stands
 *   dispatch_cut.c     how a frame is cut
 *   dispatch_pieces.c  one piece, and who may have one
 *   dispatch_feed.c    who gets what next
 *   dispatch_beside.c  frames side by side
 *   speculation.c      what is done twice at once
 */
#ifndef POLICY_DISPATCH_STATE_H
#define POLICY_DISPATCH_STATE_H

#include "policy/dispatch.h"
#include "policy/sizing.h"
#include "policy/tasks.h"

struct dispatch {
    size_t nodes;
    uint64_t grain, most_pieces;
    const struct policy_kind *kind;
    void *state;         /* the policy's */
    const char *overlap; /* one a node; NULL: none */
    const double *speed; /* likewise; NULL: 1 */
    const size_t *group; /* likewise */
    const double *asked; /* loads, likewise */
    struct slice frame;
    int is_growing;      /* more units may come: each is sent alone */
    struct needs *needs; /* the caller's: likewise; NULL: none */
    uint64_t left;       /* units that are yet to be done */
    uint64_t left_out;   /* units that are not to be any more */
    struct failure_rule rule;
    double end;         /* no piece is out for longer */
    int speculates;     /* what is late is done twice at once */
    struct tasks tasks; /* of the frame, for bundles */
    uint64_t expected;  /* units of the largest frame that waits */
    struct dispatch_piece *piece;
    size_t n, cap;
    size_t next;       /* pieces before it were handed out */
    uint64_t first_id; /* of piece[0] */
    size_t out;        /* pieces that are PIECE_OUT */
    double delay;      /* seconds that a piece is on its way, to and fro */
    struct unit_pool pool;
    size_t waiting; /* nodes with waiting units */
    size_t good;    /* nodes with a load whose last command went well, or is
                       yet to be seen */
    uint64_t taken;
    double loads; /* sum of load[] */
    struct tail_look look;
    double looked; /* when that was taken last */
    int wants_look;
    struct sizing
        sizing;    /* of pieces by what they cost; its cost may be NULL */
    int is_fresh;  /* its level is of now */
    int is_forced; /* one takes some, whatever the level says, or has failed */
    double answered;  /* when the last piece was */
    double fitted;    /* when the cost was; of a frame before: below 0 */
    size_t surprises; /* pieces since then */
    size_t answers;   /* of this frame */
    int is_new;       /* when it began, nothing was known of costs */
    /* one a node */
    struct dispatch_node *node;
    double *load;           /* 0: gets nothing */
    struct slice *cut;      /* workspace */
    struct slice *head;     /* likewise */
    struct tail_node *tail; /* likewise */
    struct tail_late *room; /* likewise, of the look */
};

static inline uint64_t units_in(struct slice s)
{
    return s.end - s.begin;
}

/* Are they one, or of one group? */
int dispatch_are_alike(const struct dispatch *d, size_t a, size_t b);
/* Of the node's group, whose members adjoin. */
void dispatch_set_failures(struct dispatch *d, size_t node, unsigned failures);
/* Nodes that are good, beside its group. */
size_t dispatch_good_beside(const struct dispatch *d, size_t node);
void dispatch_set_awaited(struct dispatch *d, size_t node, int is_awaited);
/* For one piece more, and that each piece, in two, and what waits at each node
 * could come back to the pool, of one node more than now. */
int dispatch_make_room(struct dispatch *d);
void dispatch_set_waiting(struct dispatch *d, size_t node, struct batch b);
/* Does needs.h say what each lane begins with?  In a list that grows only once something
 * is said of a unit: until then short ones go many at a time. */
static inline int dispatch_picks(const struct dispatch *d)
{
    return d->needs && needs_are_said(d->needs);
}
/* Nobody has it any more.  There is room: dispatch_make_room(). */
void dispatch_put_back(struct dispatch *d, const struct batch *b);
/* A piece is out from now on. */
void dispatch_take_out(struct dispatch *d,
                       size_t node,
                       const struct batch *b,
                       double now);
/* It is no longer. */
void dispatch_take_back(struct dispatch *d,
                        struct dispatch_piece *p,
                        enum piece_state state,
                        double now);
enum failure_verdict dispatch_judge(const struct dispatch *d,
                                    const struct dispatch_piece *p);
/* Its units are nobody's. */
void dispatch_make_void(struct dispatch *d,
                        struct dispatch_piece *p,
                        double now);
void dispatch_give_up_waiting(struct dispatch *d, size_t node);
struct dispatch_piece *dispatch_piece_of(struct dispatch *d, uint64_t id);
/* Of a piece that is out it is the other copy; there is room. */
void dispatch_copy_out(struct dispatch *d,
                       struct dispatch_piece *p,
                       size_t node,
                       double now);
/* A node that has nothing, and finds nothing but what waits at others. */
int dispatch_is_idle(const struct dispatch *d, size_t node);
/* A frame that is all in the pool: who begins with what of it. */
void dispatch_cut(struct dispatch *d);
/* Find out anew who gets how much; if only nodes without a load are left,
 * these.  What waits at one that gets nothing is for the others. */
void dispatch_weigh(struct dispatch *d);
/* When it may begin with something of this frame, as others have it, or it is yet
 * to come. */
double dispatch_free_from(const struct dispatch *d, size_t node, double now);
/* When a node will be free of this frame and of those before, as far as can be
 * told. */
double dispatch_free_at(const struct dispatch *d, size_t node, double now);

#endif
