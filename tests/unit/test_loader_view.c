/* unwind/loader_view: what it says of a program counter is what the kernel and readelf say. P26, P27. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heapprof/unwind/loader_view.h"
#include "tests/unit/cmocka_first.h"

/* The line of /proc/self/maps around `pc`. */
static bool map_line(uintptr_t pc, uintptr_t *start, uintptr_t *end, uint64_t *offset, char *path) {
    char line[4400];
    char permissions[8];
    FILE *maps = fopen("/proc/self/maps", "re");
    bool found = false;
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        path[0] = '\0';
        int n = sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", start, end, permissions, offset, path);
        found = n >= 4 && pc >= *start && pc < *end && permissions[2] == 'x';
    }
    (void)fclose(maps);
    return found;
}

/* `readelf -n` on the file; "" when it has no build id. */
static void readelf_build_id(const char *path, char *hex, size_t cap) {
    char command[4400];
    char line[512];
    hex[0] = '\0';
    (void)snprintf(command, sizeof command, "LC_ALL=C readelf -n '%s' 2>/dev/null", path);
    FILE *out = popen(command, "re");
    assert_non_null(out);
    while (fgets(line, sizeof line, out) != NULL) {
        const char *id = strstr(line, "Build ID: ");
        if (id != NULL) {
            (void)snprintf(hex, cap, "%.*s", (int)strcspn(id + 10, "\n"), id + 10);
        }
    }
    assert_int_equal(pclose(out), 0);
}

static void check_code(uintptr_t pc) {
    uintptr_t start = 0;
    uintptr_t end = 0;
    uint64_t offset = 0;
    char path[4096];
    struct hp_loaded loaded;
    struct hp_segment segment;
    assert_true(map_line(pc, &start, &end, &offset, path));
    assert_true(hp_loader_view_find(pc, &loaded));
    assert_true(pc >= loaded.map_start && pc < loaded.map_end);
    assert_true(hp_loader_view_segment(&loaded, pc, &segment));
    assert_int_equal(segment.start, start);
    assert_int_equal(segment.end, end);
    assert_int_equal(segment.offset, offset);

    char expected[256];
    char got[256] = "";
    size_t bytes = 0;
    readelf_build_id(path, expected, sizeof expected);
    const uint8_t *id = hp_loader_view_build_id(&loaded, &bytes);
    for (size_t i = 0; id != NULL && i < bytes && 2 * i + 2 < sizeof got; i++) {
        (void)snprintf(got + 2 * i, 3, "%02x", id[i]);
    }
    assert_string_equal(got, expected);
}

static void test_main_program(void **state) {
    (void)state;
    struct hp_loaded loaded;
    check_code((uintptr_t)check_code);
    assert_true(hp_loader_view_find((uintptr_t)check_code, &loaded));
    assert_string_equal(loaded.name, "");
    Dl_info info;
    assert_int_not_equal(dladdr((void *)check_code, &info), 0);
    assert_int_equal(loaded.map_start, (uintptr_t)info.dli_fbase);
}

static void test_libraries(void **state) {
    (void)state;
    struct hp_loaded loaded;
    uintptr_t libc = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    check_code(libc);
    check_code((uintptr_t)dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
    assert_true(hp_loader_view_find(libc, &loaded));
    assert_non_null(strstr(loaded.name, "/libc.so"));
}

/* P26: there while it is open, whoever is asked, and gone when it is gone. */
static void test_opened_and_closed(void **state) {
    (void)state;
    void *handle = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        skip();
    }
    struct hp_loaded loaded;
    uintptr_t pc = (uintptr_t)dlsym(handle, "zlibVersion");
    check_code(pc);
    assert_int_equal(dlclose(handle), 0);
    if (dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD) == NULL) {
        assert_false(hp_loader_view_find(pc, &loaded));
    }
}

static const char constant[] = "not code";

static void test_data_is_no_code(void **state) {
    (void)state;
    struct hp_loaded loaded;
    struct hp_segment segment;
    assert_true(hp_loader_view_find((uintptr_t)constant, &loaded));
    assert_false(hp_loader_view_segment(&loaded, (uintptr_t)constant, &segment));
}

/* Generated code, the heap, the stack, and addresses that are none. */
static void test_no_binary(void **state) {
    (void)state;
    struct hp_loaded loaded;
    void *heap = malloc(16);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    assert_false(hp_loader_view_find((uintptr_t)page, &loaded));
    assert_false(hp_loader_view_find((uintptr_t)heap, &loaded));
    assert_false(hp_loader_view_find((uintptr_t)&loaded, &loaded));
    assert_false(hp_loader_view_find(0, &loaded));
    assert_false(hp_loader_view_find(UINTPTR_MAX, &loaded));
    assert_int_equal(munmap(page, 4096), 0);
    free(heap);
}

/* Notes as a hostile or an odd binary might have them: by hand, each word of 4 bytes. */
static void test_odd_notes(void **state) {
    (void)state;
    static const struct {
        const char *what;
        uint32_t words[12];
        unsigned count;
        size_t bytes; /* 0: none */
    } rows[] = {
        {"plain", {4, 8, 3, 0x554e47, 1, 2}, 6, 8},
        {"behind another note", {4, 4, 1, 0x554e47, 9, 4, 4, 3, 0x554e47, 7}, 10, 4},
        {"another's note of type 3", {4, 4, 3, 0x58584c, 1}, 5, 0},
        {"padded name", {5, 4, 1, 0x554e47, 0, 9, 4, 4, 3, 0x554e47, 7}, 11, 4},
        {"longer than its segment", {4, 12, 3, 0x554e47, 1, 2}, 6, 0},
        {"sizes that wrap around", {0xfffffffd, 4, 3, 0x554e47, 1, 2}, 6, 0},
        {"sizes that wrap around together", {0xfffffff0, 0x10, 3, 0x554e47, 1, 2}, 6, 0},
        {"half a header", {4, 8}, 2, 0},
        {"nothing", {0}, 0, 0},
    };
    for (size_t i = 0; i < ROWS(rows); i++) {
        ElfW(Phdr) headers[] = {{.p_type = PT_NOTE, .p_align = 4, .p_filesz = 4 * rows[i].count},
                                {.p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = 4 * rows[i].count}};
        uintptr_t at = (uintptr_t)rows[i].words;
        struct hp_loaded loaded = {.base = at,
                                   .headers = headers,
                                   .header_count = 2};
        size_t bytes = 0;
        const uint8_t *id = hp_loader_view_build_id(&loaded, &bytes);
        if ((id != NULL) != (rows[i].bytes != 0) || bytes != rows[i].bytes) {
            fail_msg("%s: %zu bytes", rows[i].what, bytes);
        }
        headers[1].p_filesz -= 1; /* notes that reach beyond what is mapped are not read */
        assert_true(rows[i].count == 0 || hp_loader_view_build_id(&loaded, &bytes) == NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_main_program),      cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_opened_and_closed), cmocka_unit_test(test_data_is_no_code),
        cmocka_unit_test(test_no_binary),         cmocka_unit_test(test_odd_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
