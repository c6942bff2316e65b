// service PATH: allocates under functions of known names, throws and catches, and dumps to PATH.
#include <heapprof/heapprof.h>

#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <vector>

std::unique_ptr<std::vector<char>> held;

__attribute__((noinline)) static void hold_the_memory(std::size_t bytes) {
    held = std::make_unique<std::vector<char>>(bytes);
}

__attribute__((noinline)) static void serve_request() {
    hold_the_memory(123456);
}

// Memory that there can't be, through heapprof's operator new: the C++ runtime's exception comes out.
static bool too_much_throws() {
    try {
        volatile std::size_t bytes = ~std::size_t{0} / 4;
        ::operator delete(::operator new(bytes));
        return false;
    } catch (const std::bad_alloc &) {
        return true;
    }
}

int main(int argc, char **argv) {
    if (argc != 2 || !heapprof_is_active() || !too_much_throws()) {
        std::cerr << "heapprof " << heapprof_version() << " is not active, or new does not throw\n";
        return 1;
    }
    serve_request();
    const int error = heapprof_dump(argv[1]);
    if (error != 0) {
        std::cerr << argv[1] << ": " << std::strerror(error) << '\n';
    }
    return error != 0;
}
