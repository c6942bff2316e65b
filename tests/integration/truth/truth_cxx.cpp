/* truth_cxx SCALE SITES FIRST SECOND: as truth.c, through every operator new and delete of C++17. */
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "dump_now.h"
#include "sites.h"

namespace {

constexpr std::align_val_t WIDE{128};

struct kept {
    void *object;
    std::size_t bytes;
    site *where;
    int way; /* of deleting: 0..5 */
};
std::vector<kept> live;

} // namespace

SITE(plain_new);
SITE(array_new);
SITE(nothrow_new);
SITE(nothrow_array_new);
SITE(aligned_new);
SITE(aligned_array_new);
SITE(aligned_nothrow_new);
SITE(aligned_nothrow_array_new);
SITE(typed_new);

#define ALLOCATING(name, expression)                                                                         \
    SITE_FUNCTION(name) void *name(std::size_t n) {                                                          \
        void *p = expression;                                                                                \
        site_add(&site_##name, n);                                                                           \
        return p;                                                                                            \
    }

ALLOCATING(plain_new, ::operator new(n))
ALLOCATING(array_new, ::operator new[](n))
ALLOCATING(nothrow_new, ::operator new(n, std::nothrow))
ALLOCATING(nothrow_array_new, ::operator new[](n, std::nothrow))
ALLOCATING(aligned_new, ::operator new(n, WIDE))
ALLOCATING(aligned_array_new, ::operator new[](n, WIDE))
ALLOCATING(aligned_nothrow_new, ::operator new(n, WIDE, std::nothrow))
ALLOCATING(aligned_nothrow_array_new, ::operator new[](n, WIDE, std::nothrow))

struct payload {
    char bytes[300];
};

SITE_FUNCTION(typed_new) payload *typed_new() {
    payload *p = new payload;
    site_add(&site_typed_new, sizeof *p);
    return p;
}

static void let_go_plain(const kept &k) {
    switch (k.way % 6) {
    case 0:
        ::operator delete(k.object);
        break;
    case 1:
        ::operator delete[](k.object);
        break;
    case 2:
        ::operator delete(k.object, std::nothrow);
        break;
    case 3:
        ::operator delete[](k.object, std::nothrow);
        break;
    case 4:
        ::operator delete(k.object, k.bytes);
        break;
    default:
        ::operator delete[](k.object, k.bytes);
    }
}

static void let_go_aligned(const kept &k) {
    switch (k.way % 6) {
    case 0:
        ::operator delete(k.object, WIDE);
        break;
    case 1:
        ::operator delete[](k.object, WIDE);
        break;
    case 2:
        ::operator delete(k.object, WIDE, std::nothrow);
        break;
    case 3:
        ::operator delete[](k.object, WIDE, std::nothrow);
        break;
    case 4:
        ::operator delete(k.object, k.bytes, WIDE);
        break;
    default:
        ::operator delete[](k.object, k.bytes, WIDE);
    }
}

static void let_go(const kept &k) {
    if (k.way >= 100) {
        delete static_cast<payload *>(k.object);
    } else if (k.way >= 50) {
        let_go_aligned(k);
    } else {
        let_go_plain(k);
    }
    site_remove(k.where, k.bytes);
}

static void report(const char *sites, const char *dump) {
    FILE *file = std::fopen(sites, "w");
    if (file == nullptr) {
        std::exit(1);
    }
    dump_now(dump);
    site_print_all(file);
    std::fclose(file);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        return 2;
    }
    std::size_t scale = std::strtoul(argv[1], nullptr, 10);
    const std::pair<void *(*)(std::size_t), site *> sites[] = {
        {plain_new, &site_plain_new},
        {array_new, &site_array_new},
        {nothrow_new, &site_nothrow_new},
        {nothrow_array_new, &site_nothrow_array_new},
        {aligned_new, &site_aligned_new},
        {aligned_array_new, &site_aligned_array_new},
        {aligned_nothrow_new, &site_aligned_nothrow_new},
        {aligned_nothrow_array_new, &site_aligned_nothrow_array_new},
    };
    live.reserve(100000 * scale);
    for (std::size_t i = 0; i < 600 * scale; i++) {
        for (int s = 0; s < 8; s++) {
            std::size_t n = i % 50 == 0 ? 0 : i * 37 % 6000;
            kept k{sites[s].first(n), n, sites[s].second, static_cast<int>(i % 6) + (s >= 4 ? 50 : 0)};
            if (i % 7 == 0) {
                let_go(k);
            } else {
                live.push_back(k);
            }
        }
        live.push_back(kept{typed_new(), sizeof(payload), &site_typed_new, 100});
    }
    report(argv[2], argv[3]);
    for (const kept &k : live) {
        let_go(k);
    }
    char after[4096];
    std::snprintf(after, sizeof after, "%s.end", argv[2]);
    report(after, argv[4]);
    return 0;
}
