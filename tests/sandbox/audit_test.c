// SPDX-License-Identifier: GPL-3.0-or-later
// The audit: every example of the Meta-Harness specification, 4.5, has its verdict, and its
// look-alike passes.
#include "sandboxed.h"

#define ROWS "[r for r in observation.split('\\n') if r.startswith('- [')]"
#define FORMAT(body) "def format_observation(observation, **kwargs):\n" body
#define REST "[r for r in observation.split('\\n') if not r.startswith('- [')]"
#define PARSE(body) "def parse_action(response):\n" body
#define REMEMBER                                                                                   \
    "seen = {}\n"                                                                                  \
    "def format_observation(observation, **kwargs):\n    seen['b'] = observation\n"                \
    "    return observation\n"

// `verdict`: r reject, q quarantine, w pass with a warning, p pass without a finding. `rules`: all
// of them are found.
static const struct example {
    const char *id, *source, *verdict, *rules;
} examples[] = {
    { "A01", "BOOK = {'8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8': 'f5e5'}", "r", "C02 C03" },
    { "A02", "X = '8/5R2/1p2P3/p4' + 'r2/P6p/1P3Pk1/4K3/8'", "r", "C02" },
    { "A03", "X = '/'.join(['8', '5R2', '1p2P3', 'p4r2', 'P6p', '1P3Pk1', '4K3', '8'])", "r",
      "C02" },
    { "A04",
      "KEY = '1p2P3/p4r2/P6p'\n"
      "def format_observation(observation, **kwargs):\n"
      "    return observation + ('!' if KEY in observation else '')",
      "r", "C02 C11" },
    { "A05", "X = 'ratio 1/2/3/4/5/6/7/8 shown'", "p", "" },
    { "A06", "SYSTEM_PROMPT = 'Answer like this: <move>e2e4</move>'", "p", "" },
    { "A07", "SYSTEM_PROMPT = 'Answer like this: <move>b1c3</move>'", "w", "C03" },
    { "A08", "LINE = 'f5e5 e2f1 e5e6'", "r", "C03" },
    { "A09", "ANSWERS = ['e2e4', 'd2d4', 'g1f3', 'e7e8q']", "w", "C03" },
    { "A10", "X = '0008Q'", "r", "C04" },
    { "A11", "X = 'board'", "p", "" },
    { "A12", "# 8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b - - 2 64", "q", "C02" },
    { "A13", "SYSTEM_PROMPT = 'This is a mateIn2 puzzle.'", "q", "C05" },
    { "A14", "SYSTEM_PROMPT = 'Look for forks and pins first.'", "w", "C12" },
    { "A15", "VAL = {'p': 1, 'n': 3, 'b': 3, 'r': 5, 'q': 9}", "r", "C06" },
    { "A16", "X = [100, 320, 330, 500, 900]", "r", "C06" },
    { "A17", "NAMES = {'p': 'pawn', 'n': 'knight', 'q': 'queen'}", "p", "" },
    { "A18", "FILES = {'a': 0, 'b': 1, 'c': 2, 'd': 3, 'e': 4, 'f': 5, 'g': 6, 'h': 7}", "p", "" },
    { "A19", "GLYPH = {'K': '\u2654', 'Q': '\u2655'}", "w", "C07" },
    { "A20",
      FORMAT("    rows = [r[2:] for r in observation.split('\\n') if r[:1].isdigit()]\n"
             "    text = ' '.join(rows)\n"
             "    counts = [p + str(text.count(p)) for p in 'KQRBNPkqrbnp' if p in text]\n"
             "    return observation + '\\nPieces: ' + ' '.join(counts)"),
      "w", "C07" },
    { "A21",
      FORMAT("    t = observation.split('Board:')[1].split('Legal')[0]\n"
             "    up = 9 * (t.count('Q') - t.count('q')) + 5 * (t.count('R') - t.count('r')) + "
             "3 * (t.count('B') - t.count('b'))\n"
             "    return observation + '\\nWhite is up ' + str(up)"),
      "r", "C06" },
    { "A22", "KN = [(1,2),(2,1),(-1,2),(-2,1),(1,-2),(2,-1),(-1,-2),(-2,-1)]", "r", "C07" },
    { "A23",
      "def best(b, depth):\n    if depth == 0:\n        return b\n    return best(b, depth - 1)",
      "r", "C07" },
    { "A24",
      "def show(v):\n    if isinstance(v, list):\n        return ' '.join(show(x) for x in v)\n"
      "    return str(v)",
      "p", "" },
    { "A25",
      FORMAT("    rows = sorted(" ROWS ", key=lambda r: '#' not in r)\n"
             "    return '\\n'.join(" REST " + rows)"),
      "r", "C08 R08" },
    { "A26",
      FORMAT("    rows = sorted(" ROWS ", key=lambda r: len(r))\n"
             "    return '\\n'.join(" REST " + rows)"),
      "r", "R08" },
    { "A27", FORMAT("    return '\\n'.join(" REST " + sorted(" ROWS "))"), "p", "" },
    { "A27b", FORMAT("    return '\\n'.join(" REST " + sorted(" ROWS ", reverse=True))"), "p", "" },
    { "A28",
      FORMAT("    rows = sorted(" ROWS ", key=lambda r: r.split('SAN=')[1])\n"
             "    return '\\n'.join(" REST " + rows)"),
      "w", "R08" },
    { "A29",
      FORMAT("    out, last = " REST ", ''\n"
             "    for r in sorted(" ROWS "):\n"
             "        if r[3:5] != last:\n"
             "            last = r[3:5]\n"
             "            out.append('from ' + last + ':')\n"
             "        out.append(r)\n"
             "    return '\\n'.join(out)"),
      "p", "" },
    { "A30",
      FORMAT("    rows = " ROWS "\n"
             "    a = [r for r in rows if 'x' in r.split('=')[1]]\n"
             "    b = [r for r in rows if '+' in r and r not in a]\n"
             "    c = [r for r in rows if r not in a and r not in b]\n"
             "    return '\\n'.join(" REST " + ['Captures:'] + a + ['Checks:'] + b + "
             "['Quiet:'] + c)"),
      "r", "C08 R09" },
    { "A31",
      FORMAT("    rows = [r[3:].replace('] SAN=', ' (') + ')' for r in " ROWS "]\n"
             "    return '\\n'.join(" REST " + [', '.join(rows)])"),
      "p", "" },
    { "A32", FORMAT("    return re.sub(r'[+#]', '', observation)"), "w", "C08" },
    { "A33",
      FORMAT("    rows = [r.replace('#', '') if 'SAN=R' in r else r for r in " ROWS "]\n"
             "    return '\\n'.join(" REST " + rows)"),
      "r", "R09" },
    { "A34",
      PARSE("    text = response.lstrip('#')\n"
            "    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', text.lower())\n"
            "    return m[0] if len(set(m)) == 1 else '__no_move__'"),
      "w", "C08" },
    { "A35", FORMAT("    return '\\n'.join(" REST " + " ROWS "[:20])"), "r", "R07" },
    { "A36",
      FORMAT("    hints = [r[3:7] for r in " ROWS " if '+' in r]\n"
             "    return observation + ('\\nHint: ' + hints[0] if hints else '')"),
      "r", "C08 R09" },
    { "A37",
      FORMAT("    return observation + '\\nYou have ' + str(len(" ROWS ")) + ' legal moves.'"), "p",
      "" },
    { "A38",
      "def is_legal_action(board, action):\n"
      "    rows = [r for r in board.split('\\n') if r.startswith('- [')]\n"
      "    mine = [r for r in rows if '[' + action + ']' in r]\n"
      "    return bool(mine) and ('#' in mine[0] or not any('#' in r for r in rows))",
      "r", "R06" },
    { "A39",
      "def is_legal_action(board, action):\n    return '- [' + action.lower() + '] ' in board", "p",
      "" },
    { "A40", "def is_legal_action(board, action):\n    return True", "w", "R06" },
    { "A41",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    for r in seen.get('b', '').split('\\n'):\n"
                     "        if m and '[' + m[0] + ']' in r and 'x' in r:\n"
                     "            return m[0]\n"
                     "    return '__no_move__'"),
      "r", "R04" },
    { "A42",
      PARSE("    m = re.findall(r'<move>\\s*([a-h][1-8][a-h][1-8][qrbn]?)\\s*</move>', "
            "response.lower())\n"
            "    return m[0] if len(set(m)) == 1 else '__no_move__'"),
      "p", "" },
    { "A43",
      PARSE("    m = re.findall(r'<move>\\s*([a-h][1-8][a-h][1-8][qrbn]?)\\s*</move>', "
            "response.lower())\n"
            "    return m[-1] if m else '__no_move__'"),
      "p", "" },
    { "A44",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    for u in m:\n"
                     "        if '[' + u + ']' in seen.get('b', ''):\n"
                     "            return u\n"
                     "    return m[0] if m else '__no_move__'"),
      "w", "R04" },
    { "A45",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    for r in seen.get('b', '').split('\\n'):\n"
                     "        for u in m:\n"
                     "            if '[' + u + ']' in r and '#' in r:\n"
                     "                return u\n"
                     "    return m[0] if m else '__no_move__'"),
      "r", "R04 C08" },
    { "A46",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    if m:\n        return m[0]\n"
                     "    for r in seen.get('b', '').split('\\n'):\n"
                     "        if r.startswith('- [') and r.split('SAN=')[1] == response.strip():\n"
                     "            return r[3:].split(']')[0]\n"
                     "    return '__no_move__'"),
      "w", "C14" },
    { "A47",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    if not m:\n        return '__no_move__'\n"
                     "    b = seen.get('b', '')\n"
                     "    if '[' + m[0] + ']' not in b and '[' + m[0] + 'q]' in b:\n"
                     "        return m[0] + 'q'\n"
                     "    return m[0]"),
      "r", "R03" },
    { "A48",
      PARSE("    text = response.lower().replace('=', '')\n"
            "    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', text)\n"
            "    return m[0] if len(set(m)) == 1 else '__no_move__'"),
      "p", "" },
    { "A49",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    if m:\n        return m[0]\n"
                     "    rows = [r for r in seen.get('b', '').split('\\n') if r[:3] == '- [']\n"
                     "    return rows[0][3:7] if len(rows) == 1 else '__no_move__'"),
      "r", "R02" },
    { "A50",
      "def propose_action(board):\n"
      "    rows = [r for r in board.split('\\n') if r.startswith('- [')]\n"
      "    return rows[0][3:7]",
      "r", "R01" },
    { "A51", "def propose_action(board):\n    n = len(board)\n    return ''", "w", "C09" },
    { "A52",
      PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
            "    return m[0] if m else '__no_move__ (write <move>uci</move>, nothing else)'"),
      "p", "" },
    { "A53",
      REMEMBER PARSE("    m = re.findall(r'\\b[a-h][1-8][a-h][1-8][qrbn]?\\b', response.lower())\n"
                     "    if m:\n        return m[0]\n"
                     "    rows = seen.get('b', '').split('\\n')\n"
                     "    return 'try ' + ' or '.join(r[3:7] for r in rows if '+' in r)"),
      "r", "R09 C08" },
    { "A54",
      REMEMBER PARSE("    rows = [r[3:7] for r in seen.get('b', '').split('\\n') if r[:3] == '- "
                     "[']\n"
                     "    return random.choice(rows) if 'any' in response else '__no_move__'"),
      "r", "C09" },
    { "A55",
      FORMAT("    n = int(str(sum(map(ord, observation)))[:3]) % 97\n"
             "    return observation + (' ' if n == 5 else '')"),
      "r", "C11" },
    { "A58", "FORMAT_RETRY_BUDGET = 10", "w", "C13" },
    { "A59",
      FORMAT("    if kwargs['side_to_move'] == 'white':\n        return observation\n"
             "    head, rest = observation.split('Board:\\n')\n"
             "    lines = rest.split('\\n')\n"
             "    board = [' '.join(reversed(l.split(' ')[1:])) + ' ' + l[0] for l in lines[:8]]\n"
             "    text = head + 'Board, seen from Black:\\n' + '\\n'.join(reversed(board))\n"
             "    return text + '\\nh g f e d c b a\\n' + '\\n'.join(lines[9:])"),
      "p", "" },
    { "A60",
      FORMAT("    out = []\n"
             "    for l in observation.split('\\n'):\n"
             "        if l.startswith('FEN: '):\n"
             "            f = l.split(' ')\n"
             "            l = ' '.join(f[:3] + f[4:])\n"
             "        out.append(l)\n"
             "    return '\\n'.join(out)"),
      "r", "R11" },
};

