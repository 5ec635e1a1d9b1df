// SPDX-License-Identifier: GPL-3.0-or-later
// ascii.h - classes of single bytes, the same in every locale. Bytes from 0x80 on are in none.
#pragma once
#include <stdbool.h>

// 0 to 9.
static inline bool ascii_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// a to z; A to Z.
static inline bool ascii_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline bool ascii_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

// A letter or digit.
static inline bool ascii_is_alnum(char c)
{
    return ascii_is_digit(c) || ascii_is_lower(c) || ascii_is_upper(c);
}

// A letter, digit or underscore.
static inline bool ascii_is_word(char c)
{
    return ascii_is_alnum(c) || c == '_';
}

// A to Z, a to z.
static inline bool ascii_is_alpha(char c)
{
    return ascii_is_alnum(c) && !ascii_is_digit(c);
}

// White space: blank, \t \n \v \f \r.
static inline bool ascii_is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// The letter in the other case; other bytes stay.
static inline char ascii_lower(char c)
{
    return ascii_is_upper(c) ? (char)(c - 'A' + 'a') : c;
}

static inline char ascii_upper(char c)
{
    return ascii_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}
