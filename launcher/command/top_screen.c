/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/command/top_screen.h"
#include "launcher/command/top_metrics.h"
#include "launcher/command/top_page.h"

#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LOOK_MS   500 /* front ends write about every second */
#define LIST_PART 3   /* at most a third of the screen lists what is at work */
#define RACK_PART 8   /* likewise racks above the nodes */

/* What the keys have chosen. */
struct look {
    enum top_order order;
    int meters;    /* not the parts */
    uint32_t pid;  /* whose page it is; 0: the first */
    size_t choice; /* its place in the list */
    size_t from;   /* the first line of it that is to be seen */
    size_t room;   /* lines that a screen has for it */
    size_t body;   /* lines that there are, of those that scroll */
};

static const struct {
    const char *text;
    enum top_order order;
} order_keys[] = {
    {"b)ehind", TOP_BY_LAG},  {"n)ame", TOP_BY_NAME},
    {"s)peed", TOP_BY_SPEED}, {"w)aiting", TOP_BY_WAITING},
    {"l)imit", TOP_BY_LIMIT},
};

static void put_line(int row, const char *line)
{
    if (row < LINES - 1)
        (void)mvaddnstr(row, 0, line, COLS); /* cut at the end of the screen */
}

/* --- which one ------------------------------------------------------------ */

/* Others come and go: keep to the one that was chosen. */
static void find_choice(struct look *look,
                        const struct top_step steps[],
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (steps[i].pid == look->pid) {
            look->choice = i;
            return;
        }
    look->choice = look->choice < n ? look->choice : 0;
    look->pid = n > 0 ? steps[look->choice].pid : 0;
    look->from = 0;
}

static void choose(struct look *look,
                   const struct top_step steps[],
                   size_t n,
                   size_t by)
{
    if (n < 2)
        return;
    look->choice = (look->choice + by) % n;
    look->pid = steps[look->choice].pid;
    look->from = 0;
}

/* --- drawing -------------------------------------------------------------- */

/* Those around the chosen one, if there are several.  Returns the row below. */
static int draw_list(const struct look *look,
                     const struct top_step steps[],
                     size_t n)
{
    size_t rows = (size_t)LINES / LIST_PART, first = 0;
    char line[TOP_LINE];
    int row = 0;

    if (n < 2)
        return 0;
    if (rows > n)
        rows = n;
    if (look->choice >= rows)
        first = look->choice - rows + 1;
    for (size_t i = first; i < first + rows; i++) {
        top_list_line(line, &steps[i]);
        if (row < LINES - 1)
            (void)mvprintw(row, 0, "%c ", i == look->choice ? '>' : ' ');
        if (row < LINES - 1)
            (void)addnstr(line, COLS > 2 ? COLS - 2 : 0);
        row++;
    }
    return row + 1;
}

/* What does not scroll, and then as much of the rest as there is room for. */
static void draw_page(struct look *look, const struct top_page *page, int row)
{
    size_t rows = LINES - 1 > row ? (size_t)(LINES - 1 - row) : 0;
    size_t head = page->head <= rows / 2 ? page->head : 0;
    size_t body = page->n - head;

    look->room = rows - head;
    look->body = body;
    if (body <= look->room)
        look->from = 0;
    else if (look->from > body - look->room)
        look->from = body - look->room;
    for (size_t i = 0; i < head; i++) {
        if (i + 1 == head)
            (void)attron(A_BOLD);
        put_line(row++, page->line[i]);
    }
    (void)attroff(A_BOLD);
    for (size_t i = head + look->from; i < page->n && row < LINES - 1; i++)
        put_line(row++, page->line[i]);
}

static void draw_step(struct look *look, struct top_step *step, int row)
{
    struct top_page page = {.n = 0};
    size_t columns = COLS > 0 ? (size_t)COLS : 0;
    size_t racks = LINES > 0 ? (size_t)LINES / RACK_PART : 0;

    top_page_progress(&page, step, columns);
    if (step->kind == TOP_STEP || (look->meters && step->n > 0))
        top_page_meters(&page, step, look->order, columns, racks);
    else
        top_page_parts(&page, step, look->order, columns);
    draw_page(look, &page, row);
    top_page_clear(&page);
}

