/*
 * Every operator new and delete of C++17, those that fail included: bad_alloc is thrown where the standard
 * says so, the new handler is called, and gets its chance.
 */
#include <sys/resource.h>

#include <atomic>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr std::align_val_t WIDE{256};
volatile std::size_t absurd = SIZE_MAX / 2;
int handler_calls;
void *reserve;
void *volatile sink; /* else the compiler leaves out an allocation that nobody looks at */

const std::size_t sizes[] = {0, 1, 8, 100, 4096, 5000, 100000};

void every_pair() {
    for (std::size_t n : sizes) {
        void *p[16];
        for (void *&each : p) {
            switch (&each - p) {
            case 0:
            case 1:
            case 2:
                each = ::operator new(n);
                break;
            case 3:
            case 4:
            case 5:
                each = ::operator new[](n);
                break;
            case 6:
                each = ::operator new(n, std::nothrow);
                break;
            case 7:
                each = ::operator new[](n, std::nothrow);
                break;
            case 8:
            case 9:
            case 10:
                each = ::operator new(n, WIDE);
                break;
            case 11:
            case 12:
            case 13:
                each = ::operator new[](n, WIDE);
                break;
            case 14:
                each = ::operator new(n, WIDE, std::nothrow);
                break;
            default:
                each = ::operator new[](n, WIDE, std::nothrow);
            }
            CHECK(each != nullptr && is_aligned(each, &each - p < 8 ? (n >= 16 ? 16 : 8) : 256));
            memset(each, 7, n);
        }
        for (int i = 0; i < 16; i++) {
            for (int k = 0; k < i; k++) {
                CHECK(p[i] != p[k]);
            }
        }
        ::operator delete(p[0]);
        ::operator delete(p[1], n);
        ::operator delete(p[2], std::nothrow);
        ::operator delete[](p[3]);
        ::operator delete[](p[4], n);
        ::operator delete[](p[5], std::nothrow);
        ::operator delete(p[6]);
        ::operator delete[](p[7]);
        ::operator delete(p[8], WIDE);
        ::operator delete(p[9], n, WIDE);
        ::operator delete(p[10], WIDE, std::nothrow);
        ::operator delete[](p[11], WIDE);
        ::operator delete[](p[12], n, WIDE);
        ::operator delete[](p[13], WIDE, std::nothrow);
        ::operator delete(p[14], WIDE);
        ::operator delete[](p[15], WIDE);
    }
    ::operator delete(nullptr);
    ::operator delete[](nullptr);
    ::operator delete (nullptr, std::size_t{8});
    ::operator delete[](nullptr, std::size_t{8});
    ::operator delete(nullptr, WIDE);
    ::operator delete[](nullptr, std::size_t{8}, WIDE);
}

template <typename F> bool throws(F f) {
    try {
        f();
    } catch (const std::bad_alloc &) {
        return true;
    }
    return false;
}

/* Those that throw, with a size that nobody has. */
bool all_throw() {
    return throws([] { sink = ::operator new(absurd); }) && throws([] { sink = ::operator new[](absurd); }) &&
           throws([] { sink = ::operator new(absurd, WIDE); }) &&
           throws([] { sink = ::operator new[](absurd, WIDE); }) &&
           throws([] { sink = new std::string(absurd / 4, 'x'); });
}

bool none_throws() {
    return ::operator new(absurd, std::nothrow) == nullptr && ::operator new[](absurd, std::nothrow) ==
           nullptr && ::operator new(absurd, WIDE, std::nothrow) ==
           nullptr && ::operator new[](absurd, WIDE, std::nothrow) == nullptr;
}

void gives_up_after_three() {
    if (++handler_calls % 3 == 0) {
        throw std::bad_alloc();
    }
}

void takes_itself_away() {
    handler_calls++;
    std::set_new_handler(nullptr);
}

void failing_new() {
    CHECK(all_throw() && none_throws());
    std::set_new_handler(gives_up_after_three);
    handler_calls = 0;
    CHECK(throws([] { sink = ::operator new(absurd); }) && handler_calls == 3);
    CHECK(throws([] { sink = ::operator new[](absurd, WIDE); }) && handler_calls == 6);
#ifndef OWN_RUNTIME /* there nobody catches what the handler throws: known, and rare */
    CHECK(::operator new(absurd, std::nothrow) == nullptr &&handler_calls == 9);
    CHECK(::operator new[](absurd, WIDE, std::nothrow) == nullptr &&handler_calls == 12);
#endif
    std::set_new_handler(takes_itself_away);
    handler_calls = 0;
    CHECK(throws([] { sink = ::operator new(absurd); }) && handler_calls == 1);
    CHECK(std::get_new_handler() == nullptr);
}

void frees_reserve() {
    handler_calls++;
    if (reserve == nullptr) {
        throw std::bad_alloc();
    }
    ::operator delete(reserve);
    reserve = nullptr;
    rlimit all;
    getrlimit(RLIMIT_AS, &all);
    all.rlim_cur = all.rlim_max;
    setrlimit(RLIMIT_AS, &all);
}

/* The kernel says no; the handler makes room, and the same new succeeds. */
void handler_makes_room() {
    rlimit before;
    getrlimit(RLIMIT_AS, &before);
    reserve = ::operator new(1 << 20);
    handler_calls = 0;
    std::set_new_handler(frees_reserve);
    rlimit now = before;
    now.rlim_cur = 1 << 20; /* nothing can be mapped any more */
    CHECK(setrlimit(RLIMIT_AS, &now) == 0);
    char *p = new char[std::size_t{512} << 20];
    CHECK(p != nullptr && handler_calls == 1);
    p[0] = p[(std::size_t{512} << 20) - 1] = 1;
    delete[] p;
    setrlimit(RLIMIT_AS, &now);
    CHECK(throws([] { sink = ::operator new (std::size_t{700} << 20); }) && handler_calls == 2);
#ifndef OWN_RUNTIME
    CHECK(::operator new (std::size_t{700} << 20, std::nothrow) == nullptr &&handler_calls == 3);
#endif
    setrlimit(RLIMIT_AS, &before);
    std::set_new_handler(nullptr);
}

struct thread_end {
    std::map<int, std::string> kept;
    ~thread_end() {
        for (int i = 0; i < 100; i++) {
            kept[i] = std::string(static_cast<std::size_t>(i) * 10, 'y');
        }
        kept.clear();
    }
};
thread_local thread_end at_thread_end;

struct constructed_throws {
    std::string text = std::string(100, 'z');
    constructed_throws() {
        throw 7;
    }
};

/* Containers in threads, exceptions out of constructors (their memory is given back), TLS destructors. */
void ordinary_use() {
    std::atomic<int> caught{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++) {
        threads.emplace_back([&caught, t] {
            at_thread_end.kept[t] = "begun";
            std::vector<std::unique_ptr<std::string>> strings;
            for (int i = 0; i < 500; i++) {
                strings.push_back(std::make_unique<std::string>(static_cast<std::size_t>(i), 'a'));
                try {
                    constructed_throws never;
                } catch (int seven) {
                    caught += seven == 7;
                }
            }
        });
    }
    for (std::thread &t : threads) {
        t.join();
    }
    CHECK(caught == 8 * 500);
}

struct static_end {
    std::vector<int> *numbers = new std::vector<int>(1000, 1);
    ~static_end() {
        numbers->resize(100000);
        delete numbers;
    }
} destroyed_at_exit;

} // namespace

int main() {
    for (int round = 0; round < 3; round++) {
        every_pair();
        failing_new();
    }
    ordinary_use();
    handler_makes_room();
    return 0;
}
