/*
 * exceptions PLUGIN SECONDS: threads throw through frames that allocate, sampled all, while plugins that
 * throw come and go: every exception arrives where it should. The runtime, too, finds its frames with the
 * loader's help, while dl_iterate_phdr holds the loader's lock and its callback allocates.
 */
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "check.h"

namespace {

std::atomic<bool> done{false};
std::atomic<unsigned long> caught{0};
std::atomic<int> destroyed{0};

struct cleaned_up {
    std::string text = std::string(200, 'c');
    ~cleaned_up() {
        destroyed++;
    }
};

__attribute__((noinline)) int deep(int depth) {
    cleaned_up here;
    std::vector<int> numbers(static_cast<std::size_t>(depth) + 10);
    if (depth == 0) {
        throw std::runtime_error(std::string(100, 'e'));
    }
    return deep(depth - 1) + numbers[0];
}

void throw_and_catch() {
    while (!done) {
        try {
            deep(20);
            std::abort();
        } catch (const std::runtime_error &error) {
            CHECK(std::string(error.what()).size() == 100);
            caught++;
        }
    }
}

void load_and_catch(const char *path) {
    while (!done) {
        void *plugin = dlopen(path, RTLD_NOW);
        CHECK(plugin != nullptr);
        void *found = dlsym(plugin, "plugin_throw");
        CHECK(found != nullptr);
        void (*throwing)(int) = nullptr;
        memcpy(&throwing, &found, sizeof throwing);
        try {
            throwing(7);
            std::abort();
        } catch (const std::exception &error) {
            CHECK(std::string(error.what()) == "from the plugin 7");
            caught++;
        }
        CHECK(dlclose(plugin) == 0);
    }
}

int count_objects(dl_phdr_info *info, std::size_t, void *data) {
    *static_cast<std::vector<std::string> *>(data) = [&] {
        auto names = *static_cast<std::vector<std::string> *>(data);
        names.push_back(info->dlpi_name);
        return names;
    }();
    return 0;
}

/* Called by the application, dl_iterate_phdr lists everything as ever; the callback may allocate. */
void list_objects() {
    while (!done) {
        std::vector<std::string> names;
        CHECK(dl_iterate_phdr(count_objects, &names) == 0);
        bool has_libc = false;
        for (const std::string &name : names) {
            has_libc = has_libc || name.find("libc.so") != std::string::npos;
        }
        CHECK(names.size() >= 4 && has_libc);
        usleep(100);
    }
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 3);
    unsigned seconds = static_cast<unsigned>(std::atoi(argv[2]));
    alarm(seconds + 50);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back(throw_and_catch);
        threads.emplace_back(load_and_catch, argv[1]);
    }
    threads.emplace_back(list_objects);
    sleep(seconds);
    done = true;
    for (std::thread &thread : threads) {
        thread.join();
    }
    CHECK(caught > 100 && destroyed > 2000);
    return 0;
}
