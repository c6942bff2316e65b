#include "tools/profile/profile_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MIB = 1024 * 1024, FIRST_CAPACITY = 64 * 1024 };

/*
 * deflate can make 1032 bytes of one; a heap profile, which repeats addresses, 5 to 60. A real one
 * of 256 MiB would hold millions of stacks.
 */
const struct hp_input_limits hp_input_limits_default = {
    .max_bytes = (size_t)256 * MIB, .free_bytes = (size_t)16 * MIB, .max_ratio = 256};

/* Room for at least one more byte, without passing `most`. */
static bool grow(struct hp_bytes *bytes, size_t most, struct hp_error *error) {
    if (bytes->size < bytes->capacity)
        return true;
    if (bytes->size >= most)
        return hp_error_set(error, "is larger than %zu MiB: not read", most / MIB);
    size_t capacity = bytes->capacity == 0 ? FIRST_CAPACITY : bytes->capacity * 2;
    if (capacity > most)
        capacity = most;
    uint8_t *data = realloc(bytes->data, capacity);
    if (data == NULL)
        return hp_error_set(error, "does not fit into memory");
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}

static bool read_descriptor(int fd, size_t most, struct hp_bytes *bytes, struct hp_error *error) {
    for (;;) {
        /* One byte of room beyond the bound tells a file that ends there from one that goes on. */
        if (!grow(bytes, most + 1, error))
            return false;
        ssize_t got = read(fd, bytes->data + bytes->size, bytes->capacity - bytes->size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return hp_error_set(error, "%s", strerror(errno));
        if (got == 0)
            return true;
        bytes->size += (size_t)got;
        if (bytes->size > most)
            return hp_error_set(error, "is larger than %zu MiB: not read", most / MIB);
    }
}

static bool read_path(const char *path, size_t most, struct hp_bytes *bytes, struct hp_error *error) {
    if (strcmp(path, "-") == 0)
        return read_descriptor(STDIN_FILENO, most, bytes, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return hp_error_set(error, "%s", strerror(errno));
    bool done = read_descriptor(fd, most, bytes, error);
    close(fd);
    return done;
}

/* The most that `in` bytes of gzip may become. */
static size_t unpacked_limit(size_t in, const struct hp_input_limits *limits) {
    size_t most = limits->free_bytes;
    if (in > most / limits->max_ratio)
        most = in >= limits->max_bytes / limits->max_ratio ? limits->max_bytes : in * limits->max_ratio;
    return most < limits->max_bytes ? most : limits->max_bytes;
}

static bool inflate_fault(int code, const z_stream *stream, struct hp_error *error) {
    if (code == Z_MEM_ERROR)
        return hp_error_set(error, "does not fit into memory");
    if (code == Z_BUF_ERROR || code == Z_OK)
        return hp_error_set(error, "is cut short: its gzip stream has no end");
    const char *message = stream->msg != NULL ? stream->msg : "invalid data";
    if (strcmp(message, "incorrect data check") == 0 || strcmp(message, "incorrect length check") == 0)
        return hp_error_set(error, "is damaged: its gzip checksum is wrong");
    return hp_error_set(error, "is damaged: its gzip stream is invalid (%s)", message);
}

static bool starts_as_gzip(const uint8_t *data, size_t size) {
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

/* Inflates one gzip member after what `bytes` holds already. */
static bool inflate_member(z_stream *stream, size_t most, struct hp_bytes *bytes, struct hp_error *error) {
    for (;;) {
        if (bytes->size == most) {
            /* Full: a member that ends exactly here is fine, one more byte of output is not. */
            uint8_t extra = 0;
            stream->next_out = &extra;
            stream->avail_out = 1;
            int code = inflate(stream, Z_NO_FLUSH);
            if (code == Z_STREAM_END && stream->avail_out == 1)
                return true;
            return stream->avail_out == 0
                       ? hp_error_set(error, "unpacks to more than %zu MiB: not read", most / MIB)
                       : inflate_fault(code, stream, error);
        }
        if (!grow(bytes, most, error))
            return false;
        size_t room = bytes->capacity - bytes->size;
        stream->next_out = bytes->data + bytes->size;
        stream->avail_out = room < (size_t)64 * MIB ? (uInt)room : (uInt)64 * MIB;
        uInt offered = stream->avail_out;
        int code = inflate(stream, Z_NO_FLUSH);
        bytes->size += offered - stream->avail_out;
        if (code == Z_STREAM_END)
            return true;
        if (code != Z_OK || (stream->avail_in == 0 && stream->avail_out != 0))
            return inflate_fault(code, stream, error);
    }
}

static bool inflate_all(const uint8_t *data, size_t size, const struct hp_input_limits *limits,
                        struct hp_bytes *bytes, struct hp_error *error) {
    z_stream stream = {.next_in = (z_const Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return hp_error_set(error, "does not fit into memory");
    size_t most = unpacked_limit(size, limits);
    bool done = inflate_member(&stream, most, bytes, error);
    while (done && stream.avail_in > 0) {
        if (!starts_as_gzip(stream.next_in, stream.avail_in))
            done = hp_error_set(error, "has %u bytes after its gzip stream", stream.avail_in);
        else
            done = inflateReset(&stream) == Z_OK && inflate_member(&stream, most, bytes, error);
    }
    inflateEnd(&stream);
    return done;
}

static bool copy_all(const uint8_t *data, size_t size, struct hp_bytes *bytes, struct hp_error *error) {
    bytes->data = malloc(size);
    if (bytes->data == NULL)
        return hp_error_set(error, "does not fit into memory");
    memcpy(bytes->data, data, size);
    bytes->size = bytes->capacity = size;
    return true;
}

bool hp_input_unpack(const uint8_t *data, size_t size, const struct hp_input_limits *limits,
                     struct hp_bytes *bytes, struct hp_error *error) {
    *bytes = (struct hp_bytes){0};
    if (size == 0)
        return hp_error_set(error, "is empty");
    if (size > limits->max_bytes)
        return hp_error_set(error, "is larger than %zu MiB: not read", limits->max_bytes / MIB);
    bool done = starts_as_gzip(data, size) ? inflate_all(data, size, limits, bytes, error)
                                           : copy_all(data, size, bytes, error);
    if (done && bytes->size == 0)
        done = hp_error_set(error, "is empty: its gzip stream holds nothing");
    if (!done) {
        free(bytes->data);
        *bytes = (struct hp_bytes){0};
    }
    return done;
}

bool hp_input_read(const char *path, const struct hp_input_limits *limits, struct hp_bytes *bytes,
                   struct hp_error *error) {
    struct hp_bytes raw = {0};
    bool done = read_path(path, limits->max_bytes, &raw, error);
    if (done && raw.size > 0 && !starts_as_gzip(raw.data, raw.size)) {
        *bytes = raw; /* as it is: no copy */
        return true;
    }
    if (done)
        done = hp_input_unpack(raw.data, raw.size, limits, bytes, error);
    free(raw.data);
    return done;
}
