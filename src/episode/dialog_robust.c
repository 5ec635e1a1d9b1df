// SPDX-License-Identifier: GPL-3.0-or-later
// dialog_robust.c - the forgiving reader of replies (LLM Chess specification 1.6, profile robust):
// formatting around an action is ignored, a move may be written in any usual way, and where a reply
// names different actions a line of its own decides. It never guesses: what stays ambiguous is a
// wrong action.
#include <string.h>

#include "episode/internal.h"

enum { TOKEN_MAX = 24, JSON_TRIES = 8 };

// ---- formatting ----

// Length of what formatting stands at `at`, 0: none. HTML tags have no digit, moves in angle
// brackets do or have a dash.
static size_t decoration(str text, size_t at)
{
    static const str quotes[] = { T("“"), T("”"), T("‘"), T("’"), T("«"), T("»") };
    char c = text.data[at];
    if (c == '<') {
        size_t n = at + 1;
        while (n < text.len && (ascii_is_alpha(text.data[n]) || text.data[n] == '/'))
            n++;
        return n < text.len && n > at + 1 && text.data[n] == '>' ? n + 1 - at : 1;
    }
    if (c == '\\') { // \boxed{..}, \text{..}; "\_" is an underscore, see clean()
        size_t n = at + 1;
        while (n < text.len && ascii_is_alpha(text.data[n]))
            n++;
        return n - at;
    }
    if (str_find_char(S("*`\"'>$~{}[]|"), c) >= 0)
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(quotes); i++)
        if (str_starts(str_sub(text, at, text.len), quotes[i]))
            return quotes[i].len;
    return 0;
}

// The text with every piece of formatting replaced by a blank; line breaks stay.
static str clean(str text, struct arena *a)
{
    struct buf b = { .arena = a };
    for (size_t at = 0; at < text.len;) {
        bool escaped = str_starts(str_sub(text, at, 2), S("\\_"));
        size_t n = escaped ? 1 : decoration(text, at);
        if (n > 0 && !escaped)
            buf_add_char(&b, ' ');
        else if (n == 0)
            buf_add_char(&b, text.data[at]);
        at += n ? n : 1;
    }
    return buf_str(&b);
}

// ---- shapes of moves ----

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

// "e7e5", "e7-e5", "e7xd6", "e7e8=Q", "d4e3ep", also with squares that do not exist; `*out` gets it
// in lower case without marks.
static bool coordinate_shape(str token, char out[TOKEN_MAX])
{
    char t[TOKEN_MAX] = { 0 };
    size_t n = 0;
    if (token.len >= sizeof t)
        return false;
    for (size_t i = 0; i < token.len; i++)
        t[i] = ascii_lower(token.data[i]);
    const char *at = t;
    for (int half = 0; half < 2; half++) {
        if (half == 1 && is_one_of(*at, "-x:"))
            at++;
        if (!ascii_is_alpha(at[0]) || !ascii_is_digit(at[1]))
            return false;
        out[n++] = *at++;
        out[n++] = *at++;
    }
    if (strcmp(at, "ep") == 0 || strcmp(at, "e.p") == 0)
        at += strlen(at);
    if (is_one_of(*at, "=/("))
        at++;
    if (ascii_is_alpha(*at))
        out[n++] = *at++;
    while (is_one_of(*at, "+#)"))
        at++;
    out[n] = '\0';
    return *at == '\0';
}

static bool castling_shape(str token)
{
    str body = str_trim_set(token, S("+#"));
    return str_eq_nocase(body, S("o-o")) || str_eq_nocase(body, S("o-o-o")) ||
           str_eq(body, S("0-0")) || str_eq(body, S("0-0-0"));
}

// SAN, also with a dash between squares ("Ng8-f6") and "e.p." behind it; `out` gets it plain.
static bool san_shape(str token, char out[TOKEN_MAX])
{
    size_t n = 0;
    if (token.len >= TOKEN_MAX)
        return false;
    if (str_ends(token, S("e.p")) || str_ends(token, S("ep")))
        token.len -= str_ends(token, S("ep")) ? 2 : 3;
    for (size_t i = 0; i < token.len; i++)
        if (token.data[i] != '-')
            out[n++] = token.data[i];
    out[n] = '\0';
    return n > 0 && scan_san_shape((str){ out, n }, 0) == n;
}

