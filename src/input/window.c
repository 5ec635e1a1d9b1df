// SPDX-License-Identifier: GPL-3.0-or-later
// window.c - a sliding view over a source: what has been read from the start of the row in work.
//
// Rows cross the borders of blocks, so blocks are appended to one buffer, and the rest of an
// unfinished row is moved to its front when more is needed. The buffer doubles until the row
// fits or is over the limit, so the cost of moving stays linear.
#include <stdlib.h>
#include <string.h>

#include "input/input.h"
#include "base/base.h"

void window_free(struct window *w)
{
    free(w->data);
    *w = (struct window){ 0 };
}

static void make_room(struct window *w, size_t more)
{
    if (w->cap - w->end >= more)
        return;
    size_t used = w->end - w->begin;
    if (w->begin > 0)
        memmove(w->data, w->data + w->begin, used);
    w->begin = 0;
    w->end = used;
    if (w->cap - used >= more)
        return;
    size_t cap = w->cap > 0 ? w->cap : 1 << 16;
    while (cap - used < more)
        cap *= 2;
    w->data = mem_must(realloc(w->data, cap));
    w->cap = cap;
}

enum window_more window_more(struct window *w, struct err *err)
{
    make_room(w, 1); // so that even an empty window points somewhere
    if (w->at_end)
        return WINDOW_END;
    if (w->end - w->begin > ROW_MAX_BYTES)
        return WINDOW_FULL;
    str block;
    if (!source_next(w->source, &block, err))
        return WINDOW_FAIL;
    if (block.len == 0) {
        w->at_end = true;
        return WINDOW_END;
    }
    make_room(w, block.len);
    memcpy(w->data + w->end, block.data, block.len);
    w->end += block.len;
    return WINDOW_MORE;
}

bool window_skip_line(struct window *w, struct err *err)
{
    for (;;) {
        const char *from = w->data + w->begin;
        const char *lf = w->end > w->begin ? memchr(from, '\n', w->end - w->begin) : NULL;
        if (lf) {
            w->begin += (size_t)(lf - from) + 1;
            w->line++;
            return true;
        }
        w->begin = w->end;
        switch (window_more(w, err)) {
        case WINDOW_MORE: continue;
        case WINDOW_END: return true;
        case WINDOW_FULL: BUG("an empty window is full");
        case WINDOW_FAIL: return false;
        }
    }
}
