// SPDX-License-Identifier: GPL-3.0-or-later
// extra.c - refuses secrets in the configuration's `extra` members. A configuration is written to
// the run's files and its hash to the store; a key in it would go with it (endpoint specification,
// section 16). Names are compared without case, '-' and '_', since headers, YAML and code each
// spell them in their own way.
#include "llm/internal.h"

// Ends of names: "openai_api_key", "extra_headers", "X-Goog-Api-Key" are meant too.
static const str name_ends[] = {
    T("apikey"),       T("secretkey"),    T("accesskey"),     T("privatekey"),  T("authorization"),
    T("headers"),      T("password"),     T("passwd"),        T("passphrase"),  T("secret"),
    T("credentials"),  T("credential"),   T("authorisation"), T("authtokens"),  T("cookie"),
    T("accesstoken"),  T("authtoken"),    T("apitoken"),      T("bearertoken"), T("idtoken"),
    T("sessiontoken"), T("refreshtoken"), T("securitytoken"),
};
// Names that are a secret's only as a whole: "stop_token", "pad_token" are none.
static const str whole_names[] = { T("token"),   T("bearer"),  T("auth"),
                                   T("hftoken"), T("adtoken"), T("jwt"),
                                   T("pwd"),     T("pat"),     T("azureadtoken") };

static bool is_secret_name(str name)
{
    char plain[128];
    size_t n = 0;
    // The end decides, so the begin of a long name may be lost.
    for (size_t i = name.len; i > 0 && n < sizeof plain; i--)
        if (str_find_char(S("-_. "), name.data[i - 1]) < 0)
            plain[sizeof plain - ++n] = ascii_lower(name.data[i - 1]);
    str word = { plain + sizeof plain - n, n };
    for (size_t i = 0; i < ARRAY_LEN(name_ends); i++)
        if (str_ends(word, name_ends[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(whole_names); i++)
        if (str_eq(word, whole_names[i]))
            return true;
    return false;
}

struct search {
    struct key_forms forms; // of the model's own key
    str member;             // the nearest name around a find; never itself a secret
    const char *what;       // "looks like a key", ...; NULL: nothing found
};

static bool is_secret_text(const struct search *s, str text)
{
    for (size_t i = 0; i < text.len && s->forms.n > 0; i++)
        if (key_length(&s->forms, str_sub(text, i, text.len)) > 0)
            return true;
    return text_has_key_shape(text);
}

static bool find_in(struct search *s, const json_t *value);

static bool find_in_object(struct search *s, const json_t *object)
{
    str outer = s->member;
    const char *key;
    json_t *value;
    json_object_foreach (json_iterable(object), key, value) {
        str name = str_from(key);
        if (is_secret_text(s, name)) {
            s->what = "holds a name that looks like a key";
            return true;
        }
        s->member = name;
        if (is_secret_name(name)) {
            s->what = "is the name of a secret";
            return true;
        }
        if (find_in(s, value))
            return true;
        s->member = outer;
    }
    return false;
}

// True: something was found, and `s` tells what. Depth is bounded by the readers of `extra`.
static bool find_in(struct search *s, const json_t *value)
{
    if (json_is_object(value))
        return find_in_object(s, value);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (find_in(s, json_array_get(value, i)))
            return true;
    if (json_is_string(value) && is_secret_text(s, json_view(value)))
        s->what = "holds what looks like a key";
    return s->what != NULL;
}

bool extra_has_no_secret(const json_t *extra, str key, struct err *err)
{
    struct arena scratch = { 0 };
    struct search s = { .member = S("extra") };
    if (key_is_secret(key))
        key_forms_of(key, &scratch, &s.forms);
    bool found = find_in(&s, extra);
    arena_free(&scratch);
    return !found || err_set(err, ERR_USAGE,
                             "in extra, %s %s: keys come from environment variables only, since "
                             "what is in a configuration is written to files; take it out",
                             str_show(s.member, 60).text, s.what);
}