static bool is_move_shape(str token)
{
    char room[TOKEN_MAX];
    return str_eq(token, S("0000")) || castling_shape(token) || coordinate_shape(token, room) ||
           san_shape(token, room);
}

// ---- actions in a text ----

struct found {
    enum dialog_action action;
    str move;
    size_t end; // behind it
};

static size_t skip_set(str text, size_t at, const char *set)
{
    while (at < text.len && is_one_of(text.data[at], set))
        at++;
    return at;
}

static str token_at(str text, size_t at, size_t *end)
{
    size_t n = at;
    while (n < text.len && !ascii_is_blank(text.data[n]) && n - at <= TOKEN_MAX)
        n++;
    *end = n;
    str token = str_sub(text, at, n - at);
    while (token.len > 0 && is_one_of(token.data[token.len - 1], ".,;:!?)"))
        token.len--;
    return token;
}

static bool is_square(str token)
{
    square s;
    return token.len == 2 && square_parse(token, &s);
}

// What is move-shaped behind "make_move" at `at`, perhaps after a move number.
static bool move_follows(str text, size_t at, struct arena *a, struct found *out)
{
    size_t end;
    at = skip_set(text, at, " \t\r\n:(=");
    size_t digits = skip_set(text, at, "0123456789");
    if (digits > at && digits < text.len && text.data[digits] == '.')
        at = skip_set(text, skip_set(text, digits, "."), " \t");
    str token = token_at(text, at, &end);
    if (is_square(token) && end - at == token.len) { // "e7 e5"
        size_t second_end;
        str second = token_at(text, skip_set(text, end, " \t"), &second_end);
        if (is_square(second)) {
            token = arena_printf(a, "%.*s%.*s", STR(token), STR(second));
            end = second_end;
        }
    }
    if (!is_move_shape(token))
        return false;
    out->move = token;
    out->end = end;
    return true;
}

static bool is_name_char(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

// The action whose name stands at `at` as a word of its own.
static bool action_at(str text, size_t at, struct arena *a, struct found *out)
{
    if (at > 0 && is_name_char(text.data[at - 1]))
        return false;
    for (int i = ACTION_BOARD; i <= ACTION_MOVE; i++) {
        str name = dialog_action_name((enum dialog_action)i);
        size_t end = at + name.len;
        if (!str_eq_nocase(str_sub(text, at, name.len), name) ||
            (end < text.len && is_name_char(text.data[end])))
            continue;
        *out = (struct found){ .action = (enum dialog_action)i, .end = end };
        return i != ACTION_MOVE || move_follows(text, end, a, out);
    }
    return false;
}

static bool same(const struct found *x, const struct found *y)
{
    return x->action == y->action && str_eq_nocase(x->move, y->move);
}

// The only action of a text. `*several`: there are different ones.
static bool only_action(str text, struct arena *a, struct found *out, bool *several)
{
    bool any = false;
    *several = false;
    for (size_t at = 0; at < text.len;) {
        struct found f;
        if (!action_at(text, at, a, &f)) {
            at++;
            continue;
        }
        *several |= any && !same(&f, out);
        *out = any ? *out : f;
        any = true;
        at = f.end;
    }
    return any;
}

// Of different actions the last that has a line to itself.
static bool last_line_action(str text, struct arena *a, struct found *out)
{
    static const char around[] = " \t\r.,;:!-()";
    bool any = false;
    while (text.len > 0) {
        str line = str_trim_set(str_cut(&text, '\n'), str_from(around));
        struct found f;
        if (line.len > 0 && action_at(line, 0, a, &f) && f.end >= line.len) {
            *out = f;
            any = true;
        }
    }
    return any;
}

// ---- JSON ----

static str member(const struct json_members *m, const char *const *names, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < m->n; i++)
            if (str_eq_nocase(m->v[i].key, str_from(names[k])))
                return m->v[i].text;
    return (str){ 0 };
}

static bool read_members(str text, struct arena *a, struct json_members *out, size_t *used)
{
    *out = (struct json_members){ 0 };
    return text.len > 0 && text.data[0] == '{' && json_read_lenient(text, a, out, used);
}

static str move_member(const struct json_members *m)
{
    static const char *const names[] = { "move", "uci", "argument", "arg" };
    return member(m, names, ARRAY_LEN(names));
}

