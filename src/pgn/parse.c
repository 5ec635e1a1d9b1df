// SPDX-License-Identifier: GPL-3.0-or-later
// parse.c - one game: tags, then the movetext token by token.
#include <string.h>

#include "pgn/internal.h"

enum {
    NAG_MAX = 255,
    CHAR_WORD = 0, // part of a word
    CHAR_ENDS = 1, // ends a word
};

// Blanks and the characters that are tokens by themselves.
static const uint8_t char_class[256] = {
    [' '] = CHAR_ENDS,  ['\t'] = CHAR_ENDS, ['\n'] = CHAR_ENDS, ['\r'] = CHAR_ENDS,
    ['\v'] = CHAR_ENDS, ['\f'] = CHAR_ENDS, ['{'] = CHAR_ENDS,  ['}'] = CHAR_ENDS,
    ['('] = CHAR_ENDS,  [')'] = CHAR_ENDS,  ['['] = CHAR_ENDS,  [']'] = CHAR_ENDS,
    [';'] = CHAR_ENDS,  ['!'] = CHAR_ENDS,  ['?'] = CHAR_ENDS,  ['$'] = CHAR_ENDS,
    ['*'] = CHAR_ENDS,  ['\0'] = CHAR_ENDS,
};

void pgn_fault(struct pgn_parse *x, const char *at, const char *format, ...)
{
    struct pgn_game *game = x->game;
    if (game->fault.code)
        return;
    va_list args;
    va_start(args, format);
    str text = arena_vprintf(x->a, format, args);
    va_end(args);
    err_set(&game->fault, ERR_INPUT, "%.*s", STR(text));
    game->fault_offset = (uint64_t)(at - x->begin);
}

// ---- between the tokens ----

static bool at_line_start(const struct pgn_parse *x)
{
    return x->p == x->begin || x->p[-1] == '\n';
}

