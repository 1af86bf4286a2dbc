/* SPDX-License-Identifier: BSD-2-Clause */
/* Which words of a command are texts of programs, and fields in f-strings. */
#include "launcher/run/command_fields.h"
#include "tap.h"

static const struct {
    const char *words[5];
    int is_text; /* the last of them */
} commands[] = {
    {{"echo", "{line}"}, 0},
    {{"sh", "-c", "x"}, 1},
    {{"/bin/bash", "-euc", "x"}, 1},
    {{"sh", "-c", "x", "{line}"}, 0},
    {{"python3.11", "-c", "x"}, 1},
    {{"python3", "x.py", "{line}"}, 0},
    {{"perl", "-ne", "x"}, 1},
    {{"perl", "-e{x}"}, 1},
    {{"./app", "-c", "{line}"}, 0},
    {{"apptainer", "exec", "sh", "-c", "x"}, 1},
    {{"gawk", "-v", "a=1", "x"}, 1},
    {{"xargs", "-I{}", "cp", "{}"}, 1},
    {{"./awkward", "{line}"}, 0},
    {{"{line}"}, 0},
};

static const struct {
    const char *text;
    int is_in;
} strings[] = {
    {"print(f\"{end}\")", 1},      {"print(f'{end}')", 1},
    {"print(rf\"a{begin}b\")", 1}, {"print(f\"{{end}}\")", 0},
    {"print(\"{end}\")", 0},       {"print({end}, f\"{x}\")", 0},
    {"print(f\"{x}\", {end})", 0}, {"of\"{end}\"", 0},
    {"f\"a\" \"{end}\"", 0},
};

int main(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char **words = (char **)commands[i].words;
        size_t n = 0;

        while (n < 4 && words[n + 1])
            n++;
        is_int(command_fields_is_text(words, n), commands[i].is_text, words[n]);
    }
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        is_int(command_fields_in_f_string(strings[i].text), strings[i].is_in,
               strings[i].text);
    return done();
}
