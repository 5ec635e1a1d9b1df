// SPDX-License-Identifier: GPL-3.0-or-later
// file.c - whole files in and out.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#include "base/buf.h"

// A path as the system wants it.
static const char *terminated(str path, struct arena *a)
{
    return arena_str(a, path).data;
}

// Reads on from `fd` into `b` until nothing more comes or b->max is passed.
static bool read_on(int fd, struct buf *b, struct err *err)
{
    char part[1 << 16];
    for (;;) {
        ssize_t n = read(fd, part, sizeof part);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, ERR_INPUT, "%s", strerror(errno));
        if (n == 0)
            return true;
        buf_add(b, (str){ part, (size_t)n });
        if (b->over)
            return err_set(err, ERR_LIMIT, "larger than the %zu bytes allowed here", b->max);
    }
}

// Everything behind `fd`, at most max_bytes; the caller names the path in errors.
static bool read_all(int fd, size_t max_bytes, struct arena *a, str *out, struct err *err)
{
    struct stat st;
    struct buf b = { .arena = a, .max = max_bytes };
    if (fstat(fd, &st) != 0)
        return err_set(err, ERR_INPUT, "%s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_INPUT, "is a directory; name a file in it");
    if (!read_on(fd, &b, err))
        return false;
    *out = buf_str(&b);
    return true;
}

bool file_read(str path, size_t max_bytes, struct arena *a, str *out, struct err *err)
{
    int fd = open(terminated(path, a), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_INPUT, "%.*s: %s", STR(path), strerror(errno));
    bool ok = read_all(fd, max_bytes, a, out, err) || err_add(err, "%.*s", STR(path));
    close(fd);
    return ok;
}

static bool write_all(int fd, str text)
{
    while (text.len > 0) {
        ssize_t n = write(fd, text.data, text.len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text = str_sub(text, (size_t)n, text.len);
    }
    return true;
}

// Writes, syncs and closes `temp`; false with errno on any failure.
static bool write_file(const char *temp, str text)
{
    int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool written = write_all(fd, text) && fsync(fd) == 0;
    int why = errno;
    if (close(fd) != 0)
        return false;
    errno = why;
    return written;
}

bool file_save(str path, str text, struct err *err)
{
    struct arena scratch = { 0 };
    const char *temp = arena_printf(&scratch, "%.*s.tmp%ld", STR(path), (long)getpid()).data;
    bool ok = write_file(temp, text) && rename(temp, terminated(path, &scratch)) == 0;
    if (!ok) {
        err_set(err, ERR_RUN, "%.*s: cannot write: %s", STR(path), strerror(errno));
        unlink(temp);
    }
    arena_free(&scratch);
    return ok;
}

bool dir_make(str path, struct err *err)
{
    struct arena scratch = { 0 };
    bool ok = true;
    for (size_t i = 1; i <= path.len && ok; i++) {
        if (i < path.len && path.data[i] != '/')
            continue;
        const char *part = terminated(str_sub(path, 0, i), &scratch);
        struct stat st;
        if (mkdir(part, 0777) == 0 || (stat(part, &st) == 0 && S_ISDIR(st.st_mode)))
            continue;
        ok = err_set(err, ERR_RUN, "%s: cannot make this directory: %s", part,
                     errno == EEXIST ? "a file of that name exists" : strerror(errno));
    }
    arena_free(&scratch);
    return ok;
}

bool file_exists(str path)
{
    struct arena scratch = { 0 };
    struct stat st;
    bool found = stat(terminated(path, &scratch), &st) == 0;
    arena_free(&scratch);
    return found;
}

str path_join(str dir, str name, struct arena *a)
{
    if (dir.len == 0)
        return arena_str(a, name);
    while (dir.len > 1 && dir.data[dir.len - 1] == '/')
        dir.len--;
    return arena_printf(a, "%.*s%s%.*s", STR(dir), str_eq(dir, S("/")) ? "" : "/", STR(name));
}
