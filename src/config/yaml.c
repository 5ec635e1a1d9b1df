// SPDX-License-Identifier: GPL-3.0-or-later
// yaml.c - YAML text to nodes with line numbers. libyaml splits the text into events; here they
// become a tree: types, aliases, merge keys, and the refusals that protect from hostile files.
//
// A node that an alias names is shared, not copied, so the tree stays small whatever the aliases
// multiply. Its size as seen by a reader is counted all the same and limited: whoever walks the
// tree walks at most YAML_MAX_NODES nodes. Where the safe loader silently keeps the last of two
// equal keys, this refuses both: one of them is a mistake that would change a result.
#include <assert.h>
#include <yaml.h>

#include "config/internal.h"

struct built { // a node and what only its parent needs to know
    struct yaml_node node;
    size_t weight; // nodes in it, aliases followed
    enum scalar_note note;
};
struct anchor {
    str name;
    int line;
    bool open; // its node is still being read
    struct built built;
};
struct composer {
    yaml_parser_t parser;
    str path, text;
    struct arena *a;
    struct err *err;
    struct anchors {
        struct anchor *v;
        size_t n, cap;
    } anchors;
    size_t weight; // of all so far
};
struct pairs {
    struct yaml_pair *v;
    size_t n, cap;
};

static bool build(struct composer *c, const yaml_event_t *event, int depth, struct built *out);

// ---- failures ----

static bool fail_at(struct composer *c, int line, const char *format, ...) PRINTF_LIKE(3, 4);
static bool fail_at(struct composer *c, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    str what = arena_vprintf(c->a, format, args);
    va_end(args);
    return err_set(c->err, ERR_INPUT, "%.*s:%d: %.*s", STR(c->path), line, STR(what));
}

static bool is_tab_indented(str text, int line)
{
    str row = { 0 };
    while (line-- > 0)
        row = str_cut_line(&text);
    size_t i = 0;
    while (i < row.len && row.data[i] == ' ')
        i++;
    return i < row.len && row.data[i] == '\t';
}

static bool fail_syntax(struct composer *c)
{
    const yaml_parser_t *p = &c->parser;
    int line = p->error == YAML_READER_ERROR ? (int)str_line(c->text, p->problem_offset)
                                             : (int)p->problem_mark.line + 1;
    if (is_tab_indented(c->text, line))
        return fail_at(c, line, "the line begins with a tab: indent with blanks");
    return fail_at(c, line, "bad YAML: %s%s%s", p->context ? p->context : "",
                   p->context ? ": " : "", p->problem ? p->problem : "cannot be read");
}

// ---- events ----

static bool next_event(struct composer *c, yaml_event_t *event)
{
    return yaml_parser_parse(&c->parser, event) == 1 || fail_syntax(c);
}

