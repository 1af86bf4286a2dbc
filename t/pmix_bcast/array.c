/* SPDX-License-Identifier: BSD-2-Clause */
/* Room for more: how much, up to where, and when there is none. */
#include "pmix_bcast/array.h"
#include "fault.h"
#include "tap.h"

static const struct {
    const char *what;
    size_t room, need, size, most;
    size_t want; /* the room afterwards; 0: refused */
} grows[] = {
    {"the first element gets room for more", 0, 1, 4, SIZE_MAX, 16},
    {"but not above the bound", 0, 1, 4, 5, 5},
    {"as many as are needed at once", 0, 100, 4, SIZE_MAX, 100},
    {"twice as many when it is full", 100, 101, 4, SIZE_MAX, 200},
    {"or more if that is not enough", 100, 300, 4, SIZE_MAX, 300},
    {"what is left when twice is above the bound", 100, 101, 4, 199, 199},
    {"twice, where that is the bound", 100, 101, 4, 200, 200},
    {"up to the bound itself", 198, 199, 4, 199, 199},
    {"nothing above the bound", 199, 200, 4, 199, 0},
    {"nothing where the bound is no room", 0, 1, 4, 0, 0},
    {"no more bytes than there are", 16, SIZE_MAX / 4, 8, SIZE_MAX, 0},
    {"nor as many elements as there are", 16, SIZE_MAX, 1, SIZE_MAX, 0},
};

static void test_room(void)
{
    for (size_t i = 0; i < sizeof grows / sizeof grows[0]; i++) {
        size_t room = grows[i].room;
        void *array = room > 0 ? malloc(room * grows[i].size) : NULL, *grown;

        errno = 0;
        grown = array_grow(array, &room, grows[i].need, grows[i].size,
                           grows[i].most);
        if (grows[i].want > 0)
            ok(grown && room == grows[i].want, "%s: %zu", grows[i].what, room);
        else
            ok(!grown && room == grows[i].room && errno == ENOMEM, "%s",
               grows[i].what);
        free(grown ? grown : array);
    }
}

static void test_enough(void)
{
    int array[4];
    size_t room = 4;

    ok(array_grow(array, &room, 4, sizeof array[0], 4) == array && room == 4,
       "an array with room enough stays where it is");
    ok(array_grow(array, &room, 3, sizeof array[0], 2) == array && room == 4,
       "also if it is above the bound by now");
}

static void test_elements(void)
{
    uint32_t *array = NULL;
    size_t room = 0, wrong = 0;

    for (uint32_t n = 0; n < 1000; n++) {
        uint32_t *grown =
            array_grow(array, &room, n + 1, sizeof *array, SIZE_MAX);

        if (!grown)
            bail("no memory");
        array = grown;
        array[n] = n * 7;
    }
    for (uint32_t n = 0; n < 1000; n++)
        wrong += array[n] != n * 7;
    ok(wrong == 0 && room == 1024, "1000 elements, one by one, are all there");
    fault_at = 0;
    ok(!array_grow(array, &room, room + 1, sizeof *array, SIZE_MAX)
           && room == 1024 && errno == ENOMEM && array[999] == 999 * 7,
       "without memory it is left as it was");
    fault_at = -1;
    free(array);
}

int main(void)
{
    test_room();
    test_enough();
    test_elements();
    return done();
}
