// SPDX-License-Identifier: GPL-3.0-or-later
// internal.h - the state of a search, and the parts of its loop.
#pragma once
#include "evolve/evolve.h"

enum entrant_status {
    ENTRANT_EVALUATED,
    ENTRANT_FAILED,
    ENTRANT_UNSAFE,
    ENTRANT_AUDIT,
    ENTRANT_DUPLICATE,
    ENTRANT_NOT_PROMPT_ONLY,
    ENTRANT_QUARANTINED,
    ENTRANT_VOIDED,
};
struct entrant { // a harness of the run
    struct proposal proposal;
    int64_t iteration;
    enum entrant_status status;
    bool judged; // it may be evaluated
    str reason;
    struct examination exam;
    struct candidate candidate;
    struct evaluation evaluation;
    struct live_audit live;
    struct point point;
    double p_value, delta; // against the accepted one of its iteration; p 1: none
    struct paired paired;
};
struct search {
    const struct evolve_opts *o;
    struct arena *a;
    struct entrants {
        struct entrant *v;
        size_t n, cap;
    } all;
    size_t accepted, previous; // among them
    size_t first;              // of the current iteration
    int64_t iteration, last_slot, n_proposals, barren;
    str pending; // of the current iteration, as the proposer wrote it
    str proposer_log;
    struct patience patience;
    struct buf journal, summary;
    str decision;    // JSON: rule, numbers, why
    str why;         // the same for people
    str stop_reason; // empty: go on
    int64_t n_looks; // evaluations on the set so far
};
extern const unsigned char evolve_skill_data[]; // data/skill.md
extern const size_t evolve_skill_size;

struct search_decision { // what acceptance found
    size_t best;         // SIZE_MAX: nobody
    bool accepted, by_threshold, confirmed;
    struct paired paired;
    double p_adjusted, confirm_best, confirm_incumbent;
    str why;
};

str entrant_status_name(enum entrant_status s);
bool entrant_counts(const struct entrant *e); // on the frontier, may be accepted

// judge.c: proposals to entrants of this iteration; `repair` tells what to mend.
MUST_CHECK bool search_admit(struct search *s, const struct proposals *p, struct buf *repair,
                             struct err *err);
MUST_CHECK bool search_admit_start(struct search *s, struct err *err);
// accept.c
void search_mark_frontier(struct search *s);
MUST_CHECK bool search_decide(struct search *s, struct search_decision *d, struct err *err);
// ask.c
str search_task(const struct search *s, const str *slots, size_t n);
str search_context(const struct search *s);
// record.c
void search_note(struct search *s, const char *event, str harness, str detail);
MUST_CHECK bool search_save_harness(const struct search *s, const struct entrant *e,
                                    struct err *err);
MUST_CHECK bool search_save_evaluation(const struct search *s, const struct entrant *e,
                                       struct err *err);
MUST_CHECK bool search_save_iteration(struct search *s, const struct search_decision *d,
                                      struct err *err);
MUST_CHECK bool search_save_text(const struct search *s, const char *name, str text,
                                 struct err *err);
MUST_CHECK bool search_save_run(const struct search *s, str status, struct err *err);
str search_iteration_file(const struct search *s, const char *name);
// report.c
str search_report(const struct search *s, const struct search_decision *d);
