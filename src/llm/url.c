// SPDX-License-Identifier: GPL-3.0-or-later
// url.c - base URLs (endpoint specification, section 2). People write them with or without a slash
// and with or without /v1, and sometimes with a secret inside; that is refused before it can be
// printed or stored. Only plain characters are allowed, so that libcurl and we see the same host.
#include "llm/internal.h"

struct url {
    bool https;
    str host; // with brackets where it is IPv6
    str port; // empty: none
    str path, query;
};

static bool url_chars_are_plain(str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c <= 0x20 || c >= 0x7f || str_find_char(S("\\\"<>^`{|}"), c) >= 0)
            return false;
    }
    return true;
}

static size_t find_any(str s, str set)
{
    for (size_t i = 0; i < s.len; i++)
        if (str_find_char(set, s.data[i]) >= 0)
            return i;
    return s.len;
}

static bool host_is_good(str host)
{
    if (str_starts(host, S("[")))
        return str_ends(host, S("]")) &&
               str_trim_set(host, S("[]:.0123456789abcdefABCDEF")).len == 0;
    return host.len > 0 && find_any(host, S("[]:@%")) == host.len;
}

// "host:port" into its parts; the port may be absent.
static bool authority_split(str authority, struct url *out)
{
    size_t host_end = find_any(authority, S("]"));
    size_t colon = host_end < authority.len ? host_end + 1 : find_any(authority, S(":"));
    out->host = str_sub(authority, 0, colon);
    str rest = str_sub(authority, colon, authority.len);
    int64_t port = 0;
    if (rest.len > 0) {
        out->port = str_sub(rest, 1, rest.len);
        if (rest.data[0] != ':' || !str_to_int(out->port, 1, 65535, &port))
            return false;
    }
    return host_is_good(out->host);
}

static bool url_split(str text, struct url *out)
{
    *out = (struct url){ 0 };
    ptrdiff_t at = str_find(text, S("://"));
    if (at < 0)
        return false;
    str scheme = str_sub(text, 0, (size_t)at);
    out->https = str_eq_nocase(scheme, S("https"));
    if (!out->https && !str_eq_nocase(scheme, S("http")))
        return false;
    str rest = str_sub(text, (size_t)at + 3, text.len);
    size_t end = find_any(rest, S("/?#"));
    str tail = str_sub(rest, end, rest.len);
    if (str_find_char(tail, '#') >= 0 || !authority_split(str_sub(rest, 0, end), out))
        return false;
    size_t query = find_any(tail, S("?"));
    out->path = str_sub(tail, 0, query);
    out->query = str_sub(tail, query, tail.len); // with its question mark
    return true;
}

// Names of query members that carry secrets; api-version and the like are fine.
static bool query_has_secret(str query)
{
    static const str names[] = { T("key"),   T("api_key"),      T("api-key"), T("apikey"),
                                 T("token"), T("access_token"), T("sig"),     T("code") };
    str rest = str_sub(query, 1, query.len);
    while (rest.len > 0) {
        str value = str_cut(&rest, '&');
        str name = str_cut(&value, '=');
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (str_eq_nocase(name, names[i]))
                return true;
    }
    return false;
}

static bool has_credentials(str text)
{
    ptrdiff_t at = str_find(text, S("://"));
    str rest = at < 0 ? text : str_sub(text, (size_t)at + 3, text.len);
    return str_find_char(str_sub(rest, 0, find_any(rest, S("/?#"))), '@') >= 0;
}

static void add_lower(struct buf *b, str s)
{
    for (size_t i = 0; i < s.len; i++)
        buf_add_char(b, ascii_lower(s.data[i]));
}

bool url_base(str text, struct arena *a, str *out, struct err *err)
{
    text = str_trim(text);
    if (has_credentials(text))
        return err_set(err, ERR_USAGE,
                       "the base URL holds a user name or password; take it out and put the key "
                       "into the provider's environment variable");
    struct url u;
    if (text.len > 2048 || !url_chars_are_plain(text) || !url_split(text, &u))
        return err_set(err, ERR_USAGE,
                       "the base URL is not like https://host[:port]/path (no blanks, no #)");
    if (query_has_secret(u.query))
        return err_set(err, ERR_USAGE,
                       "the base URL holds a secret in its query; take it out and put the key "
                       "into the provider's environment variable");
    while (str_ends(u.path, S("/")))
        u.path.len--;
    struct buf b = { .arena = a };
    buf_add(&b, u.https ? S("https://") : S("http://"));
    add_lower(&b, u.host);
    if (u.port.len > 0)
        buf_addf(&b, ":%.*s", STR(u.port));
    buf_add(&b, u.path);
    buf_add(&b, u.query);
    *out = buf_str(&b);
    return true;
}

// A path segment such as v1, v1beta, v4, or the word deployments: nothing is missing then.
static bool path_is_versioned(str path)
{
    while (path.len > 0) {
        str segment = str_cut(&path, '/');
        if (str_eq(segment, S("deployments")))
            return true;
        if (segment.len >= 2 && segment.data[0] == 'v' && ascii_is_digit(segment.data[1]))
            return true;
    }
    return false;
}

str url_without_query(str url)
{
    return str_sub(url, 0, find_any(url, S("?")));
}

str url_join(str base, str version, str path, struct arena *a)
{
    str front = url_without_query(base);
    str query = str_sub(base, front.len, base.len);
    struct url u;
    if (!url_split(base, &u))
        BUG("a base URL that url_base has not made");
    if (str_ends(front, path))
        return arena_str(a, base);
    if (path_is_versioned(u.path))
        version = (str){ 0 };
    return arena_printf(a, "%.*s%.*s%.*s%.*s", STR(front), STR(version), STR(path), STR(query));
}

bool url_id_check(const struct model *m, struct err *err)
{
    for (size_t i = 0; i < m->id.len; i++)
        if (!ascii_is_alnum(m->id.data[i]) && str_find_char(S("-._"), m->id.data[i]) < 0)
            return err_set(err, ERR_USAGE,
                           "%.*s: the model's name becomes part of the URL here and may hold only "
                           "letters, digits, '-', '.' and '_'",
                           STR(m->name));
    return true;
}

bool url_is_https(str base)
{
    return str_starts(base, S("https://"));
}

// 127.0.0.0/8 as four decimal numbers; names that only begin so do not count.
static bool is_loopback_number(str host)
{
    int64_t part = 0;
    for (int i = 0; i < 4; i++) {
        if (!str_to_int(str_cut(&host, '.'), i == 0 ? 127 : 0, i == 0 ? 127 : 255, &part))
            return false;
    }
    return host.len == 0;
}

bool url_is_loopback(str base)
{
    struct url u;
    if (!url_split(base, &u))
        return false;
    return str_eq(u.host, S("localhost")) || str_ends(u.host, S(".localhost")) ||
           str_eq(u.host, S("[::1]")) || is_loopback_number(u.host);
}
