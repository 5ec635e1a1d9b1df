// SPDX-License-Identifier: GPL-3.0-or-later
// versus_engine.c - positions of random games, asked of a UCI engine and of us: the moves that
// `go perft 1` lists, and the FEN, checkers and key that `d` shows.
//
//   chess_versus_engine [ENGINE [POSITIONS [SEED]]]       stockfish, 1000000, 1
//
// The engine gets the position before and makes the last move itself, so that making moves is
// compared, too. Three quarters of the games are standard chess, the rest chess960. One question at
// a time: Stockfish 15 lists wrong moves where the next `position` comes while it still counts.
// Disagreements are printed; one is enough to fail.
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers.h"

enum {
    GAME_PLIES_MAX = 250,
    PATIENCE_S = 60, // for one answer
    DISAGREEMENTS_SHOWN = 10,
    KEY_HALFMOVES = 14, // from here on Stockfish mixes the counter into the key that it shows
};

struct question {
    struct position before, now;
    move last;     // MOVE_NONE: an initial position
    square ep;     // as the engine writes it: whenever an enemy pawn stands beside a double step
    bool has_keys; // both keys mean the same
};

struct engine {
    FILE *in, *out; // ours to write, ours to read
    pid_t pid;
};

struct key_pair {
    uint64_t ours, theirs;
};

struct answers { // what has come so far
    uint64_t listed[MAX_LEGAL_MOVES];
    size_t n_moves;
    bool shown, done; // `d` has been answered; `go`, too
};

struct duel {
    struct engine engine;
    struct rng rng;
    struct arena game_arena, arena, text; // one game; all; one answer
    struct game game;
    int ply;
    enum variant variant;
    struct question question;
    struct answers got;
    struct {
        struct key_pair *v;
        size_t n, cap;
    } keys;
    uint64_t moves, checks, double_checks, castlings, captures_ep, promotions;
    int disagreements;
};

static void die(const char *what)
{
    fprintf(stderr, "versus_engine: %s\n", what);
    exit(2);
}

// ---- the engine ----