// The same with blanks in between.
static bool leads_line(const struct pgn_parse *x)
{
    const char *p = x->p;
    while (p > x->begin && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p == x->begin || p[-1] == '\n';
}

static void skip_line(struct pgn_parse *x)
{
    const char *lf = memchr(x->p, '\n', (size_t)(x->end - x->p));
    x->p = lf ? lf + 1 : x->end;
    if (!lf)
        pgn_has(x);
}

// Blanks, lines with "%" in front, marks of byte order (where files were put together). Returns
// whether an empty line was among it.
static bool skip_blanks(struct pgn_parse *x)
{
    size_t breaks = 0;
    while (pgn_has(x)) {
        unsigned char c = (unsigned char)*x->p;
        if (c == '\n')
            breaks++;
        if (ascii_is_blank((char)c))
            x->p++;
        else if (c == '%' && at_line_start(x))
            skip_line(x);
        else if (c == 0xEF && str_starts((str){ x->p, (size_t)(x->end - x->p) }, S("\xEF\xBB\xBF")))
            x->p += 3;
        else
            break;
    }
    return breaks > 1;
}

// ---- tags ----

// After an empty line, tags go on unless they begin anew: with a name already seen, or "Event".
static bool begins_anew(const struct pgn_parse *x)
{
    str rest = { x->p + 1, (size_t)(x->end - x->p - 1) };
    if (x->game->tags.n == 0)
        return false;
    if (str_starts(rest, S("Event ")))
        return true;
    for (size_t i = 0; i < x->game->tags.n; i++) {
        str name = x->game->tags.v[i].name;
        if (str_starts(rest, name) && rest.len > name.len && rest.data[name.len] == ' ')
            return true;
    }
    return false;
}

// True: the game ends with its tags.
static bool read_tags(struct pgn_parse *x)
{
    bool empty_line = false;
    while (pgn_has(x) && *x->p == '[') {
        x->hungry = !x->complete && !memchr(x->p, '\n', (size_t)(x->end - x->p));
        if (x->hungry || (empty_line && begins_anew(x)))
            return !x->hungry;
        pgn_read_tag(x);
        empty_line = skip_blanks(x);
    }
    return false;
}

// ---- movetext ----

// Whether what stands here is to be read: not behind a fault, nor in a variation broken off.
static bool is_live(const struct pgn_parse *x)
{
    return !x->game->fault.code && !x->lines[x->depth].dead;
}

static void note(struct pgn_parse *x, struct pgn_note n)
{
    n.ply = x->game->moves.n;
    if (is_live(x))
        *vec_push(x->a, &x->game->notes) = n;
}

static void read_comment(struct pgn_parse *x)
{
    const char *from = x->p + 1;
    const char *to = memchr(from, '}', (size_t)(x->end - from));
    str text = { from, (size_t)((to ? to : x->end) - from) };
    ptrdiff_t event = str_find(text, S("\n[Event \""));
    if (event < 0 && !to && !x->complete) {
        x->hungry = true;
        return;
    }
    if (event >= 0 || !to) { // a brace nobody closed must not swallow the games behind it
        pgn_fault(x, x->p, "the comment that begins here is not closed");
        x->p = event >= 0 ? from + event + 1 : x->end;
        return;
    }
    x->p = to + 1;
    if (is_live(x))
        note(x, (struct pgn_note){ .kind = PGN_COMMENT, .text = pgn_utf8(x, str_trim(text)) });
}

static void read_line_comment(struct pgn_parse *x)
{
    const char *from = x->p + 1;
    skip_line(x);
    if (x->hungry || !is_live(x))
        return;
    str text = str_trim((str){ from, (size_t)(x->p - from) });
    note(x, (struct pgn_note){ .kind = PGN_COMMENT, .text = pgn_utf8(x, text) });
}

static void open_variation(struct pgn_parse *x)
{
    if (x->depth == PGN_DEPTH_MAX) {
        pgn_fault(x, x->p, "variations nested deeper than %d", PGN_DEPTH_MAX);
        x->p++;
        return;
    }
    const struct pgn_line *outer = &x->lines[x->depth];
    struct pgn_line *line = &x->lines[x->depth + 1];
    *line = (struct pgn_line){ .dead = !is_live(x) || !outer->moved };
    x->game->bad_variations += is_live(x) && !outer->moved;
    if (!line->dead) {
        note(x, (struct pgn_note){ .kind = PGN_OPEN });
        line->now = outer->before;
        line->opened = true;
    }
    x->depth++;
    x->p++;
}

// Ends the line in work: its close is noted if its opening was, and both are not if it is empty.
static void close_variation(struct pgn_parse *x)
{
    struct pgn_notes *notes = &x->game->notes;
    if (x->depth == 0)
        return; // one too many: nothing depends on it
    bool opened = x->lines[x->depth--].opened;
    if (opened && notes->v[notes->n - 1].kind == PGN_OPEN)
        notes->n--;
    else if (opened)
        *vec_push(x->a, notes) = (struct pgn_note){ .kind = PGN_CLOSE, .ply = x->game->moves.n };
}

static void read_dollar(struct pgn_parse *x)
{
    int nag = 0;
    x->p++;
    while (pgn_has(x) && ascii_is_digit(*x->p)) {
        nag = nag > NAG_MAX ? nag : 10 * nag + (*x->p - '0');
        x->p++;
    }
    if (nag <= NAG_MAX)
        note(x, (struct pgn_note){ .kind = PGN_NAG, .nag = nag });
}

static void read_mark(struct pgn_parse *x)
{
    static const str marks[] = { T("!"), T("?"), T("!!"), T("??"), T("!?"), T("?!") };
    const char *from = x->p;
    while (pgn_has(x) && (*x->p == '!' || *x->p == '?'))
        x->p++;
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_eq((str){ from, (size_t)(x->p - from) }, marks[i]))
            note(x, (struct pgn_note){ .kind = PGN_NAG, .nag = (int)i + 1 });
    }
}

// A move number and its dots; false: these digits begin a word ("0-0", "1/2-1/2").
static bool read_number(struct pgn_parse *x)
{
    const char *from = x->p;
    while (pgn_has(x) && ascii_is_digit(*x->p))
        x->p++;
    bool ends = !pgn_has(x) || *x->p == '.' || char_class[(unsigned char)*x->p] == CHAR_ENDS;
    bool null = str_eq((str){ from, (size_t)(x->p - from) }, S("0000"));
    while (ends && !null && pgn_has(x) && *x->p == '.')
        x->p++;
    if (ends && !null)
        return true;
    x->p = from;
    return false;
}

