// SPDX-License-Identifier: GPL-3.0-or-later
// Secrets in texts (endpoint specification, section 16; field case F-065). Encoded forms were made
// with Python's base64, json and urllib.
#include "fixture.h"

#define KEY "sk-canary/0123456789+\"x"

static str cleaned(const char *text)
{
    return secrets_redact(str_from(text), S(KEY), &arena);
}

static void the_key_is_found_in_every_form(void **s)
{
    (void)s;
    assert_str(cleaned("a " KEY " b " KEY), S("a [key] b [key]"));
    assert_str(cleaned("{\"k\":\"sk-canary/0123456789+\\\"x\"}"), S("{\"k\":\"[key]\"}"));
    assert_str(cleaned("{\"k\":\"sk-canary\\/0123456789+\\\"x\"}"), S("{\"k\":\"[key]\"}"));
    assert_str(cleaned("q=sk-canary%2F0123456789%2B%22x&z"), S("q=[key]&z"));
    assert_str(cleaned("q=sk-canary%2f0123456789%2b%22x&z"), S("q=[key]&z"));
}

// Writers of JSON escape what they like: each character plain, \uXXXX in either case, or behind
// a backslash, once or again where a JSON text holds a JSON text.
static void the_key_is_found_in_any_mixture_of_escapes(void **s)
{
    (void)s;
    static const char all[] = "\\u0073\\u006b\\u002d\\u0063\\u0061\\u006e\\u0061\\u0072\\u0"
                              "079\\u002f\\u0030\\u0031\\u0032\\u0033\\u0034\\u0035\\u0036\\u0037\\"
                              "u0038\\u0039\\u002B\\u0022\\u0078";
    static const char *const texts[] = {
        "sk\\u002dcanary\\u002F0123456789\\u002b\\u0022x",
        "sk\\u002Dcanary/0123456789\\u002B\\\"x",
        "\\u0073k-canary\\/0123456789+\\u0022\\u0078",
        all,
        "sk\\\\u002dcanary\\\\/0123456789+\\\\\\\"x",
        "sk\\\\\\\\u002Dcanary/0123456789+\\\\\\\\\\\\\\\"x",
        "%73k%2dcanary%2F0123456789+%22x",
        "sk-canary%252F0123456789%252b%2522x",
        "sk\\u0025\\u0032Dcanary%2F0123456789%2B%22x",
        "%5Cu0073k-canary%5C%2F0123456789%2B%5C%22x",
        "sk-canary/0123456789+%22x",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        str out = cleaned(texts[i]);
        if (!str_eq(out, S("[key]")))
            fail_msg("%s gives %.*s", texts[i], STR(out));
        out = secrets_redact(arena_printf(&arena, "a\\\"%s\\\" b", texts[i]), S(KEY), &arena);
        assert_str(out, S("a\\\"[key]\\\" b"));
    }
}

// One character as a JSON writer may put it (`how` 0 to 3) or a URL (4 to 6).
static void spell(struct buf *b, char c, uint64_t how)
{
    switch (how) {
    case 1: buf_addf(b, "\\u%04x", c); return;
    case 2: buf_addf(b, "\\u%04X", c); return;
    case 3: buf_addf(b, ascii_is_alnum(c) ? "%c" : "\\%c", c); return; // "\\n" is no n
    case 5: buf_addf(b, "%%%02x", c); return;
    case 6: buf_addf(b, "%%%02X", c); return;
    default: buf_add_char(b, c);
    }
}

static void two_thousand_random_mixtures_are_found(void **s)
{
    (void)s;
    const str key = S("pk-canary/0123456789_~AbC");
    struct rng rng;
    rng_seed(&rng, 7, S("spellings"));
    for (int i = 0; i < 2000; i++) {
        struct buf b = { .arena = &arena };
        bool is_url = i % 2 == 1;
        buf_add(&b, S("u0 "));
        for (size_t k = 0; k < key.len; k++)
            spell(&b, key.data[k], is_url ? 4 + rng_below(&rng, 3) : rng_below(&rng, 4));
        buf_add(&b, S(" 1%"));
        str out = secrets_redact(buf_str(&b), key, &arena);
        if (!str_eq(out, S("u0 [key] 1%")))
            fail_msg("%.*s gives %.*s", STR(buf_str(&b)), STR(out));
    }
}