static int line_of(const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

static bool add_weight(struct composer *c, size_t weight, int line)
{
    c->weight += weight;
    return c->weight <= YAML_MAX_NODES ||
           fail_at(c, line, "more than %d values, aliases followed: write them out, fewer",
                   YAML_MAX_NODES);
}

// ---- tags ----

// The name behind the prefix of YAML's own tags; false and a message for any other tag.
static bool own_tag(struct composer *c, const yaml_char_t *tag, int line, str *name)
{
    str text = str_from((const char *)tag), prefix = S("tag:yaml.org,2002:");
    if (!str_starts(text, prefix))
        return fail_at(c, line, "the tag %.*s is not allowed: remove it",
                       STR(str_sub(text, 0, 60)));
    *name = str_sub(text, prefix.len, 60);
    return true;
}

// A collection takes no tag but its own.
static bool check_tag(struct composer *c, const yaml_char_t *tag, int line, str want)
{
    str name = { 0 };
    if (!tag || str_eq(str_from((const char *)tag), S("!")))
        return true;
    if (!own_tag(c, tag, line, &name))
        return false;
    return str_eq(name, want) ||
           fail_at(c, line, "the tag !!%.*s cannot stand here: remove it", STR(name));
}

// ---- anchors ----

static struct anchor *find_anchor(struct composer *c, str name)
{
    for (size_t i = 0; i < c->anchors.n; i++)
        if (str_eq(c->anchors.v[i].name, name))
            return &c->anchors.v[i];
    return NULL;
}

enum { ANCHORS_MAX = 1000, NO_ANCHOR = -1 };

// Makes the anchor of a node that begins; `*index` is NO_ANCHOR where it has none.
static bool open_anchor(struct composer *c, const yaml_char_t *name, int line, int *index)
{
    *index = NO_ANCHOR;
    if (!name)
        return true;
    str text = str_from((const char *)name);
    const struct anchor *old = find_anchor(c, text);
    if (old)
        return fail_at(c, line, "the anchor &%.*s is there twice, first on line %d", STR(text),
                       old->line);
    if (c->anchors.n == ANCHORS_MAX)
        return fail_at(c, line, "more than %d anchors", ANCHORS_MAX);
    *index = (int)c->anchors.n;
    *vec_push(c->a, &c->anchors) =
        (struct anchor){ .name = arena_str(c->a, text), .line = line, .open = true };
    return true;
}

static void close_anchor(struct composer *c, int index, const struct built *built)
{
    if (index == NO_ANCHOR)
        return;
    c->anchors.v[index].built = *built;
    c->anchors.v[index].open = false;
}

static bool build_alias(struct composer *c, const yaml_event_t *event, struct built *out)
{
    str name = str_from((const char *)event->data.alias.anchor);
    const struct anchor *anchor = find_anchor(c, name);
    if (!anchor)
        return fail_at(c, line_of(event), "there is no anchor &%.*s before this alias", STR(name));
    if (anchor->open)
        return fail_at(c, line_of(event), "the alias *%.*s stands inside what it names", STR(name));
    *out = anchor->built;
    out->node.line = line_of(event);
    return add_weight(c, out->weight, line_of(event));
}

// ---- nodes ----

static bool build_scalar(struct composer *c, const yaml_event_t *event, struct built *out)
{
    const char *data = (const char *)event->data.scalar.value;
    struct yaml_node *n = &out->node;
    n->line = line_of(event);
    n->text = arena_str(c->a, (str){ data, event->data.scalar.length });
    out->weight = 1;
    int anchor;
    if (!add_weight(c, 1, n->line) || !open_anchor(c, event->data.scalar.anchor, n->line, &anchor))
        return false;
    struct err why = { 0 };
    bool ok = true;
    str tag = { 0 };
    if (event->data.scalar.plain_implicit)
        ok = scalar_resolve(n, &out->note, &why);
    else if (!event->data.scalar.tag)
        n->kind = YAML_STR;
    else if (!own_tag(c, event->data.scalar.tag, n->line, &tag))
        return false;
    else
        ok = scalar_tagged(n, tag, &why);
    close_anchor(c, anchor, out);
    return ok || fail_at(c, n->line, "%s", why.text);
}

// `<<` and `=` mean something as keys only.
static bool check_value(struct composer *c, const struct built *b)
{
    return b->note == SCALAR_USUAL ||
           fail_at(c, b->node.line, "%.*s alone is no value: put it in quotes", STR(b->node.text));
}

static bool build_list(struct composer *c, const yaml_event_t *start, int depth, struct built *out)
{
    int anchor;
    struct items {
        struct yaml_node *v;
        size_t n, cap;
    } items = { 0 };
    if (!check_tag(c, start->data.sequence_start.tag, line_of(start), S("seq")) ||
        !open_anchor(c, start->data.sequence_start.anchor, line_of(start), &anchor))
        return false;
    for (;;) {
        yaml_event_t event;
        struct built item = { 0 };
        if (!next_event(c, &event))
            return false;
        bool end = event.type == YAML_SEQUENCE_END_EVENT;
        bool ok = end || (build(c, &event, depth + 1, &item) && check_value(c, &item));
        yaml_event_delete(&event);
        if (!ok)
            return false;
        if (end)
            break;
        *vec_push(c->a, &items) = item.node;
        out->weight += item.weight;
    }
    out->node.kind = YAML_LIST;
    out->node.items = items.v;
    out->node.n = items.n;
    close_anchor(c, anchor, out);
    return true;
}

static const char *kind_name(enum yaml_kind kind)
{
    switch (kind) {
    case YAML_NULL: return "null";
    case YAML_BOOL: return "a boolean";
    case YAML_INT: return "an integer";
    case YAML_FLOAT: return "a number";
    case YAML_STR: return "a text";
    case YAML_TIMESTAMP: return "a date";
    case YAML_LIST: return "a list";
    case YAML_MAP: return "a mapping";
    }
    BUG("no such kind");
}

static bool check_key(struct composer *c, const struct built *key)
{
    const struct yaml_node *n = &key->node;
    if (n->kind == YAML_STR)
        return true;
    if (n->kind == YAML_LIST || n->kind == YAML_MAP)
        return fail_at(c, n->line, "a key must be a text, got %s", kind_name(n->kind));
    return fail_at(c, n->line, "the key %.*s is %s in YAML 1.1: put it in quotes",
                   STR(str_sub(n->text, 0, 60)), kind_name(n->kind));
}

// The pairs that a `<<` brings, in the order in which later ones win.
static bool merge_pairs(struct composer *c, const struct built *value, struct pairs *out)
{
    const struct yaml_node *n = &value->node;
    if (n->kind == YAML_MAP) {
        for (size_t i = 0; i < n->n; i++)
            *vec_push(c->a, out) = n->pairs[i];
        return true;
    }
    if (n->kind != YAML_LIST)
        return fail_at(c, n->line, "<< takes a mapping or a list of mappings, got %s",
                       kind_name(n->kind));
    for (size_t i = n->n; i-- > 0;) { // of several mappings the first wins
        const struct yaml_node *item = &n->items[i];
        if (item->kind != YAML_MAP)
            return fail_at(c, item->line, "<< takes mappings, got %s", kind_name(item->kind));
        for (size_t j = 0; j < item->n; j++)
            *vec_push(c->a, out) = item->pairs[j];
    }
    return true;
}

// A later pair replaces the value of an earlier one and keeps its place, as Python's dict does.
static struct pairs override_pairs(struct composer *c, const struct pairs *merged,
                                   const struct pairs *own)
{
    struct pairs out = { 0 };
    struct map seen = { .arena = c->a };
    for (size_t i = 0; i < merged->n + own->n; i++) {
        struct yaml_pair pair = i < merged->n ? merged->v[i] : own->v[i - merged->n];
        bool fresh;
        struct map_entry *entry = map_put(&seen, pair.key, &fresh);
        if (fresh) {
            entry->number = (int64_t)out.n;
            *vec_push(c->a, &out) = pair;
        } else {
            assert((size_t)entry->number < out.n);
            out.v[entry->number] = pair;
        }
    }
    return out;
}

struct mapping { // while it is read
    struct pairs own, merged;
    struct map lines; // of own keys
};

static bool add_pair(struct composer *c, struct mapping *m, const struct built *key,
                     const struct built *value)
{
    if (key->note == SCALAR_MERGE)
        return merge_pairs(c, value, &m->merged);
    bool fresh;
    struct map_entry *seen = map_put(&m->lines, key->node.text, &fresh);
    if (!fresh)
        return fail_at(c, key->node.line, "the key '%.*s' stands twice, first on line %lld",
                       STR(str_sub(key->node.text, 0, 60)), (long long)seen->number);
    seen->number = key->node.line;
    *vec_push(c->a, &m->own) = (struct yaml_pair){ .key = key->node.text,
                                                   .key_line = key->node.line,
                                                   .value = value->node };
    return true;
}

// Reads key and value; `*end` tells that the mapping ended instead.
static bool read_pair(struct composer *c, int depth, struct mapping *m, size_t *weight, bool *end)
{
    yaml_event_t event;
    struct built key = { 0 }, value = { 0 };
    if (!next_event(c, &event))
        return false;
    *end = event.type == YAML_MAPPING_END_EVENT;
    bool ok = *end || (build(c, &event, depth + 1, &key) && check_key(c, &key));
    yaml_event_delete(&event);
    if (!ok || *end)
        return ok;
    if (!next_event(c, &event))
        return false;
    ok = build(c, &event, depth + 1, &value) && check_value(c, &value) &&
         add_pair(c, m, &key, &value);
    yaml_event_delete(&event);
    *weight += key.weight + value.weight;
    return ok;
}

static bool build_mapping(struct composer *c, const yaml_event_t *start, int depth,
                          struct built *out)
{
    int anchor;
    struct mapping m = { .lines = { .arena = c->a } };
    if (!check_tag(c, start->data.mapping_start.tag, line_of(start), S("map")) ||
        !open_anchor(c, start->data.mapping_start.anchor, line_of(start), &anchor))
        return false;
    for (bool end = false; !end;)
        if (!read_pair(c, depth, &m, &out->weight, &end))
            return false;
    if (m.merged.n > 0)
        m.own = override_pairs(c, &m.merged, &m.own);
    out->node.kind = YAML_MAP;
    out->node.pairs = m.own.v;
    out->node.n = m.own.n;
    close_anchor(c, anchor, out);
    return true;
}

static bool build(struct composer *c, const yaml_event_t *event, int depth, struct built *out)
{
    if (event->type == YAML_ALIAS_EVENT)
        return build_alias(c, event, out);
    if (event->type == YAML_SCALAR_EVENT)
        return build_scalar(c, event, out);
    out->node.line = line_of(event);
    out->weight = 1;
    if (!add_weight(c, 1, out->node.line))
        return false;
    if (depth >= YAML_MAX_DEPTH)
        return fail_at(c, out->node.line, "nested more than %d deep", YAML_MAX_DEPTH);
    return event->type == YAML_SEQUENCE_START_EVENT ? build_list(c, event, depth, out)
                                                    : build_mapping(c, event, depth, out);
}

// ---- the document ----

static bool begins_node(yaml_event_type_t type)
{
    return type == YAML_ALIAS_EVENT || type == YAML_SCALAR_EVENT ||
           type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
}

static bool build_root(struct composer *c, const yaml_event_t *event, struct yaml_node *out)
{
    struct built root = { 0 };
    if (!build(c, event, 0, &root) || !check_value(c, &root))
        return false;
    if (root.weight > 0)
        *out = root.node;
    return true;
}

// The events around and behind the only document. `out` is filled between them.
static bool read_document(struct composer *c, struct yaml_node *out)
{
    for (int documents = 0;;) {
        yaml_event_t event;
        if (!next_event(c, &event))
            return false;
        yaml_event_type_t type = event.type;
        bool ok = true;
        if (type == YAML_DOCUMENT_START_EVENT && documents++ > 0)
            ok = fail_at(c, line_of(&event), "a second document begins here: keep one in a file");
        else if (begins_node(type))
            ok = build_root(c, &event, out);
        yaml_event_delete(&event);
        if (!ok)
            return false;
        if (type == YAML_STREAM_END_EVENT)
            return documents > 0 ||
                   err_set(c->err, ERR_INPUT, "%.*s: there is nothing in this file", STR(c->path));
    }
}

static bool check_utf8(struct composer *c)
{
    for (size_t i = 0; i < c->text.len;) {
        uint32_t code;
        bool valid;
        size_t n = utf8_decode(str_sub(c->text, i, c->text.len), &code, &valid);
        if (!valid)
            return fail_at(c, (int)str_line(c->text, i),
                           "the byte 0x%02x is not UTF-8: save the file as UTF-8",
                           (unsigned)(unsigned char)c->text.data[i]);
        i += n;
    }
    return true;
}

bool yaml_parse(str path, str text, struct arena *a, struct yaml_node *out, struct err *err)
{
    struct composer c = { .path = path, .text = text, .a = a, .err = err };
    if (text.len > YAML_MAX_BYTES)
        return err_set(err, ERR_LIMIT, "%.*s: larger than the %d bytes allowed here", STR(path),
                       YAML_MAX_BYTES);
    if (!check_utf8(&c))
        return false;
    mem_must(yaml_parser_initialize(&c.parser) ? &c.parser : NULL);
    yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&c.parser, (const unsigned char *)(text.len ? text.data : ""),
                                 text.len);
    bool ok = read_document(&c, out);
    yaml_parser_delete(&c.parser);
    return ok;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, str key)
{
    if (!map || map->kind != YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (str_eq(map->pairs[i].key, key))
            return &map->pairs[i].value;
    return NULL;
}
