/* SPDX-License-Identifier: BSD-2-Clause */
/* What `evenstep help policies` prints. */
#include "launcher/config/policy_option.h"
#include "policy/kinds.h"
#include "tap.h"

#include <float.h>
#include <string.h>
#include <unistd.h>

static void is_span(double low, double high, const char *want)
{
    const struct policy_param param = {.min = low, .max = high};
    char text[POLICY_SPAN];

    policy_option_span(&param, text);
    is_str(text, want, want);
}

static void test_spans(void)
{
    is_span(0.01, 1, "0.01 to 1");
    is_span(1, 2147483647, "1 or more");
    is_span(-2147483648.0, 2147483647, "any");
    is_span(-DBL_MAX, DBL_MAX, "any");
    is_span(-DBL_MAX, 5, "5 or less");
    is_span(4.94066e-324, DBL_MAX, "above 0");
    is_span(4.94066e-324, 0.5, "above 0, to 0.5");
    is_span(1, 1000000, "1 to 1000000");
}

static void test_print(void)
{
    static char text[16384];
    const struct policy_kind *kind;
    FILE *to = tmpfile();
    int saved = dup(STDOUT_FILENO);

    if (!to || saved < 0)
        bail("no file");
    fflush(stdout);
    dup2(fileno(to), STDOUT_FILENO);
    policy_option_print();
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    if (pread(fileno(to), text, sizeof text - 1, 0) <= 0)
        bail("nothing is printed");
    fclose(to);
    for (size_t i = 0; (kind = kinds_at(i)) != NULL; i++) {
        ok(strstr(text, kind->help) != NULL, "policy %s", kind->name);
        for (size_t k = 0; k < kind->n_params; k++)
            ok(strstr(text, kind->params[k].help) != NULL, "with its %s",
               kind->params[k].key);
    }
    ok(!strstr(text, "e+"), "no number is 1e+06");
}

int main(void)
{
    test_spans();
    test_print();
    return done();
}
