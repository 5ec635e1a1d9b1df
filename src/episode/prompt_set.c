// SPDX-License-Identifier: GPL-3.0-or-later
// prompt_set.c - the literal strings of the dialog, as named sets. They are a wire format: results
// are comparable only under the same bytes, so a set is never changed, only added (LLM Chess
// specification 1.2). The follow-up prompt is in our own words: its original is not published.
#include "episode/dialog.h"

#define ACTIONS                                                                                    \
    {                                                                                              \
        T("- 'get_current_board' to get the schema and current status of the board\n"),            \
            T("- 'get_legal_moves' to get a UCI formatted list of available moves\n"),             \
            T("- 'do_reflection' to take a moment to think about your strategy\n"),                \
            T("- 'make_move <UCI formatted move>' when you are ready to complete your turn "       \
              "(e.g., 'make_move e2e4')\n"),                                                       \
    }
#define INTRO                                                                                      \
    "You are a professional chess player and you play as {side}. Now is your turn to make a "      \
    "move. Before making a move you can pick one of "
#define FOLLOW_UP                                                                                  \
    T("You have reflected on your situation. Now pick one action, reply exactly with its name "    \
      "and argument: get_current_board, get_legal_moves, do_reflection, make_move <UCI formatted " \
      "move>")

const struct prompt_set prompt_sets[] = {
    {
        .name = T("seed-2025-04"),
        .intro = T(INTRO "{n} actions:\n"),
        .indent = T("    "),
        .closing = T("Respond with the action.\n"),
        .intro_reflection = T(INTRO "{n} actions:\n"),
        .indent_reflection = T("        "),
        .closing_reflection = T("    "),
        .actions = ACTIONS,
        .invalid = T("Invalid action. Pick one, reply exactly with the name and space delimited "
                     "argument: "),
        .made = T("Move made, switching player"),
        .failed = T("Failed to make move: "),
        .too_many = T("Too many wrong actions"),
        .reflection = T("Before deciding on the next move you can reflect on your current "
                        "situation, write down notes, and evaluate.\n"
                        "    Here are a few recommendations that you can follow to make a better "
                        "move decision:\n"
                        "    - Shortlist the most valuable next moves\n"
                        "    - Consider how they affect the situation\n"
                        "    - What could be the next moves from your opponent in each case\n"
                        "    - Is there any strategy fitting the situation and your choice of "
                        "moves\n"
                        "    - Rerank the shortlisted moves based on the previous steps\n"
                        "    "),
        .follow_up = FOLLOW_UP,
    },
    {
        .name = T("current-2025-12"),
        .intro = T(INTRO "the following actions:\n"),
        .intro_reflection = T(INTRO "the following actions:\n"),
        .actions = ACTIONS,
        .invalid = T("Invalid action. Pick one, reply exactly with the name and space delimitted "
                     "argument: "),
        .made = T("Move made, switching player"),
        .failed = T("Failed to make move: "),
        .too_many = T("Too many wrong actions"),
        .reflection = T("Before deciding on the next move you can reflect on your current "
                        "situation, write down notes and evaluate.\n"
                        "Here're a few recommendations that you can follow to make a better move "
                        "decision:\n"
                        "- Shortlist the most valuable next moves\n"
                        "- Consider how they affect the situation\n"
                        "- What could be the next moves from your opponent in each case\n"
                        "- Is there any strategy fitting the situation and your choice of moves\n"
                        "- Rerank the shortlisted moves based on the previous steps\n"),
        .follow_up = FOLLOW_UP,
    },
    { .name = T("") },
};

const struct prompt_set *prompt_set_find(str name)
{
    for (const struct prompt_set *set = prompt_sets; set->name.len > 0; set++)
        if (str_eq(set->name, name))
            return set;
    return NULL;
}

// ---- members by name, for files and hashes ----

enum { MEMBERS = 17, TEXT_MAX_BYTES = 64 << 10 };
struct member {
    const char *name;
    size_t offset;
};
#define MEMBER(m)                                                                                  \
    {                                                                                              \
#m, offsetof(struct prompt_set, m)                                                         \
    }
static const struct member members[MEMBERS] = {
    MEMBER(name),
    MEMBER(intro),
    MEMBER(indent),
    MEMBER(closing),
    MEMBER(intro_reflection),
    MEMBER(indent_reflection),
    MEMBER(closing_reflection),
    { "get_current_board", offsetof(struct prompt_set, actions[ACTION_BOARD]) },
    { "get_legal_moves", offsetof(struct prompt_set, actions[ACTION_LIST]) },
    { "do_reflection", offsetof(struct prompt_set, actions[ACTION_REFLECT]) },
    { "make_move", offsetof(struct prompt_set, actions[ACTION_MOVE]) },
    MEMBER(invalid),
    MEMBER(made),
    MEMBER(failed),
    MEMBER(too_many),
    MEMBER(reflection),
    MEMBER(follow_up),
};

static str *member_of(struct prompt_set *set, const struct member *m)
{
    return (str *)(void *)((char *)set + m->offset);
}

str prompt_set_hash(const struct prompt_set *set, struct arena *a)
{
    struct prompt_set copy = *set;
    struct buf b = { .arena = a };
    for (size_t i = 0; i < MEMBERS; i++)
        buf_add_json(&b, *member_of(&copy, &members[i]));
    return sha256_of(buf_str(&b), a);
}

static bool put_member(struct prompt_set *set, const char *key, const json_t *value,
                       struct arena *a, struct err *err)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        if (!str_eq(str_from(members[i].name), str_from(key)))
            continue;
        if (!json_is_string(value) || json_view(value).len > TEXT_MAX_BYTES)
            return err_set(err, ERR_INPUT, "prompt set: \"%s\" must be a text of at most %d bytes",
                           key, TEXT_MAX_BYTES);
        *member_of(set, &members[i]) = arena_str(a, json_view(value));
        return true;
    }
    return err_set(err, ERR_INPUT, "prompt set: no text is called \"%s\"; see the sets in %s", key,
                   "src/episode/prompt_set.c");
}

bool prompt_set_read(str text, struct arena *a, struct prompt_set *out, struct err *err)
{
    json_t *root = json_read_strict(text, err);
    if (!root)
        return err_add(err, "prompt set");
    *out = prompt_sets[0];
    out->name = S("");
    bool ok = json_is_object(root) || err_set(err, ERR_INPUT, "prompt set: not a JSON object");
    const char *key;
    json_t *value;
    json_object_foreach (root, key, value) {
        ok = ok && put_member(out, key, value, a, err);
    }
    json_decref(root);
    if (ok && (out->name.len == 0 || prompt_set_find(out->name)))
        return err_set(err, ERR_INPUT,
                       "prompt set: give it a \"name\" of its own: results under other texts are "
                       "other results");
    return ok;
}