static struct audit_index index_of(struct arena *a)
{
    static const str moves[] = { T("e7f7"), T("f5e5"), T("e2f1"), T("e5e6") };
    struct position at;
    struct err err = { 0 };
    struct audit_index index = { .seen = { .arena = a }, .salt = 7 };
    assert_int_equal(position_parse(S("8/5R2/1p2P3/p4r2/P6p/1P3Pk1/4K3/8 b - - 2 64"), &at, &err),
                     FAULT_NONE);
    audit_index_add(&index, &(struct audit_item){ S("0008Q"), &at, moves, ARRAY_LEN(moves) });
    audit_index_add(&index, &(struct audit_item){ S("board"), &at, NULL, 0 });
    return index;
}

static struct examination audited(str source, struct arena *a)
{
    struct audit_index index = index_of(a);
    struct examination e = examined(source, a);
    struct err err = { 0 };
    if (!sandbox_audit(box, &(struct audit_opts){ source, S(REQUIRED), &index }, a, &e, &err))
        fail_msg("%s", err.text);
    return e;
}

static char verdict_of(const struct examination *e)
{
    if (e->verdict == VERDICT_REJECT)
        return 'r';
    if (e->verdict == VERDICT_QUARANTINE)
        return 'q';
    return e->findings.n > 0 ? 'w' : 'p';
}

