/*
 * statics: heavy on exceptions and on objects that live until the very end: statics whose constructors and
 * destructors allocate, throw and catch, thread_local ones, function-local ones, exit handlers, exceptions
 * that travel between threads, that are nested and rethrown, bad_alloc. Prints all that happens, and exits
 * out of the middle of it.
 */
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

__attribute__((noinline)) std::size_t dig(int depth, const std::string &text) {
    std::vector<std::string> here(static_cast<std::size_t>(depth % 7 + 1), text + std::to_string(depth));
    if (depth == 0) {
        throw std::runtime_error(text + " at the bottom");
    }
    return dig(depth - 1, text) + here.size();
}

std::string fall(int depth, const std::string &text) {
    try {
        return std::to_string(dig(depth, text));
    } catch (const std::exception &error) {
        return error.what();
    }
}

struct keeper {
    explicit keeper(const char *its_name) : name(its_name) {
        for (int i = 0; i < 200; i++) {
            things[i] = std::make_unique<std::string>(static_cast<std::size_t>(i), 'k');
        }
        std::printf("%s begins: %s\n", name.c_str(), fall(12, name).c_str());
    }
    ~keeper() {
        things.erase(things.begin(), std::next(things.begin(), 100));
        std::printf("%s ends with %zu: %s\n", name.c_str(), things.size(), fall(9, name).c_str());
    }
    keeper(const keeper &) = delete;
    keeper &operator=(const keeper &) = delete;
    std::string name;
    std::map<int, std::unique_ptr<std::string>> things;
};

keeper first("first");
thread_local keeper of_thread("of a thread");
keeper second("second");

keeper &local() {
    static keeper k("local");
    return k;
}

void nest(int depth) {
    try {
        if (depth == 0) {
            throw std::logic_error("innermost");
        }
        nest(depth - 1);
    } catch (...) {
        std::throw_with_nested(std::runtime_error("level " + std::to_string(depth)));
    }
}

int count_nested(const std::exception &error) {
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        return 1 + count_nested(inner);
    }
    return 1;
}

void in_threads() {
    std::vector<std::future<std::size_t>> futures;
    for (int i = 0; i < 6; i++) {
        futures.push_back(std::async(std::launch::async, [i] {
            std::size_t caught = 0;
            for (int n = 0; n < 300; n++) {
                caught += fall(n % 20, "thread").size();
            }
            return i % 2 == 0 ? caught : dig(5, "thread " + std::to_string(i));
        }));
    }
    for (auto &future : futures) {
        try {
            std::printf("%zu\n", future.get());
        } catch (const std::exception &error) {
            std::printf("from a thread: %s\n", error.what());
        }
    }
    std::thread([] { std::printf("%zu in the thread\n", of_thread.things.size()); }).join();
}

void out_of_memory() {
    volatile std::size_t too_much = SIZE_MAX / 4;
    for (int i = 0; i < 50; i++) {
        try {
            delete[] new char[too_much];
        } catch (const std::bad_alloc &) {
            if (i == 0) {
                std::printf("bad_alloc\n");
            }
        }
    }
}

} // namespace

int main() {
    std::atexit([] { std::printf("exit handler: %s\n", fall(4, "handler").c_str()); });
    in_threads();
    try {
        nest(40);
    } catch (const std::exception &error) {
        std::printf("%d nested\n", count_nested(error));
    }
    out_of_memory();
    local();
    try {
        dig(20, "main");
    } catch (const std::exception &) {
        std::exit(17); /* inside of a handler: the exception is never released */
    }
}
