/* guard/cgroup: which folders count this process's memory, from the texts of /proc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "guard/cgroup.h"

#define V2_MOUNT                                                                                             \
    "30 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 master:1 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"

/* levels: the folders from the leaf up, separated by blanks; "" none. */
static const struct row {
    const char *what;
    const char *cgroup;
    const char *mounts;
    unsigned version;
    const char *levels;
} rows[] = {
    {"v2, nested", "0::/user.slice/a.service\n", V2_MOUNT, 2,
     "/sys/fs/cgroup/user.slice/a.service /sys/fs/cgroup/user.slice /sys/fs/cgroup"},
    {"v2 in a namespace", "0::/\n", V2_MOUNT, 2, "/sys/fs/cgroup"},
    {"v2 without a newline", "0::/a", V2_MOUNT, 2, "/sys/fs/cgroup/a /sys/fs/cgroup"},
    {"v1", "5:cpu:/x\n4:memory:/a/b\n0::/\n", V1_MOUNT, 1,
     "/sys/fs/cgroup/memory/a/b /sys/fs/cgroup/memory/a /sys/fs/cgroup/memory"},
    {"v1, memory among others", "5:hugetlb,memory:/a\n", "1 1 0:1 / /m rw - cgroup none rw,hugetlb,memory\n",
     1, "/m/a /m"},
    {"v1 among the other hierarchies", "4:memory:/a\n3:cpu:/a\n",
     "1 1 0:1 / /c rw - cgroup cgroup rw,cpu\n" V1_MOUNT "1 1 0:2 / /d rw - cgroup cgroup rw,memoryx\n", 1,
     "/sys/fs/cgroup/memory/a /sys/fs/cgroup/memory"},
    {"G7 hybrid: v1 has the memory controller", "4:memory:/x\n0::/\n", V2_MOUNT V1_MOUNT, 1,
     "/sys/fs/cgroup/memory/x /sys/fs/cgroup/memory"},
    {"G7 hybrid, the lines the other way round", "0::/\n4:memory:/x\n", V1_MOUNT V2_MOUNT, 1,
     "/sys/fs/cgroup/memory/x /sys/fs/cgroup/memory"},
    {"hybrid: memory on v2", "4:cpu:/x\n0::/y\n", "35 31 0:32 / /c rw - cgroup cgroup rw,cpu\n" V2_MOUNT, 2,
     "/sys/fs/cgroup/y /sys/fs/cgroup"},
    {"a controller that only sounds like it", "4:memoryx,xmemory:/x\n", V1_MOUNT, 0, ""},
    {"no hierarchy mounted", "0::/a\n", "22 1 0:21 / / rw - overlay overlay rw\n", 2, ""},
    {"nothing", "", "", 0, ""},
    {"broken lines", "0\n::\n:::\n0::\n", "x\n1 2\n- - -\n1 1 0:1 / /m rw cgroup2\n", 0, ""},
    {"broken mounts", "0::/a\n", "x\n1 2\n- - -\n1 1 0:1 / /m rw cgroup2\n\n 1 1 0:1 / /n rw -", 2, ""},
    {"a container's folder bind-mounted", "4:memory:/docker/abc\n",
     "1 1 0:1 /docker/abc /sys/fs/cgroup/memory ro master:9 - cgroup cgroup rw,memory\n", 1,
     "/sys/fs/cgroup/memory"},
    {"below a bind-mounted folder", "4:memory:/docker/abc/in/ner\n",
     "1 1 0:1 /docker/abc /m ro - cgroup cgroup rw,memory\n", 1, "/m/in/ner /m/in /m"},
    {"a name that only begins like the root", "4:memory:/docker/abcd\n",
     "1 1 0:1 /docker/abc /m ro - cgroup cgroup rw,memory\n", 1, "/m"},
    {"the root has another name: the container's own", "4:memory:/system.slice/x\n",
     "1 1 0:1 /docker/abc /m ro - cgroup cgroup rw,memory\n", 1, "/m"},
    {"a namespace below the mount's root", "0::/\n", "1 1 0:1 /../.. /m rw - cgroup2 cgroup2 rw\n", 2, "/m"},
    {"outside the namespace, as the mount", "0::/../x\n", "1 1 0:1 /.. /m rw - cgroup2 cgroup2 rw\n", 2,
     "/m/x /m"},
    {"outside the namespace, unseen", "0::/../x\n", "1 1 0:1 / /m rw - cgroup2 cgroup2 rw\n", 2, ""},
    {"outside and above", "0::/../x\n", "1 1 0:1 /../.. /m rw - cgroup2 cgroup2 rw\n", 2, "/m"},
    {"dots in a name are a name", "0::/a..b/..c\n", V2_MOUNT, 2,
     "/sys/fs/cgroup/a..b/..c /sys/fs/cgroup/a..b /sys/fs/cgroup"},
    {"octal escapes", "0::/a\n", "1 1 0:1 / /my\\040own\\011x\\134y rw - cgroup2 none rw\n", 2,
     "/my\x20own\tx\\y/a /my\x20own\tx\\y"},
    {"octal escapes in the root", "0::/a b/c\n", "1 1 0:1 /a\\040b /m rw - cgroup2 none rw\n", 2, "/m/c /m"},
    {"an escape cut short", "0::/a\n", "1 1 0:1 / /m\\04 rw - cgroup2 none rw\n", 2, "/m\\04/a /m\\04"},
    {"colons in a name", "0::/a:b/c:d\n", V2_MOUNT, 2,
     "/sys/fs/cgroup/a:b/c:d /sys/fs/cgroup/a:b /sys/fs/cgroup"},
    {"an empty source", "0::/a\n", "1 1 0:1 / /m rw - cgroup2  rw\n", 2, "/m/a /m"},
    {"two mounts: the one that shows more", "4:memory:/d/x\n",
     "1 1 0:1 / /all rw - cgroup cgroup rw,memory\n2 1 0:1 /d/x /own rw - cgroup cgroup rw,memory\n", 1,
     "/all/d/x /all/d /all"},
    {"two mounts: one shows somebody else", "4:memory:/d/x\n",
     "1 1 0:1 /d/x /own rw - cgroup cgroup rw,memory\n2 1 0:1 /d/other /other rw - cgroup cgroup rw,memory\n",
     1, "/own"},
    {"a removed cgroup keeps its parents", "0::/a (deleted)\n", V2_MOUNT, 2,
     "/sys/fs/cgroup/a\x20(deleted) /sys/fs/cgroup"},
};

