// SPDX-License-Identifier: GPL-3.0-or-later
// source.c - the bytes of a puzzle file: read, hashed, decompressed, handed out in blocks.
//
// The public dumps are zstd files of several frames with skippable ones between them; a reader
// that stops after the first frame loses most of the file without a word, so frames are decoded
// until the bytes end, and an unfinished one is an error. A file larger than one block is read
// and decompressed by a thread of its own (ring.h).
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "input/input.h"
#include "base/base.h"

enum { BLOCK_BYTES = 256 << 10, BLOCKS = 4, STORED_BYTES = 128 << 10 };

struct block {
    char *data;
    size_t len; // 0: the end
};

struct source {
    struct arena arena;
    str path;
    // What is stored: a file, or a text in memory (fd < 0).
    int fd;
    str text;
    uint64_t stored_bytes; // read so far
    struct sha256 *sha256;
    str hex;
    // Decompression. frame_left: 0 between frames, else what zstd still expects.
    ZSTD_DStream *zstd; // NULL: plain
    char *stored;       // STORED_BYTES, the bytes being decompressed
    ZSTD_inBuffer in;
    size_t frame_left;
    struct block blocks[BLOCKS]; // without a ring only the first is used
    bool handed_out;             // it is with the caller
    struct ring *ring;           // NULL: the file is one block
    struct err err;              // of the ring's thread
};

// ---- stored bytes ----

// Fills `out` as far as the file goes.
static bool read_stored(struct source *s, char *out, size_t cap, size_t *len, struct err *err)
{
    *len = 0;
    if (s->fd < 0) {
        str part = str_sub(s->text, (size_t)s->stored_bytes, cap);
        if (part.len > 0)
            memcpy(out, part.data, part.len);
        *len = part.len;
    }
    while (s->fd >= 0 && *len < cap) {
        ssize_t n = read(s->fd, out + *len, cap - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_INPUT, "%.*s: %s", STR(s->path), strerror(errno));
        if (n == 0)
            break;
        *len += (size_t)n;
    }
    s->stored_bytes += *len;
    sha256_add(s->sha256, (str){ out, *len });
    return true;
}

static bool damaged(struct source *s, const char *what, struct err *err)
{
    return err_set(
        err, ERR_INPUT, "%.*s: %s near byte %llu of the compressed file; get the file again",
        STR(s->path), what, (unsigned long long)(s->stored_bytes - s->in.size + s->in.pos));
}

static bool read_more(struct source *s, bool *ended, struct err *err)
{
    s->in = (ZSTD_inBuffer){ s->stored, 0, 0 };
    if (!read_stored(s, s->stored, STORED_BYTES, &s->in.size, err))
        return false;
    *ended = s->in.size == 0;
    return true;
}

// At the end of the file this asks once more for what the decoder still holds.
static bool decode_some(struct source *s, ZSTD_outBuffer *to, bool ended, struct err *err)
{
    size_t before = to->pos;
    s->frame_left = ZSTD_decompressStream(s->zstd, to, &s->in);
    if (ZSTD_isError(s->frame_left))
        return damaged(s, ZSTD_getErrorName(s->frame_left), err);
    if (ended && s->frame_left != 0 && to->pos == before)
        return damaged(s, "the zstd data is cut off", err);
    return true;
}

static bool decompress(struct source *s, char *out, size_t cap, size_t *len, struct err *err)
{
    ZSTD_outBuffer to = { out, cap, 0 };
    bool ended = false;
    while (to.pos < to.size && !ended) {
        if (s->in.pos == s->in.size && !read_more(s, &ended, err))
            return false;
        if (ended && s->frame_left == 0)
            break;
        if (!decode_some(s, &to, ended, err))
            return false;
    }
    *len = to.pos;
    return true;
}

static bool fill(struct source *s, struct block *b, struct err *err)
{
    if (s->zstd)
        return decompress(s, b->data, BLOCK_BYTES, &b->len, err);
    return read_stored(s, b->data, BLOCK_BYTES, &b->len, err);
}

static bool fill_ahead(void *context, size_t slot)
{
    struct source *s = context;
    return fill(s, &s->blocks[slot], &s->err) && s->blocks[slot].len > 0;
}

