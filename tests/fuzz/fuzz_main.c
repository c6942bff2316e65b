/*
 * Drives a fuzz target without libFuzzer: each file given as it is, then a number of times with random
 * damage. Without files it starts from the unit tests' profile. Repeatable: the random numbers are fixed.
 *
 *   fuzz_… ROUNDS [FILE...]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/test_tools_builder.h"

enum { MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seed = 0x2545f4914f6cdd1d;

static uint64_t draw(uint64_t below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* One piece of damage; returns the new size. */
static size_t damage(uint8_t *data, size_t size) {
    size_t at = draw(size), length = draw(16) + 1;
    switch (draw(5)) {
    case 0:
        data[at] ^= (uint8_t)(1U << draw(8));
        return size;
    case 1:
        data[at] = (uint8_t)draw(256);
        return size;
    case 2: /* a piece removed */
        length = length < size - at ? length : size - at;
        memmove(data + at, data + at + length, size - at - length);
        return size - length;
    case 3: /* a piece twice */
        length = length < size - at ? length : size - at;
        if (size + length > MOST)
            return size;
        memmove(data + at + length, data + at, size - at);
        return size + length;
    default: /* a number far too large */
        memset(data + at, 0xff, size - at < 9 ? size - at : 9);
        return size;
    }
}

static void run_on_copy(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void run(const uint8_t *data, size_t size, unsigned long rounds) {
    static uint8_t damaged[MOST];
    run_on_copy(data, size);
    for (unsigned long i = 0; i < rounds; i++) {
        size_t now = size;
        memcpy(damaged, data, size);
        for (uint64_t times = draw(4) + 1; times > 0 && now > 0; times--)
            now = damage(damaged, now);
        run_on_copy(damaged, now);
    }
}

static size_t read_file(const char *path, uint8_t data[MOST]) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    size_t size = fread(data, 1, MOST, file);
    fclose(file);
    return size;
}

int main(int argc, char **argv) {
    static uint8_t data[MOST];
    static struct builder builder;
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    for (int i = 2; i < argc; i++)
        run(data, read_file(argv[i], data), rounds);
    if (argc <= 2) {
        builder_init(&builder);
        builder.profile.drop_frames = builder_string(&builder, "grab|operator new(\\[\\])?|je_.*");
        run(data, builder_pack(&builder, data), rounds);
    }
    return 0;
}