/* Joins the levels with blanks; blanks in them stay, so a row writes those as they are. */
static void join(const struct guard_cgroup *cgroup, char *text, size_t cap) {
    text[0] = '\0';
    for (unsigned i = 0; i < cgroup->levels; i++) {
        size_t len = strlen(text);
        (void)snprintf(text + len, cap - len, "%s%.*s", i > 0 ? " " : "", (int)cgroup->length[i],
                       cgroup->path);
    }
}

static void test_parse(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct guard_cgroup cgroup = {0};
        char levels[4096];
        if (guard_cgroup_parse_membership(&cgroup, rows[i].cgroup)) {
            (void)guard_cgroup_parse_mounts(&cgroup, rows[i].mounts);
        }
        join(&cgroup, levels, sizeof levels);
        if (cgroup.version != rows[i].version || strcmp(levels, rows[i].levels) != 0) {
            fail_msg("%s: version %u, levels \"%s\"", rows[i].what, cgroup.version, levels);
        }
    }
}

static void test_depth_is_bounded(void **state) {
    (void)state;
    struct guard_cgroup cgroup;
    char text[256] = "0::";
    for (int i = 0; i < 40; i++) {
        strcat(text, "/d");
    }
    assert_true(guard_cgroup_parse_membership(&cgroup, text));
    assert_true(guard_cgroup_parse_mounts(&cgroup, V2_MOUNT));
    assert_int_equal(cgroup.levels, GUARD_CGROUP_LEVELS);
    assert_int_equal(cgroup.length[0], strlen("/sys/fs/cgroup") + 80); /* from the leaf up */
}

static void test_long_names_are_refused(void **state) {
    (void)state;
    static struct guard_cgroup cgroup;
    static char text[4096] = "0::/";
    memset(text + 4, 'a', 2000);
    assert_false(guard_cgroup_parse_membership(&cgroup, text));
    memset(text + 4, 'a', 950);
    text[954] = '\0';
    assert_true(guard_cgroup_parse_membership(&cgroup, text)); /* fits, but not with the mount's folder */
    assert_false(guard_cgroup_parse_mounts(&cgroup, V2_MOUNT));
    assert_int_equal(cgroup.levels, 0);
}

static void test_file(void **state) {
    (void)state;
    struct guard_cgroup cgroup;
    char path[64];
    assert_true(guard_cgroup_parse_membership(&cgroup, "0::/a"));
    assert_true(guard_cgroup_parse_mounts(&cgroup, V2_MOUNT));
    guard_cgroup_file(&cgroup, 1, "memory.max", path, sizeof path);
    assert_string_equal(path, "/sys/fs/cgroup/memory.max");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_long_names_are_refused),
        cmocka_unit_test(test_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
