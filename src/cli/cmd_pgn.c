// SPDX-License-Identifier: GPL-3.0-or-later
// cmd_pgn.c - reads games: one JSON record each, their totals, or clean PGN. Every move is checked.
// It streams: memory does not grow with the file.
#include <stdlib.h>

#include "cli/cli.h"
#include "pgn/pgn.h"

struct totals {
    int64_t games, broken, plies, bad_tags, bad_variations, latin1_bytes, moveless;
    int64_t results[4]; // in the order of result_names
    int64_t ends[GAME_FIFTY_MOVES + 1];
};

struct pgn_job {
    str path;
    struct totals totals;
    struct arena scratch; // one game
    bool strict, summary, write, annotations;
};

static const char *end_name(enum game_end end)
{
    switch (end) {
    case GAME_CHECKMATE: return "checkmate";
    case GAME_STALEMATE: return "stalemate";
    case GAME_INSUFFICIENT_MATERIAL: return "insufficient_material";
    case GAME_FIVEFOLD_REPETITION: return "fivefold_repetition";
    case GAME_SEVENTYFIVE_MOVES: return "seventyfive_moves";
    case GAME_THREEFOLD_REPETITION:
    case GAME_FIFTY_MOVES:
    case GAME_ONGOING: break;
    }
    return "";
}

static const char *const result_names[] = { "1-0", "0-1", "1/2-1/2", "*" };

// What a person must know of a broken game: where, what, and how far into the file.
static str fault_text(const struct pgn_job *job, const struct pgn_game *game, struct arena *a)
{
    return arena_printf(a, "%.*s:%zu: %s (byte %llu)", STR(job->path), game->fault_line,
                        game->fault.text, (unsigned long long)game->fault_offset);
}

// ---- one game as JSON ----

static struct move_text move_name(move m)
{
    return m == MOVE_NONE ? (struct move_text){ "0000" } : uci_format(m);
}

static void put_notes(struct json_out *o, const struct pgn_notes *notes)
{
    size_t depth = 0, variations = 0;
    json_key_open(o, S("notes"), '[');
    for (size_t i = 0; i < notes->n; i++) {
        const struct pgn_note *note = &notes->v[i];
        depth -= note->kind == PGN_CLOSE;
        int64_t ms;
        struct pgn_eval eval;
        bool open = depth == 0 && (note->kind == PGN_COMMENT || note->kind == PGN_NAG);
        if (open) {
            json_open(o, '{');
            json_key_int(o, S("ply"), (int64_t)note->ply);
        }
        if (open && note->kind == PGN_NAG)
            json_key_int(o, S("nag"), note->nag);
        if (open && note->kind == PGN_COMMENT) {
            json_key_str(o, S("comment"), note->text);
            if (pgn_clock(note->text, S("clk"), &ms))
                json_key_int(o, S("clk_ms"), ms);
            if (pgn_eval(note->text, &eval))
                json_key_int(o, eval.is_mate ? S("mate") : S("eval_cp"),
                             eval.is_mate ? eval.mate : eval.cp);
        }
        if (open)
            json_close(o, '}');
        depth += note->kind == PGN_OPEN;
        variations += note->kind == PGN_OPEN;
    }
    json_close(o, ']');
    json_key_int(o, S("variations"), (int64_t)variations);
}

static str record(const struct pgn_job *job, const struct pgn_game *game, struct arena *a)
{
    struct buf b = { .arena = a }, fen = { .arena = a };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_open(&o, S("tags"), '{');
    for (size_t i = 0; i < game->tags.n; i++)
        json_key_str(&o, game->tags.v[i].name, game->tags.v[i].value);
    json_close(&o, '}');
    json_key_open(&o, S("moves"), '[');
    for (size_t i = 0; i < game->moves.n; i++)
        json_put_str(&o, str_from(move_name(game->moves.v[i]).data));
    json_close(&o, ']');
    position_format(&game->end.now, &fen);
    json_key_str(&o, S("final_fen"), buf_str(&fen));
    json_key_maybe(&o, S("result"), game->result);
    json_key_maybe(&o, S("termination"), str_from(end_name(game_end(&game->end))));
    json_key_maybe(&o, S("error"), game->fault.code ? fault_text(job, game, a) : (str){ 0 });
    json_key_int(&o, S("line"), (int64_t)game->line);
    json_key_int(&o, S("offset"), (int64_t)game->offset);
    if (game->bad_tags > 0)
        json_key_int(&o, S("bad_tags"), (int64_t)game->bad_tags);
    if (game->bad_variations > 0)
        json_key_int(&o, S("bad_variations"), (int64_t)game->bad_variations);
    if (game->latin1_bytes > 0)
        json_key_int(&o, S("latin1_bytes"), (int64_t)game->latin1_bytes);
    if (job->annotations)
        put_notes(&o, &game->notes);
    json_close(&o, '}');
    buf_add_char(&b, '\n');
    return buf_str(&b);
}

// ---- totals ----

static void count(struct totals *t, const struct pgn_game *game)
{
    t->games++;
    t->broken += game->fault.code != ERR_NONE;
    t->plies += (int64_t)game->moves.n;
    t->moveless += game->moves.n == 0;
    t->bad_tags += (int64_t)game->bad_tags;
    t->bad_variations += (int64_t)game->bad_variations;
    t->latin1_bytes += (int64_t)game->latin1_bytes;
    t->ends[game_end(&game->end)]++;
    for (size_t i = 0; i < ARRAY_LEN(result_names); i++)
        t->results[i] += str_eq(game->result, str_from(result_names[i]));
}