// {"action": NAME, "move": MOVE} as the text "NAME MOVE"; empty: no such object in the text.
static str json_action(str text, struct arena *a)
{
    static const char *const actions[] = { "action", "name", "tool", "function", "command" };
    static const char *const arguments[] = { "arguments", "args", "parameters", "input" };
    struct json_members m, inner;
    size_t used;
    for (int i = 0; i < JSON_TRIES; i++) {
        ptrdiff_t at = str_find_char(text, '{');
        if (at < 0)
            break;
        text = str_sub(text, (size_t)at, text.len);
        str name = { 0 };
        if (read_members(text, a, &m, &used))
            name = member(&m, actions, ARRAY_LEN(actions));
        else
            used = 1;
        if (name.len > 0) {
            str move_text = move_member(&m);
            if (read_members(member(&m, arguments, ARRAY_LEN(arguments)), a, &inner, &used))
                move_text = move_member(&inner);
            return arena_printf(a, "%.*s %.*s", STR(name), STR(move_text));
        }
        text = str_sub(text, used, text.len);
    }
    return (str){ 0 };
}

// A native tool call as text.
static str tool_text(const struct dialog_said *said, struct arena *a)
{
    struct json_members m;
    size_t used;
    str move_text = { 0 };
    if (read_members(str_trim(said->tool_arguments), a, &m, &used))
        move_text = move_member(&m);
    return arena_printf(a, "%.*s %.*s", STR(said->tool), STR(move_text));
}

// ---- reading ----

void dialog_read_robust(const struct dialog_rules *r, const struct dialog_said *said, str text,
                        struct arena *a, struct dialog_reading *out)
{
    struct found f = { .action = ACTION_NONE };
    bool several;
    bool tool = str_trim(said->text).len == 0 && said->tool.len > 0;
    str json = tool ? tool_text(said, a) : json_action(text, a);
    str plain = clean(json.len > 0 ? json : text, a);
    if (str_trim(plain).len == 0)
        out->why = S("empty");
    else if (only_action(plain, a, &f, &several) && several && !last_line_action(plain, a, &f)) {
        f = (struct found){ .action = ACTION_NONE };
        out->why = S("ambiguous");
    }
    out->action = f.action;
    out->move = f.move;
    if (out->action == ACTION_NONE && said->after_reflection && r->options & DIALOG_SWALLOW)
        out->action = ACTION_FOLLOW_UP;
    struct dialog_reading strict = { .action = ACTION_NONE };
    dialog_read_compat(r, said->after_reflection, tool ? said->tool : said->text, a, &strict);
    out->lenient = out->action <= ACTION_MOVE &&
                   (strict.action != out->action || !str_eq_nocase(strict.move, out->move));
}

// ---- the move ----

static enum san_verdict read_san(const struct position *pos, str token, move *out)
{
    char text[TOKEN_MAX];
    if (castling_shape(token)) {
        for (size_t i = 0; i < token.len; i++)
            text[i] = is_one_of(token.data[i], "0o") ? 'O' : token.data[i];
        return san_parse(pos, (str){ text, token.len }, out);
    }
    if (!san_shape(token, text))
        return SAN_INVALID;
    enum san_verdict v = san_parse(pos, str_from(text), out);
    if ((v != SAN_INVALID && v != SAN_ILLEGAL) || !is_one_of(text[0], "nrqk"))
        return v;
    text[0] = (char)(text[0] - 'a' + 'A'); // "nf6"; "bc3" stays a pawn's move
    return san_parse(pos, str_from(text), out);
}

struct dialog_try dialog_move_robust(const struct dialog_rules *r, const struct position *pos,
                                     str text, struct arena *a)
{
    struct dialog_try out = { 0 };
    struct buf b = { .arena = a };
    char uci[TOKEN_MAX];
    if (str_eq(text, S("0000")) || coordinate_shape(text, uci)) {
        str plain = str_eq(text, S("0000")) ? text : str_from(uci);
        struct dialog_rules compat = *r;
        compat.profile = DIALOG_COMPAT;
        return dialog_move(&compat, pos, plain, a);
    }
    enum san_verdict v = read_san(pos, text, &out.m);
    if (v == SAN_LEGAL)
        return out;
    out.m = MOVE_NONE;
    const char *what = v == SAN_AMBIGUOUS ? "ambiguous" : v == SAN_ILLEGAL ? "illegal" : "invalid";
    buf_addf(&b, "%s san: '%.*s'", what, STR(text));
    out.reason = dialog_refusal(r, pos, &b);
    return out;
}