/* The keys, the order that was chosen marked, and which lines of how many are
 * to be seen where not all are. */
static void draw_keys(const struct look *look, size_t n)
{
    char seen[80];
    int len;

    (void)move(LINES - 1, 0);
    if (n > 1)
        (void)addstr("Tab: next; ");
    for (size_t i = 0; i < sizeof order_keys / sizeof *order_keys; i++) {
        if (order_keys[i].order == look->order)
            (void)attron(A_REVERSE);
        (void)addstr(order_keys[i].text);
        (void)attroff(A_REVERSE);
        (void)addch(' ');
    }
    (void)addstr("m)eter q)uit");
    if (n == 0 || look->body <= look->room)
        return;
    len = snprintf(seen, sizeof seen, " %zu-%zu of %zu", look->from + 1,
                   look->from + look->room, look->body);
    if (len < COLS)
        (void)mvaddstr(LINES - 1, COLS - len, seen);
}

static void draw(struct look *look, struct top_step steps[], size_t n)
{
    (void)erase();
    find_choice(look, steps, n);
    if (n == 0)
        put_line(0,
                 "nothing of yours is at work here: no run, broadcast, graph "
                 "or metered step");
    else
        draw_step(look, &steps[look->choice], draw_list(look, steps, n));
    draw_keys(look, n);
    (void)refresh();
}

/* --- keys ----------------------------------------------------------------- */

static enum top_order order_of(int key, enum top_order before)
{
    switch (key) {
    case 'b':
        return TOP_BY_LAG;
    case 'n':
        return TOP_BY_NAME;
    case 's':
        return TOP_BY_SPEED;
    case 'w':
        return TOP_BY_WAITING;
    case 'l':
        return TOP_BY_LIMIT;
    default:
        return before;
    }
}

static void up(struct look *look, size_t lines)
{
    look->from -= lines < look->from ? lines : look->from;
}

static void scroll_by(struct look *look, int key)
{
    if (key == KEY_UP || key == 'k')
        up(look, 1);
    else if (key == KEY_DOWN || key == 'j')
        look->from++;
    else if (key == KEY_PPAGE)
        up(look, look->room);
    else if (key == KEY_NPAGE || key == ' ')
        look->from += look->room;
    else if (key == KEY_HOME)
        look->from = 0;
    else if (key == KEY_END)
        look->from = SIZE_MAX / 2; /* drawing stops it at the end */
}

static void take_key(struct look *look,
                     int key,
                     const struct top_step steps[],
                     size_t n)
{
    look->order = order_of(key, look->order);
    if (key == 'm')
        look->meters = !look->meters;
    if (key == '\t')
        choose(look, steps, n, 1);
    else if (key == KEY_BTAB)
        choose(look, steps, n, n - 1);
    else
        scroll_by(look, key);
}

static int show(uint32_t job, const char *metrics, struct es_error *err)
{
    struct look look = {.order = TOP_BY_LAG};
    int key = 0, rc = 0;

    while (rc == 0 && key != 'q') {
        struct top_step *steps;
        size_t n = top_steps_find(&steps, job);

        draw(&look, steps, n);
        if (metrics)
            rc = top_metrics_write(metrics, steps, n, err);
        key = getch();
        take_key(&look, key, steps, n);
        top_steps_free(steps, n);
    }
    return rc;
}

int top_screen(uint32_t job, const char *metrics, struct es_error *err)
{
    SCREEN *screen =
        isatty(STDOUT_FILENO) ? newterm(NULL, stdout, stdin) : NULL;
    int rc;

    if (!screen)
        return es_fail(err, ES_USAGE, "give --once, or set TERM",
                       "top: this is no terminal that can show it");
    (void)cbreak();
    (void)noecho();
    (void)keypad(stdscr, TRUE);
    (void)curs_set(0);
    timeout(LOOK_MS);
    rc = show(job, metrics, err);
    (void)endwin();
    delscreen(screen);
    return rc;
}