static str totals_text(const struct totals *t, struct arena *a)
{
    struct buf b = { .arena = a };
    int64_t said = 0;
    buf_addf(&b, "games           %10lld\n", (long long)t->games);
    buf_addf(&b, "- broken        %10lld\n", (long long)t->broken);
    buf_addf(&b, "- without moves %10lld\n", (long long)t->moveless);
    buf_addf(&b, "plies           %10lld\n", (long long)t->plies);
    for (size_t i = 0; i < ARRAY_LEN(result_names); i++) {
        buf_addf(&b, "result %-8s %10lld\n", result_names[i], (long long)t->results[i]);
        said += t->results[i];
    }
    buf_addf(&b, "result not said %10lld\n", (long long)(t->games - said));
    for (int end = GAME_CHECKMATE; end <= GAME_SEVENTYFIVE_MOVES; end++)
        buf_addf(&b, "ends in %-22s %10lld\n", end_name((enum game_end)end),
                 (long long)t->ends[end]);
    buf_addf(&b, "tags not readable     %10lld\n", (long long)t->bad_tags);
    buf_addf(&b, "variations broken off %10lld\n", (long long)t->bad_variations);
    buf_addf(&b, "bytes read as Latin-1 %10lld\n", (long long)t->latin1_bytes);
    return buf_str(&b);
}

// ---- the run ----

static bool put(str text, struct err *err)
{
    if (fwrite(text.data, 1, text.len, stdout) != text.len)
        return err_set(err, ERR_RUN, "standard output: cannot write all of the result");
    return true;
}

static bool take(struct pgn_job *job, const struct pgn_game *game, struct err *err)
{
    struct arena *a = &job->scratch;
    count(&job->totals, game);
    bool broken = game->fault.code;
    if (broken && job->strict)
        return err_set(err, ERR_INPUT, "%.*s", STR(fault_text(job, game, a)));
    if (broken && (job->summary || job->write))
        log_line(LOG_WARN, "%.*s", STR(fault_text(job, game, a)));
    if (job->summary || (broken && job->write))
        return true;
    if (!job->write)
        return put(record(job, game, a), err);
    struct buf b = { .arena = a };
    pgn_write(game, &b);
    return put(buf_str(&b), err);
}

static bool read_file(struct pgn_job *job, struct err *err)
{
    struct pgn_reader *r = NULL;
    if (!pgn_open(str_eq(job->path, S("-")) ? S("/dev/stdin") : job->path, &r, err))
        return false;
    struct pgn_game game;
    bool ok = true, more = true;
    while (ok && more) {
        switch (pgn_next(r, &job->scratch, &game, err)) {
        case PGN_GOOD:
        case PGN_BROKEN: ok = take(job, &game, err); break;
        case PGN_END: more = false; break;
        case PGN_FAIL: ok = false; break;
        }
        if (ok && signals_seen)
            ok = err_set(err, ERR_INTERRUPTED, "interrupted in game %lld",
                         (long long)job->totals.games);
        arena_reset(&job->scratch);
    }
    pgn_close(r);
    return ok;
}

static bool run(const struct args *args, struct arena *a, struct err *err)
{
    struct pgn_job job = { .strict = opt_flag(args, "strict"),
                           .summary = opt_flag(args, "summary"),
                           .write = opt_flag(args, "write"),
                           .annotations = opt_flag(args, "annotations") };
    if (args->n_positionals == 0)
        return err_set(err, ERR_USAGE, "which file? name a PGN file, or - for standard input");
    if (job.summary && job.write)
        return err_set(err, ERR_USAGE, "--summary and --write: give one of them");
    signals_install();
    bool ok = true;
    for (size_t i = 0; ok && i < args->n_positionals; i++) {
        job.path = args->positionals[i];
        ok = read_file(&job, err);
    }
    arena_free(&job.scratch);
    return ok && print_str(job.summary ? totals_text(&job.totals, a) : (str){ "", 0 }, err);
}

static const struct opt opts[] = {
    { "summary", OPT_FLAG, NULL, "print totals instead of games", 0, 0 },
    { "write", OPT_FLAG, NULL, "print clean PGN instead of JSON; broken games are left out", 0, 0 },
    { "annotations", OPT_FLAG, NULL, "with comments, clocks, evaluations and glyphs", 0, 0 },
    { "strict", OPT_FLAG, NULL, "stop at the first broken game (exit 3)", 0, 0 },
    { 0 },
};

const struct command command_pgn = {
    .name = "pgn",
    .summary = "read games: JSON Lines, totals or clean PGN",
    .usage = "FILE... [--summary | --write] [OPTIONS]",
    .about =
        "Reads PGN (plain or .zst) and checks every move by the rules. A broken game becomes a\n"
        "record with \"error\", its line and its byte, and reading goes on with the next one.\n"
        "Evaluations are from White's view: eval_cp in centipawns, mate in moves.\n"
        "Example: rookery pgn games.pgn.zst --annotations",
    .opts = { opts },
    .max_positionals = POSITIONALS_MAX,
    .run = run,
};
