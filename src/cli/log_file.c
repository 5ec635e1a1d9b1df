// SPDX-License-Identifier: GPL-3.0-or-later
// log_file.c - where log lines go: warnings to standard error, everything to log.jsonl of the run
// directory once a run has one. The file is locked while the run goes on, so that the same command
// given twice at once does not ask and pay twice.
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/cli.h"

static FILE *run_log; // of the process, until exit

static void write_line(enum log_level level, str line)
{
    struct arena scratch = { 0 };
    struct buf b = { .arena = &scratch };
    struct json_out o = { .b = &b };
    json_open(&o, '{');
    json_key_str(&o, S("time"), clock_format_utc(clock_unix_ms(), &scratch));
    json_key_str(&o, S("level"), level == LOG_WARN ? S("warning") : S("info"));
    json_key_str(&o, S("text"), line);
    json_close(&o, '}');
    fprintf(run_log, "%.*s\n", STR(buf_str(&b)));
    fflush(run_log);
    arena_free(&scratch);
}

str text_for_terminal(str text, struct arena *a)
{
    struct buf b = { .arena = a };
    while (text.len > 0) {
        uint32_t code;
        bool valid;
        size_t n = utf8_decode(text, &code, &valid);
        if (!valid || (utf8_is_obeyed(code) && code != '\n' && code != '\t'))
            buf_addf(&b, "\\u%04x", code);
        else
            buf_add(&b, str_sub(text, 0, n));
        text = str_sub(text, n, text.len);
    }
    return buf_str(&b);
}

void log_print(enum log_level level, str line)
{
    if (run_log)
        write_line(level, line);
    if (level != LOG_WARN)
        return;
    struct arena scratch = { 0 };
    // A progress bar may stand on the line: clear it first.
    fprintf(stderr, "%srookery: warning: %.*s\n", isatty(STDERR_FILENO) ? "\r\033[K" : "",
            STR(text_for_terminal(line, &scratch)));
    arena_free(&scratch);
}

bool log_open(str path, struct err *err)
{
    run_log = fopen(path.data, "ae");
    if (!run_log)
        return err_set(err, ERR_RUN, "%.*s: cannot write: %s", STR(path), strerror(errno));
    if (flock(fileno(run_log), LOCK_EX | LOCK_NB) == 0)
        return true;
    fclose(run_log);
    run_log = NULL;
    return err_set(err, ERR_RUN,
                   "%.*s is in use: another program writes its run here; wait until it has ended "
                   "(another --out is for another run)",
                   STR(path));
}