// True: the word is the result that ends the game.
static bool read_word(struct pgn_parse *x)
{
    const char *from = x->p;
    while (pgn_has(x) && char_class[(unsigned char)*x->p] == CHAR_WORD)
        x->p++;
    if (x->hungry)
        return false;
    str word = { from, (size_t)(x->p - from) };
    unsigned char c = (unsigned char)*from;
    str result = ascii_is_digit(*from) || c == 0xC2 ? pgn_result(word) : (str){ 0 };
    if (result.len == 0) {
        if (is_live(x))
            pgn_read_word(x, word);
        return false;
    }
    if (x->depth == 0)
        x->game->result = result;
    return x->depth == 0;
}

static bool read_star(struct pgn_parse *x)
{
    x->p++;
    if (x->depth == 0)
        x->game->result = S("*");
    return x->depth == 0;
}

static void refuse_char(struct pgn_parse *x)
{
    if (is_live(x))
        pgn_fault(x, x->p, "\"%s\" has no meaning between moves",
                  str_show((str){ x->p, 1 }, 4).text);
    x->p++;
}

// One token; true: it ended the game.
static bool read_token(struct pgn_parse *x)
{
    switch (*x->p) {
    case '{': read_comment(x); return false;
    case ';': read_line_comment(x); return false;
    case '(': open_variation(x); return false;
    case ')':
        close_variation(x);
        x->p++;
        return false;
    case '$': read_dollar(x); return false;
    case '!':
    case '?': read_mark(x); return false;
    case '.': x->p++; return false;
    case '*': return read_star(x);
    case '}':
    case '[':
    case ']':
    case '\0': refuse_char(x); return false;
    default: return (ascii_is_digit(*x->p) && read_number(x)) ? false : read_word(x);
    }
}

// "1." or "1 ", but not "1...": White's first move.
static bool is_number_one(const struct pgn_parse *x)
{
    const char *p = x->p;
    return x->end - p > 2 && p[0] == '1' && (p[1] == ' ' || (p[1] == '.' && p[2] != '.'));
}

static void read_movetext(struct pgn_parse *x)
{
    const struct pgn_game *game = x->game;
    for (;;) {
        bool empty_line = skip_blanks(x);
        if (x->hungry || !pgn_has(x))
            return;
        if (*x->p == '[' && leads_line(x))
            return;
        if (empty_line && game->moves.n > 0 && is_number_one(x))
            return;
        if (read_token(x) || x->hungry)
            return;
    }
}

// ---- the game ----

// The game at `x->p`; what stands in `x` of an earlier one does not matter.
static void read_game(struct pgn_parse *x)
{
    struct pgn_game *game = x->game;
    const char *first = x->p;
    *game = (struct pgn_game){ .offset = (uint64_t)(first - x->begin) };
    x->depth = 0;
    bool ended = read_tags(x);
    if (x->hungry)
        return;
    if (!pgn_set_up(x, first))
        game->start = position_start();
    game->end.now = game->start;
    x->lines[0] = (struct pgn_line){ .now = game->start };
    if (!ended)
        read_movetext(x);
    game->bad_variations += x->depth;
    while (x->depth > 0)
        close_variation(x);
}

// Comments with nothing around them, as some files have in front of the first game.
static bool is_nothing(const struct pgn_game *game)
{
    return game->tags.n + game->bad_tags + game->moves.n + game->result.len == 0 &&
           !game->fault.code;
}

size_t pgn_parse_game(str text, bool complete, struct arena *a, struct pgn_game *out)
{
    struct pgn_parse x; // not zeroed: it is big, and lines are set as they are opened
    x.begin = x.p = text.data;
    x.end = text.data + text.len;
    x.complete = complete;
    x.hungry = false;
    x.game = out;
    x.a = a;
    do {
        skip_blanks(&x);
        if (!pgn_has(&x))
            return 0;
        read_game(&x);
        if (x.hungry)
            return 0;
    } while (is_nothing(out));
    return (size_t)(x.p - x.begin);
}