static void a_key_with_the_marks_of_escapes_is_found(void **s)
{
    (void)s;
    const str key = S("pw\\u002d%2D\\9");
    static const char *const texts[] = {
        "pw\\u002d%2D\\9",     "pw\\\\u002d%2D\\\\9",         "pw\\u005cu002d\\u00252D\\u005C9",
        "pw%5cu002d%252D%5C9", "pw\\\\\\\\u002d%2D\\\\\\\\9",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_str(secrets_redact(str_from(texts[i]), key, &arena), S("[key]"));
}

static void what_only_resembles_the_key_stays(void **s)
{
    (void)s;
    static const char *const texts[] = {
        "sk\\u002",           "sk\\",     "sk\\u002e\\u0063anary", "%7", "%", "\\", "\\u", "\\u00",
        "sk%2Dcanary\\u0130", "s\\u2d6b", "\\n\\frac{1}{2} 100%",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_str(cleaned(texts[i]), str_from(texts[i]));
    // Half a key is none, and nothing is read beyond the end.
    const str key = S("qk-canary/0123456789+\"x");
    const str whole = S("qk-canary\\u002f0123456789+\\\"x");
    for (size_t n = 0; n < whole.len; n++) {
        str part = arena_str(&arena, str_sub(whole, 0, n));
        assert_str(secrets_redact(part, key, &arena), part);
    }
}

static void the_key_is_found_in_base64_that_is_escaped_again(void **s)
{
    (void)s;
    // base64("k~~?????" + "canary")
    const str key = S("k~~?????canary");
    assert_str(secrets_redact(S("a35+Pz8/Pz9jYW5hcnk="), key, &arena), S("[key]k="));
    assert_str(secrets_redact(S("a35+Pz8\\/Pz9jYW5hcnk="), key, &arena), S("[key]k="));
    assert_str(secrets_redact(S("a35%2BPz8%2fPz9jYW5hcnk%3D"), key, &arena), S("[key]k%3D"));
    assert_str(secrets_redact(S("a35-Pz8_Pz9jYW5hcnk"), key, &arena), S("[key]k"));
}

static void the_key_is_found_in_base64_at_any_offset(void **s)
{
    (void)s;
    static const char *const encoded[] = {
        "c2stY2FuYXJ5LzAxMjM0NTY3ODkrIng=",     "c2stY2FuYXJ5LzAxMjM0NTY3ODkrIngK",
        "c2stY2FuYXJ5LzAxMjM0NTY3ODkrInh6eg==", "OnNrLWNhbmFyeS8wMTIzNDU2Nzg5KyJ4",
        "OnNrLWNhbmFyeS8wMTIzNDU2Nzg5KyJ4Cg==", "OnNrLWNhbmFyeS8wMTIzNDU2Nzg5KyJ4eno=",
        "dTpzay1jYW5hcnkvMDEyMzQ1Njc4OSsieA==", "dTpzay1jYW5hcnkvMDEyMzQ1Njc4OSsieAo=",
        "dTpzay1jYW5hcnkvMDEyMzQ1Njc4OSsieHp6", "dXM6c2stY2FuYXJ5LzAxMjM0NTY3ODkrIng=",
        "dXM6c2stY2FuYXJ5LzAxMjM0NTY3ODkrIngK", "dXM6c2stY2FuYXJ5LzAxMjM0NTY3ODkrInh6eg==",
        "c2stY2FuYXJ5LzAxMjM0NTY3ODkrIng=",     "YXNrLWNhbmFyeS8wMTIzNDU2Nzg5KyJ4",
        "YWJzay1jYW5hcnkvMDEyMzQ1Njc4OSsieA=="
    };
    for (size_t i = 0; i < ARRAY_LEN(encoded); i++) {
        str out = secrets_redact(str_from(encoded[i]), S(KEY), &arena);
        assert_has(out, "[key]");
        assert_true(out.len <= 16); // the mask, the neighbours, and digits shared with them
    }
}

static void foreign_keys_are_found_by_shape(void **s)
{
    (void)s;
    assert_str(cleaned("AIzaFAKE-FAKE-FAKE-FAKE-FAKE-FAKE-FAKE1."), S("[key]"));
    assert_str(cleaned("key sk-ant-api03-AbCd1234 refused"), S("key [key] refused"));
    assert_str(cleaned("sk-or-v1-0123456789abcdef"), S("[key]"));
    assert_str(cleaned("sk-proj-0123456789abcdef"), S("[key]"));
    assert_str(cleaned("(sk-abcd****wxyz)"), S("([key])"));
    assert_str(cleaned("Authorization: Bearer abc.DEF-123"), S("Authorization: Bearer [key]"));
    assert_str(cleaned("authorization: bearer eyJhbGciOiJIUzI1NiJ9"),
               S("authorization: bearer [key]"));
    assert_str(cleaned("https://h/p?key=Zz9Zz9Zz9&alt=sse"), S("https://h/p?key=[key]&alt=sse"));
    assert_str(cleaned("via http://bob:secret@proxy:3128/"), S("via http://[key]@proxy:3128/"));
    assert_str(cleaned("in organization org-AbCd1234EfGh on requests"),
               S("in organization [account] on requests"));
    assert_str(cleaned("mail bob.b+x@mail.example.com now"), S("mail [account] now"));
}

static void harmless_text_stays(void **s)
{
    (void)s;
    static const char *const texts[] = {
        "",
        "a task-oriented-assistant-model",
        "Bearer authentication failed",
        "position 8/8/8/8/8/8/8/8 w - - 0 1, e2e4@d7d5",
        "http://localhost:8080/v1?a=b@c",
        "sk-1",
        "Nf3 key moves; organization",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_str(cleaned(texts[i]), str_from(texts[i]));
    assert_str(secrets_redact(S("latest"), S(""), &arena), S("latest"));
    assert_str(secrets_redact(S("latest"), S("t"), &arena), S("latest"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_is_found_in_every_form),
        cmocka_unit_test(the_key_is_found_in_any_mixture_of_escapes),
        cmocka_unit_test(two_thousand_random_mixtures_are_found),
        cmocka_unit_test(a_key_with_the_marks_of_escapes_is_found),
        cmocka_unit_test(what_only_resembles_the_key_stays),
        cmocka_unit_test(the_key_is_found_in_base64_that_is_escaped_again),
        cmocka_unit_test(the_key_is_found_in_base64_at_any_offset),
        cmocka_unit_test(foreign_keys_are_found_by_shape),
        cmocka_unit_test(harmless_text_stays),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