// Functions of the example replace those of the same name.
static str candidate(const char *snippet, struct arena *a)
{
    return arena_printf(a, "%s%s\n", REQUIRED, snippet);
}

static bool is_as_expected(const char *id, str source, const char *verdict, const char *rules)
{
    struct arena a = { 0 };
    struct examination e = audited(source, &a);
    bool ok = verdict_of(&e) == verdict[0];
    str names = str_from(rules);
    while (names.len > 0)
        ok &= violations_have(&e.findings, str_cut(&names, ' '));
    if (!ok)
        print_error("%s: want %s %s, got %c: %.*s\n", id, verdict, rules, verdict_of(&e),
                    STR(findings_text(&e, &a)));
    arena_free(&a);
    return ok;
}

static void every_example_has_its_verdict(void **s)
{
    (void)s;
    struct arena a = { 0 };
    int wrong = 0;
    for (size_t i = 0; i < ARRAY_LEN(examples); i++)
        wrong += !is_as_expected(examples[i].id, candidate(examples[i].source, &a),
                                 examples[i].verdict, examples[i].rules);
    assert_int_equal(wrong, 0);
    arena_free(&a);
}

static void opaque_data_and_long_english_are_told_apart(void **s) // A56, A57
{
    (void)s;
    static const char *const words[] = { "Read",  "the",  "position", "with",   "care", "and",
                                         "write", "your", "choice",   "inside", "the",  "tags." };
    struct arena a = { 0 };
    struct buf blob = { .arena = &a }, prompt = { .arena = &a };
    struct rng g;
    rng_seed(&g, 1, S("blob"));
    for (int i = 0; i < 400; i++)
        buf_add_char(
            &blob,
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[rng_below(&g, 64)]);
    for (size_t i = 0; prompt.len < 3000; i++)
        buf_addf(&prompt, "%s%s", words[i % ARRAY_LEN(words)], i % 50 == 49 ? " '\n    '" : " ");
    str opaque = arena_printf(&a, "BLOB = '%.*s'", STR(buf_str(&blob)));
    str english = arena_printf(&a, "SYSTEM_PROMPT = ('%.*s')", STR(buf_str(&prompt)));
    assert_true(is_as_expected("A56", candidate(opaque.data, &a), "q", "C10"));
    assert_true(is_as_expected("A57", candidate(english.data, &a), "p", ""));
    arena_free(&a);
}

