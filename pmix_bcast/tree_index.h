/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_index.h - what is in a tree of files: paths, modes, times, sizes, and
 * where each file's bytes are in the content, which is the data of all files
 * one behind the other.  Pure.
 *
 * Both ends of a broadcast read it from the same bytes:
 *
 *   magic u32, parts u32 (enum tree_part), entries u32,
 *   content u64                     how many bytes all data has
 *   then for each entry
 *     kind << 16 | mode u32, parent u32, mtime ns i64 (TREE_NO_TIME: none),
 *     name blob with its NUL, and
 *     all but hard links, with TREE_XATTRS:
 *                 blob: of each attribute its name, a text blob with its NUL,
 *                 and its value, a blob
 *     file        size u64, extents u32, offset u64 and len u64 of each; or
 *                 extents 2^32 - 1: one, of all of it; with TREE_DIGESTS:
 *                 digest blob, see tree_digest.h
 *     symlink     target blob with its NUL
 *     hard link   entry u32           the file that it is another name of
 *   and behind them, with TREE_DIGESTS, for each large file that is in segments
 *   (segmenter.h), in order of the entries
 *     entry u32, and a blob: of each segment its len u32 and its digest
 *
 * A segment is in one extent; the extents of such a file are its segments.  All
 * other files are one segment each.
 *
 * Entry 0 is the root, a folder without a name.  A parent is a folder that came
 * before; so whoever follows parents ends at the root, and no name leads out
 * of the tree.
 */
#ifndef PMIX_BCAST_TREE_INDEX_H
#define PMIX_BCAST_TREE_INDEX_H

#include "pmix_bcast/bytes.h"
#include "pmix_bcast/tree_want.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ENTRIES_MAX   (1u << 24)
#define TREE_INDEX_MAX     (1u << 30) /* bytes */
#define TREE_PATH_MAX      PATH_MAX   /* from the root, with its NUL */
#define TREE_XATTRS_MAX    (1u << 20) /* bytes, of an entry */
#define TREE_DIGEST        32u        /* bytes */
#define TREE_NO_TIME       INT64_MIN
#define TREE_SEGMENTS_MAX  (1u << 25)         /* bits in a message */
#define TREE_SEGMENT_BYTES (4u + TREE_DIGEST) /* of a segment, as encoded */

enum tree_part { /* that entries have besides */
                 TREE_DIGESTS = 1,
                 TREE_XATTRS = 2,
};

enum tree_kind {
    TREE_FOLDER = 0,
    TREE_FILE = 1,
    TREE_SYMLINK = 2,
    TREE_HARD_LINK = 3,
};

struct tree_extent { /* some of a file's bytes; between extents it is a hole */
    uint64_t offset, len;
    uint64_t at; /* in the content */
    uint32_t entry, segment;
};

struct tree_entry {
    enum tree_kind kind;
    uint32_t parent, mode; /* mode: permissions */
    int64_t mtime_ns;      /* since 1970 */
    const char *name;
    const char *target; /* of a symlink */
    uint64_t size;
    uint32_t same;         /* of a hard link: the file */
    uint64_t data;         /* bytes that a file has, without its holes */
    const uint8_t *digest; /* of a file; NULL: the index has none */
    uint32_t segment;      /* number of its first one in the tree */
    uint32_t segments;     /* at least 1, of which only files have content */
    const uint8_t *cuts;   /* as encoded; NULL: it is not in segments */
    const uint8_t *xattrs; /* NULL: the index has none */
    size_t xattrs_len;
};

struct tree_index {
    uint32_t n, segments;
    struct tree_entry *entry; /* n, owned */
    size_t n_extents;
    struct tree_extent *extent; /* in order of the content, owned */
    size_t n_all;
    struct tree_extent *all; /* in order of the entries, owned; the same before
                                tree_index_select() */
    uint64_t bytes;          /* of the content */
    uint8_t *encoded;        /* owned: names point into it */
    size_t len;
};

/* --- making one ----------------------------------------------------------- */

struct tree_file_data {
    uint64_t size;
    size_t n; /* extents; only offset and len are read */
    const struct tree_extent *extent;
};

/* parts: those that each entry has. */
void tree_write_head(struct writer *w, uint32_t parts);
void tree_write_folder(struct writer *w, const struct tree_entry *e);
void tree_write_file(struct writer *w,
                     const struct tree_entry *e,
                     const struct tree_file_data *data);
void tree_write_symlink(struct writer *w, const struct tree_entry *e);
void tree_write_hard_link(struct writer *w, const struct tree_entry *e);
/* When all entries are written: how many there are, and how many bytes the
 * content has. */
void tree_write_end(struct writer *w, uint32_t n, uint64_t bytes);

struct tree_segment {
    uint64_t offset; /* in its file */
    uint32_t len;
    uint8_t digest[TREE_DIGEST]; /* BLAKE2b of its bytes */
};

/* Then, of files in order: two segments or more, of all that the file has. */
void tree_write_segments(struct writer *w,
                         uint32_t entry,
                         const struct tree_segment *segment,
                         size_t n);

/* --- reading it ----------------------------------------------------------- */

/* Takes the encoded bytes (from malloc(3)) over, on failure, too.  0, or an
 * errno value: EBADMSG if it is not just what is said above. */
int tree_index_read(struct tree_index *t, uint8_t *encoded, size_t len);
void tree_index_clear(struct tree_index *t);
/* From the root on, without a slash in front; "." is the root itself.  Returns
 * 0, or -1 if it is too long. */
int tree_index_path(const struct tree_index *t,
                    uint32_t entry,
                    char path[TREE_PATH_MAX]);

/* The content is that of the wanted segments alone, from now on; once.  0, or
 * ENOMEM. */
int tree_index_select(struct tree_index *t, const struct tree_want *want);
/* All extents of a file, that are *n. */
const struct tree_extent *tree_index_extents(const struct tree_index *t,
                                             uint32_t entry,
                                             size_t *n);
/* The i-th segment of a file that is in segments. */
struct tree_segment tree_index_segment(const struct tree_index *t,
                                       uint32_t entry,
                                       uint32_t i);

struct tree_xattr {
    const char *name;
    const uint8_t *value;
    size_t len;
};

/* The entry's next attribute; *at is 0 at first.  0: there is no more. */
int tree_index_xattr(const struct tree_entry *e,
                     size_t *at,
                     struct tree_xattr *x);

struct tree_piece { /* of the content, in one segment of a file */
    uint32_t entry, segment;
    uint64_t offset; /* in the file */
    size_t len;
};

/* The extent that has the content's byte at, which there is.  O(log n). */
size_t tree_index_extent(const struct tree_index *t, uint64_t at);
/* The piece of this extent, which has that byte, that begins there: at most
 * len bytes.  The next one begins with the next extent. */
struct tree_piece tree_index_piece(const struct tree_index *t,
                                   size_t extent,
                                   uint64_t at,
                                   size_t len);

#endif