// The first block is full already.
static bool start_thread(struct source *s, struct err *err)
{
    for (size_t i = 1; i < BLOCKS; i++)
        s->blocks[i].data = arena_alloc(&s->arena, BLOCK_BYTES);
    struct ring_work work = { .context = s, .fill = fill_ahead, .slots = BLOCKS, .n_filled = 1 };
    return ring_start(work, &s->ring, err) || err_add(err, "%.*s", STR(s->path));
}

static bool next_threaded(struct source *s, str *block, struct err *err)
{
    size_t slot;
    *block = S("");
    if (ring_take(s->ring, &slot))
        *block = (str){ s->blocks[slot].data, s->blocks[slot].len };
    else if (s->err.code != ERR_NONE && err)
        *err = s->err;
    return block->len > 0 || s->err.code == ERR_NONE;
}

bool source_is_long(const struct source *s)
{
    return s->ring != NULL;
}

bool source_next(struct source *s, str *block, struct err *err)
{
    if (s->ring)
        return next_threaded(s, block, err);
    if (s->handed_out && !fill(s, &s->blocks[0], err))
        return false;
    s->handed_out = true;
    *block = (str){ s->blocks[0].data, s->blocks[0].len };
    return true;
}

// ---- opening ----

static bool is_zstd(str head)
{
    if (head.len < 4)
        return false;
    const unsigned char *p = (const unsigned char *)head.data;
    uint32_t magic =
        (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
    return magic == ZSTD_MAGICNUMBER ||
           (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static bool open_file(struct source *s, struct err *err)
{
    s->fd = open(s->path.data, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (s->fd < 0 || fstat(s->fd, &st) != 0)
        return err_set(err, ERR_INPUT, "%.*s: %s", STR(s->path), strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "%.*s: is a directory; name a file in it", STR(s->path));
    return true;
}

// Reads the first stored bytes, decides what they are, and fills the first block.
static bool begin(struct source *s, struct err *err)
{
    struct block *first = &s->blocks[0];
    first->data = arena_alloc(&s->arena, BLOCK_BYTES);
    if (!read_stored(s, first->data, STORED_BYTES, &first->len, err))
        return false;
    str head = { first->data, first->len };
    if (str_starts(head, S("\x1f\x8b")))
        return err_set(err, ERR_INPUT, "%.*s: is compressed with gzip; unpack it (gunzip) first",
                       STR(s->path));
    size_t more = 0;
    if (is_zstd(head)) {
        s->stored = arena_alloc(&s->arena, STORED_BYTES);
        memcpy(s->stored, head.data, head.len);
        s->in = (ZSTD_inBuffer){ s->stored, head.len, 0 };
        s->zstd = mem_must(ZSTD_createDStream());
        if (!fill(s, first, err))
            return false;
    } else if (!read_stored(s, first->data + first->len, BLOCK_BYTES - first->len, &more, err)) {
        return false;
    }
    first->len += more;
    return s->fd < 0 || first->len < BLOCK_BYTES || start_thread(s, err);
}

static bool open_source(str path, const str *text, struct source **out, struct err *err)
{
    struct source *s = mem_must(calloc(1, sizeof *s));
    s->path = arena_str(&s->arena, path);
    s->fd = -1;
    s->sha256 = sha256_new();
    bool ok = true;
    if (text)
        s->text = *text;
    else
        ok = open_file(s, err);
    if (!ok || !begin(s, err)) {
        source_free(s);
        return false;
    }
    *out = s;
    return true;
}

bool source_open(str path, struct source **out, struct err *err)
{
    return open_source(path, NULL, out, err);
}

bool source_open_text(str path, str text, struct source **out, struct err *err)
{
    return open_source(path, &text, out, err);
}

void source_free(struct source *s)
{
    if (!s)
        return;
    ring_stop(s->ring);
    sha256_free(s->sha256);
    if (s->fd >= 0)
        close(s->fd);
    ZSTD_freeDStream(s->zstd);
    arena_free(&s->arena);
    free(s);
}

str source_sha256(struct source *s, struct arena *a)
{
    if (s->sha256) {
        s->hex = sha256_hex(s->sha256, &s->arena);
        s->sha256 = NULL;
    }
    return arena_str(a, s->hex);
}
