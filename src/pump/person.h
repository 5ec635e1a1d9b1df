// SPDX-License-Identifier: GPL-3.0-or-later
// person.h - asks to a person, inside the pump.
#pragma once
#include "pump/pump.h"

struct slot;
enum { PERSON_LINE_MAX_BYTES = 4096 }; // a longer line is cut
struct typed {                         // what a person has typed and nobody has taken yet
    bool at_hand;                      // there is something to read
    bool ended;
    size_t n;
    char text[PERSON_LINE_MAX_BYTES];
};
#define PERSON_EVENT ((uint64_t)1 << 61) // the epoll data of the descriptor that is read
// Answers a new ask to a person from the store, or shows it.
bool slot_open_person(struct pump *p, struct slot *s, struct person_answer *out, bool *answered,
                      struct err *err);
void person_event(struct pump *p);
int64_t person_due_ms(const struct pump *p); // 0: something is to be taken in; -1: nothing
bool slots_receive_person(struct pump *p, struct err *err);
void slot_end_person(struct pump *p); // stops watching