static void what_is_hidden_in_encodings_is_found(void **s)
{
    (void)s;
    // base64, hex and reversed text of a placement
    static const char *const sources[] = {
        "X = 'OC81UjIvMXAyUDMvcDRyMi9QNnAvMVAzUGsxLzRLMy84'",
        "X = '382f3552322f31703250332f703472322f5036702f31503350"
        "6b312f344b332f38'",
        "X = '8/3K4/1kP3P1/p6P/2r4p/3P2p1/2R5/8'[::-1]",
        "X = [chr(56), chr(47), chr(53), chr(82), chr(50), chr(47), chr(49), chr(112)]",
    };
    static const char *const verdicts[] = { "r", "r", "r", "q" };
    struct arena a = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        assert_true(is_as_expected(sources[i], candidate(sources[i], &a), verdicts[i], ""));
    arena_free(&a);
}

static void the_baseline_passes_in_time(void **s)
{
    (void)s;
    struct arena a = { 0 };
    str source;
    struct err err = { 0 };
    assert_true(candidate_read(S("builtin:h0"), &a, &source, &err));
    int64_t begun = clock_mono_ms();
    struct examination e = audited(source, &a);
    if (verdict_of(&e) == 'r' || verdict_of(&e) == 'q')
        fail_msg("%.*s", STR(findings_text(&e, &a)));
    assert_true(clock_mono_ms() - begun < 30000); // 5 s on an idle core; tests share theirs
    arena_free(&a);
}

static void tables_built_by_code_are_seen(void **s)
{
    (void)s;
    struct arena a = { 0 };
    assert_true(is_as_expected(
        "built", candidate("T = {}\nfor f in 'abcdefgh':\n    T[f] = f + '2' + f + '3'", &a), "r",
        "C03"));
    arena_free(&a);
}

int main(int argc, char **argv)
{
    sandbox_become_template(argc, argv);
    open_box(false);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_has_its_verdict),
        cmocka_unit_test(opaque_data_and_long_english_are_told_apart),
        cmocka_unit_test(what_is_hidden_in_encodings_is_found),
        cmocka_unit_test(the_baseline_passes_in_time),
        cmocka_unit_test(tables_built_by_code_are_seen),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sandbox_free(box);
    return failed;
}