static struct engine engine_start(const char *path)
{
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0)
        die("no pipe");
    struct engine e = { .pid = fork() };
    if (e.pid < 0)
        die("no process");
    if (e.pid == 0) {
        dup2(to[0], STDIN_FILENO);
        dup2(from[1], STDOUT_FILENO);
        close(to[1]);
        close(from[0]);
        execlp(path, path, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    e.in = fdopen(to[1], "w");
    e.out = fdopen(from[0], "r");
    if (!e.in || !e.out)
        die("no stream");
    return e;
}

static void engine_end(struct engine *e)
{
    int status;
    fputs("quit\n", e->in);
    fclose(e->in);
    fclose(e->out);
    if (waitpid(e->pid, &status, 0) != e->pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        die("the engine did not end well");
}

// ---- questions ----

static void new_game(struct duel *d)
{
    arena_reset(&d->game_arena);
    d->game = (struct game){ 0 };
    d->game.now = d->variant == VARIANT_CHESS960
                      ? start960((int)rng_below(&d->rng, 960), &d->game_arena)
                      : position_start();
    d->ply = 0;
}

// Where the engine writes an en-passant square after `m`.
static square engine_ep(const struct position *now, move m)
{
    if (move_kind(m) != MOVE_DOUBLE_PUSH)
        return SQUARE_NONE;
    int to = move_to(m), file = to & 7;
    bitboard pawns = now->piece[PAWN] & now->side[now->turn], beside = 0;
    if (file > 0)
        beside |= (bitboard)1 << (to - 1);
    if (file < 7)
        beside |= (bitboard)1 << (to + 1);
    return pawns & beside ? (square)((move_from(m) + to) / 2) : SQUARE_NONE;
}

// A random move; the second draw counts where the first one is nothing special.
static move draw_move(struct duel *d)
{
    struct move_list list;
    moves_legal(&d->game.now, &list);
    move m = list.v[rng_below(&d->rng, list.n)];
    if (move_kind(m) == MOVE_PLAIN && !move_gives_check(&d->game.now, m))
        m = list.v[rng_below(&d->rng, list.n)];
    return m;
}

static struct question next_question(struct duel *d)
{
    if (d->ply > GAME_PLIES_MAX || (d->ply > 0 && game_end(&d->game) != GAME_ONGOING))
        new_game(d);
    struct question q = { .before = d->game.now, .ep = SQUARE_NONE };
    if (d->ply++ > 0) {
        q.last = draw_move(d);
        game_play(&d->game, q.last, &d->game_arena);
        q.ep = engine_ep(&d->game.now, q.last);
    }
    q.now = d->game.now;
    q.has_keys = d->variant == VARIANT_STANDARD && q.ep == q.now.en_passant &&
                 q.now.halfmove < KEY_HALFMOVES;
    return q;
}

static void ask(struct duel *d)
{
    struct question *q = &d->question;
    *q = next_question(d);
    d->got = (struct answers){ .n_moves = 0 };
    str fen = fen_of(&q->before, &d->text);
    fprintf(d->engine.in, "position fen %.*s", STR(fen));
    if (q->last != MOVE_NONE)
        fprintf(d->engine.in, " moves %s", uci_format(q->last).data);
    fputs("\nd\ngo perft 1\n", d->engine.in);
    fflush(d->engine.in);
    alarm(PATIENCE_S);
}

// ---- answers ----

static void disagree(struct duel *d, const struct question *q, const char *what, str theirs)
{
    if (d->disagreements++ >= DISAGREEMENTS_SHOWN)
        return;
    str fen = fen_of(&q->before, &d->text);
    fprintf(stderr, "%s, after %s: %s: the engine says %.*s\n", arena_str(&d->text, fen).data,
            q->last ? uci_format(q->last).data : "nothing", what, STR(theirs));
}

static void check_fen(struct duel *d, const struct question *q, str theirs)
{
    struct position pos = q->now;
    struct buf ours = { .arena = &d->text };
    pos.en_passant = q->ep;
    if (pos.variant == VARIANT_CHESS960)
        position_format_shredder(&pos, &ours);
    else
        position_format(&pos, &ours);
    if (!str_eq(buf_str(&ours), theirs))
        disagree(d, q, "FEN", theirs);
}

static void check_checkers(struct duel *d, const struct question *q, str theirs)
{
    struct buf ours = { .arena = &d->text };
    int n = 0;
    for (bitboard b = position_checkers(&q->now); b; b &= b - 1, n++) {
        int s = __builtin_ctzll(b);
        buf_addf(&ours, n ? " %c%c" : "%c%c", 'a' + (s & 7), '1' + (s >> 3));
    }
    d->checks += n > 0;
    d->double_checks += n > 1;
    if (!str_eq(buf_str(&ours), theirs))
        disagree(d, q, "checkers", theirs);
}

static void note_key(struct duel *d, const struct question *q, str theirs)
{
    if (q->has_keys)
        *vec_push(&d->arena, &d->keys) =
            (struct key_pair){ q->now.key, strtoull(theirs.data, NULL, 16) };
}

// A move's text as a number.
static uint64_t packed(str uci)
{
    uint64_t word = 0;
    for (size_t i = 0; i < uci.len && i < 8; i++)
        word = word << 8 | (unsigned char)uci.data[i];
    return word;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_moves(struct duel *d, const struct question *q, str theirs)
{
    struct move_list list;
    uint64_t ours[MAX_LEGAL_MOVES];
    moves_legal(&q->now, &list);
    for (size_t i = 0; i < list.n; i++) {
        ours[i] = packed(str_from(uci_format(list.v[i]).data));
        d->castlings += move_kind(list.v[i]) == MOVE_CASTLING;
        d->captures_ep += move_kind(list.v[i]) == MOVE_EN_PASSANT;
        d->promotions += move_promotion(list.v[i]) != PIECE_NONE;
    }
    d->moves += list.n;
    qsort(ours, list.n, sizeof *ours, compare_words);
    qsort(d->got.listed, d->got.n_moves, sizeof *ours, compare_words);
    int64_t count = -1;
    if (!str_to_int(theirs, 0, MAX_LEGAL_MOVES, &count) || (size_t)count != list.n ||
        d->got.n_moves != list.n || memcmp(ours, d->got.listed, list.n * sizeof *ours) != 0)
        disagree(d, q, "moves", theirs);
}

// One line of the engine.
static void take_line(struct duel *d, str line)
{
    const struct question *q = &d->question;
    ptrdiff_t colon = str_find(line, S(": "));
    if (colon < 0)
        return; // the board, an empty line
    str name = str_sub(line, 0, (size_t)colon);
    str value = str_trim(str_sub(line, (size_t)colon + 2, line.len));
    if (str_eq(name, S("Fen"))) {
        check_fen(d, q, value);
    } else if (str_eq(name, S("Key"))) {
        note_key(d, q, value);
    } else if (str_eq(name, S("Checkers"))) {
        check_checkers(d, q, value);
        d->got.shown = true;
    } else if (str_eq(name, S("Nodes searched"))) {
        check_moves(d, q, value);
        d->got.done = d->got.shown;
    } else if (name.len <= 5 && d->got.n_moves < MAX_LEGAL_MOVES) {
        d->got.listed[d->got.n_moves++] = packed(name);
    }
}

// Asks and compares `n` positions of a variant.
static void compare(struct duel *d, enum variant variant, size_t n)
{
    static char line[4096];
    d->variant = variant;
    new_game(d);
    fprintf(d->engine.in, "setoption name UCI_Chess960 value %s\n",
            variant == VARIANT_CHESS960 ? "true" : "false");
    for (size_t i = 0; i < n; i++) {
        ask(d);
        while (!d->got.done) {
            if (!fgets(line, sizeof line, d->engine.out))
                die("the engine ended; is it there, and does it know `go perft` and `d`?");
            take_line(d, str_trim_set(str_from(line), S("\r\n")));
        }
        arena_reset(&d->text);
    }
}

// ---- keys ----

static int by_ours(const void *a, const void *b)
{
    return compare_words(&((const struct key_pair *)a)->ours, &((const struct key_pair *)b)->ours);
}

static int by_theirs(const void *a, const void *b)
{
    return compare_words(&((const struct key_pair *)a)->theirs,
                         &((const struct key_pair *)b)->theirs);
}

// Two positions have one key for us exactly if they have one for the engine. Returns how many keys
// are different.
static size_t check_keys(struct duel *d)
{
    size_t different = 0;
    for (int turn = 0; turn < 2; turn++) {
        qsort(d->keys.v, d->keys.n, sizeof *d->keys.v, turn ? by_theirs : by_ours);
        different = d->keys.n > 0;
        for (size_t i = 1; i < d->keys.n; i++) {
            const struct key_pair *a = &d->keys.v[i - 1], *b = &d->keys.v[i];
            bool same = a->ours == b->ours;
            different += !same;
            if (same == (a->theirs == b->theirs))
                continue;
            d->disagreements++;
            fprintf(stderr,
                    "keys: ours %016" PRIx64 " %016" PRIx64 ", theirs %016" PRIx64 " %016" PRIx64
                    "\n",
                    a->ours, b->ours, a->theirs, b->theirs);
        }
    }
    return different;
}

static uint64_t number(int argc, char **argv, int i, uint64_t fallback)
{
    int64_t value = (int64_t)fallback;
    if (argc > i && !str_to_int(str_from(argv[i]), 1, INT32_MAX, &value))
        die("usage: chess_versus_engine [ENGINE [POSITIONS [SEED]]]");
    return (uint64_t)value;
}

int main(int argc, char **argv)
{
    static struct duel d;
    uint64_t n = number(argc, argv, 2, 1000000), seed = number(argc, argv, 3, 1);
    signal(SIGPIPE, SIG_IGN);
    rng_seed(&d.rng, seed, S("versus engine"));
    d.engine = engine_start(argc > 1 ? argv[1] : "stockfish");
    compare(&d, VARIANT_STANDARD, n - n / 4);
    compare(&d, VARIANT_CHESS960, n / 4);
    engine_end(&d.engine);
    size_t different = check_keys(&d);
    printf("%" PRIu64 " positions (%" PRIu64 " chess960), seed %" PRIu64 ": %" PRIu64
           " moves, of them %" PRIu64 " castling, %" PRIu64 " en passant, %" PRIu64
           " promotions; %" PRIu64 " in check, %" PRIu64 " in double check; %zu keys compared, %zu "
           "different\n%d disagreements\n",
           n, n / 4, seed, d.moves, d.castlings, d.captures_ep, d.promotions, d.checks,
           d.double_checks, d.keys.n, different, d.disagreements);
    arena_free(&d.game_arena);
    arena_free(&d.arena);
    arena_free(&d.text);
    return d.disagreements ? EXIT_FAILURE : EXIT_SUCCESS;
}
