/* SPDX-License-Identifier: BSD-2-Clause */
#include "launcher/base/markup.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of the UTF-8 character at the start of text; 0 if it is not one that
 * XML 1.0 can hold (XML 1.0, section 2.2; RFC 3629, section 4). */
static size_t character_bytes(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? text[0] : text[0] & (0x7fu >> n);

    if (n > 1 && (text[0] < 0xc2 || text[0] > 0xf4))
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0; /* also at the text's end */
        c = c << 6 | (text[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)
        || c == 0xfffe || c == 0xffff
        || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
        return 0;
    return n;
}

void markup_print(FILE *out, const char *text)
{
    while (*text) {
        size_t n = character_bytes((const unsigned char *)text);

        if (n == 0)
            putc('?', out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else
            fwrite(text, 1, n, out);
        text += n ? n : 1;
    }
}
